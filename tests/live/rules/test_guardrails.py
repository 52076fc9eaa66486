import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from rankduel.live import Guardrail
from rankduel.live.rules.guardrails import _tail, crossed
from rankduel.live.rules.traffic_share import in_share

# A share of the traffic


@given(st.floats(0, 1), st.floats(0, 1), st.text(), st.text())
def test_who_is_in_at_a_share_is_in_at_a_larger_one(share: float, other: float, salt: str, client: str) -> None:
    smaller, larger = sorted([share, other])
    assert in_share(smaller, salt, client) <= in_share(larger, salt, client)
    assert in_share(1, salt, client)
    assert not in_share(0, salt, client)


@pytest.mark.parametrize("share", [0.001, 0.1, 0.5, 0.9])
def test_the_share_is_as_large_as_it_says(share: float) -> None:
    """50,000 clients: the number chosen is Binomial(50,000, share), within bounds that it leaves with 1e-7 a side.

    What is not uniform is caught: by one byte of the hash alone, a share of 0.001 takes 1/256 of the clients.
    """
    n = sum(in_share(share, "salt", f"client {number}") for number in range(50_000))
    assert binom.ppf(1e-7, 50_000, share) <= n <= binom.isf(1e-7, 50_000, share)


def test_another_salt_is_another_choice() -> None:
    """Of 50,000 clients in the half of one salt, the half of another takes half: a false alarm has 1e-7 a side."""
    both = sum(in_share(0.5, "one", f"{number}") and in_share(0.5, "two", f"{number}") for number in range(50_000))
    assert binom.ppf(1e-7, 50_000, 0.25) <= both <= binom.isf(1e-7, 50_000, 0.25)


def test_salt_and_client_are_not_mixed_up() -> None:
    answers = [in_share(0.5, "a" * left, "a" * (200 - left)) for left in range(200)]
    assert 50 < sum(answers) < 150


@pytest.mark.parametrize("share", [-0.1, 1.1, math.nan, "0.5", None, True])
def test_a_share_is_between_0_and_1(share: Any) -> None:
    with pytest.raises(ValueError, match="share must be"):
        in_share(share, "salt", "client")


# Guardrails


@pytest.mark.parametrize("pages", [1, 2, 17, 100, 5_000, 1_000_000])
@pytest.mark.parametrize("rate", [1e-5, 0.01, 0.3, 0.5, 0.99])
def test_the_tail_is_exact(pages: int, rate: float) -> None:
    least = math.floor(rate * pages) + 1
    many = int(binom.isf(1e-12, pages, rate))
    for events in {least, (least + many) // 2, many, pages}:
        if least <= events <= pages:
            expected = float(binom.sf(events - 1, pages, rate))
            assert _tail(events, pages, rate) == pytest.approx(expected, rel=1e-6, abs=1e-300)


def test_a_rate_far_above_the_bound_crosses_it() -> None:
    rail = Guardrail("error", bound=0.02, window=600)
    reason = crossed(rail, events=30, pages=300)
    assert reason is not None
    assert reason.startswith("error on 30 of 300 pages in 600 s: 10 %, above the bound of 2 % (p-value ")


@pytest.mark.parametrize("bound", [0.001, 0.02, 0.5])
def test_it_takes_what_chance_does_not_give(bound: float) -> None:
    pages = 10_000
    first = next(events for events in range(pages + 1) if crossed(Guardrail("error", bound), events, pages))
    assert first == binom.isf(1e-6, pages, bound) + 1
    assert all(crossed(Guardrail("error", bound), events, pages) for events in range(first, pages + 1, 97))


def test_a_healthy_tournament_is_not_paused_by_noise() -> None:
    """A rate of seven tenths of the bound, looked at after each of 300,000 pages, with a window of 1,000 pages.

    The seed is fixed. One look crosses with a probability of 2.6e-14, so some look does with 8e-9 at most. What pauses
    whenever the rate is above the bound is caught: it is so in 2.6 looks of a thousand.
    """
    rail = Guardrail("error", bound=0.05)
    happened = np.cumsum(np.random.default_rng(1).random(300_000) < 0.035)
    within: np.ndarray[Any, Any] = happened[1000:] - happened[:-1000]
    worst = int(within.max())
    assert worst > 0.05 * 1000
    assert crossed(rail, worst, 1000) is None


def test_too_few_pages_are_not_judged() -> None:
    rail = Guardrail("error", bound=0.02, minimum=50)
    assert crossed(rail, 49, 49) is None
    assert crossed(rail, 50, 50) is not None
    assert crossed(rail, 0, 0) is None


def test_events_of_pages_before_the_window_are_no_error() -> None:
    reason = crossed(Guardrail("error", bound=0.02), events=150, pages=100)
    assert reason is not None
    assert "error on 100 of 100 pages" in reason


def test_a_bound_of_0_is_crossed_by_one_event() -> None:
    assert crossed(Guardrail("error", bound=0), events=0, pages=100) is None
    assert crossed(Guardrail("error", bound=0), events=1, pages=100) is not None


def test_guardrails_can_be_stored() -> None:
    rail = Guardrail("abandon", 0.3, window=60, minimum=10)
    assert Guardrail.from_dict(json.loads(json.dumps(rail.to_dict()))) == rail
    assert isinstance(rail.window, float)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "a guardrail needs an action and a bound, got nothing"),
        ({"action": "error"}, "a guardrail needs an action and a bound, got action"),
        ({"action": "", "bound": 0.1}, "action must be 1 to 200 printable characters, got ''"),
        ({"action": "error", "bound": 1}, "bound must be a number of at least 0 and below 1, got 1"),
        ({"action": "error", "bound": "2 %"}, "bound must be a number of at least 0 and below 1, got '2 %'"),
        ({"action": "error", "bound": 0.1, "window": 0}, "window must be a number of seconds above 0, got 0"),
        ({"action": "error", "bound": 0.1, "minimum": 0}, "minimum must be a whole number of at least 1, got 0"),
        (
            {"action": "error", "bound": 0.1, "size": 3},
            "unknown field 'size' in a guardrail; known fields: action, bound",
        ),
    ],
)
def test_guardrails_that_make_no_sense_are_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Guardrail.from_dict(given)


@pytest.mark.parametrize(("events", "pages"), [(-1, 10), (1.5, 10), (1, -1)])
def test_counts_are_whole_numbers(events: Any, pages: Any) -> None:
    with pytest.raises(ValueError, match="must be a whole number of at least 0"):
        crossed(Guardrail("error", 0.1), events, pages)
