"""Maintenance goes on: one duel, one step or one page that is wrong stops nothing else, and is seen."""

import logging
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import rankduel as rd
from rankduel.interleaving import Interleaved, ProbabilisticInterleaving, TeamDraftInterleaving
from rankduel.live import LocalTournament, Shown, Signal
from rankduel.live.rules.guardrails import Guardrail, GuardrailWindow
from service.servers import Client, serving
from service.ubi import event


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/duels.db"


def begin(url: str, **more: Any) -> LocalTournament:
    given: dict[str, Any] = {"rankers": ["a", "b", "c"], "attribution": {"window": 0.001}, "seed": 1}
    return LocalTournament.create("search", storage=url, **given | more)


def sql(url: str, statement: str, *values: Any) -> None:
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as file, file:
        assert file.execute(statement, values).rowcount == 1


def wait_for(reached: Any) -> None:
    until = time.monotonic() + 30
    while not reached() and time.monotonic() < until:
        time.sleep(0.05)
    assert reached()


def test_a_page_of_another_method_is_refused(url: str) -> None:
    """A page that the tournament's method did not make is an error, and nothing of the call is stored."""
    other = ProbabilisticInterleaving().interleave("abc", "cba", k=3, seed=1)
    with begin(url) as t:
        duel = t.ask("q")
        click = Signal("q", "click", "a", position=None, time=time.time(), dwell=None, key="1")
        for call in (
            lambda: t.observe([click, Shown("q", other)]),
            lambda: t.show(duel, other),
            lambda: t.tell(duel, clicks=["a"], shown=other),
        ):
            with pytest.raises(ValueError, match="made by 'probabilistic', but tournament 'search' uses 'team_draft'"):
                call()
        assert t.storage.signals(t.name, 1, 1) == []
        assert t.counts.shown == 0


def test_an_ingested_page_of_another_method_is_invalid(tmp_path: Path) -> None:
    """One impression by another method is invalid; the click beside it counts, and duels are still resolved."""
    with serving(f"sqlite:///{tmp_path}/duels.db") as server, server.client as client:
        body = {"name": "search", "rankers": ["a", "b"], "attribution": {"window": 0.2}, "seed": 1}
        assert client.post("/v1/tournaments", body).status == 201
        for query in ("bad", "good"):
            client.post("/v1/tournaments/search/ask", {"query_id": query})
        forged = ProbabilisticInterleaving().interleave("abcd", "efgh", k=4, seed=1).to_dict()
        answer = client.post("/v1/events", [event("bad", "impression", shown=forged), event("bad", "click", "a")])
        assert answer.body["statuses"] == ["invalid", "accepted"]
        assert "but the tournament of its query uses 'team_draft'" in answer.body["errors"][0]
        page = TeamDraftInterleaving().interleave("abcd", "efgh", k=4, seed=1)
        click = event("good", "click", str(page.documents[0]))
        client.post("/v1/events", [event("good", "impression", shown=page.to_dict()), click])
        wait_for(lambda: client.get("/v1/tournaments/search").body["duels"]["resolved"] == 1)
        assert client.get("/readyz").raw == b"ok\n"


@pytest.mark.parametrize("page", ['{"method":"nobody","documents":["a"]}', "not json", '["a"]', '{"documents":7}', ""])
def test_a_duel_that_cannot_be_resolved_fails_alone(
    url: str, page: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It becomes `failed` with its reason, the duels beside it are resolved, and it is logged once."""
    monkeypatch.setattr(
        "rankduel.live.storage.open_storages._MAINTENANCE_INTERVAL_SECONDS", 600.0
    )  # only this test looks
    with begin(url) as t:
        duels = [t.ask(f"q{number}") for number in range(3)]
        for duel in duels:
            shown = duel.interleave("abc", "def", 3)
            t.show(duel)
            t.observe([Signal(f"q{duels.index(duel)}", "click", str(shown.documents[0]), None, 1e9, None, "k")])
        time.sleep(0.01)
        sql(url, "UPDATE duels SET page = ?, state = 'shown' WHERE query = 'q1'", page)
        for _ in range(5):
            t.run_maintenance()
        counts = t.counts
        assert (counts.resolved, counts.failed, counts.in_flight) == (2, 1, 0)
        assert "failure" in (t.duels(limit=2)[1].page or "")
        assert t.health().maintenance is None  # the duel has failed, not maintenance
        assert t.tell(duels[1], rd.Outcome.FIRST).status == "late"
    assert sum("cannot be resolved" in record.message for record in caplog.records) == 1


def test_a_step_that_fails_does_not_stop_the_others(
    url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Where resolving raises, duels still expire and guardrails are still checked; health says so, the log once."""
    checked: list[int] = []
    with begin(url, expires_after=0.05, guardrails=[Guardrail("error", 0.1)]) as t:
        duel = t.ask()
        keeper = t._maintenance
        monkeypatch.setattr(keeper, "resolve", lambda: 1 / 0)
        monkeypatch.setattr(keeper, "check_guardrails", lambda: checked.append(1))
        time.sleep(0.1)
        with caplog.at_level(logging.WARNING):
            for _ in range(8):
                t.run_maintenance()
        assert len(checked) >= 8
        assert t.counts.expired == 1
        assert t.tell(duel, rd.Outcome.FIRST).status == "late"
        assert t.health().maintenance == "cannot resolve duels: ZeroDivisionError('division by zero')"
        assert sum("maintenance failed" in record.message for record in caplog.records) == 1
        monkeypatch.undo()
        t.run_maintenance()
        assert t.health().maintenance is None


def test_failing_maintenance_is_seen_everywhere(url: str) -> None:
    """Health, the light of the dashboard, /readyz and the metrics show it; /readyz tells no names."""
    begin(url).close()
    body = '{"guardrails":[{"action":"error","bound":7}],"by":"","reason":""}'  # refused by every version, but stored
    sql(url, "INSERT INTO journal SELECT tournament, 2, time, 'configured', ? FROM journal WHERE number = 1", body)
    sql(url, "UPDATE tournaments SET number = 2")
    with serving(url) as server, Client(server.port) as client:
        wait_for(lambda: client.get("/v1/tournaments/search/health").body["maintenance"] is not None)
        assert "check guardrails" in client.get("/v1/tournaments/search/health").body["maintenance"]
        light = client.get("/v1/tournaments/search/overview").body["light"]
        assert light["state"] == "bad"
        assert "Maintenance failed" in light["reasons"][0]
        assert client.get("/readyz").raw == b"degraded: maintenance fails in 1 tournaments\n"
        assert b'rankduel_maintenance_failing{tournament="search"} 1' in client.get("/metrics").raw
        assert client.post("/v1/tournaments/search/ask", {}).body["serve"] == "duel"
        time.sleep(1.5)
        assert sum("maintenance failed" in line for line in server.lines) == 1


def test_the_maintenance_thread_survives_any_failure(
    url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A storage step or a tournament that raises anything stops neither the thread nor the others; logged once."""
    with begin(url, expires_after=0.05) as t:
        run_due = t._maintenance.run_due
        monkeypatch.setattr(t.storage, "run_maintenance", lambda: 1 / 0)
        monkeypatch.setattr(t._runtime.storage, "leads", lambda _: 1 / 0)
        time.sleep(0.6)
        assert sum("maintenance failed" in record.message for record in caplog.records) <= 2
        monkeypatch.undo()
        t.ask()
        wait_for(lambda: t._runtime.counters.get("expired") == 1)
        run_due()


def test_sqlite_errors_of_the_storage_step_are_storage_errors(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error of SQLite while the log is folded into the file is raised as StorageError, which the thread survives."""
    with begin(url) as t:
        t.tell(t.ask(), rd.Outcome.FIRST)
        monkeypatch.setattr("rankduel.live.storage.sqlite._CHECKPOINT_IDLE_SECONDS", 0.0)
        storage: Any = t.storage
        with monkeypatch.context() as patched:
            patched.setattr(storage, "_writer", sqlite3.connect(":memory:"))
            storage._writer.close()
            storage._committed_at = 0.1
            with pytest.raises(rd.StorageError, match="cannot write to"):
                storage.run_maintenance()
        assert t.tell(t.ask(), rd.Outcome.FIRST).status == "accepted"


def test_maintenance_that_does_not_run_is_seen(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the cause: health says how long ago the last run was."""
    monkeypatch.setattr("rankduel.live.storage.open_storages._MAINTENANCE_INTERVAL_SECONDS", 600.0)
    monkeypatch.setattr("rankduel.live.runtime.runtime.MAINTENANCE_OVERDUE_SECONDS", 0.05)
    with begin(url) as t:
        t.run_maintenance()
        assert t.maintenance_failure is None
        time.sleep(0.06)
        assert t.maintenance_failure == t.health().maintenance == "maintenance has not run for 0 s"
        t.run_maintenance()
        assert t.health().maintenance is None


def test_a_page_without_documents_resolves(url: str) -> None:
    """A search that finds nothing is shown, and resolved without a signal."""
    with begin(url) as t:
        duel = t.ask("q")
        t.show(duel, Interleaved("team_draft", ()))
        time.sleep(0.01)
        t.run_maintenance()
        assert t.counts.no_signal == 1


def test_guardrails_keep_a_bounded_number_of_samples() -> None:
    """A window of any length keeps at most 241 samples, however often it is looked at."""
    window = GuardrailWindow(86_400.0)
    for look in range(20_000):
        window.grown(look * 30.0, events=look, pages=2 * look)
    assert len(window._samples) <= 242
    events, pages = window.grown(20_000 * 30.0, events=20_000, pages=40_000)
    assert 2_880 <= events <= 2_893  # a day, or up to 1/240 more
    assert pages == 2 * events
