"""What a storage does when it is damaged, full, in use, or not one of ours: a clear error, and nothing wrong."""

import contextlib
import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import rankduel as rd
from rankduel.live import DuelRow, Entry, Event, Kept, Tournament, storage_at, tournament
from rankduel.live.sqlite import SqliteStorage
from rankduel.live.state import State
from rankduel.live.writer import Writer

FIRST = rd.Outcome.FIRST
CREATED = Event(1, 0.0, "created", {})
ASKED = Event(2, 1.0, "asked", {"duel": 1, "session": 1, "first": 3, "second": 4, "expires": 9.0, "query": "q"})


def create(url: str) -> Tournament:
    return Tournament.create("search", rankers=["a", "b", "c"], storage=url, seed=1, exist_ok=True)


def path_of(url: str) -> Path:
    return Path(url.removeprefix("sqlite:///"))


def change(url: str, statement: str) -> None:
    file = sqlite3.connect(path_of(url))
    with file:
        assert file.execute(statement).rowcount != 0
    file.close()


# The storage itself


def test_what_is_appended_is_read(url: str) -> None:
    storage = storage_at(url)
    storage.append([Entry("x", CREATED), Entry("x", ASKED), Entry("y", CREATED)])
    storage.append([Entry("x", Event(3, 2.0, "told", {"duel": 1, "outcome": "tie"}))])
    row = DuelRow(1, 1, "q", 3, 4, 9.0, "told", "tie")
    assert storage.duel("x", 1) == storage.duel_of("x", "q") == row
    storage.close()
    storage = storage_at(url)
    assert storage.names() == ["x", "y"]
    assert list(storage.read("x"))[:2] == [CREATED, ASKED]
    assert [event.number for event in storage.read("x", 1)] == [2, 3]
    assert list(storage.read("z")) == []
    assert storage.duel("y", 1) is storage.duel("x", 2) is storage.duel_of("y", "q") is None
    storage.close()


def test_a_batch_is_written_whole_or_not_at_all(url: str) -> None:
    storage = storage_at(url)
    storage.append([Entry("x", CREATED)])
    again = ASKED._replace(number=3)  # the same query twice
    with pytest.raises(rd.StorageError, match="UNIQUE constraint failed"):
        storage.append([Entry("x", ASKED), Entry("x", again)])
    assert [event.number for event in storage.read("x")] == [1]
    assert storage.duel("x", 1) is None
    storage.close()


def test_the_two_newest_snapshots_are_kept(url: str) -> None:
    storage = storage_at(url)
    storage.append([Entry("x", CREATED), Entry("y", CREATED), Entry("y", Kept(1, "{}", b""))])
    for number in (1, 2, 3):
        storage.append([Entry("x", Kept(number, "{}", bytes([number])))])
    assert [kept.number for kept in storage.kept("x")] == [3, 2]
    assert len(list(storage.kept("y"))) == 1
    storage.close()


def test_the_file_is_synced_at_each_commit(url: str) -> None:
    storage = SqliteStorage(path_of(url))
    assert storage._writer.execute("PRAGMA synchronous").fetchone() == (2,)
    assert storage._writer.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    storage.close()


# What is not ours, or not any more


def test_a_foreign_file_is_refused_and_left_alone(url: str, tmp_path: Path) -> None:
    file = sqlite3.connect(path_of(url))
    file.execute("CREATE TABLE recipes (name)")
    file.close()
    before = path_of(url).read_bytes()
    with pytest.raises(rd.StorageError, match="is a SQLite file, but not one of rankduel"):
        create(url)
    assert path_of(url).read_bytes() == before
    path_of(url).write_text("something else entirely, and long enough to be looked at" * 100)
    with pytest.raises(rd.StorageError, match="file is not a database"):
        create(url)
    with pytest.raises(rd.StorageError, match="cannot open"):
        create(f"sqlite:///{tmp_path}/no/such/folder/duels.db")


def test_a_newer_version_is_refused(url: str) -> None:
    create(url).close()
    file = sqlite3.connect(path_of(url))
    file.execute("PRAGMA user_version = 2")
    file.close()
    with pytest.raises(rd.StorageError, match="has schema 2, this version of rankduel reads 1"):
        create(url)


def test_a_journal_with_a_hole_is_refused(url: str) -> None:
    with create(url) as t:
        for _ in range(3):
            t.tell(t.ask(), FIRST)
    change(url, "DELETE FROM snapshots")
    change(url, "DELETE FROM journal WHERE number = 5")
    with pytest.raises(rd.StorageError, match="is damaged: 'search' has no event 5, but 6"):
        create(url)


def test_a_journal_that_the_bandit_does_not_play_is_refused(url: str) -> None:
    with create(url) as t:
        t.ask()
    change(url, "DELETE FROM snapshots")
    change(url, "UPDATE journal SET body = replace(body, '\"first\":', '\"first\":1') WHERE kind = 'asked'")
    with pytest.raises(rd.StorageError, match="another build of rankduel or NumPy"):
        create(url)


@pytest.mark.parametrize("damaged", [1, 2])
def test_damaged_snapshots_cost_time_only(url: str, damaged: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tournament, "SNAPSHOT_EVERY", 10)
    with create(url) as t:
        for _ in range(30):
            t.tell_many([(t.ask(), FIRST)])
        before = t._state.keep()
    change(
        url,
        "UPDATE snapshots SET bandit = CAST(substr(bandit, 1, 100) || x'00' || substr(bandit, 102) AS BLOB) "
        f"WHERE number IN (SELECT number FROM snapshots ORDER BY number DESC LIMIT {damaged})",
    )
    replayed: list[int] = []
    apply = State.apply

    def counted(state: State, event: Event) -> None:
        replayed.append(event.number)
        apply(state, event)

    monkeypatch.setattr(State, "apply", counted)
    with create(url) as t:
        assert t._state.keep().bandit == before.bandit
    assert (replayed[0] == 2) == (damaged == 2)
    assert replayed[-2:] == [before.number, before.number + 1]


def test_a_snapshot_that_was_changed_is_not_believed(url: str) -> None:
    with create(url) as t:
        t.tell(t.ask(), FIRST)
    change(url, """UPDATE snapshots SET state = replace(state, '"late": 0', '"late": 7')""")
    with create(url) as t:
        assert t.counts.late == 0


# When it fails


class FailingStorage:
    """A storage whose disk is full from some moment on."""

    def __init__(self) -> None:
        self.full = False
        self.batches: list[list[Entry]] = []

    def append(self, batch: Sequence[Entry]) -> None:
        if self.full:
            raise rd.StorageError("disk is full")
        self.batches.append(list(batch))

    def close(self) -> None:
        pass


def test_everybody_is_told_when_nothing_is_stored_any_more() -> None:
    storage: Any = FailingStorage()
    writer = Writer(storage)
    writer.wait(writer.put(Entry("x", CREATED)))
    storage.full = True
    ticket = writer.put(Entry("x", ASKED))
    for _ in range(2):
        with pytest.raises(rd.StorageError, match="nothing is stored any more, open it again: disk is full"):
            writer.wait(ticket)
    with pytest.raises(rd.StorageError, match="disk is full"):
        writer.put(Entry("x", ASKED))
    assert writer.failed
    writer.close()
    assert storage.batches == [[Entry("x", CREATED)]]


def test_what_comes_meanwhile_goes_together() -> None:
    storage: Any = FailingStorage()
    gate, inside = threading.Event(), threading.Event()
    append = storage.append

    def held(batch: Sequence[Entry]) -> None:
        inside.set()
        gate.wait()
        append(batch)

    storage.append = held
    writer = Writer(storage)
    first = threading.Thread(target=writer.wait, args=(writer.put(Entry("x", CREATED)),))
    first.start()
    inside.wait()
    tickets = [writer.put(Entry("x", ASKED)) for _ in range(5)]
    assert tickets == [2, 3, 4, 5, 6]
    gate.set()
    writer.wait(tickets[-1])
    first.join()
    assert [len(batch) for batch in storage.batches] == [1, 5]
    assert writer.done == 6
    writer.close()


def test_what_nobody_waits_for_is_written_soon() -> None:
    storage: Any = FailingStorage()
    writer = Writer(storage)
    done = threading.Event()
    append = storage.append

    def noticed(batch: Sequence[Entry]) -> None:
        append(batch)
        done.set()

    storage.append = noticed
    writer.put(Entry("x", CREATED))
    assert done.wait(timeout=60)
    writer.close()


def test_a_full_disk_loses_nothing_acknowledged(url: str) -> None:
    with create(url) as t:
        told = t.ask("a")
        t.tell(told, FIRST)
        (pages,) = t._storage._writer.execute("PRAGMA page_count").fetchone()  # type: ignore[attr-defined]
        t._storage._writer.execute(f"PRAGMA max_page_count = {pages}")  # type: ignore[attr-defined]
        with pytest.raises(rd.StorageError, match="database or disk is full"):
            t.tell_many([(t.ask(f"{number:0200}"), FIRST) for number in range(1000)])
        with pytest.raises(rd.StorageError, match="nothing is stored any more"):
            t.ask("b")
    with create(url) as t:
        assert t.tell(told, FIRST).status == "duplicate"
        assert State.replay(t.journal()).keep() == t._state.keep()
        assert t.tell(t.ask("b"), FIRST).status == "accepted"


def test_a_damaged_page_is_an_error(url: str) -> None:
    with create(url) as t:
        for number in range(300):
            t.tell_many([(t.ask(f"query {number}"), FIRST)])
    content = path_of(url).read_bytes()
    unharmed = 0
    for page in range(4096, len(content), 4096):
        path_of(url).write_bytes(content[:page] + b"\x5a" * 4096 + content[page + 4096 :])
        with contextlib.suppress(rd.StorageError), create(url) as t:
            assert t.counts.told == 300  # what is answered is right, also where it does not need the damaged page
            assert [t.ask(f"query {number}").id for number in range(300)] == [f"1-{n + 1}" for n in range(300)]
            unharmed += 1
    assert 5 < unharmed < len(content) // 4096 - 5


def test_a_log_that_ends_early_is_a_beginning_of_the_journal(url: str, tmp_path: Path) -> None:
    copy = tmp_path / "copy" / "duels.db"
    copy.parent.mkdir()
    with create(url) as t:
        duels = [t.ask(f"query {number}") for number in range(40)]
        for duel in duels:
            t.tell(duel, FIRST)
        file, log = path_of(url).read_bytes(), path_of(url).with_name("duels.db-wal").read_bytes()
    told = []
    for end in range(0, len(log), len(log) // 12):
        copy.write_bytes(file)
        copy.with_name("duels.db-wal").write_bytes(log[:end])
        copy.with_name("duels.db-shm").unlink(missing_ok=True)
        with create(f"sqlite:///{copy}") as t:
            told.append(t.counts.told)
            statuses = [str(receipt.status) for receipt in t.tell_many([(duel, FIRST) for duel in duels])]
            known = [status for status in statuses if status != "unknown"]
            assert known == ["duplicate"] * told[-1] + ["accepted"] * (len(known) - told[-1])
            assert statuses[len(known) :] == ["unknown"] * (40 - len(known))
            assert State.replay(t.journal()).keep() == t._state.keep()
    assert told == sorted(told)
    assert len(set(told)) > 5


# Processes


def run(code: str, url: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", f"import os, sys, rankduel as rd\n{code}", url],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_one_process_owns_the_file(url: str) -> None:
    code = "rd.Tournament.open('search', storage=sys.argv[1]).tell('1-1', rd.Outcome.FIRST)"
    with create(url) as t:
        t.ask()
        done = run(code, url)
        assert f"is in use by process {os.getpid()}: only one can own a SQLite file" in done.stderr
        assert t.tell("1-1", FIRST).status == "accepted"
    done = run(code, url)
    assert done.returncode == 0, done.stderr


def test_a_fork_does_not_write(url: str) -> None:
    code = """
t = rd.Tournament.create("search", rankers=["a", "b"], storage=sys.argv[1])
t.tell(t.ask(), rd.Outcome.FIRST)
if os.fork() == 0:
    for use in (t.ask, lambda: rd.Tournament.open("search", storage=sys.argv[1])):
        try:
            use()
        except rd.StorageError as error:
            print(error, flush=True)
    sys.exit()
os.wait()
print(t.tell(t.ask(), rd.Outcome.FIRST).status)
"""
    done = run(code, url)
    assert done.returncode == 0, done.stderr
    fork, owned, status = done.stdout.splitlines()
    assert "open it after the fork" in fork
    assert "is in use by process" in owned
    assert status == "accepted"
    with Tournament.open("search", storage=url) as t:
        assert t.counts.told == 2
