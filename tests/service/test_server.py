"""A server that is killed or stopped under load: what it has acknowledged is there, once."""

import http.client
import json
import os
import random
import threading
import time
from collections import Counter
from pathlib import Path

import pytest

from live.learning import learnt
from rankduel.live import LocalTournament
from rankduel.live.runtime.state import State
from rankduel.types import Outcome
from service.servers import Client, Server, serving

KILLS = int(os.environ.get("RANKDUEL_KILLS", "6"))  # `make soak` kills more often
RANKERS = [f"ranker {number}" for number in range(12)]
BODY = {"name": "site", "rankers": RANKERS, "seed": 1}


class Site(threading.Thread):
    """A client that asks and tells, one by one and in batches, until the server is gone."""

    def __init__(self, port: int, name: str, old: list[str]) -> None:
        super().__init__(daemon=True)
        self.acknowledged: dict[str, str] = {}
        self.told = 0
        self.tickets = old  # of duels that were asked for before the last crash, and maybe lost with it
        self.wrong: list[object] = []
        self._chance = random.Random(name)
        self._client, self._name = Client(port), name

    def run(self) -> None:
        try:
            with self._client:
                for number in range(1_000_000):
                    self._play(number)
        except (OSError, http.client.HTTPException, json.JSONDecodeError):
            pass  # the server is gone

    def _play(self, number: int) -> None:
        if self._chance.random() < 0.5:
            asked = [self._client.post("/v1/tournaments/site/ask", {"query_id": f"{self._name}.{number}"})]
            self.tickets += [answer.body["ticket"] for answer in asked if answer.status == 200]
        else:
            answer = self._client.post("/v1/tournaments/site/ask", {"n": 5, "query_id": f"{self._name}.{number}"})
            if answer.status == 200:
                self.tickets += [duel["ticket"] for duel in answer.body["duels"]]
        self._chance.shuffle(self.tickets)
        told = [
            {"ticket": self.tickets.pop(), "outcome": self._chance.choice(["first", "second", "tie"])}
            for _ in range(self._chance.randrange(len(self.tickets) + 1))
        ]
        if not told:
            return
        answer = self._client.post("/v1/tournaments/site/tell", told if len(told) > 1 else told[0])
        if answer.status not in (200, 503):
            self.wrong.append(answer)
        if answer.status == 200:
            receipts = answer.body["receipts"] if len(told) > 1 else [answer.body]
            for one, receipt in zip(told, receipts, strict=True):
                if receipt["status"] not in ("accepted", "duplicate"):
                    self.wrong.append(receipt)
                self.acknowledged[one["ticket"]] = one["outcome"]


def loaded(url: str, round: int, left: list[str]) -> tuple[Server, list[Site]]:
    """A server with the tournament, and sites that are at work."""
    server = Server(url)
    assert server.port, server.lines
    with server.client as client:
        assert client.post("/v1/tournaments", BODY).status == 201
    sites = [Site(server.port, f"{round}.{number}", left[number::4]) for number in range(4)]
    for site in sites:
        site.start()
    return server, sites


def check(url: str, acknowledged: dict[str, str]) -> None:
    with LocalTournament.open("site", storage=url) as t:
        events = list(t.journal())
        told = {event.body["duel"]: event.body["outcome"] for event in events if event.kind == "resolved"}
        assert len(told) == Counter(event.kind for event in events)["resolved"] == t.counts.resolved  # each once
        receipts = t.tell_many([(ticket, Outcome(outcome)) for ticket, outcome in acknowledged.items()])
        assert {receipt.status for receipt in receipts} == {"duplicate"}
        assert len(list(t.journal())) == len(events)
        assert learnt(State.replay(events)) == learnt(t._state)


@pytest.mark.slow
def test_killed_at_any_moment(tmp_path: Path) -> None:
    url, chance = f"sqlite:///{tmp_path}/duels.db", random.Random(3)
    acknowledged: dict[str, str] = {}
    left: list[str] = []
    for round in range(KILLS):
        server, sites = loaded(url, round, left)
        time.sleep(chance.uniform(0.1, 1.0))
        server.kill()
        for site in sites:
            site.join(60)
            assert not site.wrong
            assert not site.acknowledged.keys() & acknowledged.keys()
            acknowledged |= site.acknowledged
        left = [ticket for site in sites for ticket in site.tickets]
    assert len(acknowledged) > 20 * KILLS
    check(url, acknowledged)


@pytest.mark.slow
def test_stopped_gently(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/duels.db"
    server, sites = loaded(url, 0, [])
    time.sleep(1)
    assert server.stop() == 0
    acknowledged: dict[str, str] = {}
    for site in sites:
        site.join(60)
        assert not site.wrong
        acknowledged |= site.acknowledged
    assert acknowledged
    assert json.loads(server.lines[-1])["message"] == "stopped"
    assert not [line for line in server.lines if "Traceback" in line]
    check(url, acknowledged)


@pytest.mark.slow
def test_two_servers_cannot_have_one_file_or_one_port(tmp_path: Path) -> None:
    with serving(f"sqlite:///{tmp_path}/duels.db") as server:
        second = Server(f"sqlite:///{tmp_path}/duels.db")
        assert second.wait() != 0
        assert "is in use by process" in second.lines[-1]
        third = Server(f"sqlite:///{tmp_path}/others.db", port=server.port)
        assert third.wait() != 0
        assert f"cannot listen on 127.0.0.1:{server.port}" in third.lines[-1]
    several = Server(f"sqlite:///{tmp_path}/duels.db", processes=2)
    assert several.wait() != 0
    assert "one process owns a SQLite file" in several.lines[-1]


@pytest.mark.slow
def test_a_full_disk(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/duels.db"
    with serving(url, largest_file=600_000) as server, server.client as client:
        assert client.post("/v1/tournaments", BODY | {"baseline": "ranker 3"}).status == 201
        acknowledged: dict[str, str] = {}
        for _ in range(1000):
            duel = client.post("/v1/tournaments/site/ask", {"client_id": "c"}).body
            if duel["ticket"] is None:
                break
            told = client.post("/v1/tournaments/site/tell", {"ticket": duel["ticket"], "outcome": "tie"})
            assert told.status in (200, 503), told
            if told.status == 200:
                acknowledged[duel["ticket"]] = "tie"
            else:
                assert told.problem == "storage"
        assert (duel["serve"], duel["first"], duel["why"]) == ("baseline", "ranker 3", "storage")
        assert client.get("/livez").status == client.get("/metrics").status == 200
        assert client.get("/v1/tournaments/site").body["duels"]["resolved"] == len(acknowledged)
        assert not [line for line in server.lines if '"problem": "failed"' in line]
        server.kill()
    assert acknowledged
    check(url, acknowledged)
