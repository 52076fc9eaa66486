"""Deliveries: what is sent, in which order, how often, and what a restart does, on both databases."""

import itertools
import logging
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from live.runtime.test_decisions import play
from postgres.server import Server
from rankduel.live import LocalTournament, storage_at
from rankduel.live.runtime.clock import now
from rankduel.service.webhooks import delivery as deliveries
from rankduel.service.webhooks.delivery import Delivery, retry_seconds
from rankduel.service.webhooks.messages import Message
from rankduel.service.webhooks.settings import WebhookSettings
from service.webhooks.receiver import Receiver

DAY = 86_400.0


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/duels.db"
    server: Server = request.getfixturevalue("postgres")
    return server.empty()


@pytest.fixture(autouse=True)
def retries_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deliveries, "retry_seconds", lambda _failures: 0.0)


class Site:
    """A process with tournaments and one webhook, whose thread is the test."""

    def __init__(self, url: str, receiver: Receiver, *names: str, **settings: Any) -> None:
        self.url, self.stack = url, ExitStack()
        self.tournaments = {name: self.make(name) for name in names}
        hook = WebhookSettings("ops", receiver.url, "HOOK_SECRET", **settings)
        storage = self.tournaments[names[0]].storage
        self.delivery = Delivery(hook, storage, lambda: self.tournaments, "https://duels.example")
        self.run = self.delivery.run_due

    def make(self, name: str) -> LocalTournament:
        made = LocalTournament.create(name, rankers=list("abc"), storage=self.url, seed=3, exist_ok=True)
        return self.stack.enter_context(made)

    def __enter__(self) -> "Site":
        return self

    def __exit__(self, *_: object) -> None:
        self.stack.close()

    def __getitem__(self, name: str) -> LocalTournament:
        return self.tournaments[name]


def told(receiver: Receiver) -> list[tuple[str, str, int]]:
    """What was accepted: kind, tournament and event."""
    of = [(body["type"].removeprefix("tournament."), body["data"]) for body in receiver.accepted]
    return [(kind, data["tournament"], data["event"]) for kind, data in of]


def test_what_is_sent(url: str, receiver: Receiver) -> None:
    with Site(url, receiver, "home") as site:
        site.run()
        assert receiver.requests == []
        home = site["home"]
        home.pause("a holiday", by="anna")
        home.configure(share=0.5)
        home.start(by="anna")
        home.pause("error on 40 of 400 pages in 3600 s: 10 %, above the bound of 2 %", by="guardrail")
        home.start()
        play(home, "abc")
        decided = home.number
        home.stop("it is decided")
        site.run()
        site.run()
        assert all(request.signed for request in receiver.requests)
        assert told(receiver) == [
            *(("paused", "home", 2), ("started", "home", 4), ("guardrail", "home", 5), ("started", "home", 6)),
            *(("decided", "home", decided), ("stopped", "home", decided + 1)),
        ]
        bodies = [body["data"] for body in receiver.accepted]
        assert [data["headline"] for data in bodies] == [
            "Paused by anna: a holiday.",
            "Started by anna.",
            "Paused by a guardrail: error on 40 of 400 pages in 3600 s: 10 %, above the bound of 2 %.",
            "Started.",
            str(home.decision()).splitlines()[0],
            "Stopped: it is decided.",
        ]
        assert (bodies[0]["by"], bodies[0]["reason"], bodies[3]["by"]) == ("anna", "a holiday", None)
        assert (bodies[4]["winner"], bodies[4]["url"]) == ("a", "https://duels.example/t/home")
        assert site.delivery.status == deliveries.DeliveryStatus("ops", delivered=6)


def test_a_roll_out(tmp_path: Path, receiver: Receiver) -> None:
    with Site(f"sqlite:///{tmp_path}/duels.db", receiver, "home") as site:
        home = site["home"]
        play(home, "cab")
        home.roll_out(0.05, by="anna", reason="the A/B test agrees")
        home.roll_back(by="anna")
        home.archive()
        site.run()
        assert receiver.kinds == ["decided", "rolled_out", "rolled_back", "archived"]
        bodies = [body["data"] for body in receiver.accepted]
        assert (bodies[1]["ranker"], bodies[1]["share"], bodies[1]["by"]) == ("c", 0.05, "anna")
        assert [data["headline"] for data in bodies[1:]] == [
            "Rolled out c to 5 % of the traffic, by anna: the A/B test agrees.",
            "Rolled back by anna.",
            "Archived.",
        ]


def test_a_new_webhook_starts_at_the_end(url: str, receiver: Receiver) -> None:
    """Also for tournaments that are decided already, and after a restart before the first message."""
    for name in ("home", "cart"):
        with LocalTournament.create(name, rankers=list("abc"), storage=url, seed=3) as t:
            play(t, "abc")
            t.pause()
    for _ in range(2):
        with Site(url, receiver, "home", "cart") as site:
            site.run()
    with Site(url, receiver, "home", "cart") as site:
        site.run()
        assert receiver.requests == []
        paused = site["cart"].number
        site["cart"].start()
        site.run()
        assert told(receiver) == [("started", "cart", paused + 1)]


def test_a_failed_message_is_sent_again_with_the_same_id_and_body(url: str, receiver: Receiver) -> None:
    with Site(url, receiver, "home") as site:
        site.run()
        play(site["home"], "abc")
        decided = site["home"].number
        receiver.statuses = [500, 302]
        for _ in range(2):
            site.run()
        status = site.delivery.status
        assert (status.failed, status.pending, status.delivered) == (2, 1, 0)
        assert status.problem == "status 302, a redirect, which is not followed"
    receiver.statuses = [503]
    with Site(url, receiver, "home") as site:  # a restart
        site["home"].stop()
        for _ in range(3):
            site.run()
        assert told(receiver) == [("decided", "home", decided), ("stopped", "home", decided + 1)]
        assert [request.status for request in receiver.requests] == [500, 302, 503, 200, 200]
        first = receiver.requests[:4]
        assert len({request.id for request in first}) == len({request.raw for request in first}) == 1
        assert receiver.requests[4].id != first[0].id
        status = site.delivery.status
        assert (status.failed, status.pending, status.delivered, status.problem) == (1, 0, 2, None)


def test_a_message_that_is_refused_holds_back_its_own_tournament_only(url: str, receiver: Receiver) -> None:
    with Site(url, receiver, "cart", "home") as site:
        site.run()
        for t in site.tournaments.values():
            t.pause()
            t.start()
        receiver.statuses = [400]  # to the first message of cart
        site.run()
        assert told(receiver) == [("paused", "home", 2), ("started", "home", 3)]
        site.run()
        assert told(receiver)[2:] == [("paused", "cart", 2), ("started", "cart", 3)]


def test_only_what_a_webhook_wants(url: str, receiver: Receiver) -> None:
    """What it does not want is skipped for good, also when it wants it later."""
    with Site(url, receiver, "cart", "home", kinds=["paused"], tournaments=["home"]) as site:
        site.run()
        for t in site.tournaments.values():
            t.pause()
            t.start()
        site.run()
        assert told(receiver) == [("paused", "home", 2)]
    with Site(url, receiver, "cart", "home") as site:
        site.run()
        assert told(receiver) == [("paused", "home", 2)]
        site["home"].pause()
        site["cart"].pause()
        site.run()
        assert told(receiver)[1:] == [("paused", "cart", 4), ("paused", "home", 4)]


def test_after_three_days_a_message_is_given_up(
    url: str, receiver: Receiver, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with Site(url, receiver, "home") as site:
        site.run()
        site["home"].pause()
        site["home"].start()
        receiver.statuses = [500] * 2
        began = now()
        for days in (2.99, 3.01):
            monkeypatch.setattr(deliveries, "now", lambda days=days: began + days * DAY)
            site.run()
        assert told(receiver) == [("started", "home", 3)]  # it was tried once, though it is as old
        records = [record for record in caplog.records if record.name == "rankduel.service"]
        assert [record.levelno for record in records] == [logging.WARNING, logging.WARNING, logging.ERROR]
        given_up = vars(caplog.records[-1])
        assert given_up["msg"] == "a webhook message is given up"
        assert (given_up["webhook"], given_up["kind"], given_up["tournament"]) == ("ops", "paused", "home")
        assert given_up["error"] == "status 500"
        status = site.delivery.status
        assert (status.given_up, status.failed, status.delivered, status.pending) == (1, 2, 1, 0)


def test_a_retry_waits(receiver: Receiver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    time = itertools.count(0.0, 0.1)
    monkeypatch.setattr(deliveries, "monotonic", lambda: next(time))
    monkeypatch.setattr(deliveries, "retry_seconds", lambda failures: 10.0 * failures)
    with Site(f"sqlite:///{tmp_path}/duels.db", receiver, "home") as site:
        site.run()
        site["home"].pause()
        receiver.statuses = [500, 429]
        site.run()
        sent = [next(time)]
        receiver.headers = {"Retry-After": "50"}
        while len(receiver.requests) < 3:
            before = len(receiver.requests)
            site.run()
            if len(receiver.requests) > before:
                sent.append(next(time))
        waits = [later - earlier for earlier, later in itertools.pairwise(sent)]
        assert waits == [pytest.approx(10, abs=2), pytest.approx(50, abs=2)]  # the second as the receiver asks for


def test_retries_are_spread_from_a_second_to_an_hour() -> None:
    for failures, longest in ((1, 2), (2, 4), (11, 2048), (12, 3600), (10_000, 3600)):
        seconds = {retry_seconds(failures) for _ in range(20)}
        assert len(seconds) > 1
        assert all(longest / 2 <= each <= longest for each in seconds)


def test_a_tournament_that_is_created_again(tmp_path: Path, receiver: Receiver) -> None:
    """The cursor of a deleted tournament does not swallow the events of the next one with its name."""
    url = f"sqlite:///{tmp_path}/duels.db"
    with Site(url, receiver, "home") as site:
        site.run()
        for _ in range(3):
            site["home"].pause()
            site["home"].start()
        site.run()
        ids = {request.id for request in receiver.requests}
    with closing(sqlite3.connect(tmp_path / "duels.db")) as file, file:
        for table in ("journal", "snapshots", "duels", "counters"):
            file.execute(f"DELETE FROM {table}")
        file.execute("DELETE FROM tournaments")
    with Site(url, receiver, "home") as site:
        site["home"].pause()
        site.run()
        assert told(receiver)[6:] == [("paused", "home", 2)]
        assert receiver.requests[6].id not in ids


def test_many_changes(tmp_path: Path, receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    """More changes than are read at once, among them a decision."""
    monkeypatch.setattr("rankduel.service.webhooks.messages._MAX_EVENTS", 3)
    with Site(f"sqlite:///{tmp_path}/duels.db", receiver, "home", kinds=["paused", "decided"]) as site:
        site.run()
        home = site["home"]
        for number in range(5):
            home.configure(share=number / 10)
        home.pause()
        home.start()
        play(home, "abc")
        home.configure(share=1.0)
        home.pause()
        for _ in range(6):
            site.run()
        assert receiver.kinds == ["paused", "decided", "paused"]
        assert site.delivery._queues["home"].number == home.number


def test_health_is_sent_until_it_is_accepted(url: str, receiver: Receiver) -> None:
    with Site(url, receiver, "home") as site:
        light = Message("health", "home", None, 0.0, "The health light is red: Failure.", more={"health": "red"})
        site.delivery.report_health(light)
        site.run()
        assert receiver.requests == []  # this process has not led yet, so another one may report it
        receiver.statuses = [500, 500]
        site.delivery.report_health(light._replace(time=now()))
        for _ in range(3):
            site.run()
        assert [request.status for request in receiver.requests] == [500, 500, 200]
        assert len({request.id for request in receiver.requests}) == 1
        assert receiver.accepted[0]["data"]["health"] == "red"
        assert (site.delivery.status.pending, site.delivery.status.delivered) == (0, 1)
        site.delivery.report_health(light._replace(time=now()))
        site.run()
        assert receiver.requests[3].id != receiver.requests[2].id
        receiver.statuses = [500]
        site.delivery.report_health(light._replace(time=now()))
        site.run()
        site.delivery.report_health(light._replace(time=now(), more={"health": "green"}))
        site.run()
        site.run()
        assert receiver.accepted[-1]["data"]["health"] == "green"  # a light that is no longer true is not sent
        assert len(receiver.requests) == 6


@pytest.fixture
def two(postgres: Server, receiver: Receiver) -> Iterator[tuple[Site, Site]]:
    """Two sites on one database. In one process, so the second one has a connection of its own for the leader."""
    url = postgres.empty()
    with Site(url, receiver, "home") as first, closing(storage_at(url)) as storage:
        second = Site.__new__(Site)
        second.tournaments = first.tournaments
        hook = first.delivery.hook
        second.delivery = Delivery(hook, storage, lambda: second.tournaments)
        second.run = second.delivery.run_due
        yield first, second


@pytest.mark.slow
def test_one_of_two_processes_delivers(two: tuple[Site, Site], receiver: Receiver) -> None:
    first, second = two
    first.run()
    second.run()
    home = first["home"]
    home.pause()
    second.run()
    assert receiver.requests == []
    first.run()
    second.run()
    assert receiver.kinds == ["paused"]
    home.start()
    first.delivery._storage.resign("\nwebhook ops")
    first.delivery._storage.leads("home")  # which releases it
    second.run()
    assert receiver.kinds == ["paused", "started"]
    first.run()  # it does not lead any more
    home.pause()
    second.run()
    first.run()
    assert receiver.kinds == ["paused", "started", "paused"]
