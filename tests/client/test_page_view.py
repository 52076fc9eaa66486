"""`client.page_view`: all clicks on a page are one tell, through the outbox, also when the program forgets it."""

import gc
import json
import logging
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import rankduel as rd
from client.servers import Server, serving, well
from client.service import running
from rankduel.client import Client
from rankduel.interleaving import TeamDraftInterleaving

PAGE = TeamDraftInterleaving().interleave(["a", "b", "c"], ["c", "d"], k=4, seed=1)


@pytest.fixture
def service() -> Iterator[Server]:
    with serving(well) as server:
        yield server


def told(server: Server) -> list[Any]:
    return [item for line, body in server.requests if line.endswith("/tell") for item in json.loads(body)]


def until(happened: Callable[[], bool]) -> None:
    due = time.monotonic() + 30
    while not happened():
        assert time.monotonic() < due
        time.sleep(0.002)


def test_clicks_of_a_page_are_one_tell(service: Server) -> None:
    with Client(service.url, "search", deadline=5) as client:
        duel = client.ask("q-1")
        page = duel.interleave(["a", "b"], ["c", "d"], k=4)
        with client.page_view(duel) as view:
            assert view.click(page.documents[1])
            assert view.click(page.documents[0])
            assert client.page_view("signed").click(page.documents[3])  # a later request, with the ticket
        assert client.flush()
        (item,) = told(service)
        assert item["ticket"] == "signed"
        assert item["clicks"] == [page.documents[1], page.documents[0], page.documents[3]]
        assert (client.counters.queued, client.counters.problems) == (1, {})


def test_two_clicks_are_no_conflict(tmp_path: Path) -> None:
    """The real service, which takes the first of two tells: with page views, there is only one."""
    with running(f"sqlite:///{tmp_path}/duels.db") as url:
        t = rd.Tournament.create("search", storage=url, rankers=["x", "y"], seed=1)
        with Client(url, "search", deadline=5) as client:
            for number in range(20):
                duel = client.ask(f"q-{number}")
                page = duel.interleave(["a", "b", "c"], ["d", "e", "f"], k=4)
                view = client.page_view(duel)
                for document in page.documents:
                    view.click(document)
                if number % 2:
                    view.close()
        assert (client.counters.accepted, client.counters.conflict, client.counters.problems) == (20, 0, {})
        assert t.counts.resolved == 20
        assert t.health().outcomes["tie"] == 20
        t.close()


def test_closing_the_client_tells(service: Server) -> None:
    client = Client(service.url, "search")
    client.page_view("1-1", PAGE).click("a")
    client.close()
    assert [item["clicks"] for item in told(service)] == [["a"]]


def test_a_view_that_nobody_closes_is_told_after_its_timeout(service: Server) -> None:
    with Client(service.url, "search", view_timeout=0.05) as client:
        client.page_view("1-1", PAGE).click("a")
        until(lambda: len(told(service)) == 1)


def test_a_client_that_nobody_has_tells(service: Server) -> None:
    """The thread of its views holds no reference to it."""

    def threads() -> int:
        return sum(thread.name == "rankduel page views" for thread in threading.enumerate())

    before = threads()
    client = Client(service.url, "search")
    client.page_view("1-1", PAGE).click("a")
    del client
    gc.collect()
    until(lambda: [item["clicks"] for item in told(service)] == [["a"]])
    until(lambda: threads() == before)


def test_the_end_of_a_program_tells(service: Server) -> None:
    code = f"""
from rankduel.client import Client
from rankduel.interleaving import Interleaved
client = Client({service.url!r}, "search")
client.page_view("1-1", Interleaved("team_draft", ("a", "b"), "teams", ("first", "second"))).click("b")
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
    assert [item["clicks"] for item in told(service)] == [["b"]]


def test_the_baseline_has_nothing_to_tell(service: Server) -> None:
    with Client("http://127.0.0.1:9", "search", baseline="bm25") as client:
        duel = client.ask("q-1")
        duel.interleave(["a"], ["a"])
        with client.page_view(duel) as view:
            assert not view.click("a")
        assert client.counters.queued == 0


def test_what_cannot_be_sent_raises_at_once(service: Server) -> None:
    """Not in the background, where nobody sees it; and it takes no room."""
    with Client(service.url, "search") as client:
        large = TeamDraftInterleaving().interleave(["x" * 200_000], ["y" * 100_000], k=2, seed=1)
        with pytest.raises(ValueError, match="an item must have at most 262144 bytes"):
            client.page_view("1-1", large)
        unknown = TeamDraftInterleaving().interleave([frozenset("a")], [frozenset("b")], k=2, seed=1)
        with pytest.raises(TypeError, match="not JSON serializable"):
            client.page_view("1-1", unknown)
        assert len(client._views) == 0


def test_more_views_than_allowed_are_told_early_and_loudly(service: Server, caplog: pytest.LogCaptureFixture) -> None:
    with Client(service.url, "search") as client, caplog.at_level(logging.WARNING, logger="rankduel"):
        client._views.max_views = 10
        for number in range(50):
            client.page_view(f"1-{number}", PAGE)
        assert client.flush()
        assert len(told(service)) == 40
        assert client.counters.problems == {"told-early": 40}
        (record,) = caplog.records
        assert "view_timeout" in record.getMessage()
    assert len(told(service)) == 50


def test_a_closed_client_has_no_views(service: Server, caplog: pytest.LogCaptureFixture) -> None:
    client = Client(service.url, "search")
    client.close()
    view = client.page_view("1-1", PAGE)
    assert not view.click("a")
    assert client.counters.problems == {"no-view": 1}
    assert "No open page view: page views are closed." in caplog.text


def test_a_click_after_the_tell_raises_nothing(service: Server, caplog: pytest.LogCaptureFixture) -> None:
    """A user comes back after an hour: the request goes on, no second tell conflicts, and the log says it."""
    with Client(service.url, "search", deadline=5) as client:
        duel = client.ask("q-1")
        duel.interleave(["a", "b"], ["c", "d"], k=4)
        client.page_view(duel).close()
        assert not client.page_view("signed").click("a")
        assert not client.page_view(duel).click("a")
        assert not client.page_view("of-another-process").click("a")
        assert client.flush()
        assert len(told(service)) == 1
        assert client.counters.problems == {"no-view": 3}
    (record,) = caplog.records
    assert "No open page view: its duel was told before." in record.getMessage()
