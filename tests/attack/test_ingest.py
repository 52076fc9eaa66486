"""A public ingest key can report what users did, and nothing more: it decides nothing alone and fills nothing."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rankduel.interleaving import TeamDraftInterleaving
from rankduel.live import Guardrail, LocalTournament, Shown, Signal, Status, storage_at
from rankduel.live.rules.ubi import read_events
from rankduel.live.storage.contract import Batch, Committed, CounterDelta
from rankduel.live.storage.transaction import MAX_SIGNALS_PER_DUEL
from rankduel.service import ServiceSettings, make_app, new_key
from rankduel.service.http.gateway import Gateway
from rankduel.service.routes import traffic
from rankduel.types import Outcome
from service.asgi import request
from service.servers import Client, Server, serving
from service.ubi import event


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


def test_undeclared_actions_cross_no_guardrail(url: str) -> None:
    """60 invented actions on one page are not 60 pages with the declared action `other`."""
    with begin(url, guardrails=[{"action": "other", "bound": 0.02}]) as t:
        duels = [t.ask(f"q{number}") for number in range(170)]
        t.tell_many([(duel, Outcome.FIRST) for duel in duels[1:]])
        t.observe([signal("q0", number, f"invented {number}") for number in range(60)])
        t.run_maintenance()
        assert t.status == "running"
        assert t.health().signals == {"other": 60}
        assert t.observe([signal("q0", 100, "other")]) == [Status.ACCEPTED]
        assert t.counters()["pages with other"] == 1


def test_the_number_of_declared_actions_is_bounded(url: str) -> None:
    """Each has two counters: an attribution names at most 100, and there are at most 100 guardrails."""
    actions = {f"action {number}": 1.0 for number in range(101)}
    with pytest.raises(ValueError, match="an attribution can have at most 100 actions, got 101"):
        begin(url, attribution={"actions": actions})
    with begin(url) as t:
        with pytest.raises(ValueError, match="an attribution can have at most 100 actions, got 101"):
            t.configure(attribution={"actions": actions})
        with pytest.raises(ValueError, match="a tournament can have at most 100 guardrails, got 101"):
            t.configure(guardrails=[{"action": action, "bound": 0.1} for action in actions])


def test_counters_of_an_older_version_are_folded(url: str) -> None:
    """Health shows declared actions and one "other", also where an older version has counted each name."""
    begin(url).close()
    storage = storage_at(url)
    old = {f"{kind} {number}": 1 for number in range(1000) for kind in ("action", "pages with")}
    storage.commit({"search": [CounterDelta(old | {"action click": 2, "pages with click": 1})]})
    storage.close()
    with LocalTournament.open("search", storage=url) as t:
        assert t.health().signals == {"other": 1000, "click": 2}
        assert len(t.counters()) < 10


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
        assert "only an API key with the scope ask or tell" in answer.body["errors"][0]
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


# From many addresses


def served(url: str, test: Callable[[Gateway, dict[str, str]], Awaitable[None]], **settings: float) -> None:
    """Run a test with an app in this process and its keys, by their only scope."""
    begin(url).close()
    storage = storage_at(url)
    keys = {scope: new_key(storage, scope, [scope])[1] for scope in ("ingest", "ask")}
    storage.close()

    async def run() -> None:
        app = make_app(url, ServiceSettings(**settings))  # type: ignore[arg-type]
        await app.service.start()
        try:
            await test(app, keys)
        finally:
            await app.service.stop()

    asyncio.run(run())


async def sent(app: Gateway, key: str, address: str, events: int = 1, *, in_address: bool = False) -> int:
    """The status of a request with some events."""
    path = f"/v1/events?key={key}" if in_address else "/v1/events"
    headers = {} if in_address else {"Authorization": f"Bearer {key}"}
    return (await request(app, "POST", path, [event("q")] * events, headers=headers, address=address)).status


@pytest.mark.parametrize("in_address", [True, False])
def test_one_browser_does_not_use_up_the_rate_of_an_ingest_key(url: str, in_address: bool) -> None:
    """However the key is sent, each address has a rate of its own; one /64 network of IPv6 counts as one address."""

    async def test(app: Gateway, keys: dict[str, str]) -> None:
        for one, same, other in (
            ("203.0.113.7", "203.0.113.7", "203.0.113.8"),
            ("2001:db8::1", "2001:db8::2", "2001:db8:0:1::1"),
        ):
            statuses = [await sent(app, keys["ingest"], one, in_address=in_address) for _ in range(4)]
            assert statuses == [200, 200, 200, 429]
            assert await sent(app, keys["ingest"], same, in_address=in_address) == 429
            assert await sent(app, keys["ingest"], other, in_address=in_address) == 200

    served(url, test, rate=0.001, burst=3)


def test_other_keys_have_one_rate_from_all_addresses(url: str) -> None:
    """A key that is not public has one rate, however many machines use it."""

    async def test(app: Gateway, keys: dict[str, str]) -> None:
        headers = {"Authorization": f"Bearer {keys['ask']}"}
        statuses = [
            (
                await request(
                    app, "POST", "/v1/tournaments/search/ask", {}, headers=headers, address=f"203.0.113.{number}"
                )
            ).status
            for number in range(4)
        ]
        assert statuses == [200, 200, 200, 429]

    served(url, test, rate=0.001, burst=3)


@pytest.mark.parametrize("events", [900, 1001, 5000])
def test_events_that_are_read_and_refused_count(url: str, events: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A client cannot have events parsed for less than its rate: too many in a request, or more than are left."""
    parsed = []

    def watched(body: bytes) -> list[Signal | Shown | str]:
        parsed.append(body.count(b"query_id"))
        return read_events(body)

    monkeypatch.setattr(traffic, "read_events", watched)

    async def test(app: Gateway, keys: dict[str, str]) -> None:
        statuses = [await sent(app, keys["ingest"], "203.0.113.7", events) for _ in range(10)]
        assert statuses[0] == (200 if events <= 1000 else 422)
        assert statuses[1:] == [429] * 9
        assert parsed == [events, events]  # the second one was read, and owes what was not left

    served(url, test, rate=0.001, burst=1500)


def test_wrong_keys_of_one_ipv6_network_are_counted_together(url: str) -> None:
    """An attacker with a /64 network cannot try a wrong key from each of its addresses."""

    async def test(app: Gateway, keys: dict[str, str]) -> None:
        wrong = keys["ingest"][:-1] + "?"
        assert [await sent(app, wrong, f"2001:db8::{number}") for number in range(4)] == [401, 401, 429, 429]
        assert await sent(app, wrong, "2001:db8:0:1::1") == 401
        assert await sent(app, keys["ingest"], "2001:db8::1") == 200

    served(url, test, wrong_keys=0.001, wrong_keys_burst=2)
