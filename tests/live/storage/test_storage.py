"""What a storage does when it is damaged, full, in use, or not one of ours: a clear error, and nothing wrong."""

import contextlib
import hmac
import os
import sqlite3
import subprocess
import sys
import threading
import time
from base64 import urlsafe_b64decode
from pathlib import Path
from typing import Any

import pytest

import rankduel as rd
from live.learning import learnt
from rankduel.live import Counts, DuelRow, Event, LocalTournament
from rankduel.live.runtime import snapshots
from rankduel.live.runtime.state import State
from rankduel.live.runtime.tickets import Tickets
from rankduel.live.storage.contract import Batch, Committed, CounterDelta, Entry, ExpireDue, Tell
from rankduel.live.storage.schema import SCHEMA
from rankduel.live.storage.shared_statements import DUEL_OF_QUERY
from rankduel.live.storage.sqlite import SqliteStorage
from rankduel.live.storage.writer import Writer

FIRST = rd.Outcome.FIRST


def create(url: str) -> LocalTournament:
    return LocalTournament.create("search", rankers=["a", "b", "c"], storage=url, seed=1, exist_ok=True)


def path_of(url: str) -> Path:
    return Path(url.removeprefix("sqlite:///"))


def change(url: str, statement: str) -> None:
    file = sqlite3.connect(path_of(url))
    with file:
        assert file.execute(statement).rowcount != 0
    file.close()


# The storage itself


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
    with pytest.raises(rd.StorageError, match="is a SQLite file of another application; choose another file"):
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
    file.execute(f"PRAGMA user_version = {SCHEMA + 1}")
    file.close()
    with pytest.raises(
        rd.StorageError, match=f"has schema {SCHEMA + 1}, .* reads schema {SCHEMA}; install a newer version"
    ):
        create(url)


def test_a_journal_with_a_hole_is_refused(url: str) -> None:
    with create(url) as t:
        for _ in range(3):
            t.tell(t.ask(), FIRST)
    change(url, "DELETE FROM snapshots")
    change(url, "DELETE FROM journal WHERE number = 3")
    with pytest.raises(rd.StorageError, match="is damaged: tournament 'search' has no event 3, but event 4"):
        create(url)


@pytest.mark.parametrize("damaged", [1, 2])
def test_damaged_snapshots_cost_time_only(url: str, damaged: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshots, "SNAPSHOT_INTERVAL_EVENTS", 10)
    with create(url) as t:
        for _ in range(34):
            t.tell_many([(t.ask(), FIRST)])
        before = learnt(t._state)
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
        assert learnt(t._state) == before
    assert replayed == list(range({1: 31, 2: 2}[damaged], 36))


def test_a_snapshot_that_was_changed_is_not_believed(url: str) -> None:
    with create(url) as t:
        t.tell(t.ask(), FIRST)
    change(url, """UPDATE snapshots SET state = replace(state, '"status":"running"', '"status":"stopped"')""")
    with create(url) as t:
        assert t.status == "running"


# When it fails


class FailingStorage:
    """A storage whose disk may be full."""

    def __init__(self) -> None:
        self.full = False
        self.batches: list[list[tuple[str, Entry]]] = []

    def commit(self, batch: Batch) -> Committed:
        if self.full:
            raise rd.StorageError("disk is full")
        self.batches.append([(name, entry) for name, entries in batch.items() for entry in entries])
        return Committed({name: list(entries) for name, entries in batch.items()}, {}, {})

    def close(self) -> None:
        pass


NOTED = CounterDelta({})


def test_who_waits_is_told_of_a_failure_and_the_next_one_is_tried() -> None:
    storage: Any = FailingStorage()
    writer = Writer(storage)
    assert writer.put("x", [NOTED, NOTED]).result() == [NOTED, NOTED]
    storage.full = True
    for _ in range(2):
        with pytest.raises(rd.StorageError, match="disk is full"):
            writer.put("x", [NOTED]).result()
    writer.flush("x")
    assert isinstance(writer.failure, rd.StorageError)
    storage.full = False
    assert writer.put("x", [NOTED]).result() == [NOTED]
    assert writer.failure is None
    writer.close()
    assert storage.batches == [[("x", NOTED)] * 2, [("x", NOTED)]]


def test_what_comes_meanwhile_goes_together() -> None:
    storage: Any = FailingStorage()
    gate, inside = threading.Event(), threading.Event()
    commit = storage.commit

    def held(batch: Batch) -> Committed:
        inside.set()
        gate.wait()
        done: Committed = commit(batch)
        return done

    storage.commit = held
    writer = Writer(storage)
    first = writer.put("x", [NOTED])
    inside.wait()
    more = [writer.put("x", [ExpireDue(number)] * number) for number in range(5)]
    gate.set()
    assert [future.result() for future in more] == [[ExpireDue(number)] * number for number in range(5)]
    assert first.result() == [NOTED]
    assert [len(batch) for batch in storage.batches] == [1, 10]
    writer.close()


def test_what_nobody_waits_for_is_written_soon() -> None:
    storage: Any = FailingStorage()
    writer = Writer(storage)
    done = threading.Event()
    commit = storage.commit

    def noticed(batch: Batch) -> Committed:
        committed: Committed = commit(batch)
        done.set()
        return committed

    storage.commit = noticed
    writer.put_soon("x", [NOTED])
    assert done.wait(timeout=60)
    writer.close()


ROWS = [DuelRow(1, number, None, None, 0, 1, None, None, issued=0.0, expires=60.0) for number in range(1, 6)]


def told(row: DuelRow) -> Tell:
    return Tell(row.session, row.number, None, "tie", time=1.0)


def test_a_duel_is_written_with_the_first_entry_that_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rankduel.live.storage.writer._PENDING_ASK_SECONDS", 600.0)
    storage: Any = FailingStorage()
    writer = Writer(storage)
    writer.issue("x", ROWS)
    writer.issue("y", ROWS[:1])
    # The results are those of what was put, not of what went with it.
    assert writer.put("x", [told(ROWS[3]), NOTED, told(ROWS[1])]).result() == [told(ROWS[3]), NOTED, told(ROWS[1])]
    assert writer.put("x", [told(ROWS[3])]).result() == [told(ROWS[3])]
    assert writer.put("x", [ExpireDue(1.0)]).result() == [ExpireDue(1.0)]  # it may mean any
    writer.issue("x", ROWS[:1])
    writer.flush("y")
    writer.issue("x", ROWS[1:2])
    writer.close()
    assert storage.batches == [
        [("x", ROWS[3]), ("x", ROWS[1]), ("x", told(ROWS[3])), ("x", NOTED), ("x", told(ROWS[1]))],
        [("x", told(ROWS[3]))],
        [("x", ROWS[0]), ("x", ROWS[2]), ("x", ROWS[4]), ("x", ExpireDue(1.0)), ("y", ROWS[0])],
        [("x", ROWS[0])],
        [("x", ROWS[1])],
    ]


def test_duels_that_nobody_names_are_written_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rankduel.live.storage.writer._PENDING_ASK_SECONDS", 0.01)
    storage: Any = FailingStorage()
    writer = Writer(storage)
    for row in ROWS:
        writer.issue("x", [row])
        time.sleep(0.005)
    for _ in range(6000):
        if sum(map(len, storage.batches)) == len(ROWS):
            break
        time.sleep(0.01)
    assert [entry for batch in storage.batches for entry in batch] == [("x", row) for row in ROWS]
    writer.close()


def test_a_full_queue_makes_only_put_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rankduel.live.storage.writer._PENDING_ASK_SECONDS", 0.2)
    monkeypatch.setattr("rankduel.live.storage.writer._MAX_QUEUED_ENTRIES", 3)
    storage: Any = FailingStorage()
    writer = Writer(storage)
    writer.issue("x", ROWS[:3])
    assert writer.stalled
    with pytest.raises(rd.StorageError, match="does not keep up"):
        writer.put_now("x", ROWS[3:])
    writer.put_soon("x", ROWS[3:])  # nobody waits for these: they are left out
    assert not storage.batches
    writer.put("x", ROWS[3:]).result()
    assert storage.batches[0] == [("x", row) for row in ROWS[:3]]
    assert not writer.stalled
    writer.close()
    assert sum(map(len, storage.batches)) == len(ROWS)


def test_a_duel_that_is_told_soon_is_written_once(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rankduel.live.storage.writer._PENDING_ASK_SECONDS", 600.0)
    with create(url) as t:
        statements: list[str] = []
        t.storage._writer.set_trace_callback(statements.append)  # type: ignore[attr-defined]
        for number in range(3):
            t.tell(t.ask(f"query {number}"), FIRST)
        assert sum("INTO duels" in statement for statement in statements) == 3
        assert not any(
            "DO UPDATE SET state" in statement or statement.startswith("SELECT")
            for statement in statements
            if "duels" in statement
        )
        assert t.counts == Counts(issued=3, resolved=3)
        assert t.ask("query 1").id == "1-2"


@pytest.mark.slow
def test_a_full_disk_loses_nothing_acknowledged(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    interval = "rankduel.live.storage.open_storages._MAINTENANCE_INTERVAL_SECONDS"
    monkeypatch.setattr(interval, 600.0)  # else it may find that a smaller write is possible
    with create(url) as t:
        told = t.ask("a")
        t.tell(told, FIRST)
        disk = t.storage._writer  # type: ignore[attr-defined]
        (pages,) = disk.execute("PRAGMA page_count").fetchone()
        disk.execute(f"PRAGMA max_page_count = {pages}")
        duels = [duel for number in range(1000) if (duel := t.ask(f"{number:0200}")).id is not None]
        with pytest.raises(rd.StorageError, match="database or disk is full"):
            t.tell_many([(duel, FIRST) for duel in duels])
        assert t.ask("b").why == "storage"
        assert t._state.bandit.told == 1
        disk.execute("PRAGMA max_page_count = 1000000")  # somebody has made room
        receipts = t.tell_many([(duel, FIRST) for duel in duels])
        assert {str(receipt.status) for receipt in receipts} == {"accepted"}
        assert t.tell(t.ask("b"), FIRST).status == "accepted"
    with create(url) as t:
        assert t.tell(told, FIRST).status == "duplicate"
        assert t.counts == Counts(issued=len(duels) + 2, resolved=len(duels) + 2)
        assert learnt(State.replay(t.journal())) == learnt(t._state)


def test_a_disk_that_cannot_be_written(url: str) -> None:
    with create(url) as t:
        duel = t.ask("a")
        disk = t.storage._writer  # type: ignore[attr-defined]
        disk.execute("PRAGMA query_only = ON")
        with pytest.raises(rd.StorageError, match="attempt to write a readonly database"):
            t.tell(duel, FIRST)
        # Where the file is, is nothing for those who may only look.
        assert t.health().failure == "StorageError: cannot write to the storage: attempt to write a readonly database"
        for _ in range(3):
            t.run_maintenance()
            assert t.ask("b").serve == "baseline"
        disk.execute("PRAGMA query_only = OFF")
        assert t.tell(duel, FIRST).status == "accepted"


def test_a_damaged_page_is_an_error(url: str) -> None:
    with create(url) as t:
        for number in range(300):
            t.tell_many([(t.ask(f"query {number}"), FIRST)])
    content = path_of(url).read_bytes()
    unharmed = 0
    for page in range(4096, len(content), 4096):
        path_of(url).write_bytes(content[:page] + b"\x5a" * 4096 + content[page + 4096 :])
        with contextlib.suppress(rd.StorageError), create(url) as t:
            assert t.counts.resolved == 300  # what is answered is right, also where it does not need the damaged page
            asked = [t.ask(f"query {number}") for number in range(300)]
            assert all(duel.why == "storage" or duel.id == f"1-{n + 1}" for n, duel in enumerate(asked))
            if any(duel.why for duel in asked):
                continue
            unharmed += 1
    assert unharmed == 2  # the two pages of snapshots, which are not needed


def test_a_log_that_ends_early_is_a_beginning_of_the_journal(url: str, tmp_path: Path) -> None:
    copy = tmp_path / "copy" / "duels.db"
    copy.parent.mkdir()
    create(url).close()  # the secret that signs tickets is in the file, not in the log
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
            told.append(t.counts.resolved)
            statuses = [str(receipt.status) for receipt in t.tell_many([(duel, FIRST) for duel in duels])]
            assert statuses == ["duplicate"] * told[-1] + ["accepted"] * (40 - told[-1])
            assert learnt(State.replay(t.journal())) == learnt(t._state)
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


@pytest.mark.slow
def test_one_process_owns_the_file(url: str) -> None:
    code = "rd.Tournament.open('search', storage=sys.argv[1]).tell('1-1', rd.Outcome.FIRST)"
    with create(url) as t:
        t.ask()
        done = run(code, url)
        assert (
            f"is in use by process {os.getpid()}; stop that process, or use the http address of its service"
            in done.stderr
        )
        assert t.tell("1-1", FIRST).status == "accepted"
    done = run(code, url)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
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
    assert "open it again after the fork" in fork
    assert "is in use by process" in owned
    assert status == "accepted"
    with LocalTournament.open("search", storage=url) as t:
        assert t.counts.resolved == 2


@pytest.mark.parametrize("secret", [b"s" * 32, b"", b"s" * 64, b"s" * 65, b"s" * 200])
def test_tickets_are_signed_by_hmac_sha256(secret: bytes) -> None:
    row = DuelRow(3, 17, "a query, with ü" * 10, "ab12", 4, 2, 0.25, 1e-9, issued=1.1, expires=2.2)
    ticket = Tickets("für alle", secret).of(row)
    assert Tickets("für alle", secret).read(ticket) == row
    signed = urlsafe_b64decode(ticket + "=" * (-len(ticket) % 4))
    assert signed[:16] == hmac.digest(secret, "für alle\n".encode() + signed[16:], "sha256")[:16]


def test_the_longest_ticket_can_be_read() -> None:
    query = "\U0001f600" * 200
    row = DuelRow(2**53, 2**53, query, "f" * 16, 10**6, 10**6, 1e-300, 1 / 3, issued=1e9 / 3, expires=2e9 / 3)
    assert Tickets("t", b"secret").read(Tickets("t", b"secret").of(row)) == row


def test_the_duel_of_a_query_is_found_by_an_index(tmp_path: Path) -> None:
    with create(f"sqlite:///{tmp_path}/duels.db") as t:
        duel = t.ask("q-1")
        t.tell(duel, FIRST)
        found = t.duel_of_query("q-1")
        assert found is not None
        assert found.id == duel.id
        assert t.duel_of_query("q-2") is None
    with contextlib.closing(sqlite3.connect(tmp_path / "duels.db")) as file:
        plan = file.execute(f"EXPLAIN QUERY PLAN {DUEL_OF_QUERY}", {"1": 1, "2": "q-1"}).fetchall()
        assert "duels_by_query (tournament=? AND query=?)" in str(plan)
