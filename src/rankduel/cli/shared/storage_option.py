"""Where tournaments are: a storage or a service, as an option says, or the `rankduel.toml` of this folder."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from rankduel.cli.shared.config import CONFIG, Config, read_config

__all__ = ["config_of", "declare_place", "is_service", "place_of"]


def declare_place(parser: ArgumentParser, *, services: bool = True) -> None:
    """The options that say where."""
    also = " or http://HOST:PORT" if services else ""
    parser.add_argument(
        "--storage", metavar="URL", help=f"sqlite:///FILE, postgresql://...{also} (default: that of {CONFIG})"
    )
    parser.add_argument("--config", type=Path, metavar="FILE", help=f"settings (default: {CONFIG}, if it is there)")


def config_of(parser: ArgumentParser, options: Namespace) -> Config:
    """The settings of the file that was named, or of the one in this folder; what is wrong with it ends the program."""
    path = options.config or CONFIG
    if options.config is None and not path.exists():
        return Config()
    try:
        return read_config(path)
    except ValueError as error:
        parser.error(str(error))


def place_of(parser: ArgumentParser, options: Namespace) -> str:
    """The address of the storage or service."""
    storage: str | None = options.storage or config_of(parser, options).storage
    if storage is None:
        parser.error(f"which storage? --storage URL, or a {CONFIG} (rankduel init makes one)")
    return storage


def is_service(place: str) -> bool:
    """Whether an address is that of a service.

    >>> is_service("https://duels.example"), is_service("sqlite:///duels.db")
    (True, False)
    """
    return place.startswith(("http://", "https://"))
