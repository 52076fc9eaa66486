"""`rankduel storage`: back up, verify, repair and upgrade a storage."""

import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable
from functools import partial
from itertools import chain
from pathlib import Path

from rankduel.cli.shared.findings import print_findings
from rankduel.cli.shared.storage_option import add_storage_options, is_service, storage_url
from rankduel.live.admin.backup import backup
from rankduel.live.admin.migrate import upgrade
from rankduel.live.admin.repair import repair
from rankduel.live.admin.verify import verify

__all__ = ["declare"]

_DESCRIPTION = """\
Back up, verify, repair or upgrade a storage.

backup copies a SQLite storage, even while it is in use. The copy is consistent, verified and synced to disk.

verify checks a storage, even while it is in use: the pages of the file, gaps in journals, the newest snapshot against
the replayed state, and the duels against the journal. The exit code is 1 if it finds an error. With --repair, events
that cannot be replayed are set aside first, each with an entry in the audit log.

upgrade migrates the schema of an older version to this version. No other command does that.

Stop the service and make a backup before you repair or upgrade.
"""
_EXAMPLES = """\
examples:
  rankduel storage backup duels-monday.db --storage sqlite:///duels.db
  rankduel storage verify --storage sqlite:///duels-monday.db
  rankduel storage verify --repair --storage sqlite:///duels.db
  rankduel storage upgrade --storage sqlite:///duels.db
"""


def declare(add_parser: Callable[..., ArgumentParser]) -> None:
    """Add the command and its options."""
    parser = add_parser(
        "storage",
        help="back up, verify, repair or upgrade a storage",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=RawDescriptionHelpFormatter,
    )
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    copy = actions.add_parser("backup", help="copy a SQLite storage, even while it is in use")
    copy.add_argument(
        "file", type=Path, metavar="FILE", help="new file for the copy; an existing file is never overwritten"
    )
    check = actions.add_parser("verify", help="check file, journals, snapshots and duels")
    check.add_argument("--repair", action="store_true", help="set aside events that cannot be replayed, then verify")
    step = actions.add_parser("upgrade", help="migrate a storage to this version")
    for action, run in ((copy, _backup), (check, _verify), (step, _upgrade)):
        add_storage_options(action, services=False)
        action.set_defaults(run=partial(_run, action, run))


def _run(parser: ArgumentParser, act: Callable[[str, Namespace], int], options: Namespace) -> int:
    url = storage_url(parser, options)
    if is_service(url):
        parser.error(f"--storage must be a storage such as sqlite:///duels.db, got the service {url}")
    try:
        return act(url, options)
    except (ValueError, ImportError) as error:  # ImportError: a missing extra
        parser.error(str(error))


def _backup(url: str, options: Namespace) -> int:
    size = backup(url, options.file)
    print(f"{options.file}: {size:,} bytes", file=sys.stderr)
    return 0


def _verify(url: str, options: Namespace) -> int:
    return print_findings(chain(repair(url) if options.repair else (), verify(url)))


def _upgrade(url: str, _options: Namespace) -> int:
    before, after = upgrade(url)
    print(
        "nothing to do: the schema is up to date" if before == after else f"upgraded from schema {before} to {after}",
        file=sys.stderr,
    )
    return 0
