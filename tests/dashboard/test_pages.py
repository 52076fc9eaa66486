"""The dashboard in a real browser: from sign-in to the decision, live updates, and its error messages."""

import re
import resource
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from dashboard.browsers import Window, window
from dashboard.tournaments import a_million, keys, names, show, some
from rankduel.live import LocalTournament, storage_at
from rankduel.live.admin.retention import prune
from service.servers import Client, Server, serving

PAGES = ("", "/timeline", "/leaderboard", "/preferences", "/batches", "/duels", "/health", "/decision")
NewWindow = Callable[..., AbstractContextManager[Window]]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    url = f"sqlite:///{tmp_path_factory.mktemp('dashboard')}/duels.db"
    some(url)
    return url


@pytest.fixture(scope="module")
def key(url: str) -> dict[str, str]:
    return keys(url)


@pytest.fixture(scope="module")
def server(url: str, key: dict[str, str]) -> Iterator[Server]:
    with serving(url) as server:
        yield server
        assert not [line for line in server.lines if "Traceback" in line]


@pytest.fixture
def opened(browser: Browser, server: Server) -> NewWindow:
    return partial(window, browser, server.port)


@pytest.fixture
def operator(opened: NewWindow, key: dict[str, str]) -> Iterator[Window]:
    """A window signed in with an operator's key."""
    with opened() as window:
        window.open("/")
        window.sign_in(key["admin"])
        window.wait("New tournament")
        yield window


def play(client: Client, name: str, best: str, n: int = 100) -> bool:
    """Play duels that the best ranker wins. Return whether there were any."""
    duels = client.post(f"/v1/tournaments/{name}/ask", {"n": n}).body["duels"]
    told = [
        {"ticket": duel["ticket"], "outcome": "second" if duel["second"] == best else "first"}
        for duel in duels
        if duel["serve"] == "duel"
    ]
    return bool(told) and client.post(f"/v1/tournaments/{name}/tell", told).status == 200


def test_a_tournament_from_its_creation_to_its_decision(  # noqa: PLR0915 - one long walk, on purpose
    operator: Window, server: Server, key: dict[str, str]
) -> None:
    page = operator.page
    page.click("text=New tournament")
    page.fill("#name", "home search/1")
    page.fill("#rankers", "\n".join(names(40)))
    page.select_option("#baseline", "ranker-3")
    page.select_option("#delta", "0.05")
    page.click("text=Create tournament")
    operator.wait("Get started")
    assert page.url.endswith("/t/home%20search%2F1")
    page.evaluate("window.marker = 'not loaded again'")

    with server.client.with_key(key["admin"]) as client:
        play(client, "home%20search%2F1", "ranker-5", 10)
        operator.wait("Leading rankers")
        left = page.locator(".figure:has-text('Rankers remaining') b")
        while left.inner_text() == "40":
            play(client, "home%20search%2F1", "ranker-5", 10)
            page.wait_for_timeout(200)
        assert page.evaluate("window.marker") == "not loaded again"

        page.click("button:text-is('Pause')")
        page.fill("#reason", "too much traffic")
        page.click("dialog button:has-text('Pause')")
        expect(page.locator("#bar .status")).to_have_text("Paused")
        assert client.get("/v1/tournaments/home%20search%2F1").body["status"] == "paused"
        page.click("button:text-is('Start')")
        page.click("dialog button:has-text('Cancel')")
        assert client.get("/v1/tournaments/home%20search%2F1").body["status"] == "paused"
        page.click("button:text-is('Start')")
        page.click("dialog button:has-text('Start')")
        expect(page.locator("#bar .status")).to_have_text("Running")
        page.click("button:text-is('Settings')")
        page.fill("#share", "40")
        page.click("dialog button:has-text('Change settings')")
        page.wait_for_selector("dialog", state="detached")
        operator.wait("40\u00a0% of users see pages that mix")
        assert client.get("/v1/tournaments/home%20search%2F1").body["settings"]["share"] == 0.4
        client.send("PATCH", "/v1/tournaments/home%20search%2F1", {"share": 1})

        page.click("nav >> text=Health")
        operator.wait("too much traffic")
        assert "admin's" in page.inner_text("main")
        page.click("nav >> text=Duels")
        page.click("tbody a >> nth=0")
        operator.wait("Why these two rankers met")
        page.click("nav >> text=Decision")
        operator.wait("Undecided")
        while play(client, "home%20search%2F1", "ranker-5"):
            pass
    expect(page.locator(".verdict")).to_have_text("ranker-5", timeout=20_000)
    with page.expect_download() as download:
        page.click("text=Markdown")
    text = Path(download.value.path()).read_text()
    assert text.startswith("# home search/1\n")
    assert "\nranker-5 is the best of 40 rankers, with at least 95 % confidence (" in text
    assert "| Winner | `ranker-5` |" in text
    page.click("nav >> text=Overview")
    expect(page.locator("#sentence")).to_contain_text(
        "ranker-5 is the best of 40 rankers, with at least 95\u00a0% confidence ("
    )
    expect(page.locator(".meaning")).to_contain_text("The confidence holds whenever you look, provided that")
    expect(page.locator(".figure:has-text('Confidence') b")).to_have_text("≥ 95\u00a0%")
    assert page.evaluate("window.marker") == "not loaded again"


def test_a_form_says_what_is_wrong(operator: Window) -> None:
    page = operator.page
    operator.open("/new")
    page.click("text=Create tournament")
    operator.wait("Enter a name.")
    assert page.evaluate("document.activeElement.id") == "name"
    page.fill("#name", "finished")
    page.fill("#rankers", "a\nb\na")
    page.click("text=Create tournament")
    operator.wait("“a” is listed twice.")
    page.fill("#rankers", "a\nb")
    page.click("text=Create tournament")
    operator.wait("A tournament with this name already exists")
    assert page.input_value("#rankers") == "a\nb"


def test_who_may_only_look_sees_no_controls(opened: NewWindow, key: dict[str, str]) -> None:
    with opened() as reader:
        reader.open("/t/running")
        reader.sign_in(key["read"])
        reader.wait("Leading rankers")
        assert reader.page.url.endswith("/t/running")
        assert "read-only" in reader.page.inner_text("#bar")
        assert reader.page.locator("main button").count() == 0
        assert reader.page.locator("main input").count() == 0
        reader.open("/new")
        reader.wait("Your key is read-only")
        reader.open("/")
        assert reader.page.locator("text=New tournament").count() == 0


def test_a_wrong_key_and_one_that_may_not_look(opened: NewWindow, key: dict[str, str]) -> None:
    with opened() as visitor:
        visitor.open("/")
        visitor.sign_in("rd_000000000000_wrong")
        visitor.wait("Unknown or revoked key")
        visitor.sign_in(key["ask"])
        visitor.wait("This key cannot view tournaments")
        assert visitor.page.evaluate("document.activeElement.id") == "key"
        visitor.sign_in(key["read"])
        visitor.wait("Tournaments")
        visitor.page.click("text=Sign out")
        visitor.wait("You are signed out")
        visitor.open("/t/running")
        assert "/sign-in" in visitor.page.url


def test_what_is_not_there(operator: Window) -> None:
    operator.open("/t/nobody/health")
    operator.wait("Unknown tournament “nobody”")
    operator.open("/t/running/duels/99-99")
    operator.wait("Unknown duel")
    operator.open("/nowhere")
    operator.wait("Page not found")
    operator.page.click("text=All tournaments")
    operator.wait("finished")


def test_a_session_that_ends_and_a_key_that_is_revoked(browser: Browser, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/duels.db"
    with serving(url) as server, server.client as client:
        client.post("/v1/tournaments", {"name": "t", "rankers": ["a", "b"]})
    made = keys(url)
    with serving(url, session=3, keys_every=0.2) as server, window(browser, server.port) as visitor:
        visitor.open("/t/t")
        visitor.sign_in(made["admin"])
        visitor.wait("Get started")
        visitor.page.wait_for_timeout(3500)
        visitor.page.click("nav >> text=Health")
        visitor.wait("Your session has ended")
        visitor.sign_in(made["admin"])
        visitor.wait("Duels by state")
        storage = storage_at(url, own=False)
        storage.revoke_key(made["admin"].split("_")[1], time.time())
        storage.close()
        visitor.wait("Your session has ended, or its key was revoked")
        visitor.sign_in(made["admin"])
        visitor.wait("Unknown or revoked key")


def test_a_server_that_goes_and_comes_back(browser: Browser, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/duels.db"
    server = Server(url)
    try:
        with server.client as client:
            client.post("/v1/tournaments", {"name": "t", "rankers": names(4)})
            play(client, "t", "ranker-1")
        with window(browser, server.port) as visitor:
            visitor.open("/t/t")
            visitor.wait("Leading rankers")
            visitor.page.evaluate("window.marker = 'not loaded again'")
            begun = time.monotonic()
            server.stop()
            assert time.monotonic() - begun < 5  # the open event stream does not delay it
            visitor.wait("The server does not answer")
            assert "Leading rankers" in visitor.page.inner_text("main")  # the last data stays
            server = Server(url, port=server.port)
            visitor.page.wait_for_selector("#banner", state="hidden")
            with server.client as client:
                while play(client, "t", "ranker-1"):
                    pass
            visitor.wait("ranker-1 is the best of 4 rankers, with at least 99")
            assert visitor.page.evaluate("window.marker") == "not loaded again"
    finally:
        if server.process.poll() is None:
            server.stop()


@pytest.mark.parametrize("look", ["light", "dark", "phone"])
def test_everybody_can_use_every_page(opened: NewWindow, key: dict[str, str], look: str) -> None:
    """axe-core checks names, roles and contrast. Nothing is wider than the screen."""
    size = {"width": 390, "height": 844} if look == "phone" else {"width": 1280, "height": 900}
    with opened(viewport=size, color_scheme="dark" if look == "dark" else "light") as window:
        window.open("/")
        assert window.violations() == []
        window.sign_in(key["admin"])
        window.wait("New tournament")
        places = ["/", "/new", "/t/empty", "/t/finished", "/t/paused/batches", "/t/running/duels/1-10002"]
        for path in (*places, *(f"/t/running{page}" for page in PAGES)):
            window.open(path)
            for summary in window.page.query_selector_all("summary") if look == "light" else ():
                summary.click()
            assert window.violations() == [], path
            assert window.page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, path
        window.open("/t/running")
        window.page.click("button:text-is('Stop')")
        assert window.violations() == []


def test_the_keyboard_is_enough(operator: Window) -> None:
    page = operator.page
    operator.open("/t/running/timeline")
    page.focus(".chart")
    page.keyboard.press("Home")
    first = page.inner_text("p.picked")
    page.keyboard.press("ArrowRight")
    assert re.match(
        r"ranker-\d+ was eliminated by ranker-\d+ at duel [\d,]+ \(evidence against it: 1\d\d\s%\)\.", first
    )
    assert page.inner_text("p.picked") != first
    operator.open("/t/running/preferences")
    page.focus("#heat")
    page.keyboard.press("ArrowRight")
    assert re.match("ranker-.*(against|have not met)", page.inner_text("#heat-cell"))
    operator.open("/t/running")
    page.focus("button:text-is('Stop')")
    page.keyboard.press("Enter")
    page.wait_for_selector("dialog[open]")
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached")
    expect(page.locator("#bar .status")).to_have_text("Running")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement !== document.body")


def test_a_duel_with_both_lists_its_page_and_clicks(operator: Window, server: Server, key: dict[str, str]) -> None:
    page = operator.page
    operator.open("/t/running/duels")
    page.click("tbody a >> nth=0")
    operator.wait("User actions")
    with server.client.with_key(key["read"]) as client:
        told = client.get("/v1/tournaments/running/duels/1-10002").body
    assert told["page"]["lists"] == [["d1", "d2", "d3", "d4"], ["d4", "d3", "d5", "d1"]]
    assert told["clicks"] == ["d3"]
    of = {side: page.locator(f".lists .{side} li") for side in ("of-first", "shown", "of-second")}
    names = {side: [text.split()[0] for text in lines.all_inner_texts()] for side, lines in of.items()}
    documents, (first, second) = told["page"]["documents"], told["page"]["lists"]
    assert names == {"of-first": first, "shown": documents, "of-second": second}
    teams = dict(zip(documents, told["page"]["teams"], strict=True))
    for lines in of.values():  # a document has the same colour in all lists
        for line in lines.all():
            document = line.locator(".document").inner_text()
            assert line.get_attribute("class") == (teams[document] or "both" if document in teams else "absent")
            assert line.locator(".clicked").count() == (document == "d3")
    text = page.inner_text(".inspector")
    assert re.search(r"After 10,000 outcomes, \d+ of 136 rankers were left", text)
    assert "How the algorithm chooses" in text
    assert page.locator(".then tbody tr").count() == 2
    operator.open("/t/running/duels/1-1")
    operator.wait("The application reported the outcome, but not the page.")
    operator.wait("They had not met before")


def test_a_duel_whose_page_was_removed(browser: Browser, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/duels.db"
    with LocalTournament.create("home", rankers=["a", "b"], storage=url, seed=1) as t:
        show(t, "q-1", told=True)
        t.ask("q-2", "somebody")
        t.erase_client("somebody", "asked for it", "anna")
    assert [state.done for state in prune(url, 1e-6)][-1] == 1
    with serving(url) as server, window(browser, server.port) as visitor:
        visitor.open("/t/home/duels/1-1")
        visitor.wait("The page was removed by retention, or because its client was erased.")
        visitor.wait("User actions were removed with the page.")
        assert "tie" in visitor.page.inner_text(".facts") or "won" in visitor.page.inner_text(".facts")
        visitor.open("/t/home/duels/1-2")
        visitor.wait("The page was removed by retention, or because its client was erased.")
        visitor.open("/t/home/health")
        visitor.wait("erased the data of a client: 1 duel")
        visitor.wait("asked for it")


def test_a_disk_that_is_full_until_it_is_not(browser: Browser, tmp_path: Path) -> None:
    """The page shows both without a reload, and everything that needs no disk."""
    url = f"sqlite:///{tmp_path}/duels.db"
    with serving(url) as server, server.client as client, window(browser, server.port) as visitor:
        client.post("/v1/tournaments", {"name": "t", "rankers": names(20)})
        play(client, "t", "ranker-1", 10)
        visitor.open("/t/t")
        visitor.wait("Leading rankers")
        no_room = (1, resource.RLIM_INFINITY)
        room = resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, no_room)
        assert not play(client, "t", "ranker-1", 10)
        visitor.wait("The tournament has failed, and users see the baseline")
        expect(visitor.page.locator("#bar .status")).to_have_text("Failing", timeout=20_000)
        visitor.page.click("nav >> text=Leaderboard")
        visitor.page.wait_for_selector("#rows th")
        visitor.page.click("nav >> text=Health")
        visitor.wait("Failure:")
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, room)
        expect(visitor.page.locator("#bar .status")).to_have_text("Running", timeout=20_000)
        assert play(client, "t", "ranker-1", 10)


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with tournaments of 2,000 and of 700 rankers."""
    url = f"sqlite:///{tmp_path_factory.mktemp('many')}/duels.db"
    with serving(url) as server, server.client as client:
        for name, n in (("two-thousand", 2000), ("seven-hundred", 700)):
            body = {"name": name, "rankers": names(n), "bandit": "Uniform", "seed": 1}
            assert client.post("/v1/tournaments", body).status == 201
            for _ in range(60):
                duels = client.post(f"/v1/tournaments/{name}/ask", {"n": 1000}).body["duels"]
                told = [{"ticket": duel["ticket"], "outcome": "first"} for duel in duels]
                assert client.post(f"/v1/tournaments/{name}/tell", told).status == 200
        yield server


def test_two_thousand_rankers_scroll_and_are_found(browser: Browser, many: Server) -> None:
    with window(browser, many.port) as visitor:
        visitor.open("/t/two-thousand/leaderboard")
        page = visitor.page
        page.wait_for_selector("#rows th")
        assert page.locator("#rows tr").count() < 80
        page.evaluate("document.getElementById('board').scrollTo(0, 1e9)")
        page.wait_for_selector("#rows tr[aria-rowindex='2001']")
        frames = page.evaluate(
            """() => new Promise((done) => {
                const board = document.getElementById("board"), times = []; let last = performance.now();
                const step = (now) => { times.push(now - last); last = now; board.scrollTop -= 400;
                    if (times.length < 60) requestAnimationFrame(step); else done(times.sort((a, b) => a - b)); };
                requestAnimationFrame(step);
            })"""
        )
        assert frames[30] < 200  # ms, median, on a machine with other load
        page.fill("#search", "ranker-1999")
        page.wait_for_selector("text=1 of 2,000 rankers")
        assert page.locator("#rows th").all_inner_texts() == ["ranker-1999"]
        page.fill("#search", "")
        page.click("button:has-text('Ranker')")
        assert page.locator("#rows th").first.inner_text() == "ranker-0"
        page.click("button:has-text('Ranker')")
        assert page.locator("#rows th").first.inner_text() == "ranker-999"


def test_a_heat_map_of_seven_hundred(browser: Browser, many: Server) -> None:
    with window(browser, many.port) as visitor:
        visitor.open("/t/seven-hundred/preferences")
        page = visitor.page
        colours = page.evaluate(
            """() => {
                const heat = document.getElementById("heat"), seen = new Set();
                const { data } = heat.getContext("2d").getImageData(0, 0, heat.width, heat.height);
                for (let k = 0; k < data.length; k += 4) seen.add(`${data[k]} ${data[k + 1]} ${data[k + 2]}`);
                return seen.size;
            }"""
        )
        assert colours > 5
        box = page.locator("#heat").bounding_box()
        assert box is not None
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 5)
        visitor.wait("against positions")
        page.mouse.click(box["x"] + 20, box["y"] + 5)
        visitor.wait("Show all 700")
        box = page.locator("#heat").bounding_box()
        assert box is not None
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 5)
        expect(page.locator("#heat-cell")).to_have_text(re.compile("^ranker-"))


def test_the_first_paint_of_a_large_tournament_takes_less_than_a_second_of_the_server(tmp_path: Path) -> None:
    """136 rankers and 10^6 duels: the page, its files and the requests of the overview, one after another."""
    url = f"sqlite:///{tmp_path}/duels.db"
    a_million(url)
    with serving(url) as server, server.client as client:
        assert client.get("/livez").status == 200
        begun = time.perf_counter()
        assert client.get("/t/large", Accept="text/html").status == 200
        for file in (
            "app.js",
            "style.css",
            "overview.js",
            "controls.js",
            "dialog.js",
            "fields.js",
            "settings.js",
            "chart.js",
            "dom.js",
            "api.js",
            "components.js",
            "format.js",
        ):
            assert client.get(f"/assets/{file}").status == 200
        client.get("/v1/session")
        seen = client.get("/v1/tournaments/large/overview").body
        assert len(client.get("/v1/tournaments/large/standings").body["rankers"]) == 136
        client.get("/v1/tournaments/large/timeline?limit=1000")
        took = time.perf_counter() - begun
        assert (seen["resolved"], seen["today"], seen["rankers"]) == (10**6, 10**6, 136)
        assert seen["rankers_left"] > 130
        assert took < 1, took


def test_a_session_is_a_cookie_that_scripts_and_other_sites_cannot_use(server: Server, key: dict[str, str]) -> None:
    with server.client as client:
        signed = client.send("POST", "/v1/session", headers={"Authorization": f"Bearer {key['admin']}"})
        cookie, _, attributes = signed.headers["set-cookie"].partition(";")
        assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= {part.strip() for part in attributes.split(";")}
        assert key["admin"] not in cookie
        assert "Secure" not in attributes
        proxied = {"Authorization": f"Bearer {key['admin']}", "X-Forwarded-Proto": "https"}
        assert client.send("POST", "/v1/session", headers=proxied).headers["set-cookie"].endswith("; Secure")
        mine: dict[str, Any] = {"Cookie": cookie}
        assert client.get("/v1/tournaments/running", **mine).status == 200
        pause = "/v1/tournaments/running:pause"
        assert client.send("POST", pause, headers=mine).problem == "cross-site"
        assert client.send("POST", pause, headers=mine | {"X-Rankduel-Token": "x"}).problem == "cross-site"
        token = {"X-Rankduel-Token": signed.body["token"]}
        assert client.send("POST", pause, headers=mine | token).status == 200
        assert client.send("POST", "/v1/tournaments/running:start", headers=mine | token).status == 200
        assert client.send("POST", pause, headers=token).problem == "no-key"
        for wrong in (
            cookie[:-1] + ("0" if cookie[-1] != "0" else "1"),
            "rankduel_session=",
            "rankduel_session=a.b.c.d",
        ):
            assert client.get("/v1/tournaments", Cookie=wrong).problem == "session-over"
        assert client.get("/v1/tournaments", Cookie="other=1").problem == "no-key"
        assert client.get("/v1/session").problem == "no-key"
        assert "Max-Age=0" in client.send("DELETE", "/v1/session").headers["set-cookie"]


def test_pages_load_nothing_inline_and_nothing_from_elsewhere(server: Server) -> None:
    with server.client as client:
        for path in ("/", "/t/x/health", "/assets/app.js", "/assets/style.css", "/assets/icon.svg"):
            answer = client.get(path)
            policy = answer.headers["content-security-policy"]
            assert answer.status == 200
            assert "default-src 'none'" in policy
            assert "unsafe" not in policy
            assert answer.headers["x-frame-options"] == "DENY"
            assert b"https://" not in answer.raw
            assert b"style=" not in answer.raw
        assert client.get("/assets/..%2ffiles.py").problem == "not-found"
        assert client.get("/nowhere", Accept="text/html").status == 404
        assert client.get("/nowhere").problem == "not-found"


def test_the_stream_of_changes(server: Server, key: dict[str, str]) -> None:
    with server.client.with_key(key["admin"]) as client:
        assert client.get("/v1/watch?tournament=nobody").problem == "unknown-tournament"
    with server.client as client:
        assert client.get("/v1/watch").problem == "no-key"
