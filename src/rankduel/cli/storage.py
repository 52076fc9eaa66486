"""`rankduel storage`: back up, verify, repair, upgrade and prune a storage, and erase a client."""

import getpass
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path

from rankduel.cli.shared.findings import print_findings
from rankduel.cli.shared.numbers import age, count, duration
from rankduel.cli.shared.progress import ProgressState, show_progress
from rankduel.cli.shared.storage_option import add_storage_options, is_service, storage_url
from rankduel.client import RemoteTournament, names_at
from rankduel.live.admin.backup import backup
from rankduel.live.admin.migrate import upgrade
from rankduel.live.admin.repair import repair
from rankduel.live.admin.retention import PruneProgress, count_old, erase, prune, vacuum
from rankduel.live.admin.sqlite_files import is_postgres
from rankduel.live.admin.verify import verify

__all__ = ["declare"]

_DESCRIPTION = """\
Back up, verify, repair, upgrade or prune a storage, or erase a client.

backup copies a SQLite storage, even while it is in use. The copy is consistent, verified and synced to disk.

verify checks a storage, even while it is in use: the pages of the file, gaps in journals, the newest snapshot against
the replayed state, and the duels against the journal. The exit code is 1 if it finds an error. With --repair, events
that cannot be replayed are set aside first, each with an entry in the audit log.

upgrade migrates the schema of an older version to this version. No other command does that.

prune removes the pages, signals and client hashes of old duels. Outcomes and the journal stay, so that nothing that was
learnt changes. You can stop it at any time: the next run continues. A running service owns its SQLite file: there, set
retention_days in rankduel.toml instead.

erase removes the data of one client: the hash of its id, and the pages, signals and query ids of its duels. With
--storage http://HOST:PORT it works while the service runs.

Stop the service and make a backup before you repair or upgrade.
"""
_EXAMPLES = """\
examples:
  rankduel storage backup duels-monday.db --storage sqlite:///duels.db
  rankduel storage verify --storage sqlite:///duels-monday.db
  rankduel storage verify --repair --storage sqlite:///duels.db
  rankduel storage upgrade --storage sqlite:///duels.db
  rankduel storage prune --older-than 90d --dry-run --storage sqlite:///duels.db
  rankduel storage prune --older-than 90d --vacuum --storage sqlite:///duels.db
  rankduel storage erase --client u-81 --storage http://127.0.0.1:8080
"""


def declare(add_parser: Callable[..., ArgumentParser]) -> None:
    """Add the command and its options."""
    parser = add_parser(
        "storage",
        help="back up, verify, repair, upgrade or prune a storage, or erase a client",
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
    old = actions.add_parser("prune", help="remove pages, signals and client hashes of old duels")
    old.add_argument(
        "--older-than", type=age, required=True, metavar="AGE", help="since the ask, in days, hours or minutes: 90d"
    )
    old.add_argument("--query-ids", action="store_true", help="remove their query ids, too")
    old.add_argument("--dry-run", action="store_true", help="only count these duels, also while a service runs")
    old.add_argument(
        "--vacuum", action="store_true", help="then shrink the SQLite file; the disk needs room for a copy"
    )
    one = actions.add_parser("erase", help="remove the data of one client")
    one.add_argument("--client", required=True, metavar="CLIENT_ID", help="the client_id that you passed to ask")
    one.add_argument("--reason", default="", metavar="TEXT", help="reason, recorded in the journal")
    for action in (old, one):
        action.add_argument("--tournament", metavar="NAME", help="only this tournament (default: all)")
    for action, run in ((copy, _backup), (check, _verify), (step, _upgrade), (old, _prune), (one, _erase)):
        add_storage_options(action, services=action is one)
        action.set_defaults(run=partial(_run, action, run))


def _run(parser: ArgumentParser, act: Callable[[str, Namespace], int], options: Namespace) -> int:
    url = storage_url(parser, options)
    if is_service(url) and act is not _erase:
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


def _prune(url: str, options: Namespace) -> int:
    if options.vacuum and (options.dry_run or is_postgres(url)):
        reason = "PostgreSQL has autovacuum" if is_postgres(url) else "it changes the file"
        raise ValueError(f"--vacuum does not work with {'this storage' if is_postgres(url) else '--dry-run'}: {reason}")
    if options.dry_run:
        counts = count_old(url, options.older_than, options.tournament, query_ids=options.query_ids)
        for name, duels in counts.items():
            print(f"{name}: duels to prune: {duels:,}")
        return 0
    with show_progress() as show:
        for state in prune(url, options.older_than, options.tournament, query_ids=options.query_ids):
            show(_progress(state))
    if options.vacuum:
        before, after = vacuum(url)
        print(f"file: {before:,} bytes before, {after:,} bytes now", file=sys.stderr)
    return 0


def _progress(state: PruneProgress) -> ProgressState:
    done, total, seconds = state
    finished = done == total
    left = f"done in {duration(seconds)}" if finished else f"{duration(seconds * (total - done) / max(done, 1))} left"
    pace = f"{count(done / seconds if seconds else 0)}/s, {left}"
    return ProgressState(done / total if total else 1.0, f"pruned {done:,} of {total:,} duels", pace, finished)


def _erase(url: str, options: Namespace) -> int:
    if is_service(url):
        erased = _erase_in_service(url, options)
    else:
        erased = erase(url, options.client, options.tournament, reason=options.reason, by=getpass.getuser())
    for name, duels in erased:
        print(f"{name}: duels of the client: {duels:,}", flush=True)
    return 0


def _erase_in_service(url: str, options: Namespace) -> Iterator[tuple[str, int]]:
    """Like `erase`. The service records the name of the key as the operator."""
    for name in names_at(url) if options.tournament is None else [options.tournament]:
        with RemoteTournament.open(name, storage=url) as tournament:
            yield name, tournament.erase_client(options.client, options.reason)
