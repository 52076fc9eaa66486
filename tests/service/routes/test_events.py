"""What users did, as UBI events: attributed to the page that was shown, counted when it cannot be."""

import json
import time
from pathlib import Path

import pytest

from rankduel.interleaving import interleaving_from
from rankduel.live import storage_at
from rankduel.service import new_key
from service.servers import Client, serving
from service.ubi import event


def begin(client: Client, name: str, window: float = 0.5) -> None:
    body = {"name": name, "rankers": ["a", "b", "c"], "attribution": {"window": window}, "seed": 1}
    assert client.post("/v1/tournaments", body).status == 201


def test_clicks_on_a_page_decide_its_duel_when_the_window_closes(client: Client) -> None:
    begin(client, "window")
    duel = client.post("/v1/tournaments/window/ask", {"query_id": "q"}).body
    page = interleaving_from(duel["interleaving"]).interleave("abcd", "efgh", 4, seed=duel["seed"])
    first = next(doc for doc, team in zip(page.documents, page.credit_data or (), strict=True) if team == "first")
    shown, click = event("q", "impression", shown=page.to_dict()), event("q", "click", str(first))
    orphan = event("nobody asked", "click", "a")
    answer = client.post("/v1/events?tournament=window", [shown, click, click, orphan, {"query_id": "q"}])
    assert answer.status == 200
    assert answer.body["statuses"] == ["accepted", "accepted", "duplicate", "unknown", "invalid"]
    assert "event 5: action_name" in answer.body["errors"][0]
    until = time.monotonic() + 30
    while (counts := client.get("/v1/tournaments/window").body["duels"])["resolved"] == 0 and time.monotonic() < until:
        time.sleep(0.05)
    assert (counts["shown"], counts["resolved"]) == (1, 1)
    assert client.get("/v1/tournaments/window/duels").body["duels"][0]["outcome"] == "first"
    health = client.get("/v1/tournaments/window/health").body
    assert (health["signals_again"], health["orphans"], health["failure"]) == (1, 1, None)
    assert 'rankduel_events_total{status="duplicate"} 1' in client.get("/metrics").raw.decode()


def test_events_find_their_tournament(client: Client) -> None:
    for name in ("one", "two"):
        begin(client, name)
        client.post(f"/v1/tournaments/{name}/ask", {"query_id": f"q {name}"})
    answer = client.post("/v1/events", [event("q two"), event("q one"), event("q three")])
    assert answer.body["statuses"] == ["accepted", "accepted", "unknown"]
    for name in ("one", "two"):  # what nobody knows is an orphan of nobody
        assert client.get(f"/v1/tournaments/{name}/health").body["orphans"] == 0


@pytest.mark.parametrize("media", ["application/json", "application/x-ndjson", "text/plain", "Text/Plain;charset=x"])
def test_all_ways_to_send_them(client: Client, media: str) -> None:
    name = f"by {media}"
    begin(client, name)
    client.post(f"/v1/tournaments/{name.replace('/', '%2F').replace(' ', '%20')}/ask", {"query_id": media})
    lines = [json.dumps(event(media, object=object)) for object in ("d1", "d2")]
    body = f"[{','.join(lines)}]" if media == "application/json" else "\n".join(lines)
    answer = client.send("POST", "/v1/events", body.encode(), {"Content-Type": media}, raw=True)
    assert (answer.status, answer.body["statuses"]) == (200, ["accepted", "accepted"])


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{}",
        b"null",
        b"3",
        b'"x"',
        b"NaN",
        b"\xff\x00",
        b"[1,2,3]",
        b"{{{{\n\n\n",
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"[%s]" % b",".join([b"{}"] * 1001),
        b"\n".join([b"{}"] * 1001),
        b'{"query_id":"q"}',
        b'{"query_id":"q","action_name":"a","timestamp":1e999}',
        b'{"query_id":"\\ud800","action_name":"a"}',
    ],
    ids=lambda body: repr(body[:20]),
)
def test_what_is_no_event(client: Client, body: bytes) -> None:
    begin(client, "none")
    for media in ("application/json", "text/plain"):
        answer = client.send("POST", "/v1/events", body, {"Content-Type": media}, raw=True)
        assert (answer.status, answer.problem) == (422, "bad-value"), answer


def test_an_unknown_tournament(client: Client) -> None:
    assert client.post("/v1/events?tournament=nobody", [event("q")]).problem == "unknown-tournament"


@pytest.mark.slow
def test_only_an_ingest_key_may_be_in_an_address(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/duels.db"
    storage = storage_at(url)
    ingest, both, admin = (new_key(storage, "k", scopes)[1] for scopes in (["ingest"], ["ingest", "tell"], ["admin"]))
    storage.close()
    with serving(url) as server, server.client.with_key(admin) as known, server.client as client:
        begin(known, "t")
        body, text = json.dumps(event("q")).encode(), {"Content-Type": "text/plain", "Origin": "http://shop.example"}
        sent = client.send("POST", f"/v1/events?key={ingest}", body, text, raw=True)
        assert (sent.status, sent.body["statuses"]) == (200, ["unknown"])
        for key in (both, admin):
            answer = client.send("POST", f"/v1/events?key={key}", body, text, raw=True)
            assert (answer.status, answer.problem) == (403, "wrong-scope")
        assert client.get(f"/v1/tournaments?key={ingest}").status == 422  # no other call takes one there
        assert client.send("POST", "/v1/events?key=rd_x_y", body, text, raw=True).problem == "wrong-key"
        log = "".join(server.lines)
    assert not [key for key in (ingest, both, admin) if key in log]
