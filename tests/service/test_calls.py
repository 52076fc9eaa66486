"""Every call of the service: what it answers, and what it answers when something is wrong."""

import math
from typing import Any
from urllib.parse import quote

import pytest

from rankduel.interleaving import interleaving_from
from service.servers import Client, Server


def at(name: str, rest: str = "") -> str:
    return f"/v1/tournaments/{quote(name, safe='')}{rest}"


# Begin


def test_the_same_body_again_is_the_same_answer_and_another_one_a_conflict(client: Client) -> None:
    body = {"name": "again", "rankers": ["a", "b"], "share": 0.5, "delta": 0.05}
    first = client.post("/v1/tournaments", body)
    again = client.post("/v1/tournaments", body)
    assert (first.status, first.body) == (again.status, again.body)
    assert first.status == 201
    assert first.body["settings"]["share"] == 0.5
    assert "delta=0.05" in first.body["settings"]["bandit"]
    assert not {"salt", "seed"} & first.body["settings"].keys()
    for change in ({"rankers": ["a", "c"]}, {"share": 0.6}, {"delta": 0.06}, {"baseline": "a"}):
        other = client.post("/v1/tournaments", body | change)
        assert (other.status, other.problem) == (409, "tournament-exists")


def test_a_conflict_stays_one_after_a_setting_was_changed(client: Client, name: str) -> None:
    assert client.send("PATCH", at(name), {"share": 0.25, "reason": "careful"}).body["settings"]["share"] == 0.25
    body = {"name": name, "rankers": ["a", "b", "c"], "baseline": "a", "seed": 1}
    assert client.post("/v1/tournaments", body).status == 201
    assert client.post("/v1/tournaments", body | {"share": 0.25}).status == 409


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"name": ""}, "length >= 1"),
        ({"name": "x" * 201}, "length <= 200"),
        ({"name": "a\nb"}, "printable"),
        ({"name": 3}, "Expected `str`"),
        ({"rankers": []}, "length >= 1"),
        ({"rankers": ["a", "a"]}, "twice"),
        ({"rankers": "ab"}, "Expected `array`"),
        ({"bandit": "Nobody"}, "unknown bandit"),
        ({"bandit": "os:system(command='true')"}, "your own process"),
        ({"bandit": "MergeDTS(alpha=-1)"}, "alpha"),
        ({"bandit": "MergeDTS", "delta": 0.1}, "default bandit"),
        ({"bandit": "MergeDTS", "parameters": {"alpha": [1]}}, "a number"),
        ({"bandit": "MergeDTS", "parameters": {"a=1, b": 1}}, "is a word"),
        ({"parameters": {"alpha": 1}}, "the name of a bandit"),
        ({"interleaving": "nothing"}, "unknown interleaving"),
        ({"share": 1.5}, "<= 1.0"),
        ({"share": "all"}, "Expected `float`"),
        ({"delta": 0}, "> 0.0"),
        ({"expires_after": 0}, "> 0.0"),
        ({"daily_cap": -1}, ">= 0"),
        ({"seed": 1e400}, ""),
        ({"seed": 10**30}, ""),
        ({"unknown": 1}, "unknown field"),
        ({"attribution": {"actions": 3}}, "actions"),
        ({"attribution": {"nothing": 3}}, "nothing"),
        ({"attribution": {"window": 1e6}}, "window"),
        ({"guardrails": [{}]}, ""),
        ({"guardrails": [{"action": 3, "bound": []}]}, ""),
        ({"guardrails": [{"action": "error", "bound": "x"}]}, ""),
    ],
    ids=str,
)
def test_a_bad_setting_is_named(client: Client, change: dict[str, Any], says: str) -> None:
    answer = client.post("/v1/tournaments", {"name": "bad", "rankers": ["a", "b"]} | change)
    assert answer.status in (400, 422), answer
    assert answer.problem in ("bad-value", "bad-request")
    assert says in answer.body["detail"]
    assert client.get(at("bad")).status == 404


def test_a_bandit_by_name_with_parameters(client: Client) -> None:
    body = {"name": "merge", "rankers": ["a", "b"], "bandit": "MergeDTS", "parameters": {"alpha": 0.9}}
    assert "MergeDTS(alpha=0.9" in client.post("/v1/tournaments", body).body["settings"]["bandit"]


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


def test_names_may_have_any_printable_character(client: Client) -> None:
    name = "a/b:start?c#d%e ü ../.."
    made = client.post("/v1/tournaments", {"name": name, "rankers": ["x/y:retire", "z", "ü"]})
    assert made.status == 201
    assert client.get(at(name)).body["name"] == name
    assert client.post(at(name, ":pause")).body["status"] == "paused"
    retired = client.post(at(name, f"/rankers/{quote('x/y:retire', safe='')}:retire"))
    assert retired.body["rankers_left"] == 2


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


# Tell


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
    assert seen["known"]["told"] == 0
    seen = client.get(at(name, f"/duels/{by_outcome}")).body
    assert (seen["page"], seen["clicks"], seen["state"]) == (None, None, "told")
    client.post(at(name, "/show"), {"duel": silent, "shown": page})
    seen = client.get(at(name, f"/duels/{silent}")).body
    assert (seen["page"], seen["clicks"], seen["state"]) == (page, None, "shown")
    wrong = client.post(at(name, "/show"), {"duel": silent, "shown": page | {"lists": [["d1"]]}})
    assert (wrong.status, wrong.problem) == (422, "bad-value")
    assert "lists of shown must be two" in wrong.body["detail"]


def test_a_page_that_is_none(client: Client, name: str) -> None:
    duel = client.post(at(name, "/ask"), {}).body["duel"]
    for shown in ({}, {"method": "team_draft"}, {"documents": 3}, {"method": "x", "documents": []}):
        answer = client.post(at(name, "/show"), {"duel": duel, "shown": shown})
        assert (answer.status, answer.problem) == (422, "bad-value"), shown
    page = {"method": "team_draft", "documents": ["d"], "teams": ["first"]}
    assert client.post(at(name, "/show"), {"duel": "9-9", "shown": page}).problem == "unknown-duel"
    assert client.post(at(name, "/show"), {"shown": page}).problem == "bad-value"


# Operate


def test_start_pause_stop(client: Client, name: str) -> None:
    assert client.post(at(name, ":start")).problem == "wrong-state"
    assert client.post(at(name, ":pause"), {"reason": "lunch"}).body["status"] == "paused"
    assert client.post(at(name, ":pause"), {}).problem == "wrong-state"
    assert client.post(at(name, ":start"), {}).body["status"] == "running"
    assert client.post(at(name, ":stop"), {}).body["status"] == "stopped"
    assert client.post(at(name, ":start"), {}).status == 409
    assert client.send("PATCH", at(name), {"share": 0.1}).problem == "wrong-state"
    events = client.get(at(name, "/journal")).body["events"]
    assert [event["kind"] for event in events] == ["created", "paused", "started", "stopped"]
    assert (events[1]["body"]["reason"], events[1]["body"]["by"]) == ("lunch", "loopback")
    assert not {"salt", "seed"} & events[0]["body"].keys()


def test_rankers_come_and_go(client: Client, name: str) -> None:
    assert client.post(at(name, "/rankers"), {"rankers": ["d"], "reason": "new"}).body["rankers"] == 4
    assert client.post(at(name, "/rankers"), {"rankers": ["d"]}).problem == "bad-value"
    assert client.post(at(name, "/rankers/b:pause")).status == 200
    states = {line["ranker"]: line["state"] for line in client.get(at(name, "/leaderboard")).body["standings"]}
    assert states["b"] == "paused"
    assert client.post(at(name, "/rankers/b:start")).status == 200
    assert client.post(at(name, "/rankers/c:retire")).body["rankers_left"] == 3
    assert client.post(at(name, "/rankers/c:retire")).problem == "wrong-state"
    assert client.post(at(name, "/rankers/e:retire")).problem == "unknown-ranker"


def test_a_duel_can_be_void(client: Client, name: str) -> None:
    duels = client.post(at(name, "/ask"), {"n": 2}).body["duels"]
    assert client.post(at(name, f"/duels/{duels[0]['duel']}:void"), {"reason": "a test"}).body["duels"]["void"] == 1
    assert client.post(at(name, "/tell"), {"duel": duels[0]["duel"], "outcome": "tie"}).body["status"] == "late"
    client.post(at(name, "/tell"), {"duel": duels[1]["duel"], "outcome": "tie"})
    assert client.post(at(name, f"/duels/{duels[1]['duel']}:void")).problem == "wrong-state"
    assert client.post(at(name, "/duels/9-9:void")).problem == "unknown-duel"


def test_a_change_needs_something_to_change(client: Client, name: str) -> None:
    assert client.send("PATCH", at(name), {"reason": "none"}).problem == "bad-value"
    bad: list[dict[str, Any]] = [{"guardrails": [{"action": 3}]}, {"attribution": {"actions": []}}, {"baseline": "\n"}]
    for wrong in bad:
        assert client.send("PATCH", at(name), wrong).problem == "bad-value"
    assert client.send("PATCH", at(name), {"shadow": True}).body["settings"]["shadow"] is True
    assert client.post(at(name, "/ask"), {}).body["why"] == "shadow"


# Look


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


@pytest.mark.parametrize("what", ["", "/leaderboard", "/timeline", "/preferences", "/duels", "/decision", "/journal"])
def test_an_unknown_tournament(client: Client, what: str) -> None:
    assert client.get(at("nobody", what)).problem == "unknown-tournament"


@pytest.mark.parametrize(
    ("what", "body"),
    [
        ("/ask", {}),
        ("/tell", {"duel": "1-1", "outcome": "tie"}),
        ("/show", {"duel": "1-1", "shown": {"method": "team_draft", "documents": ["d"], "teams": ["first"]}}),
        ("/rankers", {"rankers": ["a"]}),
        ("/rankers/a:retire", {}),
        (":start", {}),
        (":pause", {}),
        (":stop", {}),
    ],
)
def test_nothing_can_be_done_with_an_unknown_tournament(client: Client, what: str, body: dict[str, Any]) -> None:
    assert client.post(at("nobody", what), body).problem == "unknown-tournament"


# Upkeep


def test_alive_ready_and_counted(client: Client, server: Server, name: str) -> None:
    assert client.get("/livez").raw == client.get("/readyz").raw == b"ok\n"
    client.post(at(name, "/ask"), {})
    assert client.get(at(name)).body["duels"]["issued"] == 1
    text = client.get("/metrics").raw.decode()
    assert f'rankduel_duels_total{{tournament="{name}",became="issued"}} 1' in text
    assert 'rankduel_requests_total{method="POST",path="/v1/tournaments/{name}/ask",status="200"}' in text
    for line in text.splitlines():
        assert line.startswith("# ") or float(line.rpartition(" ")[2]) >= 0


def test_head_is_get_without_a_body(client: Client, name: str) -> None:
    head = client.send("HEAD", at(name))
    assert (head.status, head.raw) == (200, b"")
    assert head.headers["content-length"] == client.get(at(name)).headers["content-length"]
