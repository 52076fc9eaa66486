"""Routes that read: results, pagination, one duel in detail, parameters."""

import math
from urllib.parse import quote

import pytest

from service.servers import Client, at


def test_tournaments_are_listed_in_pages(client: Client) -> None:
    for number in range(3):
        client.post("/v1/tournaments", {"name": f"page {number}", "rankers": ["a", "b"]})
    names, after = [], ""
    while after is not None:
        page = client.get(f"/v1/tournaments?limit=2&after={quote(after)}").body
        assert len(page["tournaments"]) <= 2
        names += [one["name"] for one in page["tournaments"]]
        after = page["next"]
    assert {"page 0", "page 1", "page 2"} <= set(names)
    assert names == sorted(set(names))


def test_where_a_tournament_stands(client: Client, name: str) -> None:
    duels = client.post(at(name, "/ask"), {"n": 40}).body["duels"]
    told = [{"ticket": duel["ticket"], "outcome": "first"} for duel in duels]
    client.post(at(name, "/tell"), told)
    whole = client.get(at(name)).body
    assert whole["duels"]["issued"] == whole["duels"]["resolved"] == 40
    decision = client.get(at(name, "/decision")).body
    assert decision["champion"] == whole["champion"]
    assert decision["delta"] == 0.01
    board = client.get(at(name, "/leaderboard")).body["standings"]
    assert sum(line["wins"] for line in board) == 40
    pairs = client.get(at(name, "/preferences")).body["pairs"]
    assert sum(pair["wins"] + pair["losses"] for pair in pairs) == 40
    assert client.get(at(name, "/timeline")).body == {"departures": [], "next": None}


@pytest.mark.parametrize(
    ("what", "lines"),
    [("duels", "duels"), ("journal", "events"), ("leaderboard", "standings"), ("preferences", "pairs")],
)
def test_long_answers_come_in_pages(client: Client, name: str, what: str, lines: str) -> None:
    duels = client.post(at(name, "/ask"), {"n": 30}).body["duels"]
    client.post(at(name, "/tell"), [{"duel": duel["duel"], "outcome": "tie"} for duel in duels])
    whole = client.get(at(name, f"/{what}?limit=1000")).body
    assert whole["next"] is None
    pieces, after = [], ""
    for _ in range(math.ceil(len(whole[lines]) / 2)):
        page = client.get(at(name, f"/{what}?limit=2{after}")).body
        pieces += page[lines]
        after = f"&after={page['next']}"
    assert page["next"] is None
    assert pieces == whole[lines]


@pytest.mark.parametrize(
    "query",
    ["after=x", "other=1", *(f"limit={limit}" for limit in ("0", "1001", "-1", "x", "1e2", "", "9" * 99, "%ff", "१"))],
)
def test_bad_parameters(client: Client, name: str, query: str) -> None:
    answer = client.get(at(name, f"/journal?{quote(query, safe='=%')}"))
    assert answer.status in (400, 422)
    assert answer.problem in ("bad-value", "bad-request")


@pytest.mark.parametrize("after", ["", "x", "1-", "1-1-1", "1-1%0a", "-1-1"])
def test_an_invalid_duel_id_is_named_like_its_parameter(client: Client, name: str, after: str) -> None:
    answer = client.get(at(name, f"/duels?after={after}"))
    assert (answer.status, answer.problem) == (422, "bad-value")
    assert answer.body["detail"].startswith("after must match ^[0-9]+-[0-9]+$, got '")


@pytest.mark.parametrize("what", ["", "/leaderboard", "/timeline", "/preferences", "/duels", "/decision", "/journal"])
def test_an_unknown_tournament(client: Client, what: str) -> None:
    answer = client.get(at("nobody", what))
    assert (answer.status, answer.problem) == (404, "unknown-tournament")
    assert answer.body["detail"] == "no tournament 'nobody'; GET /v1/tournaments lists all tournaments"  # no storage


def test_a_duel_in_full(client: Client, name: str) -> None:
    """With both lists, if they were sent; told by clicks, by an outcome, or not at all."""
    asked = client.post(at(name, "/ask"), {"n": 3}).body["duels"]
    with_lists, by_outcome, silent = (duel["duel"] for duel in asked)
    page = {"method": "team_draft", "documents": ["d1", "d2"], "teams": ["first", "second"]}
    shown = page | {"lists": [["d1", "d3"], ["d2"]]}
    assert client.post(at(name, "/tell"), {"duel": with_lists, "clicks": ["d2"], "shown": shown}).status == 200
    assert client.post(at(name, "/show"), {"duel": with_lists, "shown": shown}).body == {"status": "duplicate"}
    assert client.post(at(name, "/tell"), {"duel": by_outcome, "outcome": "first"}).status == 200
    seen = client.get(at(name, f"/duels/{with_lists}")).body
    assert (seen["page"], seen["clicks"], seen["outcome"]) == (shown, ["d2"], "second")
    assert seen["why"].startswith("After 0 outcomes, 3 of 3 rankers were left. They had not met before.")
    assert seen["known"]["resolved"] == 0
    seen = client.get(at(name, f"/duels/{by_outcome}")).body
    assert (seen["page"], seen["clicks"], seen["state"]) == (None, None, "resolved")
    client.post(at(name, "/show"), {"duel": silent, "shown": page})
    seen = client.get(at(name, f"/duels/{silent}")).body
    assert (seen["page"], seen["clicks"], seen["state"]) == (page, None, "shown")
    wrong = client.post(at(name, "/show"), {"duel": silent, "shown": page | {"lists": [["d1"]]}})
    assert (wrong.status, wrong.problem) == (422, "bad-value")
    assert "lists of shown must be two" in wrong.body["detail"]
