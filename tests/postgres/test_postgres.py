"""Several processes share a database: they agree, and a cut connection or a restart harms nobody."""

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest

import rankduel as rd
from live.learning import learnt
from postgres.server import Server
from rankduel.live import DuelRow, LocalTournament, storage_at
from rankduel.live.runtime.state import State
from rankduel.live.runtime.tickets import Tickets
from rankduel.live.storage.contract import Change, Created, KeyRow, Tell
from rankduel.live.storage.postgres import PostgresStorage
from rankduel.live.storage.schema import SCHEMA

FIRST, TIE = rd.Outcome.FIRST, rd.Outcome.TIE
NAMES = ["a", "b", "c", "d"]


@pytest.fixture
def url(postgres: Server) -> str:
    return postgres.empty()


def other(url: str) -> str:
    """The same database by another address: two objects of one process behave as two processes."""
    return f"{url}?application_name=other"


def create(url: str, **options: Any) -> LocalTournament:
    settings: dict[str, Any] = {"rankers": NAMES, "storage": url, "seed": 1, "exist_ok": True}
    return LocalTournament.create("search", **settings | options)


@contextmanager
def sql(url: str) -> Iterator[psycopg.Connection[tuple[Any, ...]]]:
    options = "-c search_path=rankduel -c lock_timeout=30s"
    with psycopg.connect(url, autocommit=True, options=options) as connection:
        yield connection


def until(true: Callable[[], object]) -> None:
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def waiting(connection: psycopg.Connection[tuple[Any, ...]]) -> list[int]:
    """Who waits for a lock in this database."""
    statement = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    return [pid for (pid,) in connection.execute(statement)]


# Start


def test_the_tables_are_made_once_however_many_start(url: str) -> None:
    with ThreadPoolExecutor(8) as pool:
        storages = list(pool.map(lambda _: PostgresStorage(url), range(8)))
    assert len({storage.secret for storage in storages}) == 1
    for storage in storages:
        storage.close()


def test_another_version_is_refused(url: str) -> None:
    with pytest.raises(rd.StorageError, match=r"no storage at postgresql://postgres@127.0.0.1"):
        storage_at(url, own=False)
    create(url).close()
    storage_at(url, own=False).close()
    for schema, advice in ((SCHEMA + 1, "install a newer version"), (1, "run `rankduel storage upgrade`")):
        with sql(url) as connection:
            connection.execute("UPDATE facts SET value = %s WHERE name = 'schema'", (str(schema),))
        with pytest.raises(
            rd.StorageError, match=f"has schema {schema}, but this version of rankduel reads schema {SCHEMA}; {advice}"
        ):
            create(url)


def test_an_encoding_that_cannot_hold_all_names_is_refused(postgres: Server) -> None:
    with pytest.raises(rd.StorageError, match="has the encoding SQL_ASCII; create a database with ENCODING 'UTF8'"):
        create(postgres.database("ENCODING 'SQL_ASCII' TEMPLATE template0"))


def test_no_message_has_the_password(url: str, postgres: Server) -> None:
    bad = [
        "postgresql://anna:hunter2@127.0.0.1:1/duels",
        f"postgresql://anna:hunter2@127.0.0.1:{postgres.port}/duels",
        "postgresql://anna:hunter2@[::1/duels",
        "postgresql://anna:hunter2@127.0.0.1:x/duels",
    ]
    for address in bad:
        with pytest.raises((rd.StorageError, ValueError)) as caught:
            create(address)
        assert "hunter2" not in str(caught.value)
    secret = url.replace("postgres@", "postgres:hunter2@")
    create(secret).close()
    with pytest.raises(rd.UnknownTournament) as unknown:
        LocalTournament.open("other", storage=secret)
    with pytest.raises(rd.TournamentExists) as exists:
        create(secret, exist_ok=False)
    assert "hunter2" not in f"{unknown.value} {exists.value}"


def test_without_psycopg_it_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['psycopg'] = None\n"
        "import rankduel as rd\n"
        "rd.Tournament.open('x', storage='postgresql://localhost/x')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert "ImportError: PostgreSQL needs psycopg; install it by pip install 'rankduel[postgres]'" in done.stderr


def test_tells_are_synced_whatever_the_default_of_the_database(postgres: Server) -> None:
    url = postgres.database()
    for default, used in (("off", "on"), ("remote_apply", "remote_apply")):
        with sql(url) as connection:
            name = url.rpartition("/")[2]
            connection.execute(f"ALTER DATABASE {name} SET synchronous_commit = {default}".encode())
        storage = PostgresStorage(url)
        with storage.transaction():
            assert storage.fetch("SHOW synchronous_commit") == [(used,)]
        with storage.transaction(durable=False):
            assert storage.fetch("SHOW synchronous_commit") == [("off",)]
        with storage.transaction():
            assert storage.fetch("SHOW synchronous_commit") == [(used,)]
        storage.close()


# Together


def test_the_same_query_gets_one_duel_whoever_asks(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with create(url) as one, create(other(url)) as two:
        queries = [(f"q{number}", None) for number in range(300)]
        with monkeypatch.context() as patched, ThreadPoolExecutor(4) as pool:
            for t in (one, two):
                patched.setattr(t.storage, "duels_of", lambda *_: {})  # both ask before either is stored
            asked: list[Any] = []
            for start in range(0, 300, 30):
                some = queries[start : start + 30]
                both = [pool.submit(one.ask_many, some), pool.submit(two.ask_many, some[::-1])]
                asked.append([future.result() for future in both])
        for mine, theirs in asked:
            assert mine == theirs[::-1]
        ids = {duel.id for mine, _ in asked for duel in mine}
        assert len(ids) == 300
        assert one.ask_many(queries) == two.ask_many(queries) == [duel for mine, _ in asked for duel in mine]
        assert one.counts.issued == two.counts.issued == 300


def test_a_query_asked_twice_at_once_within_a_process(url: str) -> None:
    with create(url) as t:
        first, second, again = t.ask_many([("q", None), ("q", None), ("r", None)])
        assert first == second != again
        assert t.counts.issued == 2


def test_each_learns_what_the_other_was_told(url: str) -> None:
    with create(url) as one, create(other(url)) as two:
        for number in range(20):
            t, elsewhere = (one, two) if number % 2 else (two, one)
            duel = t.ask(f"q{number}")
            assert elsewhere.tell(duel.id or "", FIRST).status == "accepted"
            assert t.tell(duel, FIRST).status == "duplicate"
            assert t.tell(duel, TIE) == rd.live.Receipt(rd.live.Status.CONFLICT, FIRST)
        two.pause("a look", by="anna")
        until(lambda: one._state.number == two._state.number == 22)
        assert one.status == "paused"
        assert one.ask("new").why == "paused"
        assert one.ask("q3") == two.ask("q3")  # what was asked before stays
        assert learnt(one._state) == learnt(two._state) == learnt(State.replay(one.journal()))
        assert one.counts == two.counts


def test_a_tournament_that_another_process_has_deleted(url: str) -> None:
    """It is unknown at once or a moment later, and a new one with its name gets nothing from the old."""
    with create(url) as one, LocalTournament.create("kept", rankers=NAMES, storage=url) as kept:
        one.tell(lost := one.ask("q"), FIRST)
        one.stop()
        LocalTournament.delete("search", storage=other(url), confirm="search")
        until(lambda: one.deleted)
        calls: list[Callable[[], object]] = [
            lambda: one.ask("q"),
            lambda: one.tell(lost, FIRST),
            one.start,
            lambda: one.counts,
        ]
        for call in calls:
            with pytest.raises(rd.UnknownTournament, match="unknown tournament 'search'; it was deleted"):
                call()
        kept.tell(kept.ask("q"), FIRST)  # other tournaments go on
        assert kept.counts.resolved == 1
        one.run_maintenance()
    with sql(url) as connection:
        for table in ("journal", "duels", "counters", "snapshots"):
            ((owners,),) = connection.execute(f"SELECT count(DISTINCT tournament) FROM {table}")
            assert owners <= 1, table  # only of the tournament that was kept
    with create(url) as new:
        assert (new.number, new.ask("q").id) == (1, "1-1")


def test_a_deletion_that_this_process_has_not_noticed_yet(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is written into the new tournament of that name, and the rest of the batch is written."""
    monkeypatch.setattr("rankduel.live.storage.open_storages._MAINTENANCE_INTERVAL_SECONDS", 600.0)
    with create(url) as one, LocalTournament.create("kept", rankers=NAMES, storage=url) as kept:
        duel = one.ask("q")
        one.stop()
        LocalTournament.delete("search", storage=other(url), confirm="search")
        with create(other(url)) as new:
            told = [one.tell_soon([(duel, FIRST)]), kept.tell_soon([(kept.ask("q"), FIRST)])]
            with pytest.raises(rd.UnknownTournament, match="it was deleted"):
                told[0].result(30)
            assert told[1].result(30)[0].status == "accepted"
            assert one.deleted
            assert new.counts == rd.live.Counts()
            assert [event.kind for event in new.journal()] == ["created"]


def test_a_ranker_that_another_process_has_just_added(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with create(url) as one, create(other(url)) as two:
        monkeypatch.setattr(two, "run_maintenance", lambda: None)
        one.add_rankers(["new"])
        for ranker in NAMES[:3]:
            one.retire(ranker)
        duel = one.ask("q")
        assert "new" in (duel.first, duel.second)
        assert two.rankers == NAMES
        assert two.ask("q") == duel


def test_processes_together_do_not_exceed_the_limit_of_rankers(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit is checked under the lock of the tournament; what else is in the transaction is written."""
    monkeypatch.setattr("rankduel.live.settings.MAX_RANKERS", 10)
    monkeypatch.setattr("rankduel.live.storage.open_storages._MAINTENANCE_INTERVAL_SECONDS", 600.0)
    with create(url) as one, create(other(url)) as two:
        one.add_rankers(["e", "f", "g", "h"])
        assert two.rankers == NAMES
        with pytest.raises(ValueError, match="at most 10 rankers; it has 8, got 4 more"):
            two.add_rankers(["i", "j", "k", "l"])
        changes = [Change(time.time(), "added", {"rankers": names, "reason": "", "by": ""}) for names in ("ij", "kl")]
        duel = DuelRow(9, 1, None, None, 0, 1, None, None, time.time(), 2e9)
        added, refused, told = two._runtime.write([*changes, Tell(9, 1, duel, "tie", time.time())])
        assert added.kind == "added"
        assert isinstance(refused, ValueError)
        assert told.status == "accepted"
        one._runtime.follow()
        assert one.rankers == list("abcdefghij")


def test_signals_find_the_duel_that_a_query_has(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with create(url) as one, create(other(url)) as two:
        duel = two.ask("q")
        with monkeypatch.context() as patched:
            patched.setattr(one.storage, "duels_of", lambda *_: {})
            assert one.ask("q") == duel  # which one has chosen another, and found that it was late
        two.show(duel, duel.interleave(["d1"], ["d2"], k=2))
        seen = rd.live.Signal("q", "click", "d1", 1, time.time(), None, "k")
        assert one.observe([seen]) == ["accepted"]
        assert two.observe([seen, seen._replace(query_id="r")]) == ["duplicate", "unknown"]


def test_a_ticket_whose_query_gets_another_duel_at_that_moment_is_told_once(url: str) -> None:
    """Its own row must not be swallowed by the conflict: then it would be accepted again and again."""
    with create(url) as t:
        lost = DuelRow(77, 1, "q", None, 0, 1, None, None, time.time(), time.time() + 600)
        ticket = Tickets("search", t.storage.secret).of(lost)
        with sql(url) as connection:
            ((owner,),) = connection.execute("SELECT id FROM tournaments")
            with connection.transaction():
                connection.execute(
                    "INSERT INTO duels (tournament, session, number, query, first, second, issued, expires, state) "
                    "VALUES (%s, 88, 1, 'q', 0, 1, 0, 0, 'issued')",
                    (owner,),
                )
                with ThreadPoolExecutor(1) as pool:
                    told = pool.submit(t.tell, ticket, FIRST)
                    with sql(url) as watcher:
                        until(lambda: waiting(watcher))
                    connection.execute("COMMIT")
                    assert told.result().status == "accepted"
        assert t.tell(ticket, FIRST).status == "duplicate"
        assert t.ask("q").id == "88-1"


# Who leads


def test_one_leads_and_another_takes_over(url: str) -> None:
    one, two = PostgresStorage(url), PostgresStorage(url)
    reader = PostgresStorage(url, own=False)
    assert one.leads("x")
    assert one.leads("x")
    assert not two.leads("x")
    assert two.leads("y")  # each tournament by itself
    assert not reader.leads("z")
    one.resign("x")
    assert not two.leads("x")
    assert one.leads("z")
    assert two.leads("x")
    assert not one.leads("x")
    two.close()
    until(lambda: one.leads("x"))
    one.close()
    assert not one.leads("x")
    reader.close()


def test_who_was_cut_off_does_not_believe_to_lead(url: str, postgres: Server) -> None:
    one, two = PostgresStorage(url), PostgresStorage(url)
    assert one.leads("x")
    with sql(url) as connection:
        connection.execute("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'")
    until(lambda: two.leads("x"))
    assert not one.leads("x")
    postgres.cut(url)
    assert one.leads("x") != two.leads("x")
    one.close()
    two.close()


def test_who_hangs_does_not_lead_for_long(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that is stopped keeps its connections, and says nothing on them."""
    monkeypatch.setattr("rankduel.live.storage.postgres_leader._SILENT_LEADER_SECONDS", 0.5)
    one, two = PostgresStorage(url), PostgresStorage(url)
    assert one.leads("x")
    assert not two.leads("x")
    until(lambda: two.leads("x"))
    assert not one.leads("x")  # it goes on, and is told that it was cut off
    one.close()
    two.close()


def test_a_tournament_that_is_closed_is_led_by_another(url: str) -> None:
    with create(url) as one, LocalTournament.create("stays", rankers=NAMES, storage=url):
        until(lambda: one.storage.leads("search"))
        with create(other(url)) as two:
            assert not two.storage.leads("search")
            one.close()
            until(lambda: two.storage.leads("search"))


def test_duels_expire_by_whoever_leads(url: str) -> None:
    one, two = create(url, expires_after=0.1), create(other(url), expires_after=0.1)
    duel = one.ask("q")
    one.close()
    until(lambda: (row := two.storage.duels_of("search", ["q"]).get("q")) is not None and row.state == "expired")
    assert two.tell(duel.id or "", FIRST).status == "late"
    two.close()


# When something fails


def test_an_idle_connection_that_was_cut_is_not_noticed(url: str, postgres: Server) -> None:
    with create(url) as t:
        for number in range(3):
            assert postgres.cut(url)
            duel = t.ask(f"q{number}")
            assert duel.id is not None
            postgres.cut(url)
            assert t.tell(duel, FIRST).status == "accepted"
        time.sleep(1.1)  # idle for longer than that, it is looked after before it is used
        postgres.cut(url)
        t.storage.add_key(KeyRow("k", "site", "ask", "digest", 1.0))
        postgres.cut(url)
        assert len(t.storage.keys()) == 1
        assert t.counts.resolved == 3
        assert learnt(State.replay(t.journal())) == learnt(t._state)


def test_a_transaction_cut_before_its_commit_is_tried_again(url: str) -> None:
    with create(url) as t, sql(url) as connection, sql(url) as watcher, ThreadPoolExecutor(1) as pool:
        duel = t.ask("q")
        with connection.transaction():
            connection.execute("SELECT 1 FROM tournaments FOR UPDATE")
            told = pool.submit(t.tell, duel, FIRST)
            until(lambda: waiting(watcher))
            watcher.execute("SELECT pg_terminate_backend(%s)", (waiting(watcher)[0],))
            until(lambda: not waiting(watcher) or len(waiting(watcher)) == 1)
        assert told.result().status == "accepted"
        assert [event.kind for event in t.journal()] == ["created", "resolved"]


def test_a_transaction_cut_in_its_commit_is_told_again(url: str) -> None:
    with create(url) as t, sql(url) as connection, sql(url) as watcher, ThreadPoolExecutor(1) as pool:
        duel = t.ask("q")
        t.counts  # noqa: B018 - the ask is written
        with connection.transaction():
            connection.execute("INSERT INTO counters SELECT id, 'resolved', 0 FROM tournaments")
            told = pool.submit(t.tell, duel, FIRST)  # it waits for the counter, with its commit on the way
            until(lambda: waiting(watcher))
            watcher.execute("SELECT pg_terminate_backend(%s)", (waiting(watcher)[0],))
            with pytest.raises(rd.StorageError, match=r"cannot write to postgresql://postgres@127.0.0.1"):
                told.result()
        assert t._state.bandit.told == 0
        assert t.tell(duel, FIRST).status == "accepted"
        assert t.tell(duel, FIRST).status == "duplicate"
        assert learnt(State.replay(t.journal())) == learnt(t._state)


def test_a_deadlock_is_tried_again(url: str) -> None:
    with create(url) as t, sql(url) as connection, sql(url) as watcher, ThreadPoolExecutor(1) as pool:
        t.tell(t.ask("p"), FIRST)
        duel = t.ask("q")
        connection.execute("SET deadlock_timeout = '60s'")  # the other one is the victim
        with connection.transaction():
            connection.execute("UPDATE counters SET value = value WHERE name = 'resolved'")
            told = pool.submit(t.tell, duel, FIRST)  # has the tournament, waits for the counter
            until(lambda: waiting(watcher))
            connection.execute("SELECT 1 FROM tournaments FOR UPDATE")  # has the counter, waits for the tournament
        assert told.result().status == "accepted"
        assert t.counts.resolved == 2


def test_a_database_that_is_down(url: str, postgres: Server) -> None:
    with create(url, baseline="b") as t:
        duel = t.ask("q")
        postgres.stop()
        try:
            refused = [t.ask("other"), t.ask(), t.ask("q")]
            with pytest.raises(rd.StorageError, match=r"cannot write to postgresql://postgres@127.0.0.1"):
                t.tell(duel, FIRST)
            assert not t.storage.leads("search")
            assert t.ask().why == "storage"
        finally:
            postgres.start()
        assert refused[0].why == refused[2].why == "storage"
        assert refused[0].first == "b"
        until(lambda: t.ask("later").id is not None)
        assert t.tell(duel, FIRST).status == "accepted"
        until(lambda: t.storage.leads("search"))
    with LocalTournament.open("search", storage=url) as t:
        assert t.counts.resolved == 1


def test_a_process_that_stops_within_a_transaction_is_cut_off(url: str) -> None:
    with sql(url) as connection:
        create(url).close()
        storage = PostgresStorage(url)
        storage._writer.connected().execute("SET idle_in_transaction_session_timeout = '200ms'")
        with pytest.raises(rd.StorageError), storage.transaction():  # noqa: PT012
            storage.fetch("SELECT 1 FROM tournaments FOR UPDATE")
            connection.execute("UPDATE tournaments SET time = time")  # goes on when the other one is cut off
            storage.fetch("SELECT 1")
        storage.close()


def test_a_fork_does_not_use_the_connections(url: str) -> None:
    code = """
import os, sys, rankduel as rd
t = rd.Tournament.create("search", rankers=["a", "b"], storage=sys.argv[1])
t.tell(t.ask("q"), rd.Outcome.FIRST)
if os.fork() == 0:
    for use in (t.ask, t.duels):
        try:
            use()
        except rd.StorageError as error:
            print(error, flush=True)
    with rd.Tournament.open("search", storage=sys.argv[1]) as mine:
        print(mine.ask("q").id, flush=True)
    del t
    sys.exit()
os.wait()
print(t.tell(t.ask(), rd.Outcome.FIRST).status)
"""
    done = subprocess.run([sys.executable, "-c", code, url], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    fork, reader, asked, status = done.stdout.splitlines()
    assert "open it again after the fork" in fork
    assert "open it again after the fork" in reader
    assert (asked, status) == ("1-1", "accepted")


# Statements


def test_texts_and_numbers_survive_alone_and_together(url: str) -> None:
    texts = ["100 % sure?", "a'b\"c\\d", "{1,2}", "$1 ?", "\u00e4\u6f22\U0001f600", "null", "\u2028,:"]
    storage = PostgresStorage(url)
    rows = [
        DuelRow(1, number + 1, text, f"c{text}", 1, 0, 1 / 3, 0.1 + 0.2, 1794897639.8712801, 2.0**70, page=text)
        for number, text in enumerate(texts)
    ]
    storage.commit({"x": [Created(0.0, {"rankers": ["a", "b"]})]})
    storage.commit({"x": [rows[0]]})
    storage.commit({"x": rows[1:]})
    assert storage.duels("x", 10) == rows[::-1]
    assert storage.duels_of("x", texts) == dict(zip(texts, rows, strict=True))
    storage.commit({"x": [Tell(1, row.number, None, "tie", 3.0, page=f"{row.page}!") for row in rows]})
    told = [row._replace(state="resolved", outcome="tie", page=f"{row.page}!") for row in rows]
    assert storage.duels("x", 10) == told[::-1]
    assert next(storage.read("x", 1)).body["propensity"] == [1 / 3, 0.1 + 0.2]
    storage.close()


def test_threads_share_the_reader(url: str) -> None:
    with create(url) as t:
        t.tell_many([(duel, FIRST) for duel in t.ask_many([(f"q{number}", None) for number in range(50)])])
        found: list[list[DuelRow]] = []
        readers = [threading.Thread(target=lambda: found.extend(t.duels(50) for _ in range(5))) for _ in range(6)]
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join()
        assert len(found) == 30
        assert all(rows == found[0] for rows in found)
