"""The circuit breaker, with a clock of the test: as its literal twin, and as its page says."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankduel.client.breaker import Breaker


def middle(low: float, high: float) -> float:
    """No jitter."""
    return (low + high) / 2


class LiteralBreaker:
    """The same rules, from a list of all calls, as slow as it gets."""

    def __init__(self, timeout: float) -> None:
        self.timeout = timeout
        self.calls: list[tuple[int, bool]] = []  # since the breaker closed: tenth of a second, failed
        self.is_open = False
        self.changes = 0
        self.next_probe = 0.0
        self.refused_probes = 0

    def allows(self, now: float) -> int | None:
        if self.is_open and now < self.next_probe:
            return None
        if self.is_open:
            self.changes += 1
            self.next_probe = now + max(self.timeout, 0.5)
        return self.changes

    def ended(self, permit: int, now: float, failed: bool, refused: bool, retry_after: float | None) -> None:
        if permit != self.changes:
            return
        if not self.is_open:
            self.calls.append((int(now / 0.1), failed))
            if not failed or not self.fails():
                return
        elif not failed:
            self.is_open, self.calls, self.refused_probes = False, [], 0
            self.changes += 1
            return
        self.is_open = True
        self.changes += 1
        rest = min(15.0, 0.5 * 2**self.refused_probes) if refused else 0.5
        self.refused_probes = self.refused_probes + 1 if refused else 0
        self.next_probe = now + max(rest, min(5.0, retry_after or 0.0))

    def fails(self) -> bool:
        newest = self.calls[-1][0]
        for tenths in range(10, 101):
            seen = [(tenth, failed) for tenth, failed in self.calls if tenth > newest - tenths]
            failing = [tenth for tenth, failed in seen if failed]
            if len(seen) >= 10 and len(set(failing)) >= 4:
                return len(failing) >= len(seen) / 2
        return False


STEPS = st.tuples(
    st.sampled_from([0.0, 0.0, 0.001, 0.03, 0.1, 0.13, 0.6, 2.5, 30.0]),  # seconds that pass
    st.integers(0, 3),  # which of the calls in flight ends
    st.sampled_from(["ask", "ask", "answered", "failed", "failed", "refused"]),
    st.sampled_from([None, None, 0.0, 2.0, 60.0]),
)


@given(steps=st.lists(STEPS, max_size=150), timeout=st.sampled_from([0.025, 3.0]))
def test_as_the_literal_twin(steps: list[tuple[float, int, str, float | None]], timeout: float) -> None:
    breaker, twin = Breaker(timeout, middle), LiteralBreaker(timeout)
    now, flying = 1000.0, list[tuple[Any, Any]]()
    for passed, which, what, retry_after in steps:
        now += passed
        if what == "ask" or not flying:
            permits = breaker.allows(now), twin.allows(now)
            assert (permits[0] is None) == (permits[1] is None)
            if permits[0] is not None:
                flying.append(permits)
            continue
        mine, theirs = flying.pop(which % len(flying))
        if what == "answered":
            breaker.answered(mine, now)
        else:
            breaker.failed(mine, now, refused=what == "refused", retry_after=retry_after)
        twin.ended(theirs, now, what != "answered", what == "refused", retry_after)
        assert breaker.is_open == twin.is_open


def opened(*, refused: bool = False, retry_after: float | None = None, at: float = 0.0) -> Breaker:
    """A breaker that has just opened."""
    breaker, now = Breaker(0.025, middle), at
    while not breaker.is_open:
        breaker.failed(breaker.allows(now), now, refused=refused, retry_after=retry_after)
        now += 0.05
    return breaker


def rest(breaker: Breaker, now: float) -> float:
    """The seconds until the next probe, to a hundredth."""
    hundredths = 0
    while breaker.allows(now + hundredths / 100) is None:
        hundredths += 1
    return hundredths / 100


@pytest.mark.parametrize("late", [0.001, 0.1, 0.4])
def test_some_late_calls_among_many_change_nothing(late: float) -> None:
    """Also if 20 in a row are late, again and again."""
    breaker = Breaker(uniform=middle)
    for number in range(50_000):
        now = number / 500
        permit = breaker.allows(now)
        assert permit is not None
        if number % round(20 / late) < 20:
            breaker.failed(permit, now)
        else:
            breaker.answered(permit, now)


def test_a_hiccup_that_fails_the_calls_of_all_threads_changes_nothing() -> None:
    """64 calls at once, also right after the start."""
    breaker = Breaker(uniform=middle)
    permits = [breaker.allows(5.0) for _ in range(64)]
    for permit in permits:
        breaker.failed(permit, 5.05)
    assert not breaker.is_open


def test_a_service_that_hangs_opens_it_within_a_second_of_traffic() -> None:
    """Also after minutes of 2,000 successful calls a second."""
    breaker = Breaker(uniform=middle)
    now = 0.0
    for number in range(20_000):
        now = number / 2000
        breaker.answered(breaker.allows(now), now)
    hung = now
    while not breaker.is_open:
        now += 0.025 / 8  # eight threads
        breaker.failed(breaker.allows(now), now)
    assert now - hung < 1


def test_few_calls_never_open_it() -> None:
    """Below one call a second, users hardly wait, and there is nothing to judge."""
    breaker = Breaker(uniform=middle)
    for number in range(100):
        breaker.failed(breaker.allows(1.2 * number), 1.2 * number)
        assert not breaker.is_open


def test_one_probe_at_a_time_and_one_success_closes_it() -> None:
    breaker = opened()
    assert [breaker.allows(10.0) is None for _ in range(5)] == [False, True, True, True, True]
    breaker = opened()
    breaker.answered(breaker.allows(10.0), 10.01)
    assert all(breaker.allows(10.02) is not None for _ in range(100))


def test_results_of_earlier_calls_decide_nothing() -> None:
    """Calls in flight when the breaker opened neither close it nor count as probes."""
    breaker = Breaker(0.025, middle)
    early = [breaker.allows(0.0) for _ in range(3)]
    now = 0.0
    while not breaker.is_open:
        breaker.failed(breaker.allows(now), now)
        now += 0.05
    breaker.answered(early[0], now)
    assert breaker.is_open
    probe = breaker.allows(now + 1)
    breaker.failed(early[1], now + 1)
    breaker.answered(probe, now + 1.1)
    assert not breaker.is_open


def test_a_probe_that_never_ends_is_replaced() -> None:
    breaker = opened()
    assert breaker.allows(10.0) is not None
    assert rest(breaker, 10.0) == 0.5
    patient = Breaker(3.0, middle)
    now = 0.0
    while not patient.is_open:
        patient.failed(patient.allows(now), now)
        now += 0.05
    assert patient.allows(10.0) is not None
    assert rest(patient, 10.0) == 3.0


def test_probes_of_a_failing_service_do_not_slow_down() -> None:
    """After an hour of outage, a client is back as soon as after a second."""
    breaker, now = opened(), 10.0
    for _ in range(7200):
        breaker.failed(breaker.allows(now), now)
        assert breaker.allows(now + 0.49) is None
        now += 0.5


def test_probes_that_are_refused_slow_down() -> None:
    """A wrong key is not tried twice a second: the service limits wrong keys by address."""
    breaker, now, rests = opened(refused=True), 100.0, []
    for _ in range(7):
        breaker.failed(breaker.allows(now), now, refused=True)
        rests.append(rest(breaker, now))
        now += 100
    assert rests == [1, 2, 4, 8, 15, 15, 15]


@pytest.mark.parametrize(("asked", "rests"), [(0.0, 0.5), (2.0, 2.0), (60.0, 5.0), (None, 0.5)])
def test_retry_after_within_reason(asked: float | None, rests: float) -> None:
    breaker = opened()
    breaker.failed(breaker.allows(100.0), 100.0, retry_after=asked)
    assert rest(breaker, 100.0) == rests


def test_clients_do_not_return_at_the_same_moment() -> None:
    """Jitter of 25 %, so at most 0.625 s between probes."""
    seen = []
    for _ in range(200):
        breaker, now = Breaker(0.025), 0.0
        while not breaker.is_open:
            breaker.failed(breaker.allows(now), now)
            now += 0.05
        seen.append(rest(breaker, now - 0.05))
    assert 0.37 <= min(seen) < 0.45
    assert 0.55 < max(seen) <= 0.63
