"""`GET /metrics` of a real server: formats, keys, many tournaments, settings of the ports."""

import asyncio
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from rankduel.live import LocalTournament, storage_at
from rankduel.service import ServiceSettings, new_key
from rankduel.service.app import make_app
from rankduel.service.metrics.labels import MAX_TOURNAMENT_LABELS
from service.asgi import request
from service.metrics.scrapes import Scrape, scrape
from service.servers import Client, Server, serving

PLAIN = "text/plain; version=0.0.4; charset=utf-8"


def test_the_format_is_negotiated(client: Client, name: str) -> None:
    openmetrics = client.get("/metrics", Accept="application/openmetrics-text;version=1.0.0,text/plain;q=0.5")
    assert openmetrics.headers["content-type"].startswith("application/openmetrics-text; version=1.0.0; charset=utf-8")
    assert openmetrics.raw.endswith(b"# EOF\n")
    text = openmetrics.raw.decode()
    families = {family.name: family for family in text_string_to_metric_families(text)}  # type: ignore[no-untyped-call]
    status = families["rankduel_tournament_status"].samples
    assert [sample.value for sample in status if sample.labels == {"tournament": name, "status": "running"}] == [1]
    for accept in (
        "",
        "text/html",
        "application/openmetrics-text;version=x",
        "application/openmetrics-text;version=0.0.1",
    ):
        answer = client.get("/metrics", Accept=accept)
        assert (answer.status, answer.headers["content-type"]) == (200, PLAIN), accept
    newer = client.get("/metrics", Accept="text/plain;version=1.0.0")
    assert newer.headers["content-type"].startswith("text/plain; version=1.0.0; charset=utf-8")


def test_a_scrape_needs_the_scope_read(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/duels.db"
    storage = storage_at(url)
    keys = {scope: new_key(storage, scope, [scope])[1] for scope in ("read", "ask", "tell", "ingest")}
    storage.close()
    with serving(url) as server:
        for scope, key in keys.items():
            with server.client.with_key(key) as client:
                assert client.get("/metrics").status == (200 if scope == "read" else 403)
        with server.client as client:
            assert client.get("/metrics").problem == "no-key"


def test_series_stay_bounded_with_many_tournaments(tmp_path: Path) -> None:
    """The sum of all duels is right, and the labels are the oldest tournaments."""
    url, many = f"sqlite:///{tmp_path}/duels.db", MAX_TOURNAMENT_LABELS + 5
    for number in range(many, 0, -1):  # the alphabetical order is another one
        with LocalTournament.create(f"t{number:03}", rankers=["a", "b"], storage=url, seed=1) as t:
            t.ask()

    async def run() -> bytes:
        app = make_app(url)
        await app.service.start()
        try:
            return (await request(app, "GET", "/metrics")).raw
        finally:
            await app.service.stop()

    found = Scrape(asyncio.run(run()).decode())
    names = {labels["tournament"] for labels in found.labels_of("rankduel_duels_issued_total")}
    assert names == {f"t{number:03}" for number in range(6, many + 1)} | {"other"}
    assert found.one("rankduel_duels_issued_total", tournament="other") == 5
    assert found.total("rankduel_duels_issued_total") == many


def test_one_process_has_a_metrics_port_too(tmp_path: Path, unused_ports: range) -> None:
    with serving(f"sqlite:///{tmp_path}/duels.db", metrics_port=unused_ports[0]) as server:
        with server.client as client:
            assert client.get("/livez").status == 200
        with Client(unused_ports[0]) as client:
            assert scrape(client).total("rankduel_requests_total", path="/livez") == 1


def test_a_metrics_port_that_is_taken_is_an_error(tmp_path: Path) -> None:
    with serving(f"sqlite:///{tmp_path}/one.db") as server:
        refused = Server(f"sqlite:///{tmp_path}/two.db", metrics_port=server.port)
        assert refused.wait() == 1
        assert f"cannot listen on 127.0.0.1:{server.port}: Address already in use" in refused.lines[-1]
        assert refused.port == 0


_RECEIVE = """
import pickle, sys
from rankduel.service import ServiceSettings
from rankduel.service.server import _OwnSocket
sent = pickle.dumps(_OwnSocket(ServiceSettings(port=0, processes=2, metrics_port=int(sys.argv[1]))))
sockets = [pickle.loads(sent) for _ in range(3)]
print(*(each.getsockname()[1] for each in sockets))
"""


def test_without_a_free_metrics_port_a_process_serves_all_the_same(unused_ports: range) -> None:
    """Another program has taken the port of a process that was killed: the log says so, and users are served."""
    ran = subprocess.run(
        [sys.executable, "-c", _RECEIVE, str(unused_ports[0])], capture_output=True, text=True, check=True, timeout=60
    )
    *own, other = map(int, ran.stdout.split())
    assert own == list(unused_ports)
    assert other not in unused_ports
    assert f"all ports from {own[0]} to {own[1]} are in use" in json.loads(ran.stderr)["message"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"metrics_port": -1}, "metrics_port must be a whole number from 0 to 65535, got -1"),
        (
            {"metrics_port": 65_535, "processes": 2},
            "must be at most 65535, and none may be the port 8080 of the service; got 65535 to 65536",
        ),
        ({"metrics_port": 8078, "processes": 4}, "none may be the port 8080 of the service; got 8078 to 8081"),
    ],
)
def test_wrong_metrics_ports(settings: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        ServiceSettings(**settings)  # type: ignore[arg-type]
