"""`--storage` and `--config`: the URL of the storage or service, from the option or from `rankduel.toml`."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from rankduel.cli.shared.config import CONFIG, Config, read_config

__all__ = ["add_config_option", "add_storage_options", "is_service", "load_config", "storage_url"]


def add_storage_options(parser: ArgumentParser, *, services: bool = True) -> None:
    """Add --storage and --config."""
    also = " or http://HOST:PORT" if services else ""
    parser.add_argument(
        "--storage", metavar="URL", help=f"sqlite:///FILE, postgresql://...{also} (default: from {CONFIG})"
    )
    add_config_option(parser)


def add_config_option(parser: ArgumentParser) -> None:
    """Add --config."""
    parser.add_argument("--config", type=Path, metavar="FILE", help=f"settings file (default: {CONFIG}, if it exists)")


def load_config(parser: ArgumentParser, options: Namespace) -> Config:
    """Read the named settings file, or the one in this folder; exit with an error if it is invalid."""
    path = options.config or CONFIG
    if options.config is None and not path.exists():
        return Config()
    try:
        return read_config(path)
    except ValueError as error:
        parser.error(str(error))


def storage_url(parser: ArgumentParser, options: Namespace) -> str:
    """The URL of the storage or service; exit with an error if there is none."""
    storage: str | None = options.storage or load_config(parser, options).storage
    if storage is None:
        parser.error(f"no storage given; pass --storage URL, or create a {CONFIG} with rankduel init")
    return storage


def is_service(url: str) -> bool:
    """Whether a URL is the address of a service.

    >>> is_service("https://duels.example"), is_service("sqlite:///duels.db")
    (True, False)
    """
    return url.startswith(("http://", "https://"))
