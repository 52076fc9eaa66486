"""What every storage does, on each database; and that both do the same."""

import random
from pathlib import Path
from typing import Any

import pytest

import rankduel as rd
from postgres.server import Server
from rankduel.live import DuelRow, Event, Status, Storage, storage_at
from rankduel.live.storage.contract import (
    Change,
    CounterDelta,
    Created,
    Delete,
    DeleteRows,
    Entry,
    ExpireDue,
    KeyRow,
    Opened,
    Remove,
    Show,
    SignalRow,
    Snapshot,
    Tell,
    TellResult,
    Void,
)

SETTINGS = {"rankers": ["a", "b", "c", "d", "e"]}


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/duels.db"
    server: Server = request.getfixturevalue("postgres")
    return server.empty()


def row(number: int, query: str | None = None, **more: Any) -> DuelRow:
    return DuelRow(1, number, query, None, 3, 4, None, None, 1.0, 9.0, **more)


@pytest.mark.slow
def test_what_is_committed_is_read(url: str) -> None:
    storage = storage_at(url)
    done = storage.commit({"x": [Created(0.0, SETTINGS), row(1, "q")], "y": [Created(0.0, SETTINGS)]})
    assert done.results["x"][1] == row(1, "q")
    done = storage.commit({"x": [Tell(1, 1, None, "tie", 2.0), Tell(1, 2, row(2), "first", 1.5)]})
    assert done.results["x"] == [TellResult(Status.ACCEPTED, "tie"), TellResult(Status.ACCEPTED, "first")]
    told = Event(2, 2.0, "resolved", {"duel": "1-1", "first": 3, "second": 4, "outcome": "tie"})
    assert done.events["x"] == [told, Event(3, 2.0, "resolved", told.body | {"duel": "1-2", "outcome": "first"})]
    counts = {
        "issued": 1,
        "resolved": 2,
        "pages": 2,
        "delay 1": 2,
        "outcome tie": 1,
        "outcome first": 1,
        "recovered asks": 1,
    }
    assert done.counts["x"] == counts
    assert (
        storage.duel("x", 1, 1)
        == storage.duels_of("x", ["p", "q"])["q"]
        == row(1, "q", state="resolved", outcome="tie")
    )
    storage.close()
    storage = storage_at(url)
    assert storage.names() == ["x", "y"]
    assert list(storage.read("x"))[:2] == [Event(1, 0.0, "created", SETTINGS), told]
    assert [event.number for event in storage.read("x", 1)] == [2, 3]
    assert list(storage.read("z")) == []
    assert storage.duel("y", 1, 1) is storage.duel("x", 2, 1) is None
    assert storage.duels_of("y", ["q"]) == {}
    assert storage.counts("x") == counts | {"issued": 2}
    assert [duel.number for duel in storage.duels("x", 5)] == [2, 1]
    assert [duel.number for duel in storage.duels("x", 5, (1, 2))] == [1]
    storage.close()


def test_a_batch_is_written_whole_or_not_at_all(url: str) -> None:
    storage = storage_at(url)
    storage.commit({"x": [Created(0.0, SETTINGS)]})
    with pytest.raises(TypeError, match="not JSON serializable"):
        storage.commit({"x": [row(1), Tell(1, 1, None, "tie", 2.0)], "y": [Created(0.0, {"rankers": {1}})]})
    assert [event.number for event in storage.read("x")] == [1]
    assert storage.duel("x", 1, 1) is None
    assert storage.counts("x") == {}
    storage.close()


def test_an_unknown_tournament_does_not_harm_others(url: str) -> None:
    """It was deleted: its entries have no results, and the rest of the batch is written."""
    storage = storage_at(url)
    storage.commit({"x": [Created(0.0, SETTINGS)]})
    committed = storage.commit({"x": [row(1), Tell(1, 1, None, "tie", 2.0)], "y": [ExpireDue(0.0)]})
    assert set(committed.results) == {"x"}
    assert str(committed.unknown["y"]) == "unknown tournament 'y'; it was deleted"
    assert [event.number for event in storage.read("x")] == [1, 2]
    storage.close()


def test_a_deleted_tournament_and_a_new_one_with_its_name(url: str) -> None:
    storage = storage_at(url)
    storage.commit({"x": [Created(0.0, SETTINGS), row(1, "q"), Tell(1, 1, None, "tie", 2.0), Opened()]})
    storage.commit({"x": [Delete()]})
    assert storage.names() == []
    (waiting,) = storage.deleted_names()
    storage.commit({"x": [Created(5.0, SETTINGS)]})
    assert storage.names() == ["x"]
    assert [event.time for event in storage.read("x")] == [5.0]
    assert storage.commit({waiting: [DeleteRows()]}).results[waiting] == [0]  # few rows: all at once
    assert storage.deleted_names() == []
    assert storage.duels_of("x", ["q"]) == {}
    assert storage.counts("x") == {}
    assert storage.commit({"x": [Opened()]}).results["x"] == [1]
    storage.close()


def test_pages_signals_and_clients_are_removed(url: str) -> None:
    storage = storage_at(url)
    storage.commit({"x": [Created(0.0, SETTINGS)], "y": [Created(0.0, SETTINGS)]})
    duels = [
        row(number, f"q{number}")._replace(client=f"c{number % 2}", issued=float(number)) for number in range(1, 7)
    ]
    click = SignalRow(1, 1, "k", 2.0, "click", "d", 1, None, declared=True)
    entries: list[Entry] = [click._replace(number=number) for number in (1, 2, 5)]
    shown = [Show(1, number, None, '{"page":1}', 2.0) for number in (1, 5)]
    tells = [Tell(1, number, None, "tie", 2.0) for number in (1, 2, 3, 4)]
    for name in ("x", "y"):
        storage.commit({name: [*duels, *entries, *shown, *tells]})
    assert storage.old_duels("x", 4.0, 9) == [(1, 1), (1, 2), (1, 3)]  # those before, which are not open
    assert storage.old_duels("x", 9.0, 2) == [(1, 1), (1, 2)]
    assert (storage.count_old_duels("x", 4.0), storage.count_old_duels("z", 9.0)) == (3, 0)
    before = list(storage.read("x"))
    times = [storage.event_time("x", number) for number in (1, 2, 99)]
    assert times == [before[0].time, before[1].time, None]
    of_resolved = [(3, 4, f"c{number % 2}") for number in (1, 2, 3, 4)]
    assert [one for many in storage.clients_of_duels("x") for one in many] == of_resolved
    assert list(storage.clients_of_duels("z")) == []

    two = ((1, 1), (1, 5), (7, 7))
    assert storage.commit({"x": [Remove(two, query_ids=False)]}).results["x"] == [1]  # 5 is open, 7 unknown
    assert storage.duel("x", 1, 1) == duels[0]._replace(client=None, state="resolved", outcome="tie", page="")
    assert storage.duel("x", 1, 5) == duels[4]._replace(state="shown", page='{"page":1}')
    assert [client for many in storage.clients_of_duels("x") for *_, client in many] == [None, "c0", "c1", "c0"]
    assert [len(storage.signals("x", 1, number)) for number in (1, 2, 5)] == [0, 1, 1]
    assert storage.old_duels("x", 9.0, 9) == [(1, 2), (1, 3), (1, 4)]
    assert storage.pruned_with_query("x", 9.0, "", 9) == [("q1", 1, 1)]
    assert (storage.pruned_with_query("x", 9.0, "q1", 9), storage.pruned_with_query("x", 1.0, "", 9)) == ([], [])
    assert storage.count_pruned_with_query("x", 9.0) == 1
    assert storage.commit({"x": [Remove(((1, 1), (1, 2)), query_ids=True)]}).results["x"] == [2]
    assert storage.duels_of("x", ["q1", "q2", "q3"]).keys() == {"q3"}
    assert storage.count_pruned_with_query("x", 9.0) == 0
    assert list(storage.read("x")) == before

    assert sorted(storage.duels_of_client("x", "c1", 9)) == [(1, 3), (1, 5)]
    assert len(storage.duels_of_client("x", "c1", 1)) == 1
    erase = Remove(((1, 3), (1, 5)), query_ids=True, time=3.0, erasure={"reason": "r", "by": "b"})
    done = storage.commit({"x": [erase, Tell(1, 5, None, "tie", 3.0), Show(1, 5, None, "{}", 3.0)]})
    assert done.results["x"] == [2, TellResult(Status.LATE, None), Status.DUPLICATE]
    assert done.events["x"] == [Event(before[-1].number + 1, 3.0, "erased", {"reason": "r", "by": "b", "duels": 2})]
    assert storage.duel("x", 1, 5) == duels[4]._replace(query=None, client=None, state="void", page="")
    assert storage.duels_of_client("x", "c1", 9) == []
    assert storage.signals("x", 1, 5) == []
    assert storage.commit({"x": [erase._replace(duels=((7, 7),))]}).events["x"] == []
    assert storage.counts("x")["void"] == 1

    assert [len(storage.signals("y", 1, number)) for number in (1, 2, 5)] == [1, 1, 1]  # the other tournament has all
    assert storage.duel("y", 1, 1) == duels[0]._replace(state="resolved", outcome="tie", page='{"page":1}')
    storage.close()


def test_only_an_owner_that_may_creates_it(url: str) -> None:
    refused: list[dict[str, bool]] = [{"own": False}, {"create": False}, {"own": False, "create": False}]
    for options in refused:
        with pytest.raises(rd.StorageError, match=r"no storage at .*; check the address, or create one with"):
            storage_at(url, **options)
    storage_at(url).close()
    storage_at(url, create=False).close()


@pytest.mark.slow
def test_a_check_that_it_can_be_written_leaves_no_trace_in_tournaments(url: str) -> None:
    storage = storage_at(url)
    storage.commit({name: [Created(0.0, SETTINGS)] for name in "xyz"})
    before = everything(storage)
    for _ in range(3):
        storage.check_writable()
    assert everything(storage) == before
    storage.close()


@pytest.mark.slow
def test_messages_can_be_shown_to_everybody(url: str) -> None:
    storage = storage_at(url)
    message = f"cannot write to {storage.url.removeprefix('sqlite:///')}: it is full"
    assert storage.redacted(message) == "cannot write to the storage: it is full"
    storage.close()


def test_keys_are_kept(url: str) -> None:
    storage = storage_at(url)
    storage.add_key(KeyRow("k1", "site", "ask tell", "digest", 1.0))
    other = storage_at(url, own=False)  # another process may make keys while the owner runs
    other.add_key(KeyRow("k2", "anna", "admin", "digest", 2.0))
    assert other.revoke_key("k1", 3.0)
    assert not other.revoke_key("k1", 4.0)
    other.close()
    assert storage.keys() == [
        KeyRow("k1", "site", "ask tell", "digest", 1.0, 3.0),
        KeyRow("k2", "anna", "admin", "digest", 2.0),
    ]
    storage.close()


def test_the_two_newest_snapshots_are_kept(url: str) -> None:
    storage = storage_at(url)
    storage.commit({"x": [Created(0.0, SETTINGS)], "y": [Created(0.0, SETTINGS)]})
    storage.write_snapshot("y", Snapshot(1, "{}", b""))
    for number in (1, 2, 3):
        storage.write_snapshot("x", Snapshot(number, "{}", bytes([number])))
    assert [snapshot.number for snapshot in storage.snapshots("x")] == [3, 2]
    assert len(list(storage.snapshots("y"))) == 1
    storage.close()


def test_of_a_tell_and_a_sweep_together_the_first_one_counts(url: str) -> None:
    """Also in one transaction: no duel is both told and expired."""
    storage = storage_at(url)
    tells = {number: Tell(1, number, None, "tie", 8.0) for number in (1, 2)}
    storage.commit({"x": [Created(0.0, SETTINGS), *(row(number) for number in (1, 2, 3))]})
    done = storage.commit({"x": [tells[1], ExpireDue(9.5), tells[2]]})
    assert done.results["x"] == [TellResult(Status.ACCEPTED, "tie"), 2, TellResult(Status.LATE, "tie")]
    assert {duel.number: duel.state for duel in storage.duels("x", 5)} == {1: "resolved", 2: "late", 3: "expired"}
    counts = storage.counts("x")
    assert (counts["issued"], counts["resolved"], counts["late"], counts["expired"]) == (3, 1, 1, 2)
    storage.close()


def test_a_ticket_of_a_lost_ask_whose_query_was_asked_again(url: str) -> None:
    storage = storage_at(url)
    storage.commit({"x": [Created(0.0, SETTINGS), row(1, "q")]})
    lost = Tell(1, 2, row(2, "q"), "first", 2.0)
    assert storage.commit({"x": [lost]}).results["x"] == [TellResult(Status.ACCEPTED, "first")]
    assert storage.commit({"x": [lost, lost]}).results["x"] == [TellResult(Status.DUPLICATE, "first")] * 2
    assert storage.duel("x", 1, 2) == row(2, state="resolved", outcome="first")
    assert storage.duels_of("x", ["q"]) == {"q": row(1, "q")}
    assert storage.counts("x")["issued"] == 2
    storage.close()


def test_signals_are_kept_once(url: str) -> None:
    storage = storage_at(url)
    click = SignalRow(1, 1, "k", 3.0, "click", "d1", 2, None)
    storage.commit({"x": [Created(0.0, SETTINGS), row(1, "q"), Show(1, 1, None, "{}", 2.0)]})
    dwell = click._replace(key="j", action="dwell", dwell=0.1 + 0.2, declared=True)
    batch = {"x": [click, dwell, click, click._replace(number=7)]}
    statuses = [Status.ACCEPTED, Status.ACCEPTED, Status.DUPLICATE, Status.UNKNOWN]
    assert storage.commit(batch).results["x"] == statuses
    assert storage.commit(batch).results["x"] == [Status.DUPLICATE] * 3 + [Status.UNKNOWN]
    assert storage.signals("x", 1, 1) == [dwell._replace(declared=False), click]
    done = storage.commit({"x": [Tell(1, 1, None, "tie", 4.0), click._replace(key="l")]})
    assert done.results["x"][1] is Status.LATE
    counts = storage.counts("x")
    assert (
        counts["undeclared actions"],
        counts["action dwell"],
        counts["pages with dwell"],
        counts["duplicate signals"],
        counts["orphan signals"],
    ) == (1, 1, 1, 4, 2)
    storage.close()


def entries(chance: random.Random, time: float, sessions: int) -> dict[str, list[Entry]]:
    """Anything that may come, in any order."""

    def duel() -> DuelRow:
        first, second = (chance.random(), chance.random()) if chance.random() < 0.5 else (None, None)
        query = chance.choice([None, f"q {chance.randrange(40)} 100%?", f'"\\{chance.randrange(9)}'])
        client = chance.choice([None, "c1", "c2"])
        session, number = chance.randint(1, sessions), chance.randint(1, 60)
        return DuelRow(session, number, query, client, 3, 4, first, second, time, time + chance.randint(1, 9))

    def one() -> Entry:
        row = duel()
        session, number = row.session, row.number
        outcome = chance.choice(["first", "second", "tie", None])
        given = row if chance.random() < 0.5 else None
        made: list[Entry] = [
            row,
            Tell(session, number, given, outcome, time, chance.choice([None, "{}"])),
            Show(session, number, given, f"[{number}]", time),
            Void(session, number, time, {"reason": "why?"}),
            SignalRow(session, number, f"k{chance.randrange(3)}", time, "click", None, None, chance.random()),
            CounterDelta({"serve paused": 1}),
            ExpireDue(time),
            Change(time, "paused", {"by": "\u00e4"}),
            Opened(),
        ]
        (kind,) = chance.choices(range(len(made)), [9, 9, 4, 1, 4, 1, 1, 1, 1])
        return made[kind]

    batch: dict[str, list[Entry]] = {}
    seen: set[tuple[Any, ...]] = set()
    for _ in range(chance.choice([1, 2, 30])):
        name, entry = chance.choice("xyz"), one()
        if isinstance(entry, DuelRow):  # which of two for one query in one batch comes first is free
            keys = {(name, entry.query or chance.random()), (name, entry.session, entry.number)}
            if keys & seen:
                continue
            seen |= keys
        batch.setdefault(name, []).append(entry)
    return batch


def everything(storage: Storage) -> list[Any]:
    """All that can be read of three tournaments."""
    queries = [f"q {number} 100%?" for number in range(40)]
    return [
        (
            list(storage.read(name)),
            rows := storage.duels(name, 1000),
            storage.duels_of(name, queries),
            storage.counts(name),
            list(storage.snapshots(name)),
            [storage.signals(name, row.session, row.number) for row in rows],
            set(storage.due(name, 1e9, 1000)),
            [(storage.overdue(name, time), storage.asked_by(name, "c1", time)) for time in range(0, 100, 5)],
        )
        for name in "xyz"
    ]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_both_databases_do_the_same(seed: int, tmp_path: Path, postgres: Server) -> None:
    """Each batch has the same results, events and counts, and in the end all that is stored is the same."""
    own, shared = storage_at(f"sqlite:///{tmp_path}/duels.db"), storage_at(postgres.empty())
    chance = random.Random(seed)
    created = {name: [Created(0.0, SETTINGS)] for name in "xyz"}
    assert own.commit(created) == shared.commit(created)
    for step in range(60):
        batch = entries(chance, float(step), 3)
        mine, theirs = own.commit(batch), shared.commit(batch)
        assert (mine.events, mine.counts) == (theirs.events, theirs.counts)
        for name, given in batch.items():
            for entry, a, b in zip(given, mine.results[name], theirs.results[name], strict=True):
                assert a == b or isinstance(entry, DuelRow)  # SQLite's only asker knows already what a query has
        name, snapshot = chance.choice("xyz"), Snapshot(chance.randrange(9), "{}", chance.randbytes(9))
        own.write_snapshot(name, snapshot)
        shared.write_snapshot(name, snapshot)
    assert everything(own) == everything(shared)
    own.close()
    shared.close()


@pytest.mark.slow
def test_changes_and_facts_for_readers_of_the_journal(url: str) -> None:
    storage = storage_at(url)
    storage.commit({"x": [Created(1.0, SETTINGS), row(1), row(2)], "y": [Created(1.0, SETTINGS)]})
    paused, started = Change(3.0, "paused", {"by": "anna"}), Change(4.0, "started", {})
    storage.commit({"x": [Tell(1, 1, None, "tie", 2.0), paused, Tell(1, 2, None, "first", 3.5), started]})
    events = [Event(3, 3.0, "paused", {"by": "anna"}), Event(5, 4.0, "started", {})]
    assert storage.changes_after("x", 1, 9) == events
    assert (storage.changes_after("x", 2, 1), storage.changes_after("x", 3, 9)) == (events[:1], events[1:])
    assert (storage.changes_after("x", 5, 9), storage.changes_after("y", 1, 9)) == ([], [])
    assert [storage.event_time("x", number) for number in (1, 2, 5, 6)] == [1.0, 2.0, 4.0, None]
    assert storage.fact("webhook ops") is None
    for value in ("1", "2 0.5"):
        storage.write_fact("webhook ops", value)
    storage.write_fact("webhook ops x", "3")
    storage.close()
    storage = storage_at(url)
    assert (storage.fact("webhook ops"), storage.fact("webhook ops x")) == ("2 0.5", "3")
    storage.close()
