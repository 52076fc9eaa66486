"""Operators create, change, roll out, archive and delete tournaments: in a real browser."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from dashboard.browsers import Window, window
from dashboard.tournaments import keys, play
from rankduel.live import LocalTournament
from service.servers import Client, Server, at, serving

RANKERS = ["bm25-flat", "ltr-2", "ltr-3", "ltr-4"]
UTILITIES = [2.0, 0.2, 0.1, 0.0]
NewWindow = Callable[..., AbstractContextManager[Window]]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A storage with a tournament in each status. `decided` has a share of 5 %."""
    url = f"sqlite:///{tmp_path_factory.mktemp('controls')}/duels.db"
    for name in ("decided", "another", "rolled out", "running", "rankers", "settings", "stopped", "archived"):
        with LocalTournament.create(name, rankers=RANKERS, storage=url, baseline="ltr-2", share=1.0, seed=1) as t:
            decided = name in ("decided", "another", "rolled out")
            play(t, 2_000 if decided else 500, UTILITIES if decided else [0.1, 0.0, 0.0, 0.0])
            assert t.status == ("decided" if decided else "running")
            if name == "decided":
                t.configure(share=0.05)
            if name == "rolled out":
                t.roll_out(0.5)
            if name in ("stopped", "archived"):
                t.stop()
            if name == "archived":
                t.archive()
    LocalTournament.create("draft", rankers=RANKERS, storage=url, draft=True).close()
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
def client(server: Server, key: dict[str, str]) -> Iterator[Client]:
    with server.client.with_key(key["admin"]) as client:
        yield client


@pytest.fixture
def opened(browser: Browser, server: Server) -> NewWindow:
    return partial(window, browser, server.port)


@pytest.fixture
def operator(opened: NewWindow, key: dict[str, str]) -> Iterator[Window]:
    with opened() as visitor:
        visitor.open("/")
        visitor.sign_in(key["admin"])
        visitor.wait("New tournament")
        yield visitor


def press(page: Page, text: str) -> None:
    page.click(f".controls button:text-is('{text}')")
    page.wait_for_selector("dialog[open]")


def confirm(page: Page) -> None:
    page.click("dialog button[type=submit]")
    page.wait_for_selector("dialog", state="detached")


def served(client: Client, name: str) -> dict[str, int]:
    """What 1,000 users see, by ranker. A duel counts as "duel"."""
    seen: dict[str, int] = {}
    asked = [{"query_id": f"{name} {number}", "client_id": f"user {number}"} for number in range(1_000)]
    for duel in client.post(at(name, "/ask"), {"queries": asked}).body["duels"]:
        shown = "duel" if duel["first"] != duel["second"] else duel["first"]
        seen[shown] = seen.get(shown, 0) + 1
    return seen


def test_a_rollout_in_steps_and_back(operator: Window, client: Client) -> None:
    page = operator.page
    operator.open("/t/decided")
    expect(page.locator("#bar .status")).to_have_text("Decided")
    see = page.locator(".now")
    expect(see).to_contain_text("5\u00a0% of users see the winner bm25-flat, and all others see the baseline ltr-2.")
    assert 20 < served(client, "decided")["bm25-flat"] < 90  # of 1,000 at 5 %: false alarm below 1e-6

    press(page, "Roll out")
    effect = page.locator("dialog .effect")
    expect(page.locator("dialog input[value='5']")).to_be_checked()
    page.check("dialog input[value='100']")
    expect(effect).to_contain_text("All users (now 5\u00a0%) will see the winner bm25-flat")
    page.check("dialog input[value='own']")
    page.fill("dialog #own", "200")
    page.click("dialog button[type=submit]")
    operator.wait("Enter a number above 0 and at most 100.")
    assert page.evaluate("document.activeElement.id") == "own"
    assert operator.violations() == []
    page.fill("dialog #own", "2,5")
    expect(effect).to_contain_text("2.5\u00a0% of users (now 5\u00a0%) will see the winner bm25-flat")
    page.check("dialog input[value='50']")
    expect(effect).to_contain_text("50\u00a0% of users (now 5\u00a0%) will see the winner bm25-flat, and")
    page.fill("#reason", "half of them")
    confirm(page)
    expect(page.locator("#bar .status")).to_have_text("Rolled out")
    expect(see).to_contain_text("50\u00a0% of users see the winner bm25-flat")
    assert 400 < served(client, "decided")["bm25-flat"] < 600

    press(page, "Change the rollout")
    expect(page.locator("dialog input[value='100']")).to_be_checked()  # the next step
    confirm(page)
    expect(see).to_contain_text("All users see the winner bm25-flat.")
    assert served(client, "decided") == {"bm25-flat": 1_000}

    press(page, "Roll back")
    expect(effect).to_contain_text("All users will see the baseline ltr-2")
    page.fill("#reason", "complaints")
    confirm(page)
    expect(page.locator("#bar .status")).to_have_text("Decided")
    assert served(client, "decided") == {"ltr-2": 1_000}
    page.click("nav >> text=Health")
    operator.wait("rolled out: bm25-flat, to 50\u00a0% of all traffic")
    audit = page.inner_text("main")
    assert "half of them" in audit
    assert "rolled back" in audit
    assert "admin's" in audit


def test_stop_says_that_users_will_see_the_baseline(operator: Window, client: Client) -> None:
    page = operator.page
    operator.open("/t/another")
    press(page, "Stop")
    expect(page.locator("dialog .effect")).to_contain_text(
        "All users will see the baseline ltr-2, although bm25-flat won."
    )
    confirm(page)
    expect(page.locator("#bar .status")).to_have_text("Stopped")
    press(page, "Archive")
    confirm(page)
    expect(page.locator("#bar .status")).to_have_text("Archived")
    operator.open("/")
    assert page.locator("text=another").count() == 0
    page.click("text=/Show \\d+ archived tournaments?/")
    operator.wait("another")
    page.click("text=another")
    press(page, "Delete")
    page.fill("#confirm", "Another")
    page.click("dialog button[type=submit]")
    operator.wait("This is not the name “another”.")
    assert page.evaluate("document.activeElement.id") == "confirm"
    assert client.get(at("another")).status == 200
    page.fill("#confirm", "another")
    confirm(page)
    page.wait_for_url("**/")
    assert client.get(at("another")).problem == "unknown-tournament"


def test_a_tournament_with_every_setting(  # noqa: PLR0915 - every setting, on purpose
    operator: Window, client: Client
) -> None:
    page = operator.page
    operator.open("/new")
    expect(page.locator("#delta")).to_have_value("0.01")
    page.fill("#name", "every setting")
    page.fill("#rankers", "a\nb\nc")
    page.select_option("#baseline", "b")
    page.fill("#rankers", "c\na\nb\nd")
    expect(page.locator("#baseline")).to_have_value("b")
    page.select_option("#baseline", label="external: not one of the rankers")
    page.fill("#external", "today's search")
    page.fill("#share", "12,5")
    page.select_option("#after_decision", "compare")
    page.check("#draft")
    page.click("text=Advanced settings")
    page.select_option("#bandit", "MergeDTS")
    assert page.locator("#delta").count() == 0
    page.fill("[id='MergeDTS.batch_size']", "4")
    page.fill("[id='MergeDTS.elimination']", "Certified(delta=0.05)")
    page.select_option("#interleaving", "probabilistic")
    page.fill("[id='probabilistic.tau']", "2")
    page.fill("#expires_after", "3")
    page.check("#shadow")
    page.fill("#daily_cap", "20")
    page.fill("#in_flight_cap", "5000")
    page.click("text=Add a guardrail")
    page.click("text=Add a guardrail")
    first, second = (page.locator(f"[aria-label='Guardrails {number}']") for number in (1, 2))
    first.locator("input >> nth=0").fill("error")
    first.locator("input >> nth=1").fill("2")
    second.locator("input >> nth=0").fill("empty page")
    second.locator("input >> nth=1").fill("3")
    second.locator("input >> nth=2").fill("10")
    second.locator("input >> nth=3").fill("50")
    first.locator("text=Remove").click()
    page.click("text=Add an action")
    page.locator("[aria-label='Attribution 2'] input >> nth=0").fill("purchase")
    page.locator("[aria-label='Attribution 2'] input >> nth=1").fill("5")
    page.fill("#window", "10")
    page.fill("#dwell", "8")
    page.select_option("#tie", "coin")
    page.select_option("#no_click", "half")
    page.fill("#seed", "7")
    assert operator.violations() == []
    page.click("text=Create tournament")
    expect(page.locator("#bar .status")).to_have_text("Draft")
    made = client.get(at("every setting")).body
    assert made["status"] == "draft"
    settings = made["settings"]
    expected: dict[str, Any] = {
        "baseline": "today's search",
        "external_baseline": True,
        "share": 0.125,
        "shadow": True,
        "after_decision": "compare",
        "daily_cap": 20,
        "in_flight_cap": 5000,
        "guardrails": [{"action": "empty page", "bound": 0.03, "window": 600.0, "minimum": 50}],
        "attribution": {
            "actions": {"click": 1.0, "purchase": 5.0},
            **{"window": 600.0, "dwell": 8.0, "tie": "coin", "no_click": "half", "version": 1},
        },
        "interleaving": "ProbabilisticInterleaving(tau=2.0)",
        "expires_after": 10_800.0,
    }
    assert {name: settings[name] for name in expected} == expected
    assert settings["bandit"].startswith("MergeDTS(")
    assert "batch_size=4" in settings["bandit"]
    assert "Certified(delta=0.05)" in settings["bandit"]
    page.click("nav >> text=Health")
    operator.wait("created, 4 rankers")
    assert "admin's" in page.inner_text("main")
    page.click("nav >> text=Overview")
    press(page, "Start")
    confirm(page)
    expect(page.locator("#bar .status")).to_have_text("Running")


def test_the_form_has_the_defaults_of_the_service(operator: Window, client: Client) -> None:
    page = operator.page
    operator.open("/new")
    page.fill("#name", "only defaults")
    page.fill("#rankers", "a\nb")
    page.click("text=Create tournament")
    expect(page.locator("#bar .crumb a")).to_have_text("only defaults")
    plain = client.post("/v1/tournaments", {"name": "by http", "rankers": ["a", "b"]}).body
    by_form = client.get(at("only defaults")).body
    assert by_form["settings"] == plain["settings"]
    assert by_form["status"] == plain["status"] == "running"


def test_errors_are_at_their_fields(operator: Window) -> None:
    page = operator.page
    operator.open("/new")
    page.click("text=Advanced settings")
    page.click("text=Add a guardrail")
    page.fill("#daily_cap", "2.5")
    page.fill("#share", "101")
    page.click("text=Advanced settings")
    page.click("text=Create tournament")
    wrong = {
        "name": "Enter a name.",
        "rankers": "Enter at least two rankers.",
        "share": "Enter a number from 0 to 100.",
        "daily_cap": "Enter a whole number of at least 0.",
    }
    for field, text in wrong.items():
        expect(page.locator(f"[id='{field}-wrong']")).to_have_text(text)
        assert page.get_attribute(f"#{field}", "aria-invalid") == "true"
    assert "Enter an action." in page.inner_text("[aria-label='Guardrails 1']") or not page.is_visible("#daily_cap")
    assert page.evaluate("document.activeElement.id") == "name"
    page.fill("#name", "x")
    page.fill("#rankers", "a\nb")
    page.fill("#share", "5")
    page.click("text=Create tournament")
    assert page.evaluate("document.activeElement.id") == "daily_cap"  # the fold has opened
    page.fill("#daily_cap", "")
    page.click("[aria-label='Remove Guardrails 1']")
    page.select_option("#bandit", "MergeDTS")
    page.fill("[id='MergeDTS.alpha']", "-1")
    page.click("text=Create tournament")
    expect(page.locator("[id='MergeDTS.alpha-wrong']")).to_have_text("alpha must be > 0, got -1")  # by the service
    page.fill("[id='MergeDTS.alpha']", "")
    page.fill("#window", "9999")
    page.click("text=Create tournament")
    operator.wait("the attribution window must be below expires_after")


def test_settings_of_a_running_tournament(operator: Window, client: Client) -> None:
    page = operator.page
    operator.open("/t/settings")
    press(page, "Settings")
    assert page.evaluate("document.activeElement.id") == "share"
    page.click("dialog button[type=submit]")
    operator.wait("Nothing is changed yet.")
    page.fill("#share", "30")
    expect(page.locator("dialog .effect")).to_contain_text("30\u00a0% of users (now 100\u00a0%) will see")
    page.select_option("#baseline", "ltr-3")
    expect(page.locator("dialog .effect")).to_contain_text("all others will see the baseline ltr-3")
    page.select_option("#after_decision", "baseline")
    page.click("text=Advanced settings")
    page.click("text=Add a guardrail")
    page.locator("[aria-label='Guardrails 1'] input >> nth=0").fill("error")
    page.locator("[aria-label='Guardrails 1'] input >> nth=1").fill("2")
    page.fill("#in_flight_cap", "900")
    assert operator.violations() == []
    page.fill("#reason", "fewer users")
    confirm(page)
    settings = client.get(at("settings")).body["settings"]
    assert (settings["share"], settings["baseline"], settings["after_decision"]) == (0.3, "ltr-3", "baseline")
    assert settings["guardrails"] == [{"action": "error", "bound": 0.02, "window": 3600.0, "minimum": 100}]
    assert settings["in_flight_cap"] == 900
    assert settings["attribution"] is None  # unchanged
    operator.wait("30\u00a0% of users see")
    page.click("nav >> text=Health")
    operator.wait("fewer users")


def test_rankers_come_pause_and_go(operator: Window, client: Client) -> None:
    page = operator.page
    operator.open("/t/rankers")
    press(page, "Rankers")
    page.fill("#names", "new-1\nnew-2")
    confirm(page)
    for action, state in (("pause_ranker", "paused"), ("start_ranker", "left"), ("retire", "retired")):
        press(page, "Rankers")
        page.select_option("#action", action)
        page.select_option("#ranker", "new-2")
        assert page.inner_text("dialog .effect")
        confirm(page)
        rows = {row["ranker"]: row["state"] for row in client.get(at("rankers", "/leaderboard")).body["standings"]}
        assert rows["new-2"] == state
    assert rows["new-1"] == "left"


@pytest.mark.parametrize("name", ["draft", "running", "decided", "rolled out", "stopped", "archived"])
def test_who_may_only_look_sees_the_status_and_no_controls(opened: NewWindow, key: dict[str, str], name: str) -> None:
    with opened() as reader:
        reader.open(f"/t/{name.replace(' ', '%20')}")
        reader.sign_in(key["read"])
        expect(reader.page.locator(".now")).to_contain_text("Now: ")
        expect(reader.page.locator(".now .status")).to_have_text(name.capitalize())
        assert reader.page.locator("main button, main input, main .controls").count() == 0


@pytest.mark.parametrize("size", [(1280, 900), (390, 844)])
def test_every_dialog_keeps_the_focus_and_closes_by_escape(
    opened: NewWindow, key: dict[str, str], size: tuple[int, int]
) -> None:
    with opened(viewport={"width": size[0], "height": size[1]}) as operator:
        operator.open("/t/rolled%20out")
        operator.sign_in(key["admin"])
        page = operator.page
        operator.wait("Leading rankers")
        for text in ("Change the rollout", "Roll back", "Pause", "Settings", "Stop", "Archive"):
            press(page, text)
            assert page.locator("dialog .effect").count() == 1
            for _ in range(12):
                page.keyboard.press("Tab")
                inside = page.evaluate(
                    "document.activeElement.closest('dialog') !== null || document.activeElement === document.body"
                )
                assert inside, text
            assert operator.violations() == [], text
            assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, text
            page.keyboard.press("Escape")
            page.wait_for_selector("dialog", state="detached")
            assert page.evaluate("document.activeElement.innerText") == text
        expect(page.locator("#bar .status")).to_have_text("Rolled out")


def test_a_dialog_shows_what_the_service_refuses(operator: Window, client: Client) -> None:
    page = operator.page
    operator.open("/t/running")
    press(page, "Pause")
    page.fill("#reason", "stays")
    client.post(at("running", ":pause"))
    page.click("dialog button[type=submit]")
    operator.wait("this is possible only while")
    assert page.input_value("#reason") == "stays"
    page.click("dialog button:text-is('Cancel')")
    expect(page.locator("#bar .status")).to_have_text("Paused")
    client.post(at("running", ":start"))
