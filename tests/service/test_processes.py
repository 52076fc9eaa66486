"""Several server processes on one PostgreSQL: the same duel for the same query, and each tell counts once."""

import os
import signal
import threading
import time
from collections import Counter
from pathlib import Path

import pytest

from service.servers import Client, serving

postgres = pytest.importorskip("postgres.server", reason="psycopg is not installed")
QUERIES = 20


def play(port: int, duels: dict[int, set[str]], statuses: Counter[str]) -> None:
    for query in range(QUERIES):
        with Client(port) as client:  # a new connection each time: any process may take it
            duel = client.post("/v1/tournaments/t/ask", {"query_id": f"q {query}"}).body
            duels[query].add(duel["duel"])
            told = client.post("/v1/tournaments/t/tell", {"ticket": duel["ticket"], "outcome": "first"})
            assert told.status == 200, told
            statuses[told.body["status"]] += 1


def children(process: int) -> list[int]:
    """The processes that serve, as Linux knows them."""
    numbers = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return [int(number) for number in numbers if b"spawn_main" in Path(f"/proc/{number}/cmdline").read_bytes()]


@pytest.mark.slow
def test_several_processes() -> None:
    with postgres.running() as database, serving(database.empty(), processes=2) as server:
        with server.client as client:
            assert client.post("/v1/tournaments", {"name": "t", "rankers": ["a", "b", "c"]}).status == 201
        duels: dict[int, set[str]] = {query: set() for query in range(QUERIES)}
        statuses: Counter[str] = Counter()
        players = [threading.Thread(target=play, args=(server.port, duels, statuses)) for _ in range(4)]
        for player in players:
            player.start()
        for player in players:
            player.join()
        assert [len(same) for same in duels.values()] == [1] * QUERIES
        assert statuses == {"accepted": QUERIES, "duplicate": 3 * QUERIES}
        first, *others = children(server.process.pid)
        assert others
        os.kill(first, signal.SIGKILL)  # the others go on, and it is replaced
        until = time.monotonic() + 60
        while not set(children(server.process.pid)) - {first, *others} and time.monotonic() < until:
            time.sleep(0.1)
        assert len(children(server.process.pid)) == 2
        with server.client as client:
            assert client.get("/v1/tournaments/t").body["duels"]["resolved"] == QUERIES
        assert server.stop() == 0
