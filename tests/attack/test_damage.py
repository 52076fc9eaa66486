"""Damaged, removed and replaced files: nothing is acknowledged that would be lost; snapshots are only a shortcut."""

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from time import monotonic, sleep

import pytest

from live.learning import learnt
from live.unsynced import unsynced
from postgres.server import Server as Postgres
from rankduel.cli import main
from rankduel.errors import StorageError
from rankduel.live import LocalTournament, storage_at
from rankduel.live.admin.verify import verify
from rankduel.live.rules.clients import hash_client
from rankduel.live.rules.events import Event
from rankduel.live.runtime import snapshots
from rankduel.live.runtime.state import State
from rankduel.live.storage import sql, sqlite
from rankduel.live.storage.contract import Snapshot
from rankduel.live.storage.sqlite import SqliteStorage
from rankduel.types import Outcome
from service.servers import serving

RANKERS = [f"ranker {number}" for number in range(30)]
PAGE = 4096
NEEDED = [
    "journal",
    "journal_changes",
    "duels",
    "duels_by_query",
    "duels_by_client",
    "duels_open",
    "duels_unpruned",
    "tournaments",
    "sqlite_autoindex_tournaments_1",
    "counters",
]
FILLS = {"zeros": bytes(PAGE), "garbage": random.Random(1).randbytes(PAGE)}


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed storage file in which each large table has several pages; two snapshots are in it."""
    path = tmp_path_factory.mktemp("sound") / "duels.db"
    with unsynced(), LocalTournament.create("search", rankers=RANKERS, storage=f"sqlite:///{path}", seed=1) as t:
        for group in range(2):
            play(t, 500, f"{group}.")
            t._runtime.take_snapshot()
        t.ask_many([(f"open {number}", "client") for number in range(200)])
    return path


@pytest.fixture
def path(sound: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copy(sound, tmp_path / "duels.db"))


def play(t: LocalTournament, n: int, name: str) -> None:
    duels = t.ask_many([(f"{name}{number}", f"client {number % 50}") for number in range(n)])
    told = t.tell_many([(duel, Outcome.FIRST if number % 3 else Outcome.TIE) for number, duel in enumerate(duels)])
    assert {receipt.status for receipt in told} == {"accepted"}


def opened(path: Path) -> LocalTournament:
    return LocalTournament.open("search", storage=f"sqlite:///{path}")


def pages_of(path: Path, tree: str) -> list[int]:
    """A page of each type (inner, leaf, overflow) that a table or index has; its root where SQLite does not tell."""
    with closing(sqlite3.connect(path)) as file:
        try:
            found = file.execute("SELECT pagetype, min(pageno) FROM dbstat WHERE name = ? GROUP BY 1", (tree,))
            return [number for _, number in found]
        except sqlite3.OperationalError:  # compiled without dbstat
            return [row[0] for row in file.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (tree,))]


def overwrite(path: Path, page: int, content: bytes) -> None:
    with path.open("r+b") as file:
        file.seek((page - 1) * PAGE)
        file.write(content)


def wait_for(condition: Callable[[], object]) -> None:
    end = monotonic() + 60
    while not condition():
        assert monotonic() < end, "still not so after a minute"
        sleep(0.01)


def refused(t: LocalTournament, told: str = "the storage is damaged, nothing is acknowledged any more") -> None:
    """Whatever is told is refused, and whoever asks is served the baseline."""
    for _ in range(3):
        with pytest.raises(StorageError, match=told):
            t.tell("1-1001", Outcome.FIRST)
    assert t.ask("new").why == "storage"
    assert t.health().failure is not None


# Damaged pages


@pytest.mark.parametrize("fill", FILLS)
@pytest.mark.parametrize("tree", NEEDED)
def test_a_small_file_with_a_damaged_page_is_not_opened(path: Path, tree: str, fill: str) -> None:
    """A zeroed or garbage page of any type, in any table or index but snapshots, is noticed at start."""
    content = path.read_bytes()
    for page in pages_of(path, tree):
        path.write_bytes(content)
        overwrite(path, page, FILLS[fill])
        with pytest.raises(StorageError, match=r"cannot open .*duels\.db"):
            opened(path)


@pytest.mark.parametrize("tree", ["journal", "duels", "duels_by_client"])
def test_a_large_file_is_checked_in_the_background(path: Path, tree: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A large file opens at once; when the background check finds damage, nothing is acknowledged any more."""
    monkeypatch.setattr(sqlite, "_SMALL_FILE_BYTES", 0)
    monkeypatch.setattr(sql, "_CHECKED_LAST_EVENTS", 10)
    begin, check = threading.Event(), SqliteStorage._check_pages

    def later(storage: SqliteStorage) -> None:
        begin.wait()
        check(storage)

    monkeypatch.setattr(SqliteStorage, "_check_pages", later)
    with closing(sqlite3.connect(path)) as file:  # a leaf that opening and one tell do not touch
        leaves = f"SELECT pageno FROM dbstat WHERE name = '{tree}' AND pagetype = 'leaf' ORDER BY path LIMIT 1 OFFSET 2"
        ((page,),) = file.execute(leaves).fetchall()
    overwrite(path, page, FILLS["garbage"])
    with opened(path) as t:
        begin.set()
        wait_for(lambda: t.storage.damage)
        refused(t)


def test_pages_are_checked_again_now_and_then(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is damaged while it is open is noticed by the next check, although nobody reads that page."""
    monkeypatch.setattr(sqlite, "_CHECK_INTERVAL_SECONDS", 0.05)
    (*_, page) = pages_of(path, "journal")
    with opened(path) as t:
        play(t, 10, "x")
        # By another process: to close a file that SQLite has open would end its locks.
        code = "import sys; f = open(sys.argv[1], 'r+b'); f.seek(int(sys.argv[2])); f.write(b'Z' * 4096)"
        t.storage._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # type: ignore[attr-defined]
        subprocess.run([sys.executable, "-c", code, path, str((page - 1) * PAGE)], check=True)
        wait_for(lambda: t.storage.damage)
        refused(t)


def test_damage_that_a_read_meets_stops_writes(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first SQLITE_CORRUPT of any read is enough: no check has to find it."""
    monkeypatch.setattr(SqliteStorage, "_check_pages", lambda storage: None)
    (*_, page) = pages_of(path, "duels_by_client")
    overwrite(path, page, FILLS["garbage"])
    with opened(path) as t:
        assert t.storage.damage is None
        for client in ("client", *(f"client {number}" for number in range(50))):  # all that are in the index
            with suppress(StorageError):
                t.storage.asked_by("search", hash_client(client, bytes.fromhex(t.settings.salt)), 0.0)
        refused(t, "nothing is acknowledged any more: database disk image is malformed")


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("fill", FILLS)
@pytest.mark.parametrize("tree", ["snapshots", "sqlite_autoindex_snapshots_1"])
def test_damaged_snapshots_are_not_needed(
    path: Path, tree: str, fill: str, large: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With any page of the snapshots damaged, the same state comes from the journal, and tells are acknowledged."""
    if large:
        monkeypatch.setattr(sqlite, "_SMALL_FILE_BYTES", 0)
    monkeypatch.setattr(snapshots, "SNAPSHOT_INTERVAL_EVENTS", 20)
    content = path.read_bytes()
    with opened(path) as t:
        expected = learnt(t._state)
    for page in pages_of(path, tree):
        path.write_bytes(content)
        overwrite(path, page, FILLS[fill])
        with opened(path) as t:
            assert learnt(t._state) == expected
            play(t, 50, "more ")  # snapshots would be due
            wait_for(lambda: t.storage.snapshot_damage)
            assert t.storage.damage is None
            assert "the snapshots are damaged" in str(t.health().maintenance)
            assert t.ask("another one").id is not None
        with opened(path) as t:
            assert t.counts.resolved == 1050
            assert learnt(State.replay(t.journal())) == learnt(t._state)
        found = list(verify(f"sqlite:///{path}"))
        assert any("snapshots are damaged" in finding.told for finding in found)
        assert any("duels agree with the journal and the counters" in finding.told for finding in found)


def test_a_journal_without_its_end_is_refused(path: Path) -> None:
    """The last event is looked for, also where a snapshot makes its replay needless."""
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("DELETE FROM journal WHERE number = (SELECT max(number) FROM journal)")
    with pytest.raises(StorageError, match="has no event 1001, which was the last one"):
        opened(path)


def test_an_event_that_cannot_be_replayed_is_refused(path: Path) -> None:
    """An event with a changed value is an error of the storage that names the event."""
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("DELETE FROM snapshots")
        file.execute("""UPDATE journal SET body = replace(body, '"outcome":"first"', '"outcome":"fjrst"')""")
    with pytest.raises(StorageError, match=r"event 3 \(resolved\) cannot be replayed"):
        opened(path)


def test_verify_reports_and_does_not_raise(path: Path) -> None:
    """Whichever page is damaged, and however: there is a finding that says so, and no exception."""
    content = path.read_bytes()
    chance = random.Random(1)
    for page in {1, *chance.sample(range(1, len(content) // PAGE + 1), 40)}:
        path.write_bytes(content)
        overwrite(path, page, FILLS[chance.choice(list(FILLS))])
        levels = [finding.level for finding in verify(f"sqlite:///{path}")]
        assert {"error", "warning"} & set(levels), page  # a warning for the older snapshot, which is not needed


# Files that are removed or replaced


def unlink(file: Path) -> None:
    file.unlink()


def rename(file: Path) -> None:
    file.rename(file.with_name("renamed"))


def replace(file: Path) -> None:
    copy = Path(shutil.copy(file, file.with_name("copy")))
    copy.replace(file)


@pytest.mark.parametrize("suffix", ["", "-wal", "-shm"])
@pytest.mark.parametrize("act", [unlink, rename, replace])
def test_a_file_that_is_gone_ends_acknowledgement(path: Path, suffix: str, act: Callable[[Path], None]) -> None:
    """No tell is acknowledged after the file, its log or its index was removed, renamed or replaced."""
    with opened(path) as t:
        play(t, 10, "x")
        act(path.with_name(f"duels.db{suffix}"))
        refused(t, "was (removed or renamed|replaced) while it was in use")


def test_a_file_that_is_emptied_ends_acknowledgement(path: Path) -> None:
    """The same for a file that has its name and is empty, or has lost its last pages."""
    code = (
        "import os, sys; from rankduel.live.storage.sqlite_file_checks import OpenedFiles; from pathlib import Path\n"
    )
    code += "path = Path(sys.argv[1]); files = OpenedFiles(path); assert files.change() is None\n"
    code += "os.truncate(path, path.stat().st_size - 4096); print(files.change())\n"
    code += "path.write_bytes(b''); print(files.change())"
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=True)
    shorter, empty = done.stdout.splitlines()
    assert "was truncated to" in shorter
    assert "was truncated to 0 bytes while it was in use" in empty


def test_a_file_that_is_truncated_ends_acknowledgement(path: Path) -> None:
    """Not one tell is acknowledged after the file has lost pages."""
    with opened(path) as t:
        play(t, 10, "x")
        t.storage.run_maintenance()
        os.truncate(path, path.stat().st_size - 4096)
        refused(t, "was truncated to")


def test_a_file_that_is_brought_back_is_not_trusted(path: Path) -> None:
    """Once it was gone, nothing is acknowledged until the process opens it again; then all is there."""
    with opened(path) as t:
        play(t, 10, "x")
        path.rename(path.with_name("renamed"))
        refused(t, "was removed or renamed")
        path.with_name("renamed").rename(path)
        refused(t, "was removed or renamed")
    with opened(path) as t:
        assert t.counts.resolved == 1010
        play(t, 10, "y")


def test_a_file_that_is_removed_during_a_commit(path: Path) -> None:
    """The file is looked at after the commit, too, and before the commit is acknowledged."""
    with opened(path) as t:

        def remove(statement: str) -> None:
            if statement == "COMMIT":
                path.unlink(missing_ok=True)

        t.storage._writer.set_trace_callback(remove)  # type: ignore[attr-defined]
        refused(t, "was removed or renamed")
        assert not path.exists()


def test_an_idle_tournament_notices(path: Path) -> None:
    """Without any tell, the thread that looks after tournaments notices that the file is gone."""
    with opened(path) as t:
        path.unlink()
        wait_for(lambda: t.storage.damage)
        assert t.ask("new").why == "storage"


@pytest.mark.parametrize("act", [unlink, rename, replace])
def test_a_service_without_its_file_is_not_ready(tmp_path: Path, act: Callable[[Path], None]) -> None:
    """A running service whose file is gone answers tells with 503, and so does /readyz; /livez stays 200."""
    path = tmp_path / "duels.db"
    with serving(f"sqlite:///{path}") as server, server.client as client:
        made = client.post("/v1/tournaments", {"name": "search", "rankers": ["a", "b"], "baseline": "a", "seed": 1})
        assert made.status == 201
        duels = [client.post("/v1/tournaments/search/ask", {"query_id": f"q{n}"}).body for n in range(20)]

        def tell(number: int) -> int:
            told = {"ticket": duels[number]["ticket"], "outcome": "first"}
            return client.post("/v1/tournaments/search/tell", told).status

        assert tell(0) == 200
        assert client.get("/readyz").status == 200
        act(path)
        assert {tell(number) for number in range(1, 20)} == {503}
        answer = client.get("/readyz")
        assert (answer.status, answer.problem) == (503, "storage")
        assert str(path) not in answer.raw.decode()
        assert client.get("/livez").status == 200
        assert any("while it was in use" in line for line in server.lines)


def test_a_log_without_its_file_is_kept(path: Path) -> None:
    """SQLite would delete a log whose file is missing or empty, and begin a new file; this is refused."""
    log = path.with_name("duels.db-wal")
    log.write_bytes(b"what was acknowledged last")
    for remove in (lambda: path.write_bytes(b""), path.unlink):
        remove()
        with pytest.raises(StorageError, match=r"is missing or empty, but its log duels\.db-wal exists"):
            opened(path)
        assert log.read_bytes() == b"what was acknowledged last"


# The log


@pytest.fixture
def killed(tmp_path: Path) -> Path:
    """What a process leaves that was killed after 40 commits of one tell: a file, and a log with all of them."""
    path = tmp_path / "running" / "duels.db"
    path.parent.mkdir()
    with LocalTournament.create("search", rankers=RANKERS, storage=f"sqlite:///{path}", seed=1) as t:
        for number in range(40):
            t.tell(t.ask(f"query {number}"), Outcome.FIRST)
        for name in ("duels.db", "duels.db-wal"):
            shutil.copy(path.with_name(name), tmp_path / name)
    return tmp_path / "duels.db"


@pytest.mark.parametrize("part", [0, 0.1, 0.5, 0.9])
def test_a_damaged_log_is_refused(killed: Path, part: float) -> None:
    """One flipped bit in the log, and SQLite would silently undo all that follows; this is noticed at start."""
    log = killed.with_name("duels.db-wal")
    content = bytearray(log.read_bytes())
    content[int(part * len(content)) + 20] ^= 1
    log.write_bytes(content)
    with pytest.raises(StorageError, match=r"duels\.db-wal (has a damaged header|is damaged at frame)"):
        opened(killed)
    (finding,) = verify(f"sqlite:///{killed}")
    assert finding.level == "error"
    assert log.read_bytes() == content  # nothing was dropped


def test_a_log_that_a_crash_has_cut_short_is_no_damage(killed: Path) -> None:
    """A last commit that is not whole was never acknowledged: it is dropped, wherever it ends."""
    log = killed.with_name("duels.db-wal")
    file, content = killed.read_bytes(), log.read_bytes()
    for cut in (1, 100, 5000):
        for tail in (b"", bytes(cut)):
            killed.write_bytes(file)
            log.write_bytes(content[:-cut] + tail)
            with opened(killed) as t:
                assert t.counts.resolved == 39


def test_the_log_is_emptied_when_nobody_writes(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Soon after the last commit, everything is in the file and the log is empty."""
    monkeypatch.setattr(sqlite, "_CHECKPOINT_IDLE_SECONDS", 0.1)
    with opened(path) as t:
        play(t, 10, "x")
        wait_for(lambda: not path.with_name("duels.db-wal").stat().st_size)
        play(t, 10, "y")
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as reader:  # one that reads for long
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM journal").fetchall()
            sleep(1)
            play(t, 10, "z")
        wait_for(lambda: not path.with_name("duels.db-wal").stat().st_size)


CLOSED = """
import sys, threading, time
from rankduel.live.storage.sqlite import SqliteStorage
storage, found = SqliteStorage(sys.argv[1]), []
slow = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500000) SELECT i FROM n"
thread = threading.Thread(target=lambda: found.append(len(storage.select(slow))))
thread.start()
while not storage._reading.locked():
    time.sleep(0.001)
time.sleep(0.05)
storage.close()
thread.join()
assert found == [500000], found
assert storage.damage is None
"""


def test_a_storage_that_is_closed_while_it_is_read(tmp_path: Path) -> None:
    """A thread may read while another one closes: the close waits, and the process does not crash."""
    done = subprocess.run([sys.executable, "-c", CLOSED, tmp_path / "duels.db"], timeout=120, check=False)
    assert done.returncode == 0


# Snapshots


KILLED = """
import os, signal, sys
from rankduel.live import Tournament
from rankduel.live.runtime import snapshots
from rankduel.types import Outcome
snapshots.SNAPSHOT_INTERVAL_EVENTS = 100
t = Tournament.create("search", rankers=["a", "b", "c"], storage=sys.argv[1], seed=1, exist_ok=True)
for _ in range(9):
    t.tell_many([(duel, Outcome.FIRST) for duel in t.ask_many([(None, None)] * 5)])
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_process_that_is_killed_often_has_snapshots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Events count from the last stored snapshot, not from the last start: opening replays few of them."""
    url = f"sqlite:///{tmp_path}/duels.db"
    for _ in range(3):  # 45 events each
        done = subprocess.run([sys.executable, "-c", KILLED, url], timeout=60, check=False)
        assert done.returncode == -signal.SIGKILL
    replayed: list[int] = []
    apply = State.apply

    def counted(state: State, event: Event) -> None:
        replayed.append(event.number)
        apply(state, event)

    monkeypatch.setattr(State, "apply", counted)
    with LocalTournament.open("search", storage=url) as t:
        assert t.counts.resolved == 135
        assert [snapshot.number for snapshot in t.storage.snapshots("search")] == [101]
    assert replayed == list(range(102, 137))


def test_a_snapshot_that_fails_is_tried_again(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tells are acknowledged though no snapshot can be written; that is shown, and soon tried again."""
    monkeypatch.setattr(snapshots, "SNAPSHOT_INTERVAL_EVENTS", 100)

    def full(storage: SqliteStorage, tournament: str, snapshot: Snapshot) -> None:
        raise StorageError("database or disk is full")

    with opened(path) as t:
        with monkeypatch.context() as failing:
            failing.setattr(SqliteStorage, "write_snapshot", full)
            play(t, 100, "x")
            assert "disk is full" in str(t._runtime.snapshots.failure)
        play(t, 5, "y")  # not at once again: it takes a while where rankers are many
        assert t._runtime.snapshots.failure is not None
        play(t, 5, "z")
        assert t._runtime.snapshots.failure is None
        assert next(t.storage.snapshots("search")).number == 1111


# PostgreSQL


def test_damage_that_postgresql_reports_stops_writes(postgres: Postgres) -> None:
    """After an error of class XX001 (data_corrupted) nothing is acknowledged any more."""
    with LocalTournament.create("search", rankers=RANKERS, storage=postgres.empty(), seed=1) as t:
        duel = t.ask()
        raising = "DO $$ BEGIN RAISE EXCEPTION 'invalid page in block 7' USING ERRCODE = 'XX001'; END $$"
        with pytest.raises(StorageError, match="invalid page in block 7"):
            t.storage.select(raising)  # type: ignore[attr-defined]
        with pytest.raises(StorageError, match="nothing is acknowledged any more: invalid page in block 7"):
            t.tell(duel, Outcome.FIRST)
        assert t.ask("new").why == "storage"


def test_doctor_says_whether_postgresql_has_checksums(postgres: Postgres, capsys: pytest.CaptureFixture[str]) -> None:
    """Only with data checksums does PostgreSQL notice a damaged page: the doctor looks."""
    url = postgres.empty()
    with closing(storage_at(url)) as storage:
        ((setting,),) = storage.select("SELECT current_setting('data_checksums')")  # type: ignore[attr-defined]
    main(["doctor", "--storage", url])
    told = {"on": "ok       disk: PostgreSQL has data", "off": "warning  disk: PostgreSQL has no data"}[setting]
    assert f"{told} checksums" in capsys.readouterr().out
