"""`rankduel tournaments`: create, list, show, start, pause, stop and export tournaments."""

import getpass
import json
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from rankduel.cli.shared.numbers import whole
from rankduel.cli.shared.storage_option import add_storage_options, is_service, storage_url
from rankduel.cli.shared.tables import table
from rankduel.client import RemoteTournament, Tournament, names_at
from rankduel.live import storage_at
from rankduel.live.admin.import_export import BATTLES, JOURNAL, battle_rows, to_csv, to_ndjson, write_parquet
from rankduel.live.read_only import StoredTournament
from rankduel.types import Outcome

__all__ = ["declare"]

_DESCRIPTION = """\
Create, show, pause, stop and export the tournaments of a storage or a service.

For a service, pass its address, --storage http://HOST:PORT, and set the environment variable RANKDUEL_KEY to an API
key. While a service uses a SQLite storage, you can read the file directly, but to change a tournament you must pass the
address of the service. Use --json for output that programs read.
"""
_EXAMPLES = """\
examples:
  rankduel tournaments create home-search --ranker bm25 --ranker ltr --ranker neural --baseline bm25
  rankduel tournaments list --storage http://127.0.0.1:8080
  rankduel tournaments show home-search --json
  rankduel tournaments pause home-search --reason "a release is rolled out"
  rankduel tournaments export home-search --what battles --format csv --out battles.csv
"""
_DUELS = {"duel": str, "first": str, "second": str, "state": str, "outcome": str, "issued": float, "expires": float}
_STANDINGS = {"ranker": str, "state": str, "wins": int, "losses": int, "ties": int}
_FORMATS = ("ndjson", "csv", "parquet")
_DUELS_PER_READ = 1000

ReadableTournament = StoredTournament | RemoteTournament


def declare(add_parser: Callable[..., ArgumentParser]) -> None:
    """Add the command and its options."""
    parser = add_parser(
        "tournaments",
        help="create, show, pause, stop and export tournaments",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=RawDescriptionHelpFormatter,
    )
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    create = actions.add_parser("create", help="create a tournament")
    _declare_create(create)
    listing = actions.add_parser("list", help="list all tournaments")
    show = actions.add_parser("show", help="show the decision and the leaderboard of a tournament")
    show.add_argument("name", metavar="NAME", help="name of the tournament")
    show.add_argument(
        "--limit", type=whole(0), default=20, metavar="N", help="number of rankers in the table (default: 20)"
    )
    for action in (create, listing, show):
        action.add_argument("--json", action="store_true", help="print JSON")
    runs: list[tuple[ArgumentParser, Callable[[str, Namespace], int]]] = [
        (create, _create),
        (listing, _list),
        (show, _show),
    ]
    for verb, about in (
        ("start", "resume a paused tournament"),
        ("pause", "stop issuing duels until you start it again, and show users the baseline"),
        ("stop", "end a tournament for good"),
    ):
        operate = actions.add_parser(verb, help=about)
        operate.add_argument("name", metavar="NAME", help="name of the tournament")
        operate.add_argument("--reason", default="", metavar="TEXT", help="reason, recorded in the journal")
        runs.append((operate, partial(_operate, verb)))
    export = actions.add_parser("export", help="export the data of a tournament")
    export.add_argument("name", metavar="NAME", help="name of the tournament")
    export.add_argument(
        "--what",
        choices=("journal", "duels", "battles", "leaderboard"),
        default="journal",
        help="data to export: all events, all duels, outcomes as model_a, model_b, winner, or the leaderboard "
        "(default: journal)",
    )
    export.add_argument("--format", choices=_FORMATS, default="ndjson", help="file format (default: ndjson)")
    export.add_argument(
        "--out", type=Path, metavar="FILE", help="new file; an existing file is never overwritten (default: stdout)"
    )
    runs.append((export, _export))
    for action, run in runs:
        add_storage_options(action)
        action.set_defaults(run=partial(_run, action, run))


def _declare_create(parser: ArgumentParser) -> None:
    option = parser.add_argument
    option("name", metavar="NAME", help="name of the tournament")
    option("--ranker", action="append", default=[], metavar="NAME", help="name of a ranker; may be repeated")
    option("--rankers", type=Path, metavar="FILE", help="file with one ranker name per line")
    option("--bandit", metavar="SPEC", help="bandit that chooses the duels (default: CertifiedSparring)")
    option(
        "--delta", type=float, metavar="P", help="maximum probability of eliminating the best ranker (default: 0.01)"
    )
    option(
        "--tolerance",
        type=float,
        metavar="D",
        help="distance from 1/2 within which the last rankers end as tied (default: never)",
    )
    option("--baseline", metavar="RANKER", help="ranker that users see without a duel (default: the champion)")
    option("--interleaving", default="team_draft", metavar="METHOD", help="interleaving method (default: team_draft)")
    option("--share", type=float, metavar="S", help="share of the traffic that takes part, from 0 to 1 (default: 1)")
    option("--shadow", action="store_true", help="dry run: choose and log duels, show users the baseline")
    option(
        "--daily-cap", type=whole(1), metavar="N", help="maximum number of duels per client and day (default: no cap)"
    )
    option("--in-flight-cap", type=whole(1), metavar="N", help="maximum number of duels in flight (default: no cap)")
    option(
        "--expires-after",
        type=float,
        default=86_400,
        metavar="SECONDS",
        help="time until a duel without an outcome expires (default: 86400, one day)",
    )
    option("--seed", type=whole(0), metavar="S", help="random seed of the bandit and the pages (default: a new one)")
    option("--exist-ok", action="store_true", help="succeed if the tournament exists with the same settings")


def _run(parser: ArgumentParser, act: Callable[[str, Namespace], int], options: Namespace) -> int:
    try:
        return act(storage_url(parser, options), options)
    except (ValueError, TypeError, ImportError) as error:  # ImportError: a missing extra
        parser.error(str(error))


def _create(url: str, options: Namespace) -> int:
    rankers = list(options.ranker)
    if options.rankers is not None:
        rankers += [line.strip() for line in options.rankers.read_text().splitlines() if line.strip()]
    if not rankers:
        raise ValueError("no rankers given; repeat --ranker NAME, or pass --rankers FILE")
    if options.bandit is not None and (options.delta is not None or options.tolerance is not None):
        raise ValueError(
            f"--delta and --tolerance are for the default bandit; pass them as options of --bandit {options.bandit!r}"
        )
    dials = {name: getattr(options, name) for name in ("baseline", "share", "daily_cap", "in_flight_cap")}
    given = {name: value for name, value in dials.items() if value is not None} | (
        {"shadow": True} if options.shadow else {}
    )
    with Tournament.create(
        options.name,
        rankers=rankers,
        storage=url,
        bandit=options.bandit,
        delta=options.delta,
        tolerance=options.tolerance,
        interleaving=options.interleaving,
        expires_after=options.expires_after,
        seed=options.seed,
        exist_ok=options.exist_ok,
        **given,
    ):
        pass
    with closing(_open_read_only(url, options.name)) as tournament:
        if options.json:
            _print_json(_facts(tournament))
        else:
            print(f"{options.name}: {len(rankers)} rankers, {tournament.settings.bandit}")
    return 0


def _list(url: str, options: Namespace) -> int:
    facts = []
    for name in _names(url):
        with closing(_open_read_only(url, name)) as tournament:
            facts.append(_facts(tournament))
    if options.json:
        _print_json(facts)
        return 0
    head = ("name", "status", "rankers", "left", "champion", "winner", "issued", "resolved")
    rows = []
    for each in facts:
        sizes = len(each["rankers"]), len(each["left"])
        counts = each["counts"]["issued"], each["counts"]["resolved"]
        rows.append((each["name"], each["status"], *sizes, each["champion"], each["winner"] or "-", *counts))
    print(table(head, rows), end="")
    return 0


def _show(url: str, options: Namespace) -> int:
    with closing(_open_read_only(url, options.name)) as tournament:
        lines = tournament.leaderboard()[: options.limit]
        if options.json:
            _print_json(_facts(tournament) | {"leaderboard": [_standing(line) for line in lines]})
            return 0
        decided, counts = tournament.decision(), tournament.counts
        numbers = ", ".join(f"{value:,} {name.replace('_', ' ')}" for name, value in asdict(counts).items())
        print(f"{tournament.name}: {tournament.status}\n{decided}\nduels: {numbers}, {counts.in_flight:,} in flight\n")
        rows = [(line.ranker, line.state, line.wins, line.losses, line.ties, line.rate) for line in lines]
        print(table(("ranker", "state", "wins", "losses", "ties", "rate"), rows), end="")
        if (more := len(tournament.rankers) - len(lines)) > 0:
            print(f"and {more} more; use --limit {len(tournament.rankers)} to show all")
    return 0


def _operate(verb: str, url: str, options: Namespace) -> int:
    by = "" if is_service(url) else getpass.getuser()  # a service records the name of the key
    with Tournament.open(options.name, storage=url) as tournament:
        getattr(tournament, verb)(options.reason, by)
        print(f"{options.name}: {tournament.status}")
    return 0


def _export(url: str, options: Namespace) -> int:
    with closing(_open_read_only(url, options.name)) as tournament:
        columns, rows = _EXPORTS[options.what](tournament)
        if options.format == "parquet" and options.out is None:
            raise ValueError("--format parquet needs --out FILE: Parquet cannot be written to stdout")
        if options.out is None:
            for text in _texts(options.format, columns, rows):
                sys.stdout.write(text)
            return 0
        try:
            with options.out.open("xb") as file:
                if options.format == "parquet":
                    write_parquet(rows, columns, file)
                else:
                    for text in _texts(options.format, columns, rows):
                        file.write(text.encode())
        except FileExistsError:
            raise ValueError(f"{options.out} already exists; choose another file with --out") from None
        except BaseException:
            options.out.unlink()  # an incomplete file looks like a complete one
            raise
    return 0


def _texts(form: str, columns: dict[str, type], rows: Iterable[dict[str, Any]]) -> Iterator[str]:
    return to_csv(rows, columns) if form == "csv" else to_ndjson(rows)


def _journal(tournament: ReadableTournament) -> tuple[dict[str, type], Iterator[dict[str, Any]]]:
    return dict(JOURNAL), (event._asdict() for event in tournament.journal())


def _battles(tournament: ReadableTournament) -> tuple[dict[str, type], Iterator[dict[str, Any]]]:
    rankers = tournament.rankers
    resolved = (event.body for event in tournament.journal() if event.kind == "resolved")
    battles = ((rankers[body["first"]], rankers[body["second"]], Outcome(body["outcome"])) for body in resolved)
    return dict(BATTLES), iter(battle_rows(battles))


def _duels(tournament: ReadableTournament) -> tuple[dict[str, type], Iterator[dict[str, Any]]]:
    def rows() -> Iterator[dict[str, Any]]:
        rankers, before = tournament.rankers, None
        while page := tournament.duels(_DUELS_PER_READ, before):
            for row in page:
                names = {"duel": row.id, "first": rankers[row.first], "second": rankers[row.second]}
                yield {column: names.get(column, getattr(row, column, None)) for column in _DUELS}
            before = page[-1].id

    return dict(_DUELS), rows()


def _leaderboard(tournament: ReadableTournament) -> tuple[dict[str, type], Iterator[dict[str, Any]]]:
    return dict(_STANDINGS), (_standing(line) for line in tournament.leaderboard())


_EXPORTS: dict[str, Callable[[ReadableTournament], tuple[dict[str, type], Iterator[dict[str, Any]]]]] = {
    "journal": _journal,
    "duels": _duels,
    "battles": _battles,
    "leaderboard": _leaderboard,
}


def _standing(line: Any) -> dict[str, Any]:
    return {column: getattr(line, column) for column in _STANDINGS}


def _names(url: str) -> list[str]:
    if is_service(url):
        return names_at(url)
    with closing(storage_at(url, own=False)) as storage:
        return storage.names()


def _open_read_only(url: str, name: str) -> ReadableTournament:
    """Open a tournament for reading, also while a service uses it."""
    if is_service(url):
        return RemoteTournament.open(name, storage=url)
    storage = storage_at(url, own=False)
    try:
        return StoredTournament(name, storage)
    except BaseException:
        storage.close()
        raise


def _facts(tournament: ReadableTournament) -> dict[str, Any]:
    """A tournament as a dictionary for JSON."""
    decided = tournament.decision()
    secret = ("salt", "seed", "rankers")
    return {
        "name": tournament.name,
        "status": tournament.status,
        "rankers": tournament.rankers,
        "headline": decided.headline,
        "meaning": decided.meaning,
        **asdict(decided),
        "counts": asdict(tournament.counts) | {"in_flight": tournament.counts.in_flight},
        "settings": {name: value for name, value in tournament.settings.to_dict().items() if name not in secret},
    }


def _print_json(value: Any) -> None:
    print(json.dumps(value, indent=2))
