"""`--storage` and `--config`: the URL of the storage or service, from the option or from `rankduel.toml`."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from rankduel.cli.shared.config import CONFIG, Config, read_config

__all__ = ["load_config", "add_storage_options", "is_service", "storage_url"]


def add_storage_options(parser: ArgumentParser, *, services: bool = True) -> None:
    """Add --storage and --config."""
    also = " or http://HOST:PORT" if services else ""
    parser.add_argument(
        "--storage", metavar="URL", help=f"sqlite:///FILE, postgresql://...{also} (default: that of {CONFIG})"
    )
    parser.add_argument("--config", type=Path, metavar="FILE", help=f"settings (default: {CONFIG}, if it is there)")


def load_config(parser: ArgumentParser, options: Namespace) -> Config:
    """Read the named settings file, or the one in this folder; an invalid file ends the program."""
    path = options.config or CONFIG
    if options.config is None and not path.exists():
        return Config()
    try:
        return read_config(path)
    except ValueError as error:
        parser.error(str(error))


def storage_url(parser: ArgumentParser, options: Namespace) -> str:
    """The URL of the storage or service; without one the program ends."""
    storage: str | None = options.storage or load_config(parser, options).storage
    if storage is None:
        parser.error(f"which storage? --storage URL, or a {CONFIG} (rankduel init makes one)")
    return storage


def is_service(url: str) -> bool:
    """Whether a URL is that of a service.

    >>> is_service("https://duels.example"), is_service("sqlite:///duels.db")
    (True, False)
    """
    return url.startswith(("http://", "https://"))
