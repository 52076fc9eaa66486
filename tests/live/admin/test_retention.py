"""Old duels are pruned and clients are erased, on both databases; what was learnt stays."""

import sqlite3
from contextlib import closing
from pathlib import Path
from time import time
from typing import Any

import pytest

import rankduel as rd
from client.service import running
from live.learning import learnt
from postgres.server import Server
from rankduel.live import Event, LiveDuel, LocalTournament, Signal, Status, storage_at
from rankduel.live.admin.retention import count_old, erase, prune, vacuum
from rankduel.live.admin.verify import verify
from rankduel.live.rules.duels import REMOVED
from rankduel.live.runtime import retention
from rankduel.live.runtime.state import State
from rankduel.live.storage import shared_statements as sql
from rankduel.live.storage.sql import SqlStorage

RANKERS = ["bm25", "ltr", "neural"]
DAY = 86_400.0
AGE = 10 * DAY
N = 60


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def url(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(retention, "_MAX_DUELS_PER_BATCH", 7)  # several batches
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/duels.db"
    server: Server = request.getfixturevalue("postgres")
    return server.empty()


def at(monkeypatch: pytest.MonkeyPatch, when: float) -> None:
    """Set the clock of tournaments and of retention."""
    for module in ("runtime.runtime", "runtime.retention", "local_tournament", "admin.retention"):
        monkeypatch.setattr(f"rankduel.live.{module}.now", lambda: when)


def play(url: str, name: str = "home", prefix: str = "q", **settings: Any) -> list[LiveDuel]:
    """Three of four duels are shown, two of four are told; each client has some, and each shown page a click."""
    given: dict[str, Any] = {"expires_after": 5 * DAY, "attribution": {"window": 3 * DAY}, "seed": 1} | settings
    with LocalTournament.create(name, rankers=RANKERS, storage=url, exist_ok=True, **given) as t:
        duels = t.ask_many([(f"{prefix}{number}", f"client {number % 5}") for number in range(N)])
        for duel in duels:
            duel.interleave(["a", "b", "c"], ["c", "d", "a"], k=3)
        t.show_many([(duel, None) for number, duel in enumerate(duels) if number % 4])
        clicks = [Signal(f"{prefix}{number}", "click", "a", 1, time(), None, "k") for number in range(N)]
        assert {*t.observe(clicks)} == {Status.ACCEPTED}
        t.tell_many([(duel, rd.Outcome.FIRST) for number, duel in enumerate(duels) if number % 4 >= 2])
    return duels


def rows(url: str, statement: str) -> list[tuple[Any, ...]]:
    with closing(storage_at(url, own=False)) as storage:
        assert isinstance(storage, SqlStorage)
        return storage.select(statement)


def personal(url: str) -> list[tuple[Any, ...]]:
    """What is left of it: number of duels with a client, with a page, with a query id; and of signals."""
    return rows(
        url,
        "SELECT count(client), sum(CASE WHEN page <> '' THEN 1 ELSE 0 END), count(query), "
        "(SELECT count(*) FROM signals) FROM duels",
    )


def check(url: str, *, journal: list[Event] | None = None) -> None:
    """The storage is sound, and the same was learnt as before."""
    assert [finding for finding in verify(url) if finding.level != "ok"] == []
    with LocalTournament.open("home", storage=url) as t:
        events = list(t.journal())
        assert learnt(State.replay(iter(events))) == learnt(t._state)
    assert journal is None or events == journal


def journal_of(url: str) -> list[Event]:
    with closing(storage_at(url, own=False)) as storage:
        return list(storage.read("home"))


def test_pages_signals_and_clients_of_old_duels_go(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = time() - 20 * DAY
    at(monkeypatch, begun)
    old = play(url)
    at(monkeypatch, begun + 15 * DAY)
    young = play(url, prefix="y")  # maintenance finishes the old ones
    before = journal_of(url)
    at(monkeypatch, begun + 20 * DAY)
    with LocalTournament.open("home", storage=url) as t:
        t.run_maintenance()
        assert t.counts.in_flight == 0
    before = journal_of(url)
    (with_client, with_page, with_query, signals) = personal(url)[0]
    assert (with_client, with_query, signals) == (2 * N, 2 * N, 2 * N)
    assert count_old(url, AGE) == {"home": N}
    progress = list(prune(url, AGE))
    assert [(done, total) for done, total, _ in progress][::4] == [(0, N), (28, N), (56, N)]
    assert progress[-1][:2] == (N, N)
    assert personal(url) == [(N, with_page / 2, 2 * N, N)]
    assert count_old(url, AGE) == {"home": 0}
    assert [state[:2] for state in prune(url, AGE)] == [(0, 0)]  # again: there is nothing to do
    check(url, journal=before)
    with LocalTournament.open("home", storage=url) as t:
        assert t.ask("q3").id == old[3].id
        assert t.tell(old[3], rd.Outcome.FIRST).status == "duplicate"
        assert t.tell(old[3], rd.Outcome.TIE).status == "conflict"
        assert t.show(old[3]) == "duplicate"
        assert t.observe([Signal("q3", "click", "a", 1, time(), None, "another")]) == ["late"]
        assert t.tell(old[0], clicks=["a"]).status == "late"  # it has expired: the page does not come back
        assert {row.page for row in t.duels(2 * N) if row.issued < begun + DAY} == {REMOVED}
        assert {row.client for row in t.duels(2 * N) if row.issued < begun + DAY} == {None}
        assert t.ask("y3").id == young[3].id
    assert personal(url)[0][0] == N


def test_open_duels_are_left_alone(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = time()
    at(monkeypatch, begun)
    duels = play(url, expires_after=100 * DAY, attribution={"window": 99 * DAY})
    at(monkeypatch, begun + 50 * DAY)
    *_, (done, total, _) = prune(url, AGE)
    assert done == total == N / 2
    with LocalTournament.open("home", storage=url) as t:
        assert t.counts.in_flight == N / 2
        assert t.tell(duels[0], rd.Outcome.TIE).status == "accepted"
    *_, (done, total, _) = prune(url, AGE)
    assert done == total == 1
    check(url)


def test_query_ids_go_if_you_want_it(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = time()
    at(monkeypatch, begun)
    duels = play(url)
    at(monkeypatch, begun + 20 * DAY)
    with LocalTournament.open("home", storage=url) as t:
        t.run_maintenance()
    assert count_old(url, AGE) == count_old(url, AGE, query_ids=True) == {"home": N}
    next(states := prune(url, AGE))
    assert next(states)[:2] == (7, N)
    states.close()  # the rest is pruned with query ids, and those of the first batch go, too
    assert personal(url)[0][::2] == (N - 7, N)
    assert (count_old(url, AGE), count_old(url, AGE, query_ids=True)) == ({"home": N - 7}, {"home": N})
    *_, last = prune(url, AGE, query_ids=True)
    assert last[:2] == (N, N)
    assert personal(url) == [(0, 0, 0, 0)]
    check(url)
    with LocalTournament.open("home", storage=url) as t:
        again = t.ask("q3")
        assert again.id != duels[3].id
        assert t.tell(duels[3], rd.Outcome.FIRST).status == "duplicate"


def test_one_tournament_only(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    at(monkeypatch, time() - 20 * DAY)
    play(url)
    play(url, "other")
    at(monkeypatch, time())
    assert count_old(url, AGE) == {"home": N / 2, "other": N / 2}
    list(prune(url, AGE, "other"))
    assert count_old(url, AGE) == {"home": N / 2, "other": 0}
    with pytest.raises(rd.UnknownTournament, match=r"unknown .* 'nowhere' .* known tournaments: home, other"):
        list(prune(url, AGE, "nowhere"))


def test_with_a_daily_cap_the_duels_of_today_stay(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    midnight = 20_000 * DAY
    at(monkeypatch, midnight - 60)
    play(url, daily_cap=100)
    at(monkeypatch, midnight + 3600)
    play(url, prefix="today", daily_cap=100)
    assert count_old(url, 600) == {"home": N / 2}
    with LocalTournament.open("home", storage=url) as t:
        t.configure(daily_cap=None)
    at(monkeypatch, midnight + 7200)
    assert count_old(url, 600) == {"home": N}


def test_a_client_is_erased(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    duels = play(url)
    with LocalTournament.open("home", storage=url) as t:
        champion, resolved = t.champion, t.counts.resolved
        t.ask("not written yet", "client 2")
        assert t.erase_client("client 2", "asked for it", "anna") == N / 5 + 1
        assert t.erase_client("client 2") == t.erase_client("nobody") == 0
        events = [event for event in t.audit() if event.kind == "erased"]
        assert sum(event.body["duels"] for event in events) == N / 5 + 1
        assert {(event.body["reason"], event.body["by"]) for event in events} == {("asked for it", "anna")}
        assert "client 2" not in str(events)
        mine = [row for row in t.duels(2 * N) if row.page == REMOVED]
        assert len(mine) == N / 5 + 1
        assert {(row.query, row.client) for row in mine} == {(None, None)}
        assert {row.state for row in mine} == {"resolved", "void"}
        assert (t.champion, t.counts.resolved) == (champion, resolved)
        is_open = duels[12]
        assert is_open.id in {row.id for row in mine}
        assert t.tell(is_open, rd.Outcome.FIRST).status == "late"
        assert t.show(is_open) == "duplicate"
        with pytest.raises(ValueError, match="client_id must be 1 to 200 printable characters"):
            t.erase_client("")
    assert personal(url)[0] == (N - N / 5, 45 - 9, N - N / 5, N - N / 5)
    check(url)


def test_a_client_is_erased_in_all_tournaments(url: str) -> None:
    play(url)
    play(url, "other")
    assert list(erase(url, "client 1", "other", reason="", by="me")) == [("other", N / 5)]
    assert list(erase(url, "client 1", reason="", by="me")) == [("home", N / 5), ("other", 0)]
    check(url)


# SQLite only


def test_a_storage_that_a_service_owns(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/duels.db"
    play(url)
    with running(url):
        assert count_old(url, AGE) == {"home": 0}
        with pytest.raises(rd.StorageError, match=r"in use by process \d+; stop .* set retention_days in the table"):
            list(prune(url, AGE))
        with pytest.raises(rd.StorageError, match=r"in use .* use the http address of its service"):
            list(erase(url, "client 1", reason="", by=""))
        with pytest.raises(rd.StorageError, match="in use"):
            vacuum(url)
    nowhere = "sqlite:////nowhere"
    for call in (lambda: list(prune(nowhere, 1)), lambda: list(erase(nowhere, "c", reason="", by=""))):
        with pytest.raises(rd.StorageError, match="no storage at /nowhere"):
            call()
    with pytest.raises(ValueError, match="cannot shrink PostgreSQL"):
        vacuum("postgresql://db/duels")


def test_nothing_of_an_erased_client_is_left_in_the_file(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/duels.db"
    with LocalTournament.create("home", rankers=RANKERS, storage=url, seed=1) as t:
        for number in range(300):
            duel = t.ask(f"secret query {number}", "secret client")
            duel.interleave([f"secret document {k}" for k in range(20)], ["b"], k=20)
            t.show(duel)
        t.observe([Signal("secret query 1", "click", "secret object", 1, time(), None, "k")])
        t.erase_client("secret client")
    assert b"secret " not in (tmp_path / "duels.db").read_bytes()


def test_space_is_used_again_and_the_file_shrinks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"sqlite:///{tmp_path}/duels.db"
    begun = time()

    def search(prefix: str) -> int:
        with LocalTournament.create("home", rankers=RANKERS, storage=url, seed=1, exist_ok=True) as t:
            duels = t.ask_many([(f"{prefix}{number}", None) for number in range(500)])
            for duel in duels:
                duel.interleave([f"document {k}" for k in range(50)], ["b"], k=50)
            t.tell_many([(duel, rd.live.Clicks((), duel.shown)) for duel in duels if duel.shown is not None])
        return (tmp_path / "duels.db").stat().st_size

    at(monkeypatch, begun)
    large = search("a")
    at(monkeypatch, begun + 20 * DAY)
    list(prune(url, AGE))
    assert search("b") < 1.3 * large
    at(monkeypatch, begun + 40 * DAY)
    list(prune(url, AGE))
    before, after = vacuum(url)
    assert after == (tmp_path / "duels.db").stat().st_size < before / 4
    check(url)


def test_the_index_is_used(tmp_path: Path) -> None:
    """A scan of all duels would cost more than the traffic."""
    play(f"sqlite:///{tmp_path}/duels.db")
    with closing(sqlite3.connect(tmp_path / "duels.db")) as file:
        for statement in (sql.OLD_DUELS, sql.COUNT_OLD_DUELS):
            plan = file.execute(f"EXPLAIN QUERY PLAN {statement}", {"1": 1, "2": 0.0, "3": 1}).fetchall()
            assert "USING INDEX duels_unpruned (tournament=? AND issued<?)" in str(plan)
        plan = file.execute(f"EXPLAIN QUERY PLAN {sql.DUELS_BY_CLIENT}", {"1": 1, "2": "", "3": 1}).fetchall()
        assert "duels_by_client (tournament=? AND client=?)" in str(plan)
        values = {"1": 1, "2": "", "3": 0.0, "4": 1}
        plan = file.execute(f"EXPLAIN QUERY PLAN {sql.PRUNED_WITH_QUERY}", values).fetchall()
        assert "duels_by_query (tournament=? AND query>?)" in str(plan)


@pytest.mark.slow
def test_the_index_is_used_on_postgresql(postgres: Server) -> None:
    """Also by plans that were made while the table was empty."""
    with closing(storage_at(postgres.empty())) as storage:
        assert isinstance(storage, SqlStorage)
        for statement, values, index in (
            (sql.OLD_DUELS, (1, 0.0, 1), "duels_unpruned"),
            (sql.COUNT_OLD_DUELS, (1, 0.0), "duels_unpruned"),
            (sql.DUELS_BY_CLIENT, (1, "", 1), "duels_by_client"),
            (sql.PRUNED_WITH_QUERY, (1, "", 0.0, 1), "duels_by_query"),
        ):
            plan = str(storage.select(f"EXPLAIN {statement}", values))
            assert f"on {index} " in plan or f"using {index} " in plan, plan
