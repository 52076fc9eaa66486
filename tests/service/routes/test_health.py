"""Liveness, readiness, metrics, HEAD."""

from service.servers import Client, Server, at


def test_alive_ready_and_counted(client: Client, server: Server, name: str) -> None:
    assert client.get("/livez").raw == client.get("/readyz").raw == b"ok\n"
    client.post(at(name, "/ask"), {})
    assert client.get(at(name)).body["duels"]["issued"] == 1
    text = client.get("/metrics").raw.decode()
    assert f'rankduel_duels_issued_total{{tournament="{name}"}} 1.0' in text
    assert f'rankduel_asks_total{{serve="duel",tournament="{name}",why="none"}} 1.0' in text
    assert 'rankduel_requests_total{method="POST",path="/v1/tournaments/{name}/ask",status="200"}' in text
    for line in text.splitlines():
        assert line.startswith("# ") or float(line.rpartition(" ")[2]) >= 0


def test_head_is_get_without_a_body(client: Client, name: str) -> None:
    head = client.send("HEAD", at(name))
    assert (head.status, head.raw) == (200, b"")
    assert head.headers["content-length"] == client.get(at(name)).headers["content-length"]
