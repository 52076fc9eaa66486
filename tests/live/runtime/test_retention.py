"""A service prunes while it runs: in small batches, by one process, and without harm to asks and tells."""

import logging
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from time import time

import pytest

import rankduel as rd
from live.learning import learnt
from postgres.server import Server
from rankduel.live import LocalTournament, storage_at
from rankduel.live.admin.verify import verify
from rankduel.live.runtime import retention
from rankduel.live.runtime.retention import Retention
from rankduel.live.runtime.state import State
from rankduel.live.storage.contract import Batch, Committed, Remove
from rankduel.live.storage.writer import Writer

DAY = 86_400.0
BATCH = 20


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def url(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(retention, "_MAX_DUELS_PER_BATCH", BATCH)
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/duels.db"
    server: Server = request.getfixturevalue("postgres")
    return server.empty()


def play(url: str, name: str, duels: int) -> None:
    with LocalTournament.create(name, rankers=["a", "b", "c"], storage=url, seed=1) as t:
        asked = t.ask_many([(f"q{number}", f"client {number % 7}") for number in range(duels)])
        t.tell_many([(duel, rd.Outcome.FIRST) for duel in asked])


@pytest.fixture
def writer(url: str) -> Iterator[Writer]:
    play(url, "home", 5 * BATCH // 2)
    play(url, "other", BATCH)
    writer = Writer(storage_at(url))
    yield writer
    writer.close()


def left(writer: Writer) -> dict[str, int]:
    return {name: writer.storage.count_old_duels(name, time() + DAY) for name in writer.storage.names()}


def test_one_batch_in_each_run_until_all_are_pruned(writer: Writer, monkeypatch: pytest.MonkeyPatch) -> None:
    due = Retention(writer, 10 * DAY, query_ids=False)
    due.run_due()
    assert left(writer) == {"home": 50, "other": 20}
    monkeypatch.setattr(retention, "now", lambda: time() + 11 * DAY)
    due.run_due()
    assert left(writer) == {"home": 50, "other": 20}  # it looks once a minute
    due._due = 0.0
    seen = []
    for _ in range(6):
        due.run_due()
        seen.append(tuple(left(writer).values()))
    assert seen == [(50, 0), (30, 0), (10, 0), (0, 0), (0, 0), (0, 0)]
    assert writer.storage.duels("home", 1)[0].query == "q49"


def test_query_ids(writer: Writer, monkeypatch: pytest.MonkeyPatch) -> None:
    due = Retention(writer, 10 * DAY, query_ids=True)
    monkeypatch.setattr(retention, "now", lambda: time() + 11 * DAY)
    for _ in range(6):
        due.run_due()
    assert {row.query for row in writer.storage.duels("home", 100)} == {None}


def test_a_failure_is_logged_once_a_minute_and_tried_again(
    writer: Writer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    due = Retention(writer, 10 * DAY, query_ids=False)
    monkeypatch.setattr(retention, "now", lambda: time() + 11 * DAY)

    def fail(batch: Batch) -> Committed:
        raise rd.StorageError("the disk is full")

    with monkeypatch.context() as failing, caplog.at_level(logging.WARNING, "rankduel"):
        failing.setattr(writer.storage, "commit", fail)
        for _ in range(3):
            due.run_due()
    logged = [message for message in caplog.messages if "prune" in message]  # the writer logs failures, too
    assert logged == ["cannot prune old duels: the disk is full"]
    due._due = 0.0
    due.run_due()
    assert sum(left(writer).values()) == 50


@pytest.mark.slow
def test_one_process_prunes_a_shared_storage(postgres: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    url = postgres.empty()
    play(url, "home", 30)
    monkeypatch.setattr(retention, "now", lambda: time() + 11 * DAY)
    with ExitStack() as opened:
        writers = [Writer(storage_at(url)) for _ in range(2)]
        for writer in writers:
            opened.callback(writer.close)
        first, second = (Retention(writer, 10 * DAY, query_ids=False) for writer in writers)
        monkeypatch.setattr(writers[1].storage, "commit", None)  # it would fail
        assert writers[0].storage.leads("")
        second.run_due()
        first.run_due()
        assert left(writers[0]) == {"home": 0}


def test_asks_and_tells_go_on(url: str) -> None:
    """Everything that is old at once is pruned while it is told: nothing is lost, doubled or learnt twice."""
    stopped = threading.Event()
    told: dict[str, str] = {}

    def play(t: LocalTournament, name: int) -> None:
        number = 0
        while not stopped.is_set():
            number += 1
            duel = t.ask(f"{name} {number}", f"client {number % 5}")
            duel.interleave("abc", "cba", k=3)
            if number % 3:
                t.show(duel)
            if number % 4:
                status = t.tell(duel, rd.Outcome.TIE).status
                assert status == "accepted" or (status == "late" and number % 5 == 2)  # erased while it was open
                if status == "accepted":
                    told[str(duel.id)] = "tie"

    with LocalTournament.create("home", rankers=["a", "b", "c"], storage=url, seed=1) as t:
        threads = [threading.Thread(target=play, args=(t, name)) for name in range(3)]
        for thread in threads:
            thread.start()
        # On PostgreSQL, prune as another process does.
        other = Writer(storage_at(url)) if t.storage.shared else None
        writer, pruned = other or t._runtime.writer, 0
        try:
            while pruned < 300:
                assert all(thread.is_alive() for thread in threads)
                pruned += retention.prune_batch(writer, "home", time(), query_ids=False)
                t.erase_client("client 2")
        finally:
            stopped.set()
            for thread in threads:
                thread.join()
        while retention.prune_batch(writer, "home", time() + 1, query_ids=False):
            pass
        if other is not None:
            other.close()
        events = list(t.journal())
        assert told.items() <= {e.body["duel"]: e.body["outcome"] for e in events if e.kind == "resolved"}.items()
        assert learnt(State.replay(iter(events))) == learnt(t._state)
    assert [finding for finding in verify(url) if finding.level != "ok"] == []


def test_in_one_commit_with_tells_and_signals(url: str) -> None:
    """The entries of a commit take effect in their order, whatever is pruned among them."""
    with LocalTournament.create("home", rankers=["a", "b"], storage=url, seed=1) as t:
        told, is_open = t.ask("told", "c"), t.ask("open", "c")
        (session, first), (_, second) = ((int(part) for part in str(duel.id).split("-")) for duel in (told, is_open))
        tell = t._recorder.tells([(told, rd.Outcome.TIE)])
        signal = rd.live.Signal("open", "click", "a", 1, time(), None, "k")
        t._runtime.writer.flush("home")
        duels = ((session, first), (session, second))
        (seen,) = t.observe([signal])
        assert seen == "accepted"
        results = t._runtime.write(
            [*tell, Remove(duels, query_ids=False), *t._recorder.tells([(told, rd.Outcome.TIE)])]
        )
        assert (results[0].status, results[1], results[2].status) == ("accepted", 1, "duplicate")
        rows = {row.query: row for row in t.duels()}
        assert (rows["told"].client, rows["told"].page, rows["told"].state) == (None, "", "resolved")
        assert rows["open"].state == "issued"
        assert rows["open"].client is not None
        with closing(storage_at(url, own=False)) as storage:
            assert len(storage.signals("home", session, second)) == 1
