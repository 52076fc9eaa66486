"""Care of a storage: copies of a running one, damage that `verify` must see, and upgrades."""

import os
import random
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from postgres.server import Server
from rankduel.errors import StorageError
from rankduel.live import Tournament
from rankduel.live.admin import migrate
from rankduel.live.admin.backup import backup
from rankduel.live.admin.findings import Finding
from rankduel.live.admin.migrate import upgrade
from rankduel.live.admin.verify import verify
from rankduel.live.runtime import snapshots
from rankduel.live.storage.contract import Snapshot
from rankduel.live.storage.schema import SCHEMA
from rankduel.live.storage.sqlite import SqliteStorage
from rankduel.types import Outcome

RANKERS = [f"ranker {number}" for number in range(6)]


@pytest.fixture
def played(url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A storage with a bit of everything."""
    monkeypatch.setattr(snapshots, "SNAPSHOT_INTERVAL_EVENTS", 100)
    chance = random.Random(1)
    with Tournament.create("search", rankers=RANKERS, storage=url, seed=1) as t:
        for number in range(6):
            duels = t.ask_many([(f"q-{number}-{query}", None) for query in range(50)])
            t.tell_many([(duel, chance.choice(list(Outcome))) for duel in duels[:40]])
        t.void(duels[45], "a test")
        t.retire(RANKERS[0])
        t.add_rankers(["new"])
        t.pause("a rest")
    with Tournament.create("other", rankers=RANKERS, storage=url, seed=1):
        pass
    return url


def file_of(url: str) -> Path:
    return Path(url.removeprefix("sqlite:///"))


def harm(url: str, statement: str) -> None:
    with closing(sqlite3.connect(file_of(url))) as file, file:
        assert file.execute(statement).rowcount > 0, statement


def wrong(url: str) -> list[Finding]:
    return [finding for finding in verify(url) if finding.level != "ok"]


def test_a_sound_storage(played: str) -> None:
    found = list(verify(played))
    assert {finding.level for finding in found} == {"ok"}
    told = [finding.told for finding in found if finding.about == "tournament 'search'"]
    assert "replayed 245 events without a gap" in told[0]
    assert "the snapshot at event" in told[1]
    assert told[2] == "300 duels agree with the journal and the counters"


def test_nothing_in_it(url: str) -> None:
    with pytest.raises(StorageError, match="no storage at"):
        list(verify(url))
    Tournament.create("gone", rankers=["a", "b"], storage=url).close()
    harm(url, "DELETE FROM tournaments")
    assert Finding("ok", "tournaments", "none yet") in list(verify(url))


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("DELETE FROM journal WHERE number = 77", "has no event 77, but event 78"),
        ("DELETE FROM journal WHERE number > 200", "245 events were acknowledged, but the journal has only 200"),
        ("DELETE FROM journal WHERE tournament = 1", "the journal is empty"),
        ("UPDATE journal SET body = '{' WHERE number = 50", "event 50 of tournament 'search'"),
        ("UPDATE journal SET kind = 'sold' WHERE number = 50", "event 50 has the unknown kind 'sold'"),
        ("UPDATE journal SET time = 7 WHERE number = 50", "event 50 has an earlier time than the event before it"),
        ("UPDATE journal SET body = '{}' WHERE number = 50", "an event cannot be replayed"),
        ("UPDATE journal SET body = replace(body, 'first\"}', 'tie\"}')", "differs from the replayed state"),
        ("UPDATE journal SET body = replace(body, 'first\"}', 'tie\"}')", "differs from the journal"),
        ("UPDATE duels SET state = 'expired' WHERE number = 7", "duel 1-7 differs from the journal"),
        (
            "UPDATE duels SET state = 'resolved', outcome = 'tie' WHERE number = 44",
            "resolved: 241 duels in the table, 240 in the journal",
        ),
        ("DELETE FROM duels WHERE number = 44", "issued: 299 duels in the table, 300 in the counters"),
        (
            "UPDATE counters SET value = 9 WHERE name = 'resolved'",
            "resolved: 240 duels in the table, 9 in the counters",
        ),
        ("UPDATE counters SET value = 9 WHERE name = 'void'", "void: 1 duels in the table, 9 in the counters"),
        ("UPDATE snapshots SET bandit = x'00'", "snapshots are damaged"),
    ],
)
def test_damage_is_seen(played: str, statement: str, told: str) -> None:
    harm(played, statement)
    assert any(told in finding.told for finding in wrong(played)), wrong(played)


def test_a_damaged_page_is_seen(played: str) -> None:
    path = file_of(played)
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(size // 2)
        file.write(os.urandom(4096))
    assert any(finding.level == "error" for finding in verify(played))


def test_a_snapshot_that_makes_way_meanwhile_is_not_damaged(played: str, monkeypatch: pytest.MonkeyPatch) -> None:
    snapshot = SqliteStorage.snapshots

    def going(storage: SqliteStorage, tournament: str) -> Iterator[Snapshot]:
        for each in snapshot(storage, tournament):
            yield each
            with closing(sqlite3.connect(storage.path)) as other:
                other.execute("DELETE FROM snapshots")
                other.commit()

    monkeypatch.setattr(SqliteStorage, "snapshots", going)
    assert wrong(played) == []


def test_a_storage_in_use(played: str, tmp_path: Path) -> None:
    # Copied and verified while others write: each copy is the storage as it was at one moment.
    stopped = threading.Event()
    with Tournament.open("search", storage=played) as t:
        t.start()

        def play() -> None:
            while not stopped.is_set():
                t.tell_many([(duel, Outcome.FIRST) for duel in t.ask_many([(None, None)] * 20)])

        player = threading.Thread(target=play)
        player.start()
        try:
            for number in range(5):
                assert wrong(played) == []
                size = backup(played, tmp_path / f"copy-{number}.db")
                assert size == (tmp_path / f"copy-{number}.db").stat().st_size
        finally:
            stopped.set()
            player.join()
    told = []
    for number in range(5):
        copy = f"sqlite:///{tmp_path}/copy-{number}.db"
        assert wrong(copy) == []
        with Tournament.open("search", storage=copy) as t:
            told.append(t.counts.resolved)
            assert t.tell_many([(t.ask(), Outcome.TIE)])[0].status == "accepted"
    assert told == sorted(told)
    assert (tmp_path / "copy-0.db").stat().st_mode & 0o777 == 0o600
    assert not list(tmp_path.glob("*.part*"))


def test_what_came_after_a_backup_is_not_mistaken_for_something_else(played: str, tmp_path: Path) -> None:
    with Tournament.open("search", storage=played) as t:
        t.start()
        t.tell(t.ask(), Outcome.FIRST)
        backup(played, tmp_path / "copy.db")
    with Tournament.open("search", storage=played) as t:
        later = [t.ask(f"later {number}") for number in range(30)]
    with Tournament.open("search", storage=f"sqlite:///{tmp_path}/copy.db") as t:
        again = [t.ask(f"again {number}") for number in range(30)]
        assert {duel.id for duel in later}.isdisjoint({duel.id for duel in again})
        wins = {line.ranker: line.wins for line in t.leaderboard()}
        assert t.tell(later[7].id or "", Outcome.FIRST).status == "unknown"
        assert t.tell(later[7].ticket or "", Outcome.FIRST).status == "accepted"
        wins[later[7].first] += 1
        assert {line.ranker: line.wins for line in t.leaderboard()} == wins
    assert wrong(f"sqlite:///{tmp_path}/copy.db") == []


def test_a_backup_overwrites_nothing(played: str, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("precious")
    with pytest.raises(StorageError, match="already exists and is not overwritten; choose another file"):
        backup(played, tmp_path / "mine")
    assert (tmp_path / "mine").read_text() == "precious"
    with pytest.raises(StorageError, match=r"cannot copy .* to .*/nowhere/copy"):
        backup(played, tmp_path / "nowhere" / "copy")
    (tmp_path / "text").write_text("once upon a time " * 100)
    with pytest.raises(StorageError, match="not a database"):
        backup(f"sqlite:///{tmp_path}/text", tmp_path / "copy")
    assert sorted(path.name for path in tmp_path.iterdir() if "duels" not in path.name) == ["mine", "text"]


@pytest.mark.parametrize("call", [lambda url: backup(url, Path("x")), upgrade])
def test_other_addresses(call: Callable[[str], object]) -> None:
    with pytest.raises(ValueError, match=r"storage must be sqlite:///FILE, got 'duels.db'"):
        call("duels.db")
    with pytest.raises(StorageError, match="no storage at /nowhere"):
        call("sqlite:////nowhere")


def test_upgrade(played: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert upgrade(played) == (SCHEMA, SCHEMA)
    for module in ("admin.migrate", "storage.sqlite"):
        monkeypatch.setattr(f"rankduel.live.{module}.SCHEMA", SCHEMA + 2)
    with pytest.raises(
        StorageError,
        match=f"has schema {SCHEMA}, but this version of rankduel reads schema {SCHEMA + 2}; run",
    ):
        Tournament.open("search", storage=played)
    steps = {SCHEMA: {"sqlite": "ALTER TABLE duels ADD COLUMN note TEXT"}}
    monkeypatch.setattr(migrate, "MIGRATIONS", steps)
    with pytest.raises(StorageError, match=f"no migration from schema {SCHEMA + 1} to {SCHEMA + 2}"):
        upgrade(played)
    steps[SCHEMA + 1] = {"sqlite": "ALTER TABLE duels ADD COLUMN mood TEXT; ALTER TABLE nowhere ADD COLUMN x TEXT"}
    with pytest.raises(StorageError, match=r"cannot upgrade .*: no such table: nowhere"):
        upgrade(played)
    steps[SCHEMA + 1] = {"sqlite": "ALTER TABLE duels ADD COLUMN mood TEXT"}  # the failed step left nothing behind
    assert upgrade(played) == (SCHEMA + 1, SCHEMA + 2)
    with Tournament.open("search", storage=played) as t:
        assert t.counts.resolved == 240


@pytest.mark.slow
def test_postgresql(postgres: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    url = postgres.empty()
    with pytest.raises(StorageError, match="no storage at"):
        upgrade(url)
    with Tournament.create("search", rankers=RANKERS, storage=url, seed=1) as t:
        duels = t.ask_many([(f"q-{number}", None) for number in range(100)])
        t.tell_many([(duel, Outcome.FIRST) for duel in duels[:60]])
        t.void(duels[70])
        assert wrong(url) == []  # while it is in use
    assert {finding.level for finding in verify(url)} == {"ok"}
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("UPDATE rankduel.duels SET outcome = 'tie' WHERE number = 7")
        assert [finding.told for finding in wrong(url)] == ["duel 1-7 differs from the journal"]
        connection.execute("UPDATE rankduel.duels SET outcome = 'first' WHERE number = 7")
        connection.execute("DELETE FROM rankduel.journal WHERE number = 9")
        assert "has no event 9, but event 10" in wrong(url)[0].told
    with pytest.raises(ValueError, match="cannot back up PostgreSQL; use pg_dump"):
        backup(url, Path("x"))
    assert upgrade(url) == (SCHEMA, SCHEMA)
    for module in ("storage.schema", "storage.postgres_tables"):
        monkeypatch.setattr(f"rankduel.live.{module}.SCHEMA", SCHEMA + 2)
    steps = {SCHEMA: {"postgres": "ALTER TABLE duels ADD COLUMN note TEXT"}}
    monkeypatch.setattr(migrate, "MIGRATIONS", steps)
    with pytest.raises(StorageError, match=f"no migration from schema {SCHEMA + 1} to {SCHEMA + 2}"):
        upgrade(url)
    steps[SCHEMA + 1] = {"postgres": "ALTER TABLE duels ADD COLUMN mood TEXT; ALTER TABLE nowhere ADD COLUMN x TEXT"}
    with pytest.raises(StorageError, match=r'cannot upgrade .* relation "nowhere" does not exist'):
        upgrade(url)
    steps[SCHEMA + 1] = {"postgres": "ALTER TABLE duels ADD COLUMN mood TEXT"}  # the failed step left nothing behind
    assert upgrade(url) == (SCHEMA + 1, SCHEMA + 2)


def test_another_file_is_not_upgraded(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "theirs.db")) as file, file:
        file.execute("CREATE TABLE t (x)")
    with pytest.raises(StorageError, match="is a SQLite file of another application; choose another file"):
        upgrade(f"sqlite:///{tmp_path}/theirs.db")


def test_a_newer_storage_is_refused(played: str) -> None:
    with closing(sqlite3.connect(file_of(played))) as file:
        file.execute("PRAGMA user_version = 99")
    with pytest.raises(
        StorageError,
        match=f"has schema 99, but this version of rankduel reads schema {SCHEMA}; install a newer",
    ):
        upgrade(played)
