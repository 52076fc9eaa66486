"""Ask, tell and show over HTTP, with valid and invalid bodies."""

from typing import Any

import pytest

from rankduel.interleaving import interleaving_from
from service.servers import Client, at

# Ask


def test_the_same_query_gets_the_same_duel(client: Client, name: str) -> None:
    duel = client.post(at(name, "/ask"), {"query_id": "q", "client_id": "c"})
    assert duel.status == 200
    assert duel.body == client.post(at(name, "/ask"), {"query_id": "q"}).body
    assert {duel.body["first"], duel.body["second"]} < {"a", "b", "c"}
    assert duel.body["serve"] == "duel"
    assert duel.body["why"] is None
    assert 0 <= duel.body["seed"] < 2**48
    assert interleaving_from(duel.body["interleaving"]).name == "team_draft"


def test_batches_of_asks(client: Client, name: str) -> None:
    many = client.post(at(name, "/ask"), {"n": 1000}).body["duels"]
    assert len({duel["duel"] for duel in many}) == 1000
    named = client.post(at(name, "/ask"), {"n": 3, "query_id": "batch"}).body["duels"]
    assert named == client.post(at(name, "/ask"), {"n": 3, "query_id": "batch"}).body["duels"]
    assert len({duel["duel"] for duel in named}) == 3
    queries = [{"query_id": "q 1"}, {"query_id": "q 2", "client_id": "c"}, {"query_id": "q 1"}, {}]
    asked = client.post(at(name, "/ask"), {"queries": queries}).body["duels"]
    assert asked[0] == asked[2]
    assert len({duel["duel"] for duel in asked}) == 3
    assert asked[0] == client.post(at(name, "/ask"), {"query_id": "q 1"}).body


@pytest.mark.parametrize(
    "body",
    [
        {"n": 0},
        {"n": 1001},
        {"n": 1.5},
        {"n": 2, "queries": [{}]},
        {"queries": []},
        {"queries": [{}] * 1001},
        {"query_id": "q", "queries": [{}]},
        {"queries": [{"n": 3}]},
        {"query_id": ""},
        {"query_id": 5},
        {"query_id": "a\u0000b"},
        {"queries": [{"query_id": "q"}] * 300 + [{"query_id": "a\u0000b"}]},
        {"client_id": "x" * 201},
        {"query": "q"},
        [],
        "q",
        None,
    ],
    ids=lambda body: str(body)[:40],
)
def test_bad_asks(client: Client, name: str, body: Any) -> None:
    answer = client.send("POST", at(name, "/ask"), body) if body is not None else client.send(
        "POST", at(name, "/ask"), b"null", {"Content-Type": "application/json"}, raw=True
    )  # fmt: skip
    assert (answer.status, answer.problem) == (422, "bad-value"), answer


def test_no_duel_while_paused(client: Client, name: str) -> None:
    client.post(at(name, ":pause"), {"reason": "a look"})
    asked = client.post(at(name, "/ask"), {"query_id": "q"}).body
    assert asked["duel"] is asked["ticket"] is None
    assert (asked["first"], asked["second"], asked["serve"], asked["why"]) == ("a", "a", "baseline", "paused")


# Tell and show


def test_tell_once_twice_and_something_else(client: Client, name: str) -> None:
    duel = client.post(at(name, "/ask"), {}).body
    told = client.post(at(name, "/tell"), {"ticket": duel["ticket"], "outcome": "first"})
    assert (told.status, told.body) == (200, {"status": "accepted", "outcome": "first"})
    again = client.post(at(name, "/tell"), {"duel": duel["duel"], "outcome": "first"})
    assert (again.status, again.body) == (200, {"status": "duplicate", "outcome": "first"})
    other = client.post(at(name, "/tell"), {"ticket": duel["ticket"], "outcome": "second"})
    assert (other.status, other.problem, other.body["outcome"]) == (409, "conflict", "first")
    assert client.get(at(name)).body["duels"]["resolved"] == 1


def test_batches_of_tells_have_a_status_for_each(client: Client, name: str) -> None:
    duels = client.post(at(name, "/ask"), {"n": 3}).body["duels"]
    client.post(at(name, "/tell"), {"duel": duels[2]["duel"], "outcome": "tie"})
    body = [
        {"ticket": duels[0]["ticket"], "outcome": "first"},
        {"duel": duels[1]["duel"], "outcome": "second"},
        {"duel": duels[0]["duel"], "outcome": "first"},
        {"duel": duels[2]["duel"], "outcome": "first"},
        {"duel": "77-77", "outcome": "tie"},
        {"ticket": duels[0]["ticket"][:-2] + "AA", "outcome": "tie"},
    ]
    told = client.post(at(name, "/tell"), body)
    assert told.status == 200
    assert [one["status"] for one in told.body["receipts"]] == [
        "accepted",
        "accepted",
        "duplicate",
        "conflict",
        "unknown",
        "unknown",
    ]
    assert told.body["receipts"][3]["outcome"] == "tie"


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"duel": "1-1"},
        {"outcome": "tie"},
        {"duel": "1-1", "outcome": "draw"},
        {"duel": "1-1", "outcome": "tie", "clicks": []},
        {"duel": "1-1", "clicks": ["d"]},
        {"duel": "1-1", "clicks": ["d"], "shown": {}},
        {"duel": "1-1", "clicks": ["d"], "shown": {"method": "team_draft", "documents": [["d"]], "teams": ["first"]}},
        {"duel": "1-1", "clicks": ["d"], "shown": {"method": "balanced", "documents": ["d"], "places": [[0, 0]]}},
        {"duel": "1-1", "clicks": [["d"]], "shown": {}},
        {"duel": 11, "outcome": "tie"},
        {"ticket": "x" * 2001, "outcome": "tie"},
        [],
        [{"duel": "1-1", "outcome": "tie"}, {"duel": "1-1"}],
        [{"duel": "1-1", "outcome": "tie"}] * 1001,
    ],
    ids=lambda body: str(body)[:60],
)
def test_bad_tells(client: Client, name: str, body: Any) -> None:
    client.post(at(name, "/ask"), {})
    answer = client.post(at(name, "/tell"), body)
    assert (answer.status, answer.problem) == (422, "bad-value"), answer
    assert client.get(at(name)).body["duels"]["resolved"] == 0  # of a bad batch nothing is taken


@pytest.mark.parametrize("ticket", ["x", "é", "a" * 2000, "1--1", "9" * 19 + "-1", "AAAA" * 20, "=" * 40, " "])
def test_forged_tickets_are_unknown(client: Client, name: str, ticket: str) -> None:
    answer = client.post(at(name, "/tell"), {"ticket": ticket, "outcome": "tie"})
    assert (answer.status, answer.problem) == (404, "unknown-duel")


def test_a_ticket_of_another_tournament_is_unknown(client: Client, name: str) -> None:
    client.post("/v1/tournaments", {"name": f"{name} 2", "rankers": ["a", "b"]})
    ticket = client.post(at(f"{name} 2", "/ask"), {}).body["ticket"]
    assert client.post(at(name, "/tell"), {"ticket": ticket, "outcome": "tie"}).status == 404


def test_after_its_time_a_duel_is_told_late(client: Client) -> None:
    client.post("/v1/tournaments", {"name": "short", "rankers": ["a", "b"], "expires_after": 1e-6})
    duel = client.post(at("short", "/ask"), {}).body
    late = client.post(at("short", "/tell"), {"ticket": duel["ticket"], "outcome": "first"})
    assert (late.status, late.body["status"]) == (200, "late")
    assert client.get(at("short")).body["duels"]["resolved"] == 0


def test_clicks_on_the_page_that_was_shown(client: Client, name: str) -> None:
    duel = client.post(at(name, "/ask"), {}).body
    method = interleaving_from(duel["interleaving"])
    page = method.interleave(["d1", "d2", "d3"], ["d4", "d5", "d6"], 4, seed=duel["seed"])
    shown = client.post(at(name, "/show"), {"ticket": duel["ticket"], "shown": page.to_dict()})
    assert (shown.status, shown.body) == (200, {"status": "accepted"})
    first = next(doc for doc, team in zip(page.documents, page.credit_data or (), strict=True) if team == "first")
    body = {"ticket": duel["ticket"], "clicks": [first], "shown": page.to_dict()}
    assert client.post(at(name, "/tell"), body).body == {"status": "accepted", "outcome": "first"}
    assert client.get(at(name)).body["duels"]["shown"] == 1


def test_a_page_that_is_none(client: Client, name: str) -> None:
    duel = client.post(at(name, "/ask"), {}).body["duel"]
    for shown in ({}, {"method": "team_draft"}, {"documents": 3}, {"method": "x", "documents": []}):
        answer = client.post(at(name, "/show"), {"duel": duel, "shown": shown})
        assert (answer.status, answer.problem) == (422, "bad-value"), shown
    page = {"method": "team_draft", "documents": ["d"], "teams": ["first"]}
    assert client.post(at(name, "/show"), {"duel": "9-9", "shown": page}).problem == "unknown-duel"
    assert client.post(at(name, "/show"), {"shown": page}).problem == "bad-value"
