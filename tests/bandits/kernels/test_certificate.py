"""Certificates: how much evidence eliminates an arm, and when a pair can be known to be even."""

import math

import pytest

from rankduel.bandits.elimination import Certified
from rankduel.bandits.kernels.certificate import Certificate


def test_without_a_tolerance_no_pair_is_ever_even() -> None:
    certificate = Certificate(5, Certified(0.05))
    assert math.isinf(certificate.min_even_duels)
    assert certificate.alive.tolist() == [0, 1, 2, 3, 4]
    assert certificate.listed() == ()
    assert certificate.evidence_against(2) == certificate.least_evidence() == 0.0


@pytest.mark.parametrize("tolerance", [0.01, 0.05, 0.2])
def test_an_even_pair_needs_duels_with_one_over_the_square_of_the_tolerance(tolerance: float) -> None:
    """The radius of the interval, Robbins' mixture, first reaches the tolerance there."""
    duels = Certificate(5, Certified(0.05, tolerance)).min_even_duels
    scale, log_chances = 1 / (8 * tolerance**2), math.log(10 * 2 / 0.05)

    def radius(n: float) -> float:
        return math.sqrt((n / 4 + scale) * (math.log1p(n / 4 / scale) + 2 * log_chances)) / n

    assert radius(0.999 * duels) > tolerance >= radius(1.001 * duels)
