"""The life of a tournament over HTTP: draft, roll out, archive, delete, and the defaults of a new one."""

import time
from urllib.parse import quote

import pytest

from rankduel.live.defaults import DEFAULTS
from service.servers import Answer, Client, at, serving


def delete(client: Client, name: str, confirm: str | None = None) -> Answer:
    query = "" if confirm is None else f"?confirm={quote(confirm, safe='')}"
    return client.send("DELETE", at(name) + query)


def test_from_a_draft_to_the_archive(client: Client) -> None:
    made = client.post("/v1/tournaments", {"name": "life", "rankers": ["bm25", "ltr"], "draft": True}).body
    assert (made["status"], made["rollout"]) == ("draft", None)
    assert made["users_see"] == "All users see the baseline `bm25`."
    assert set(made["effects"]) >= {"start", "archive", "delete", "configure"}
    assert client.post(at("life", "/ask"), {}).body["why"] == "draft"
    assert client.post(at("life", ":start")).body["status"] == "running"
    assert client.post(at("life", ":roll-out"), {}).problem == "wrong-state"
    assert client.post(at("life", ":roll-back")).problem == "wrong-state"
    decided = client.post(at("life", "/rankers/bm25:retire")).body
    assert (decided["status"], decided["users_see"]) == ("decided", "All users see the winner `ltr`.")
    rolled_out = client.post(at("life", ":roll-out"), {"share": 0.5, "reason": "carefully"}).body
    assert (rolled_out["status"], rolled_out["rollout"]) == ("rolled_out", {"ranker": "ltr", "share": 0.5})
    sight = "50 % of users see the winner `ltr`, and all others see the baseline `bm25`."
    assert rolled_out["users_see"] == client.get(at("life")).body["users_see"] == sight
    assert client.post(at("life", ":roll-out")).problem == "wrong-media-type"  # a body is needed, even an empty one
    assert client.post(at("life", ":roll-out"), {"share": 0}).problem == "bad-value"
    assert client.post(at("life", ":roll-out"), {"ranker": "bm25"}).problem == "bad-value"
    rolled_back = client.post(at("life", ":roll-back"), {"reason": "slow"}).body
    assert rolled_back["users_see"] == "All users see the baseline `bm25`, although `ltr` won."
    assert client.post(at("life", ":archive"), {"reason": "over"}).body["status"] == "archived"
    assert client.post(at("life", "/ask"), {}).body["why"] == "archived"
    events = client.get(at("life", "/audit")).body["events"]
    assert [event["kind"] for event in events] == [
        *("archived", "rolled_back", "rolled_out", "retired", "started", "created"),
    ]
    assert {event["body"]["by"] for event in events} == {"loopback"}


def test_archived_tournaments_are_listed_only_if_asked_for(client: Client) -> None:
    for name in ("list a", "list b", "list c"):
        client.post("/v1/tournaments", {"name": name, "rankers": ["x", "y"]})
    client.post(at("list b", ":archive"))

    def names(query: str) -> list[str]:
        listed = [one["name"] for one in client.get(f"/v1/tournaments{query}").body["tournaments"]]
        return [name for name in listed if name.startswith("list")]

    assert names("") == names("?archived=false") == ["list a", "list c"]
    assert names("?archived=true") == ["list a", "list b", "list c"]
    page = client.get("/v1/tournaments?limit=1&after=list%20a").body  # no page is empty before the last one
    assert [one["name"] for one in page["tournaments"]] == ["list c"]
    assert client.get("/v1/tournaments?archived=yes").problem == "bad-value"


def test_delete(client: Client, name: str) -> None:
    client.post(at(name, "/tell"), {"duel": client.post(at(name, "/ask"), {}).body["duel"], "outcome": "first"})
    assert client.get(at(name, "/leaderboard")).body["standings"]  # cached
    assert delete(client, name).problem == "bad-value"
    assert delete(client, name, "other").problem == "bad-value"
    assert delete(client, name, name).problem == "wrong-state"
    client.post(at(name, ":stop"))
    gone = delete(client, name, name)
    assert (gone.status, gone.body) == (200, {"name": name})
    for answer in (
        client.get(at(name)),
        client.get(at(name, "/leaderboard")),
        client.post(at(name, "/ask"), {}),
        client.post(at(name, "/tell"), {"duel": "1-1", "outcome": "first"}),
    ):
        assert answer.problem == "unknown-tournament"
    assert delete(client, name, name).problem == "unknown-tournament"
    assert name not in [one["name"] for one in client.get("/v1/tournaments?archived=true").body["tournaments"]]
    again = client.post("/v1/tournaments", {"name": name, "rankers": ["x", "y"], "seed": 1})
    assert (again.status, again.body["duels"]["issued"]) == (201, 0)
    standings = client.get(at(name, "/leaderboard")).body["standings"]
    assert {line["ranker"] for line in standings} == {"x", "y"}
    duel = client.post(at(name, "/ask"), {"query_id": "q"}).body
    assert client.post(at(name, "/tell"), {"duel": duel["duel"], "outcome": "first"}).body["status"] == "accepted"


def test_defaults_are_those_of_a_new_tournament(client: Client) -> None:
    defaults = client.get("/v1/defaults").body
    assert {name: defaults[name] for name in DEFAULTS} == DEFAULTS
    assert (defaults["delta"], defaults["after_decision"], defaults["rollout_share"]) == (0.01, "winner", 0.05)
    settings = client.post("/v1/tournaments", {"name": "new", "rankers": ["x", "y"]}).body["settings"]
    stated = {name: value for name, value in defaults.items() if name in settings}
    assert settings == stated | {
        "bandit": "CertifiedSparring(delta=0.01, tolerance=None)",
        "interleaving": "TeamDraftInterleaving()",
        "baseline": "x",
        "attribution": None,
    }


@pytest.mark.slow
def test_servers_that_share_a_storage_notice_a_deletion() -> None:
    postgres = pytest.importorskip("postgres.server", reason="psycopg is not installed")
    with postgres.running() as database:
        url = database.empty()
        with (
            serving(url) as one,
            serving(f"{url}?application_name=two") as two,
            one.client as here,
            two.client as there,
        ):
            assert here.post("/v1/tournaments", {"name": "t", "rankers": ["a", "b"]}).status == 201
            assert there.post(at("t", "/ask"), {"query_id": "q"}).body["serve"] == "duel"
            here.post(at("t", ":stop"))
            assert delete(here, "t", "t").status == 200
            due = time.monotonic() + 10
            while there.get(at("t")).status == 200:
                assert time.monotonic() < due
                time.sleep(0.1)
            assert there.get(at("t")).problem == "unknown-tournament"
            assert there.post(at("t", "/ask"), {"query_id": "q"}).problem == "unknown-tournament"
            assert there.post("/v1/tournaments", {"name": "t", "rankers": ["c", "d"]}).status == 201
            assert here.post(at("t", "/ask"), {"query_id": "q"}).body["first"] in ("c", "d")
