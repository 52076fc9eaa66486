"""The writer by itself, before a storage that says which tournaments are locked."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from time import sleep
from typing import Any, cast

import pytest

from rankduel.errors import StorageError
from rankduel.live.storage.contract import Batch, Committed, CounterDelta, Storage, StorageBusy
from rankduel.live.storage.writer import Writer

NOTE = CounterDelta({"x": 1})


class Locked:
    """A storage whose tournaments are locked until the test unlocks them."""

    def __init__(self) -> None:
        self.locked: set[str] = set()
        self.tried: list[set[str]] = []
        self.failure: Exception | None = None  # of a check
        self.checks = 0

    def check_writable(self) -> None:
        self.checks += 1
        if self.failure is not None:
            raise self.failure

    def commit(self, batch: Batch) -> Committed:
        self.tried.append(set(batch))
        if self.locked & batch.keys():
            sleep(0.005)  # for the lock
            raise StorageBusy("locked")
        results = {name: [name] * len(entries) for name, entries in batch.items()}
        return Committed(results, {name: [] for name in batch}, {name: {} for name in batch})

    def unlocked(self, tournaments: set[str]) -> set[str]:
        return tournaments - self.locked

    def close(self) -> None:
        pass


@pytest.fixture
def storage() -> Locked:
    return Locked()


@pytest.fixture
def writer(storage: Locked) -> Iterator[Writer]:
    writer = Writer(cast(Storage, storage))
    yield writer
    storage.locked = set()
    writer.close()


def test_of_locked_tournaments_one_is_tried_for_each_commit(storage: Locked, writer: Writer) -> None:
    storage.locked = {f"t{number}" for number in range(5)}
    waiting: list[Future[list[Any]]] = [writer.put(name, [NOTE]) for name in sorted(storage.locked)]
    while len(writer._busy_since) < 5:
        sleep(0.001)
    for _ in range(20):
        start = len(storage.tried)
        assert writer.put("free", [NOTE]).result(5) == ["free"]
        assert storage.tried[start:].index({"free"}) <= 2  # the one that is tried, and perhaps the next one
    assert not any(future.done() for future in waiting)
    storage.locked = set()
    assert [future.result(5) for future in waiting] == [[f"t{number}"] for number in range(5)]


def test_locked_tournaments_take_turns(storage: Locked, writer: Writer) -> None:
    storage.locked = {"a", "b", "c"}
    waiting = [writer.put(name, [NOTE]) for name in "abc"]
    while sum(len(tried) == 1 for tried in storage.tried) < 30:
        sleep(0.001)
    turns = [min(tried) for tried in storage.tried if len(tried) == 1][-12:]
    assert {tuple(sorted(turns[start : start + 3])) for start in range(0, 12, 3)} == {("a", "b", "c")}
    storage.locked = {"b"}
    assert [waiting[0].result(5), waiting[2].result(5)] == [["a"], ["c"]]
    assert not waiting[1].done()


def test_entries_of_a_locked_tournament_fail_in_the_end(
    storage: Locked, writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rankduel.live.storage.writer._BUSY_SECONDS", 0.05)
    storage.locked = {"a"}
    with pytest.raises(StorageBusy):
        writer.put("a", [NOTE]).result(5)
    assert writer.put("b", [NOTE]).result(5) == ["b"]


def test_entries_stay_in_their_order(storage: Locked, writer: Writer) -> None:
    storage.locked = {"a"}
    done: list[int] = []
    for number in range(10):
        writer.put("a", [NOTE]).add_done_callback(lambda _, number=number: done.append(number))  # type: ignore[misc]
    writer.put("b", [NOTE]).result(5)
    storage.locked = set()
    writer.flush("a")
    assert done == list(range(10))


def wait_for(true: Callable[[], object]) -> None:
    while not true():
        sleep(0.001)


def test_a_check_shows_that_the_storage_cannot_be_written(storage: Locked, writer: Writer) -> None:
    """Also when nobody writes. With tournaments, their maintenance recovers, because it knows what was lost."""
    storage.failure = StorageError("read-only")
    writer.check_writable()
    wait_for(lambda: writer.failure is storage.failure)
    storage.failure = None
    writer.check_writable()
    wait_for(lambda: writer.failure is None)
    storage.failure = StorageError("read-only")
    writer._committed_at = -100.0
    writer.check_writable()
    wait_for(lambda: writer.failure is storage.failure)
    storage.failure, checks = None, storage.checks
    writer.listeners["a"] = lambda events, counts: None
    writer.check_writable()
    wait_for(lambda: storage.checks > checks)
    assert writer.failure is not None
    writer.put("a", [NOTE]).result(5)
    assert writer.failure is None


def test_a_recent_commit_needs_no_check(storage: Locked, writer: Writer) -> None:
    writer.put("a", [NOTE]).result(5)
    for _ in range(5):
        writer.check_writable()
        writer.put("a", [NOTE]).result(5)
    assert storage.checks == 0
    writer._committed_at = -100.0
    writer.check_writable()
    wait_for(lambda: storage.checks == 1)


def test_a_lock_of_another_process_is_no_failure(storage: Locked, writer: Writer) -> None:
    storage.failure = StorageBusy("locked")
    writer.check_writable()
    wait_for(lambda: storage.checks == 1)
    writer.put("a", [NOTE]).result(5)
    assert writer.failure is None
