"""`rankduel keys`: create, list and revoke API keys."""

import json
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable
from contextlib import closing
from functools import partial
from time import time

from rankduel.cli.shared.storage_option import add_storage_options, is_service, storage_url
from rankduel.cli.shared.tables import date, table
from rankduel.live import Storage, storage_at
from rankduel.service.auth.keys import SCOPES, new_key

__all__ = ["declare"]

_DESCRIPTION = """\
Make, list and revoke the API keys of a service. They are in its storage, so this is done where the storage is; a
service that runs knows of it after a second.

Scopes: ask (duels), tell (outcomes and pages), ingest (events), read (standings), admin (everything).
"""
_EXAMPLES = """\
examples:
  rankduel keys create shop --scope ask --scope tell
  rankduel keys list
  rankduel keys revoke 5f1c0a9b2d3e
"""


def declare(add_parser: Callable[..., ArgumentParser]) -> None:
    """Add the command and its options."""
    parser = add_parser(
        "keys",
        help="make, list and revoke API keys",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=RawDescriptionHelpFormatter,
    )
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    create = actions.add_parser("create", help="make a key, and print it: it is shown only once")
    create.add_argument("name", metavar="NAME", help="who will have it, for the journal")
    create.add_argument("--scope", action="append", choices=SCOPES, required=True, help="what for; may be repeated")
    show = actions.add_parser("list", help="the keys, without their secrets")
    show.add_argument("--json", action="store_true", help="as JSON")
    revoke = actions.add_parser("revoke", help="end a key")
    revoke.add_argument("id", metavar="ID", help="as in the list: the part between the first two _ of a key")
    for action, run in ((create, _create), (show, _list), (revoke, _revoke)):
        add_storage_options(action, services=False)
        action.set_defaults(run=partial(_run, action, run))


def _run(parser: ArgumentParser, act: Callable[[Storage, Namespace], int], options: Namespace) -> int:
    url = storage_url(parser, options)
    if is_service(url):
        parser.error(f"keys are made where the storage is, not over {url}")
    try:
        with closing(storage_at(url, own=False)) as storage:
            return act(storage, options)
    except (ValueError, ImportError) as error:  # ImportError: an extra is not installed
        parser.error(str(error))


def _create(storage: Storage, options: Namespace) -> int:
    print(new_key(storage, options.name, options.scope)[1])
    return 0


def _list(storage: Storage, options: Namespace) -> int:
    keys = storage.keys()
    if options.json:
        hidden = {"digest"}
        rows = [{name: value for name, value in key._asdict().items() if name not in hidden} for key in keys]
        print(json.dumps(rows, indent=2))
        return 0
    lines = [
        (key.id, key.name, key.scopes, date(key.created), date(key.revoked) if key.revoked else "-") for key in keys
    ]
    print(table(("id", "name", "scopes", "made", "revoked"), lines), end="")
    return 0


def _revoke(storage: Storage, options: Namespace) -> int:
    if not storage.revoke_key(options.id, time()):
        raise ValueError(f"no key {options.id!r} that is valid: see rankduel keys list")
    print(f"revoked {options.id}")
    return 0
