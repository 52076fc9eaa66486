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
Write a {CONFIG} with every setting explained, make the storage, and make an API key that may do everything.

The key goes to stdout, once: only its hash is stored, and nobody can show it again. All else goes to stderr. A file
that is there is never overwritten; a storage that is there stays as it is, and gets one key more.
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
        help="write a rankduel.toml, make a storage and an admin key",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("--storage", default=_STORAGE, metavar="URL", help=f"where to keep tournaments ({_STORAGE})")
    parser.add_argument("--config", type=Path, default=CONFIG, metavar="FILE", help=f"what to write ({CONFIG})")
    parser.set_defaults(run=partial(_init, parser))


def _init(parser: ArgumentParser, options: Namespace) -> int:
    if is_service(options.storage):
        parser.error(f"{options.storage} is a service already: a service needs a storage, as {_STORAGE}")
    try:
        file = os.open(options.config, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)  # an address may hold a password
    except FileExistsError:
        parser.error(f"{options.config} is there already, and is not overwritten")
    try:
        with os.fdopen(file, "w") as config:
            config.write(default_config_text(options.storage))
        with closing(storage_at(options.storage)) as storage:
            from rankduel.service.auth.keys import new_key  # noqa: PLC0415 - not of the core

            url, (_, secret) = storage.url, new_key(storage, "admin", ["admin"])
    except BaseException as error:
        options.config.unlink()
        if isinstance(error, ValueError | ImportError):
            parser.error(str(error))
        raise
    print(f"made {options.config} and {url}; the admin key, which is shown only now:", file=sys.stderr)
    print(secret, flush=True)
    print("next: rankduel doctor, then rankduel serve", file=sys.stderr)
    return 0
