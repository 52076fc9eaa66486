"""Page views: the clicks on one page are told together, once, even if the application forgets to close the view."""

import json
import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Hashable, Iterator
from pathlib import Path
from typing import Any

import pytest

import rankduel as rd
from rankduel.interleaving import Interleaved, TeamDraftInterleaving
from rankduel.live import Clicks, LiveDuel, PageViews, Receipt

PAGE = TeamDraftInterleaving().interleave(["a", "b", "c"], ["c", "d"], k=4, seed=1)


class Told(list[tuple[Any, list[Hashable]]]):
    """Remembers what it is told."""

    def __call__(self, told: list[tuple[LiveDuel | str, Clicks]], /) -> list[Receipt]:
        self += [(duel, list(clicks.clicks)) for duel, clicks in told]
        return []


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture
def t(tmp_path: Path) -> Iterator[rd.Tournament]:
    with rd.Tournament.create("search", storage=f"sqlite:///{tmp_path}/duels.db", rankers=["x", "y"], seed=1) as t:
        yield t


def until(happened: Callable[[], bool]) -> None:
    due = time.monotonic() + 30
    while not happened():
        assert time.monotonic() < due
        time.sleep(0.002)


def test_all_clicks_are_one_outcome(t: rd.Tournament) -> None:
    """Two clicks for one side and one for the other: with a tell for each click, the first would decide alone."""
    duel = t.ask("q-1")
    page = duel.interleave(["a", "b", "c", "d"], ["e", "f", "g", "h"], k=6)
    assert page.credit_data is not None
    teams = dict(zip(page.documents, page.credit_data, strict=True))
    firsts = [document for document, team in teams.items() if team == "first"]
    seconds = [document for document, team in teams.items() if team == "second"]
    with PageViews(t.tell_many) as views:
        for document in (firsts[0], seconds[0], seconds[1]):
            assert views.open(duel).click(document)
    (row,) = t.duels()
    assert row.outcome == rd.Outcome.SECOND.value
    health = t.health()
    assert (t.counts.resolved, health.conflicts, health.told_again) == (1, 0, 0)


def test_a_page_without_clicks_is_told_too(t: rd.Tournament) -> None:
    duel = t.ask("q-1")
    duel.interleave(["a", "b"], ["c", "d"], k=2)
    PageViews(t.tell_many).open(duel).close()
    assert t.counts.no_signal == 1


def test_a_duel_has_one_view_by_object_id_and_ticket(told: Told, t: rd.Tournament) -> None:
    views = PageViews(told)
    duel = t.ask("q-1")
    duel.interleave(["a", "b"], ["c", "d"], k=2)
    view = views.open(duel)
    assert duel.id is not None
    assert duel.ticket is not None
    assert views.open(duel.id) is views.open(duel.ticket) is views.open(t.ask("q-1")) is view
    assert len(views) == 1
    view.close()
    assert (len(views), len(told), views._by_name, views._bytes) == (0, 1, {}, 0)


def test_what_counts_as_a_click(told: Told) -> None:
    page = Interleaved("team_draft", (7, "b"), "teams", ("first", "second"))
    view = PageViews(told).open("1-1", page)
    assert [view.click(document) for document in ("7", 7, "b", "c", None)] == [True, True, True, False, False]
    assert view.clicks == [7, "b"]
    assert view.is_open
    view.close()
    view.close()
    assert not view.click("b")
    assert not view.is_open
    assert told == [("1-1", [7, "b"])]


def test_a_tell_that_does_not_count_is_logged(t: rd.Tournament, caplog: pytest.LogCaptureFixture) -> None:
    duel = t.ask("q-1")
    duel.interleave(["a", "b"], ["c", "d"], k=2)
    t.tell(duel, rd.Outcome.TIE)
    with PageViews(t.tell_many) as views:
        assert duel.shown is not None
        views.open(duel).click(duel.shown.documents[0])
        views.open("9-99", PAGE)
    assert t.health().conflicts == 1
    assert views._problems == {"not-told": 2}
    (record,) = caplog.records
    assert record.getMessage() == "page views: not told (1 so far); the receipt is conflict"


def test_many_views_that_are_due_are_few_tells() -> None:
    """A tell in this process waits for the disk: a batch waits once."""
    batches: list[int] = []

    def tell(told: list[tuple[LiveDuel | str, Clicks]], /) -> list[Receipt]:
        batches.append(len(told))
        return []

    with PageViews(tell) as views:
        for number in range(1200):
            views.open(f"1-{number}", PAGE)
    assert batches == [500, 500, 200]


def test_each_duel_is_told_once(told: Told, caplog: pytest.LogCaptureFixture) -> None:
    """A duel that was told gets no view again; neither does one without a page. Both are logged, and raise nothing."""
    views = PageViews(told)
    views.open("1-1", PAGE).close()
    late = views.open("1-1", PAGE)
    assert not late.click("a")
    late.close()
    assert not views.open("1-2").click("a")
    assert told == [("1-1", [])]
    (record,) = caplog.records
    assert record.getMessage() == "page views: no open view (1 so far); its duel was told before"
    assert views._problems == {"no-view": 2}


def test_what_is_known_to_be_told_is_bounded(told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rankduel.live.page_views._MAX_TOLD", 10)
    views = PageViews(told)
    for number in range(100):
        views.open(f"1-{number}", PAGE).close()
        assert len(views._told) <= 10
    assert not views.open("1-99", PAGE).is_open
    assert views.open("1-0", PAGE).is_open


def test_no_duel_no_tell(told: Told, t: rd.Tournament) -> None:
    t.pause()
    views = PageViews(told)
    duel = t.ask("q-1")
    duel.interleave(["a"], ["a"])
    with views.open(duel) as view:
        assert not view.click("a")
    assert (told, len(views)) == ([], 0)


def test_a_view_is_told_after_its_timeout(told: Told) -> None:
    views = PageViews(told, timeout=0.05)
    views.open("1-1", PAGE).click("c")
    until(lambda: bool(told))
    assert told == [("1-1", ["c"])]
    until(lambda: views._thread is None)  # it ends with the last view,
    views.open("1-2", PAGE)  # and starts again with the next
    until(lambda: len(told) == 2)


def test_a_click_prolongs_a_view(told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("rankduel.live.page_views.monotonic", lambda: now[0])
    views = PageViews(told, timeout=600)
    for name in ("1-1", "1-2"):
        views.open(name, PAGE)
    now[0] += 599
    views.open("1-1").click("a")
    now[0] += 2
    with views._changed:
        views._changed.notify_all()
    until(lambda: bool(told))
    assert [duel for duel, _ in told] == ["1-2"]
    views.close()
    assert told[1:] == [("1-1", ["a"])]


def test_views_are_bounded_in_number(told: Told, caplog: pytest.LogCaptureFixture) -> None:
    """The view that is idle longest is told early, and the log says so, once."""
    views = PageViews(told, max_views=3)
    opened = [views.open(f"1-{number}", PAGE) for number in range(3)]
    opened[0].click("a")
    for number in range(3, 6):
        views.open(f"1-{number}", PAGE)
    assert [duel for duel, _ in told] == ["1-1", "1-2", "1-0"]
    assert [view.is_open for view in opened] == [False] * 3
    assert len(views) == 3
    (record,) = caplog.records
    assert "told early because too many are open" in record.getMessage()


def test_views_are_bounded_in_bytes(told: Told) -> None:
    size = len(json.dumps(PAGE.to_dict()))
    views = PageViews(told, max_bytes=3 * size)
    for number in range(10):
        views.open(f"1-{number}", PAGE)
        assert views._bytes <= 3 * size
    assert (len(views), len(told)) == (3, 7)


def test_a_bad_view_is_logged_and_costs_no_other(caplog: pytest.LogCaptureFixture) -> None:
    names: list[object] = []

    def tell(told: list[tuple[LiveDuel | str, Clicks]], /) -> list[Receipt]:
        if "1-7" in dict(told):
            raise ValueError("the page is invalid")
        names.extend(dict(told))
        return []

    views = PageViews(tell)
    for number in range(10):
        views.open(f"1-{number}", PAGE)
    views.close()
    assert len(names) == 9
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert record.getMessage() == "page views: not told (1 so far); the page is invalid"


def test_a_storage_that_fails_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    batches = []

    def tell(told: list[tuple[LiveDuel | str, Clicks]], /) -> list[Receipt]:
        batches.append(len(told))
        raise rd.StorageError("the disk is full")

    views = PageViews(tell)
    for number in range(10):
        views.open(f"1-{number}", PAGE)
    with pytest.raises(rd.StorageError, match="the disk is full"):  # somebody is there to see it
        views.open("1-0").close()
    views.close()
    assert batches == [1, 9]
    assert [record.getMessage() for record in caplog.records] == ["page views: not told (9 so far); the disk is full"]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda views: views.open("1-1", ["a"]), TypeError, "a page must be what duel.interleave"),
        (lambda views: views.open(7, PAGE), TypeError, "duel must be what ask.. returned, its id or its ticket, got 7"),
        (lambda views: PageViews(Told(), timeout=-1), ValueError, "timeout must be a number of at least 0"),
        (lambda views: PageViews(Told(), max_views=0), ValueError, "max_views must be a whole number of at least 1"),
        (lambda views: PageViews(Told(), max_bytes=0), ValueError, "max_bytes must be a whole number of at least 1"),
    ],
)
def test_wrong_arguments(told: Told, call: Callable[[PageViews], object], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call(PageViews(told))


def test_many_threads_tell_each_duel_once(told: Told) -> None:
    """Opens, clicks, closes, timeouts and the bound at once: no view is told twice or lost, no click after its tell."""
    views = PageViews(told, timeout=0.01, max_views=20)
    counted: dict[str, int] = {}

    def search(worker: int) -> None:
        for number in range(150):
            name = f"{worker % 4}-{number}"  # two threads share each duel
            view = views.open(name, PAGE)
            view.click("a")
            view.click("c")
            if number % 3 == 0:
                view.close()

    threads = [threading.Thread(target=search, args=(worker,)) for worker in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    views.close()
    assert (len(views), views._by_name, views._bytes) == (0, {}, 0)
    for duel, clicks in told:
        counted[duel] = counted.get(duel, 0) + 1
        assert set(clicks) <= {"a", "c"}
    assert set(counted.values()) == {1}
    assert len(counted) == 600


def test_the_end_of_a_program_tells(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/duels.db"
    code = f"""
import rankduel as rd
t = rd.Tournament.create("search", storage={url!r}, rankers=["x", "y"], seed=1)
views = rd.live.PageViews(t.tell_many)
duel = t.ask("q")
page = duel.interleave(["a"], ["b"], k=2)
views.open(duel).click(page.documents[0])
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
    with rd.Tournament.open("search", storage=url) as t:
        assert t.counts.resolved == 1


def test_a_fork_leaves_the_views_to_the_parent(told: Told) -> None:
    views = PageViews(told)
    view = views.open("1-1", PAGE)
    child = os.fork()
    if child == 0:
        ok = len(views) == 0 and not view.is_open
        views.close()
        os._exit(0 if ok and not told else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    view.close()
    assert told == [("1-1", [])]
