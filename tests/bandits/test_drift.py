"""DriftAlarm: silent while the winner is at least even, and an alarm soon after it begins to lose."""

import math

import numpy as np
import pytest

import rankduel as rd


def test_the_alarm_is_silent_while_all_is_well_and_rings_soon_after() -> None:
    """At p = 1/2 an alarm comes within n duels with probability at most n rate: 2e-7 here. After a fall to 0.4 it comes
    within 5 times log(1 / rate) / KL = 5 * 690 duels but for a chance far below 1e-6.
    """
    coin = np.random.default_rng(1)
    alarm = rd.DriftAlarm(rate=1e-11)
    assert not any(alarm.update(won=bool(won)) for won in coin.random(20_000) < 0.5)
    late = next(k for k, won in enumerate(coin.random(10**5) < 0.4) if alarm.update(won=bool(won)))
    assert late < 5 * math.log(1e11) / (0.4 * math.log(0.8) + 0.6 * math.log(1.2))
    assert alarm.update(won=True), "it goes on ringing"
    alarm.reset()
    assert not alarm.rings
    assert not alarm.tell(True, rd.Outcome.TIE)
    assert alarm.duels == 0
    with pytest.raises(ValueError, match="rate must be > 0"):
        rd.DriftAlarm(rate=0)


def test_the_mean_of_the_alarm_grows_by_one_a_duel() -> None:
    """By enumeration of all courses of 10 duels at p = 1/2: the evidence after n duels has mean n."""
    total = 0.0
    for course in range(2**10):
        alarm = rd.DriftAlarm(rate=1e-9)
        for k in range(10):
            alarm.update(won=bool(course >> k & 1))
        total += alarm.evidence / 2**10
    assert total == pytest.approx(10)
