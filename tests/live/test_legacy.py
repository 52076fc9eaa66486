"""Storages that were written by an older version, one in each database: they open, and nothing in them is lost.

`legacy/schema1.db.gz` is a SQLite file and `legacy/schema1.sql.gz` a dump of a PostgreSQL database (`pg_dump --inserts
--no-owner --schema=rankduel`); both were made by the version of the commit that has added them, and have the same
content. `legacy/expected.json` says what is in them, and what becomes of it when it is told more. None of that depends
on the time of the test: duels that are open expire in the year 2053. The texts of decisions are today's: they are not
stored, but made when a tournament is read.
"""

import gzip
import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

import psycopg
import pytest

from live.learning import learnt
from postgres.server import Server
from rankduel import Outcome
from rankduel.cli import main
from rankduel.errors import StorageError
from rankduel.live import LocalTournament, storage_at
from rankduel.live.admin.verify import verify
from rankduel.live.rules.duels import numbers_of
from rankduel.live.runtime.state import State
from rankduel.live.storage.schema import SCHEMA
from rankduel.service.auth.keys import ApiKeys

HERE = Path(__file__).parent / "legacy"


def current_words(value: Any) -> Any:
    """Expected values in today's words: version 1 called a resolved duel "told"."""
    if isinstance(value, dict) and {"kind", "body"} <= value.keys():
        return value  # a quarantined event stays as it was stored
    if isinstance(value, dict):
        return {current_words(key): current_words(item) for key, item in value.items()}
    if isinstance(value, list):
        return [current_words(item) for item in value]
    return "resolved" if value == "told" else value


def current_settings(value: Any) -> Any:
    """Expected values with the settings and the statuses that version 1 did not have."""
    if isinstance(value, list):
        return [current_settings(item) for item in value]
    if not isinstance(value, dict):
        return value
    value = {key: current_settings(item) for key, item in value.items()}
    if "settings" in value:
        value["settings"] |= {"external_baseline": False, "after_decision": "winner"}
    if value.get("status") == "running" and (value["winner"] is not None or value["decision"]["tied"]):
        value["status"] = "decided"
    return value


EXPECTED: dict[str, Any] = current_settings(current_words(json.loads((HERE / "expected.json").read_text())))
LISTS = [f"a{place}" for place in range(8)], [f"b{place}" for place in range(8)]

T = TypeVar("T")
Tournaments = dict[str, LocalTournament]


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A storage as the older version has left it."""
    if request.param == "sqlite":
        (tmp_path / "duels.db").write_bytes(gzip.decompress((HERE / "schema1.db.gz").read_bytes()))
        return f"sqlite:///{tmp_path}/duels.db"
    server: Server = request.getfixturevalue("postgres")
    url = server.database()
    dump = gzip.decompress((HERE / "schema1.sql.gz").read_bytes())
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(dump)
    return url


def refusal(url: str) -> str | None:
    """Why a storage cannot be opened."""
    try:
        storage_at(url).close()
    except StorageError as error:
        return str(error)
    return None


@contextmanager
def opened(url: str) -> Iterator[Tournaments]:
    """Every tournament of a storage, open. An older schema is refused, with the command that upgrades it."""
    if (why := refusal(url)) is not None:
        assert EXPECTED["schema"] < SCHEMA, why
        assert "rankduel storage upgrade" in why
        assert main(["storage", "upgrade", "--storage", url]) == 0
    with closing(storage_at(url)) as storage:
        names = storage.names()
    with ExitStack() as stack:
        yield {name: stack.enter_context(LocalTournament.open(name, storage=url)) for name in names}


# What can be seen of a tournament, as JSON has it


def facts(t: LocalTournament) -> dict[str, Any]:
    """All that was learnt, and all that is counted."""
    counts, decision, view = t.counts, t.decision(), t.view()
    found = {
        "status": t.status,
        "settings": t.settings.to_dict(),
        "rankers": t.rankers,
        "champion": t.champion,
        "winner": t.winner,
        "number": t.number,
        "counts": asdict(counts) | {"in_flight": counts.in_flight},
        "decision": asdict(decision) | {"p_best_exists": rounded(decision.p_best_exists)},
        "decision in words": str(decision),
        "leaderboard": [asdict(standing) for standing in t.leaderboard()],
        "timeline": [asdict(gone) | {"evidence": rounded(gone.evidence)} for gone in t.timeline()],
        "preferences": [asdict(meeting) for meeting in t.preferences()],
        "evidence": None if view.evidence is None else [rounded(evidence) for evidence in view.evidence.tolist()],
        "events": Counter(event.kind for event in t.journal()),
        "duels": Counter(duel.state for duel in t.duels(limit=10_000)),
    }
    return as_json(found)


def health(t: LocalTournament) -> dict[str, Any]:
    """What became of asks, tells and signals."""
    found = asdict(t.health())
    del found["counts"], found["clock"]  # the clock of this machine
    return as_json(found)


def replay(t: LocalTournament) -> dict[str, Any]:
    """What all events give, without any snapshot. Rankers are numbers."""
    state = State.replay(t.journal())
    found = {
        "champion": state.bandit.champion,
        "resolved": state.bandit.told,
        "left": state.bandit.alive.tolist(),
        "retired": sorted(state.retired),
        "paused": sorted(state.paused),
        "wins": sorted([*pair, count] for pair, count in state.wins.items()),
        "ties": sorted([*pair, count] for pair, count in state.ties.items()),
    }
    return as_json(found)


def audit(t: LocalTournament) -> list[Any]:
    """What operators did, oldest first."""
    return as_json([[event.number, event.time, event.kind, event.body] for event in t.audit(1000)[::-1]])


def duel_of(t: LocalTournament, id: str) -> dict[str, Any]:
    """A duel and its signals, as they are stored."""
    numbers = numbers_of(id)
    assert numbers is not None
    row = t.storage.duel(t.name, *numbers)
    assert row is not None
    signals = [list(signal[2:8]) for signal in t.storage.signals(t.name, *numbers)]
    return as_json(row._asdict() | {"signals": signals})


def again(t: LocalTournament, query: str) -> dict[str, Any]:
    """The duel that a query has for ever, and its page."""
    duel = t.ask(query)
    page = duel.interleave(*LISTS, k=6)
    found = {name: getattr(duel, name) for name in ("id", "first", "second", "seed", "expires", "serve", "ticket")}
    return as_json({"query": query, **found, "documents": page.documents})


def as_json(value: T) -> T:
    again: T = json.loads(json.dumps(value))
    return again


def rounded(value: float | None) -> float | None:
    """To nine digits: more of a logarithm are the processor's own."""
    return None if value is None else float(f"{value:.9g}")


# What is done with it


def same_as_replay(t: LocalTournament) -> bool:
    return learnt(State.replay(t.journal())) == learnt(t._state)


def tell(t: LocalTournament, told: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Tell tickets, one after the other: what is told, and how that is answered."""
    answered = []
    for one in told:
        receipt = t.tell(one["ticket"], Outcome(one["tell"]))
        outcome = None if receipt.outcome is None else receipt.outcome.value
        answered.append(one | {"status": receipt.status.value, "outcome": outcome})
    return answered


def close_window(t: LocalTournament) -> None:
    """Let the window of all shown duels be over, so that their signals decide them."""
    t.configure(attribution={**(t.settings.attribution or {}), "window": 1800.0}, reason="a test")
    t.run_maintenance()


def go_on(t: LocalTournament, expected: dict[str, Any]) -> dict[str, Any]:
    """Tell what is still to be told; how it was answered, and what became of the duels that were shown."""
    answered = tell(t, expected["tickets"])
    if expected["shown"]:
        close_window(t)
    shown = {id: [duel_of(t, id)["state"], duel_of(t, id)["outcome"]] for id in expected["shown"]}
    return {"tickets": answered, "shown": shown}


# The tests


def check(tournaments: Tournaments, key: str, found: Callable[[LocalTournament], Any]) -> None:
    """Each tournament has what is expected under a key."""
    for name, t in tournaments.items():
        assert found(t) == EXPECTED["tournaments"][name][key], (name, key)


def test_only_an_older_schema_is_refused(url: str) -> None:
    assert (refusal(url) is not None) == (EXPECTED["schema"] < SCHEMA)
    with opened(url):
        pass
    assert refusal(url) is None


def test_everything_is_there(url: str) -> None:
    with opened(url) as tournaments:
        assert list(tournaments) == list(EXPECTED["tournaments"])
        check(tournaments, "before", facts)
        check(tournaments, "health", health)
        check(tournaments, "replay", replay)
        check(tournaments, "audit", audit)
        for name, t in tournaments.items():
            expected = EXPECTED["tournaments"][name]
            assert same_as_replay(t)
            assert {id: duel_of(t, id) for id in expected["duels"]} == expected["duels"]
            assert [again(t, one["query"]) for one in expected["queries"]] == expected["queries"]
            assert [t.ask(f"new for {client}", client).why for client in expected["refused"]] == [
                "share" for _ in expected["refused"]
            ]


def test_snapshots_can_still_be_read(url: str) -> None:
    """They save the replay of all events before them, and the events after them lead on from there."""
    with opened(url) as tournaments:
        for name, t in tournaments.items():
            kept = list(t.storage.snapshots(name))
            assert [one.number for one in kept] == EXPECTED["tournaments"][name]["snapshots"]
            for one in kept:
                state = State.from_snapshot(one)
                state.apply_all(t.journal(since=one.number))
                assert learnt(state) == learnt(State.replay(t.journal()))


def test_it_goes_on(url: str) -> None:
    """Old tickets are answered as if nothing had been, duels that were shown are decided, and all of it stays."""
    with opened(url) as tournaments:
        for name, t in tournaments.items():
            expected = EXPECTED["tournaments"][name]
            assert go_on(t, expected) == {"tickets": expected["tickets"], "shown": expected["shown"]}
            assert same_as_replay(t)
        check(tournaments, "after", facts)
        before = {name: t.number for name, t in tournaments.items()}
    found = list(verify(url))
    assert {finding.level for finding in found} == {"ok"}, found
    with opened(url) as tournaments:
        check(tournaments, "after", facts)
        for name, t in tournaments.items():
            assert same_as_replay(t)
            accepted = [one for one in EXPECTED["tournaments"][name]["tickets"] if one["status"] == "accepted"]
            assert {one["status"] for one in tell(t, accepted)} <= {"duplicate"}
            assert t.number == before[name]


def test_it_is_whole(url: str) -> None:
    with opened(url):
        pass
    found = list(verify(url))
    assert {finding.level for finding in found} == {"ok"}, found


def test_api_keys(url: str) -> None:
    with opened(url):
        pass
    with closing(storage_at(url, own=False)) as storage:
        assert as_json(storage.keys()) == EXPECTED["keys"]["stored"]
        ring = ApiKeys.load(storage)
        for text, id in EXPECTED["keys"]["shown"].items():
            key = ring.verify(text)
            assert (None if key is None else key.id) == id
