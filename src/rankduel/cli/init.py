"""`rankduel init`: write a rankduel.toml, create the storage and an admin key."""

import os
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

from rankduel.cli.shared.config import CONFIG, default_config_text
from rankduel.cli.shared.storage_option import is_service
from rankduel.live import storage_at

__all__ = ["declare"]

_DESCRIPTION = f"""\
Create a {CONFIG} with every setting explained, a storage, and an API key with the scope admin.

The key is printed to stdout. Save it: only its hash is stored, so it cannot be shown again. Messages go to stderr.
An existing file is never overwritten. An existing storage is kept and gets one more key.
"""
_EXAMPLES = """\
examples:
  rankduel init
  rankduel init --storage sqlite:////var/lib/rankduel/duels.db --config /etc/rankduel.toml
"""
_STORAGE = "sqlite:///duels.db"


def declare(add_parser: Callable[..., ArgumentParser]) -> None:
    """Add the command and its options."""
    parser = add_parser(
        "init",
        help="create a rankduel.toml, a storage and an admin key",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("--storage", default=_STORAGE, metavar="URL", help=f"URL of the storage (default: {_STORAGE})")
    parser.add_argument(
        "--config", type=Path, default=CONFIG, metavar="FILE", help=f"settings file to create (default: {CONFIG})"
    )
    parser.set_defaults(run=partial(_init, parser))


def _init(parser: ArgumentParser, options: Namespace) -> int:
    if is_service(options.storage):
        parser.error(f"--storage must be a storage such as {_STORAGE}, got the service {options.storage}")
    try:
        file = os.open(
            options.config, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600
        )  # the URL of a storage may contain a password
    except FileExistsError:
        parser.error(f"{options.config} already exists; choose another file with --config")
    try:
        with os.fdopen(file, "w") as config:
            config.write(default_config_text(options.storage))
        with closing(storage_at(options.storage)) as storage:
            from rankduel.service.auth.keys import new_key  # noqa: PLC0415 - needs the extra `server`

            url, (_, secret) = storage.url, new_key(storage, "admin", ["admin"])
    except BaseException as error:
        options.config.unlink()
        if isinstance(error, ValueError | ImportError):
            parser.error(str(error))
        raise
    print(f"created {options.config} and {url}; save the admin key, it is shown only once:", file=sys.stderr)
    print(secret, flush=True)
    print("next: rankduel doctor, then rankduel serve", file=sys.stderr)
    return 0
