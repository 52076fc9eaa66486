"""Create a tournament and operate it over HTTP."""

from typing import Any
from urllib.parse import quote

import pytest

from service.servers import Client, at


def test_the_same_body_again_is_the_same_answer_and_another_one_a_conflict(client: Client) -> None:
    body = {"name": "again", "rankers": ["a", "b"], "share": 0.5, "delta": 0.05}
    first = client.post("/v1/tournaments", body)
    again = client.post("/v1/tournaments", body)
    assert (first.status, first.body) == (again.status, again.body)
    assert first.status == 201
    assert first.body["settings"]["share"] == 0.5
    assert "delta=0.05" in first.body["settings"]["bandit"]
    assert not {"salt", "seed"} & first.body["settings"].keys()
    for change in ({"rankers": ["a", "c"]}, {"share": 0.6}, {"delta": 0.06}, {"baseline": "b"}):
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
        ({"rankers": []}, "length >= 2"),
        ({"rankers": ["a"]}, "length >= 2"),
        ({"rankers": ["a", "a"]}, "duplicate ranker 'a'"),
        ({"rankers": "ab"}, "Expected `array`"),
        ({"bandit": "Nobody"}, "unknown bandit"),
        ({"bandit": "os:system(command='true')"}, "only registered bandits"),
        ({"bandit": "MergeDTS(alpha=-1)"}, "alpha"),
        ({"bandit": "MergeDTS", "delta": 0.1}, "default bandit"),
        ({"bandit": "MergeDTS", "parameters": {"alpha": [1]}}, "a number"),
        ({"bandit": "MergeDTS", "parameters": {"a=1, b": 1}}, "an identifier"),
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


def test_names_may_have_any_printable_character(client: Client) -> None:
    name = "a/b:start?c#d%e ü ../.."
    made = client.post("/v1/tournaments", {"name": name, "rankers": ["x/y:retire", "z", "ü"]})
    assert made.status == 201
    assert client.get(at(name)).body["name"] == name
    assert client.post(at(name, ":pause")).body["status"] == "paused"
    retired = client.post(at(name, f"/rankers/{quote('x/y:retire', safe='')}:retire"))
    assert retired.body["rankers_left"] == 2


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


def test_erase_client(client: Client, name: str) -> None:
    duels = [client.post(at(name, "/ask"), {"query_id": f"q{n}", "client_id": f"u{n % 2}"}).body for n in range(6)]
    page = {"documents": ["d"], "method": "team_draft", "teams": ["first"]}
    shown = client.post(at(name, "/show"), {"ticket": duels[1]["ticket"], "shown": page})
    assert shown.body == {"status": "accepted"}, shown
    path = at(name, ":erase-client")
    assert client.post(path, {"client_id": "u1", "reason": "asked for it"}).body == {"duels": 3}
    assert client.post(path, {"client_id": "u1"}).body == {"duels": 0}
    (event,) = (each for each in client.get(at(name, "/audit")).body["events"] if each["kind"] == "erased")
    assert event["body"] == {"reason": "asked for it", "by": event["body"]["by"], "duels": 3}
    detail = client.get(at(name, f"/duels/{duels[1]['duel']}")).body
    assert (detail["removed"], detail["page"], detail["query_id"], detail["state"]) == (True, None, None, "void")
    assert client.get(at(name, f"/duels/{duels[0]['duel']}")).body["removed"] is False
    assert client.post(at(name, "/tell"), {"ticket": duels[1]["ticket"], "outcome": "tie"}).body["status"] == "late"
    assert client.post(path, {}).problem == client.post(path, {"client_id": "a\nb"}).problem == "bad-value"
    assert client.post(at("nobody", ":erase-client"), {"client_id": "u1"}).problem == "unknown-tournament"
