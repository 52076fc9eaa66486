"""A clock that jumps by days under a running service expires nothing, stops nothing, and is seen."""

import json
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rankduel.cli import main
from rankduel.live import LocalTournament
from service.servers import Client, Server, serving

DAY = 86_400
# Adds the number in a file to the clock of the machine, and leaves all other clocks alone.
_SHIM = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int clock_gettime(clockid_t id, struct timespec *now) {
    int (*real)(clockid_t, struct timespec *) = dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(id, now);
    long offset = 0;
    FILE *file = id == CLOCK_REALTIME ? fopen(getenv("CLOCK_OFFSET"), "r") : NULL;
    if (file != NULL) {
        if (fscanf(file, "%ld", &offset) == 1) now->tv_sec += offset;
        fclose(file);
    }
    return result;
}
"""


@pytest.fixture
def offset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A file with the number of seconds by which the clock of servers is wrong."""
    source, shim, file = tmp_path / "shim.c", tmp_path / "shim.so", tmp_path / "offset"
    source.write_text(_SHIM)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(shim), str(source), "-ldl"], check=True)
    file.write_text("0")
    monkeypatch.setenv("CLOCK_OFFSET", str(file))
    monkeypatch.setenv("LD_PRELOAD", str(shim))
    yield file
    monkeypatch.delenv("LD_PRELOAD")


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def tell(client: Client, duel: dict[str, str]) -> str:
    answer = client.post("/v1/tournaments/t/tell", {"ticket": duel["ticket"], "outcome": "first"})
    return str(answer.body["status"])


@pytest.mark.parametrize(("jump", "way"), [(3 * DAY, "ahead"), (-3 * DAY, "back")])
def test_a_clock_that_jumps(tmp_path: Path, offset: Path, jump: int, way: str) -> None:
    """Duels in flight stay valid, new ones have the right time, and the light is yellow until the clock is right."""
    with serving(f"sqlite:///{tmp_path}/duels.db") as server, server.client as client:
        client.post("/v1/tournaments", {"name": "t", "rankers": ["a", "b"], "expires_after": DAY, "seed": 1})
        duels = [client.post("/v1/tournaments/t/ask", {"query_id": f"q{n}"}).body for n in range(4)]
        assert tell(client, duels[0]) == "accepted"
        assert client.get("/readyz").raw == b"ok\n"
        offset.write_text(str(jump))
        until(lambda: client.get("/readyz").raw == b"degraded: the clock jumped\n")
        assert b"rankduel_clock_jumped 1.0" in client.get("/metrics").raw
        said = client.get("/v1/tournaments/t/health").body["clock"]
        assert said.startswith(f"The clock jumped {way} by 3 days.")
        light = client.get("/v1/tournaments/t/overview").body["light"]
        assert light == {"state": "warning", "reasons": [said]}
        time.sleep(1)  # maintenance would expire duels now
        assert tell(client, duels[1]) == "accepted"
        later = client.post("/v1/tournaments/t/ask", {"query_id": "later"}).body
        assert abs(later["expires"] - duels[0]["expires"]) < 3600
        assert tell(client, later) == "accepted"
        offset.write_text("0")
        until(lambda: client.get("/readyz").raw == b"ok\n")
        assert client.get("/v1/tournaments/t/overview").body["light"]["state"] == "good"
        assert tell(client, duels[2]) == "accepted"
        assert client.get("/v1/tournaments/t").body["duels"]["expired"] == 0
        jumps = [json.loads(line) for line in server.lines if "The clock" in line]
        assert [(one["level"], one["message"].split(" by ")[0]) for one in jumps] == [
            ("warning", f"The clock jumped {way}"),
            ("warning", "The clock is right again."),
        ]


def test_a_clock_that_was_ahead_before_the_start(tmp_path: Path, offset: Path) -> None:
    """A journal with times in the future: the light says why nothing expires."""
    url = f"sqlite:///{tmp_path}/duels.db"
    offset.write_text(str(2 * DAY))
    with serving(url) as server, server.client as client:
        client.post("/v1/tournaments", {"name": "t", "rankers": ["a", "b"], "seed": 1})
        tell(client, client.post("/v1/tournaments/t/ask", {}).body)
    offset.write_text("0")
    with serving(url) as server, server.client as client:
        light = client.get("/v1/tournaments/t/overview").body["light"]
        assert light["state"] == "warning"
        assert light["reasons"][0].startswith("The last event is 2 days in the future: the clock was set back.")
        assert client.post("/v1/tournaments/t/ask", {}).body["serve"] == "duel"


def test_many_duels_that_expire_at_once_are_logged(tmp_path: Path, offset: Path) -> None:
    """A service that starts with a wrong clock cannot know it, but it does not expire duels in silence."""
    url = f"sqlite:///{tmp_path}/duels.db"
    with LocalTournament.create("t", rankers=["a", "b"], storage=url, expires_after=DAY, seed=1) as t:
        t.ask_many([(None, None)] * 2000)
    offset.write_text(str(5 * DAY))
    with serving(url) as server:
        until(lambda: any("2000 duels expired at once" in line for line in server.lines))


def test_doctor_asks_the_service(tmp_path: Path, offset: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with serving(f"sqlite:///{tmp_path}/duels.db") as server, server.client as client:
        client.post("/v1/tournaments", {"name": "t", "rankers": ["a", "b"], "seed": 1})
        assert "ok       service: ready: the storage can be read and written" in doctor(server, capsys)
        offset.write_text(str(5 * DAY))
        until(lambda: client.get("/readyz").raw != b"ok\n")
        assert "warning  service: degraded: the clock jumped" in doctor(server, capsys)


def doctor(server: Server, capsys: pytest.CaptureFixture[str]) -> str:
    main(["doctor", "--storage", f"http://127.0.0.1:{server.port}"])
    return capsys.readouterr().out
