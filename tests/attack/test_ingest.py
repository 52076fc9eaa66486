"""A public ingest key can report what users did, and nothing more: it decides nothing alone and fills nothing."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rankduel.interleaving import TeamDraftInterleaving
from rankduel.live import Guardrail, LocalTournament, Signal, Status, storage_at
from rankduel.live.storage.contract import Batch, Committed, CounterDelta
from rankduel.live.storage.transaction import MAX_SIGNALS_PER_DUEL
from rankduel.service import new_key
from service.servers import Client, Server, serving
from service.test_events import event


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/duels.db"


def begin(url: str, **more: Any) -> LocalTournament:
    given: dict[str, Any] = {"rankers": ["a", "b", "c"], "seed": 1, "storage": url}
    return LocalTournament.create("search", **given | more)


def signal(query: str, number: int, action: str = "click") -> Signal:
    return Signal(query, action, "d", position=None, time=time.time(), dwell=None, key=f"{action} {number}")


def played(url: str, pages: int) -> LocalTournament:
    t = begin(url, guardrails=[Guardrail("error", bound=0.1, minimum=100)])
    duels = [t.ask(f"q{number}") for number in range(pages)]
    t.show_many([(duel, duel.interleave("ab", "cd", 2)) for duel in duels])
    return t


def test_many_errors_of_one_page_are_one_page(url: str) -> None:
    """60 errors on one of 170 pages do not pause a tournament; on 60 of them they do."""
    with played(url, 170) as t:
        t.observe([signal("q0", number, "error") for number in range(60)])
        t.run_maintenance()
        assert t.status == "running"
        t.observe([signal("q0", number + 60, "error") for number in range(60)])  # in a transaction of their own
        t.run_maintenance()
        assert t.status == "running"
        assert t.counters()["pages with error"] == 1
        t.observe([signal(f"q{number}", 0, "error") for number in range(60)])
        t.run_maintenance()
        assert t.status == "paused"
        assert "error on 60 of 170 pages" in t.audit()[0].body["reason"]


def test_undeclared_actions_share_one_counter(url: str) -> None:
    """However many names actions have, counters and the health answer stay small."""
    with begin(url) as t:
        for number in range(20):
            t.ask(f"q{number}")
        before = len(t.counters())
        for part in range(20):
            statuses = t.observe([signal(f"q{part}", n, f"action {part} {n}") for n in range(100)])
            assert statuses == [Status.ACCEPTED] * 100
        t.observe([signal("q1", 0)])
        assert len(t.counters()) <= before + 5
        assert t.health().signals == {"other": 2000, "click": 1}


def test_counters_of_an_older_version_are_folded(url: str) -> None:
    """Health shows declared actions and one "other", also where an older version has counted each name."""
    begin(url).close()
    storage = storage_at(url)
    storage.commit({"search": [CounterDelta({f"action {number}": 1 for number in range(1000)} | {"action click": 2})]})
    storage.close()
    with LocalTournament.open("search", storage=url) as t:
        assert t.health().signals == {"other": 1000, "click": 2}


def test_a_duel_takes_a_bounded_number_of_signals(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Clicks of one browser beyond the limit of a duel are dropped, soon without a write; other duels go on."""
    with begin(url) as t:
        t.ask("q"), t.ask("other")
        statuses = t.observe([signal("q", number) for number in range(1000)])
        assert statuses == [Status.ACCEPTED] * MAX_SIGNALS_PER_DUEL + [Status.LIMIT] * (1000 - MAX_SIGNALS_PER_DUEL)
        written: list[Batch] = []
        commit = t.storage.commit

        def watched(batch: Batch) -> Committed:
            written.append(batch)
            return commit(batch)

        monkeypatch.setattr(t.storage, "commit", watched)
        assert set(t.observe([signal("q", number) for number in range(1000, 2000)])) == {Status.LIMIT}
        assert [len(entries) for batch in written for entries in batch.values()] == [1]  # a counter
        assert t.observe([signal("other", 1)]) == [Status.ACCEPTED]
        assert t.health().signals_dropped == 2000 - MAX_SIGNALS_PER_DUEL
        assert len(t.storage.signals("search", 1, 1)) == MAX_SIGNALS_PER_DUEL


@pytest.mark.parametrize("window", [1e299, 1e9])
def test_the_window_of_a_guardrail_is_bounded(url: str, window: float) -> None:
    """A window of more than 30 days is an error that says so."""
    rail = {"action": "error", "bound": 0.1, "window": window}
    with pytest.raises(ValueError, match=r"at most 2\.592e\+06 s"):
        begin(url, guardrails=[rail])
    with begin(url) as t, pytest.raises(ValueError, match=r"at most 2\.592e\+06 s"):
        t.configure(guardrails=[rail])


# Over HTTP


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, dict[str, str]]]:
    url = f"sqlite:///{tmp_path_factory.mktemp('ingest')}/duels.db"
    storage = storage_at(url)
    scopes = {"ingest": ["ingest"], "search": ["ask", "tell"], "both": ["ingest", "ask"], "admin": ["admin"]}
    keys = {name: new_key(storage, name, wanted)[1] for name, wanted in scopes.items()}
    storage.close()
    with serving(url, rate=1000.0, burst=3000.0) as server:
        yield server, keys


@pytest.fixture
def by(server: tuple[Server, dict[str, str]]) -> Iterator[dict[str, Client]]:
    """A client for each key."""
    clients = {name: Client(server[0].port).with_key(key) for name, key in server[1].items()}
    yield clients
    for client in clients.values():
        client.close()


def test_an_ingest_key_cannot_say_which_page_was_shown(by: dict[str, Client]) -> None:
    """A forged page is invalid, so that the server's own report counts; keys that may ask or tell may report pages."""
    body = {"name": "forged", "rankers": ["a", "b"], "attribution": {"window": 600}, "seed": 1}
    assert by["admin"].post("/v1/tournaments", body).status == 201
    duel = by["search"].post("/v1/tournaments/forged/ask", {"query_id": "q"}).body
    page = TeamDraftInterleaving().interleave("abcd", "efgh", k=4, seed=duel["seed"]).to_dict()
    forged = page | {"teams": ["first"] * len(page["documents"])}
    for where in ("", "?tournament=forged"):
        answer = by["ingest"].post(
            f"/v1/events{where}", [event("q", "impression", shown=forged), event("q", object="a")]
        )
        assert answer.body["statuses"][0] == "invalid"
        assert "only with a key that may ask or tell" in answer.body["errors"][0]
    shown = by["search"].post("/v1/tournaments/forged/show", {"ticket": duel["ticket"], "shown": page})
    assert shown.body["status"] == "accepted"
    again = by["both"].post("/v1/events", [event("q", "impression", shown=page)])
    assert again.body["statuses"] == ["duplicate"]


def test_an_event_reaches_all_tournaments_of_its_query(by: dict[str, Client]) -> None:
    """A query that has a duel in two tournaments is reported to both by one event."""
    for name in ("one", "two"):
        assert by["admin"].post("/v1/tournaments", {"name": name, "rankers": ["a", "b"]}).status == 201
        by["search"].post(f"/v1/tournaments/{name}/ask", {"query_id": "shared"})
    only = by["search"].post("/v1/tournaments/two/ask", {"query_id": "only two"})
    assert only.status == 200
    answer = by["ingest"].post("/v1/events", [event("shared"), event("only two"), event("nobody's")])
    assert answer.body["statuses"] == ["accepted", "accepted", "unknown"]
    signals = {name: by["admin"].get(f"/v1/tournaments/{name}/health").body["signals"] for name in ("one", "two")}
    assert signals == {"one": {"click": 1}, "two": {"click": 2}}


def test_the_rate_limit_counts_events(by: dict[str, Client]) -> None:
    """Four requests of 1,000 events are more than a burst of 3,000: they are refused and change nothing."""
    assert by["admin"].post("/v1/tournaments", {"name": "rate", "rankers": ["a", "b"]}).status == 201
    events = [event("q") for _ in range(1000)]
    answers = [by["ingest"].post("/v1/events?tournament=rate", events) for _ in range(20)]
    refused = [answer for answer in answers if answer.status == 429]
    assert refused
    assert all(answer.problem == "too-many-requests" and int(answer.headers["retry-after"]) >= 1 for answer in refused)
    orphans = by["admin"].get("/v1/tournaments/rate/health").body["orphans"]
    assert orphans == 1000 * (len(answers) - len(refused))
