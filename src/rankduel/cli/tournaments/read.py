"""`rankduel tournaments list`, `show` and `export`. They also work while a service uses the storage."""

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rankduel.cli.shared.numbers import whole
from rankduel.cli.shared.storage_option import is_service
from rankduel.cli.shared.tables import table
from rankduel.client import RemoteTournament, names_at
from rankduel.live import storage_at
from rankduel.live.admin.import_export import BATTLES, JOURNAL, battle_rows, to_csv, to_ndjson, write_parquet
from rankduel.live.read_only import StoredTournament
from rankduel.types import Outcome

__all__ = [
    "declare_export",
    "declare_list",
    "declare_show",
    "export",
    "facts",
    "list_tournaments",
    "open_read_only",
    "print_json",
    "show",
]

_DUELS = {"duel": str, "first": str, "second": str, "state": str, "outcome": str, "issued": float, "expires": float}
_STANDINGS = {"ranker": str, "state": str, "wins": int, "losses": int, "ties": int}
_FORMATS = ("ndjson", "csv", "parquet")
_DUELS_PER_READ = 1000

ReadableTournament = StoredTournament | RemoteTournament


def declare_list(parser: ArgumentParser) -> None:
    """Add the options of `list`."""
    parser.add_argument("--all", action="store_true", help="with archived tournaments")
    parser.add_argument("--json", action="store_true", help="print JSON")


def declare_show(parser: ArgumentParser) -> None:
    """Add the options of `show`."""
    parser.add_argument("name", metavar="NAME", help="name of the tournament")
    parser.add_argument(
        "--limit", type=whole(0), default=20, metavar="N", help="number of rankers in the table (default: 20)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def declare_export(parser: ArgumentParser) -> None:
    """Add the options of `export`."""
    parser.add_argument("name", metavar="NAME", help="name of the tournament")
    parser.add_argument(
        "--what",
        choices=("journal", "duels", "battles", "leaderboard"),
        default="journal",
        help="data to export: all events, all duels, outcomes as model_a, model_b, winner, or the leaderboard "
        "(default: journal)",
    )
    parser.add_argument("--format", choices=_FORMATS, default="ndjson", help="file format (default: ndjson)")
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="new file; an existing file is never overwritten (default: stdout)"
    )


def list_tournaments(url: str, options: Namespace) -> int:
    """List tournaments, without archived ones unless asked for."""
    listed = []
    for name in _names(url, archived=options.all):
        with closing(open_read_only(url, name)) as tournament:
            if options.all or tournament.status != "archived":
                listed.append(facts(tournament))
    if options.json:
        print_json(listed)
        return 0
    head = ("name", "status", "rankers", "left", "champion", "winner", "issued", "resolved")
    rows = []
    for each in listed:
        sizes = len(each["rankers"]), len(each["left"])
        counts = each["counts"]["issued"], each["counts"]["resolved"]
        rows.append((each["name"], each["status"], *sizes, each["champion"], each["winner"] or "-", *counts))
    print(table(head, rows), end="")
    return 0


def show(url: str, options: Namespace) -> int:
    """Show the decision and the leaderboard of a tournament."""
    with closing(open_read_only(url, options.name)) as tournament:
        lines = tournament.leaderboard()[: options.limit]
        if options.json:
            print_json(facts(tournament) | {"leaderboard": [_standing(line) for line in lines]})
            return 0
        decided, counts = tournament.decision(), tournament.counts
        numbers = ", ".join(f"{value:,} {name.replace('_', ' ')}" for name, value in asdict(counts).items())
        print(f"{tournament.name}: {tournament.status}\n{tournament.users_see}\n{decided}")
        print(f"duels: {numbers}, {counts.in_flight:,} in flight\n")
        rows = [(line.ranker, line.state, line.wins, line.losses, line.ties, line.rate) for line in lines]
        print(table(("ranker", "state", "wins", "losses", "ties", "rate"), rows), end="")
        if (more := len(tournament.rankers) - len(lines)) > 0:
            print(f"and {more} more; use --limit {len(tournament.rankers)} to show all")
    return 0


def export(url: str, options: Namespace) -> int:
    """Export the data of a tournament."""
    with closing(open_read_only(url, options.name)) as tournament:
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


def _names(url: str, *, archived: bool) -> list[str]:
    if is_service(url):
        return names_at(url, archived=archived)
    with closing(storage_at(url, own=False)) as storage:
        return storage.names()


def open_read_only(url: str, name: str) -> ReadableTournament:
    """Open a tournament for reading, also while a service uses it."""
    if is_service(url):
        return RemoteTournament.open(name, storage=url)
    storage = storage_at(url, own=False)
    try:
        return StoredTournament(name, storage)
    except BaseException:
        storage.close()
        raise


def facts(tournament: ReadableTournament) -> dict[str, Any]:
    """A tournament as a dictionary for JSON."""
    decided = tournament.decision()
    secret = ("salt", "seed", "rankers")
    return {
        "name": tournament.name,
        "status": tournament.status,
        "users_see": tournament.users_see,
        "rollout": None if tournament.rollout is None else tournament.rollout._asdict(),
        "rankers": tournament.rankers,
        "headline": decided.headline,
        "meaning": decided.meaning,
        **asdict(decided),
        "counts": asdict(tournament.counts) | {"in_flight": tournament.counts.in_flight},
        "settings": {name: value for name, value in tournament.settings.to_dict().items() if name not in secret},
    }


def print_json(value: Any) -> None:
    """Print a value as JSON."""
    print(json.dumps(value, indent=2))
