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
Create, list and revoke the API keys of a service. Keys are stored in its storage, so run this command on a machine that
can open the storage. A running service notices a change after one second.

Scopes: ask (duels), tell (outcomes and pages), ingest (events), read (leaderboard and reports), admin (everything).
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
        help="create, list and revoke API keys",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=RawDescriptionHelpFormatter,
    )
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    create = actions.add_parser("create", help="create a key and print it once")
    create.add_argument("name", metavar="NAME", help="name of the key, recorded in the journal")
    create.add_argument(
        "--scope", action="append", choices=SCOPES, required=True, help="scope of the key; may be repeated"
    )
    show = actions.add_parser("list", help="list the keys without their secrets")
    show.add_argument("--json", action="store_true", help="print JSON")
    revoke = actions.add_parser("revoke", help="revoke a key")
    revoke.add_argument("id", metavar="ID", help="id of the key, as listed: the part between its first two underscores")
    for action, run in ((create, _create), (show, _list), (revoke, _revoke)):
        add_storage_options(action, services=False)
        action.set_defaults(run=partial(_run, action, run))


def _run(parser: ArgumentParser, act: Callable[[Storage, Namespace], int], options: Namespace) -> int:
    url = storage_url(parser, options)
    if is_service(url):
        parser.error(f"--storage must be a storage such as sqlite:///duels.db, got the service {url}")
    try:
        with closing(storage_at(url, own=False)) as storage:
            return act(storage, options)
    except (ValueError, ImportError) as error:  # ImportError: a missing extra
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
    print(table(("id", "name", "scopes", "created", "revoked"), lines), end="")
    return 0


def _revoke(storage: Storage, options: Namespace) -> int:
    if not storage.revoke_key(options.id, time()):
        raise ValueError(f"no valid key has the id {options.id!r}; run rankduel keys list")
    print(f"revoked {options.id}")
    return 0
