"""The list of 500 tournaments, finding a duel, and the phone: in a real browser."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from dashboard.browsers import Window, window
from dashboard.tournaments import names, play, show
from rankduel.live import LocalTournament
from service.servers import Client, Server, at, serving

PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}
N = 500


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with 500 tournaments: every tenth is paused, and the last one has the most duels."""
    with serving(f"sqlite:///{tmp_path_factory.mktemp('list')}/duels.db") as server, server.client as client:
        for number in range(N):
            name = name_of(number)
            assert client.post("/v1/tournaments", {"name": name, "rankers": names(5)}).status == 201
            if number % 10 == 0:
                client.post(at(name, ":pause"))
        told(client, name_of(N - 1), 20)
        yield server


def name_of(number: int) -> str:
    return f"{('home', 'shop')[number % 2]}-search-{number:03d}"


def told(client: Client, name: str, n: int) -> None:
    duels = client.post(at(name, "/ask"), {"n": n}).body["duels"]
    client.post(at(name, "/tell"), [{"duel": duel["duel"], "outcome": "tie"} for duel in duels])


@pytest.fixture
def visitor(browser: Browser, server: Server) -> Iterator[Window]:
    with window(browser, server.port) as visitor:
        visitor.open("/")
        yield visitor


def rows(page: Page) -> list[str]:
    return page.locator("tbody th a").all_inner_texts()


def test_the_list_of_500_tournaments_is_short(visitor: Window) -> None:
    page = visitor.page
    expect(page.locator("#found")).to_have_text("Tournaments 1 to 25 of 500")
    assert rows(page) == [name_of(number) for number in range(0, 50, 2)]
    assert page.evaluate("document.body.scrollHeight") < 3000  # it was 88,895
    assert visitor.violations() == []
    page.click("nav >> text=Next")
    expect(page.locator("#found")).to_have_text("Tournaments 26 to 50 of 500")
    assert page.url.endswith("/?page=2")
    assert page.evaluate("scrollY") == 0
    visitor.open("/?page=20")
    assert rows(page) == [name_of(number) for number in range(N - 49, N, 2)]
    assert page.locator("nav >> text=Next").count() == 0
    visitor.open("/?page=99999999&sort=nonsense&status=nonsense")
    expect(page.locator("#found")).to_have_text("Tournaments 476 to 500 of 500")


def test_a_search_a_filter_and_an_order_are_in_the_address(visitor: Window) -> None:
    page, found = visitor.page, visitor.page.locator("#found")
    page.focus("#search")
    page.keyboard.type("SHOP-SEARCH-49", delay=50)
    expect(found).to_have_text("5 tournaments")
    assert rows(page) == [name_of(number) for number in range(491, 500, 2)]
    assert page.evaluate("document.activeElement.id") == "search"
    page.select_option("#sort", "-duels")
    expect(page.locator("tbody th a").first).to_have_text(name_of(N - 1))
    address = page.url
    page.click(f"text={name_of(N - 1)}")
    visitor.wait("Leading rankers")
    page.go_back()
    expect(found).to_have_text("5 tournaments")
    assert page.url == address
    assert (page.input_value("#search"), page.input_value("#sort")) == ("SHOP-SEARCH-49", "-duels")
    page.go_back()
    expect(page.locator("#sort")).to_have_value("name")
    page.go_back()
    expect(found).to_have_text("Tournaments 1 to 25 of 500")
    assert page.input_value("#search") == ""
    page.select_option("#status", "paused")
    expect(found).to_have_text("Tournaments 1 to 25 of 50")
    assert set(page.locator("tbody .status").all_inner_texts()) == {"Paused"}
    page.fill("#search", "nowhere")
    visitor.wait("No tournament matches “nowhere”.")
    page.reload()
    visitor.wait("No tournament matches “nowhere”.")
    assert (page.input_value("#search"), page.input_value("#status")) == ("nowhere", "paused")


def test_what_the_user_types_stays_while_the_list_is_live(visitor: Window, server: Server) -> None:
    page = visitor.page
    page.focus("#search")
    with server.client as client:
        for letter in "shop-search-001":
            page.keyboard.type(letter)
            told(client, name_of(1), 1)
            page.wait_for_timeout(120)
    expect(page.locator("#found")).to_have_text("1 tournament")
    assert page.input_value("#search") == "shop-search-001"
    assert page.evaluate("document.activeElement.id") == "search"
    page.go_back()  # one step for the whole word
    expect(page.locator("#found")).to_have_text("Tournaments 1 to 25 of 500")


def test_a_duel_is_found_by_query_and_by_its_own_id(browser: Browser, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/duels.db"
    with LocalTournament.create("home/1", rankers=["a", "b"], storage=url, seed=1) as t:
        show(t, "q 1/ä", told=True)
        show(t, "1-2", told=True)  # a query id that looks like the id of a duel
        show(t, "1-77", told=True)
    with serving(url) as server, window(browser, server.port) as visitor:
        visitor.open("/t/home%2F1/duels")
        page = visitor.page
        page.fill("#find", " q 1/ä ")
        page.keyboard.press("Enter")
        expect(page.locator(".inspector")).to_have_attribute("aria-label", "Duel 1-1")
        assert "q 1/ä" in page.inner_text(".inspector")
        assert page.url.endswith("/t/home%2F1/duels?find=q+1%2F%C3%A4")
        assert page.locator("tr.chosen a").inner_text() == "1-1"
        page.reload()
        expect(page.locator(".inspector")).to_have_attribute("aria-label", "Duel 1-1")
        for text, duel in (("1-3", "1-3"), ("1-2", "1-2"), ("1-77", "1-3")):
            page.fill("#find", text)
            page.click("button:text-is('Find')")
            expect(page.locator(".inspector")).to_have_attribute("aria-label", f"Duel {duel}")
        page.fill("#find", "q-9")
        page.click("button:text-is('Find')")
        visitor.wait("No duel for “q-9”.")
        assert page.locator(".inspector").count() == 0
        assert visitor.violations() == []
        page.go_back()
        expect(page.locator(".inspector")).to_have_attribute("aria-label", "Duel 1-3")
        expect(page.locator("#find")).to_have_value("1-77")


def test_a_phone_shows_names_and_no_hints_about_keys(browser: Browser, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/duels.db"
    rankers = ["ltr-2-click-0.3", "ltr-2-click-0.5", "bm25-flat"]
    with LocalTournament.create("home-search-germany", rankers=rankers, storage=url, seed=1) as t:
        play(t, 500, [1.0, 0.9, 0.0])
    with serving(url) as server, window(browser, server.port, **PHONE) as visitor:
        page = visitor.page
        for path in ("", "/duels", "/leaderboard", "/timeline", "/preferences"):
            visitor.open(f"/t/home-search-germany{path}")
            name = page.locator("#bar .crumb a")
            expect(name).to_have_text("home-search-germany")
            assert whole(page, "#bar .crumb a"), path
            assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, path
            assert "arrow keys" not in page.inner_text("main"), path
            if path not in ("/timeline", "/preferences"):
                assert whole(page, "main .name"), path
        assert "Tap the heat map" in page.inner_text("main")
    with serving(url) as server, window(browser, server.port) as visitor:
        visitor.open("/t/home-search-germany/timeline")
        assert "arrow keys" in visitor.page.inner_text("main")


def whole(page: Page, selector: str) -> bool:
    """Whether all elements show their whole text, and there are some."""
    sizes = page.eval_on_selector_all(
        selector, "all => all.map((one) => [one.clientWidth > 0, one.scrollWidth - one.clientWidth])"
    )
    return bool(sizes) and all(visible and over <= 0 for visible, over in sizes)
