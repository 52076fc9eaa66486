"""The half-normal ziggurat: the law itself, strip by strip and beyond the last edge.

False alarm: at most 1e-6 per test. Caught: a strip that is never tested against the curve, a tail that is cut off.
"""

import numpy as np
from scipy.stats import chisquare, halfnorm

from rankduel.randomness.half_normal import half_normals
from statistical.evidence import ALARM, CAUGHT, Floats

N = 4_000_000
EDGE = 3.654152885361009
# 255 cells of equal chance, and four of the tail: expected counts from 40 to 400 there
CELLS = np.concatenate([halfnorm.ppf(np.linspace(0, 0.999, 256)), [EDGE, 3.8, 4.0, 4.25, np.inf]])


def fit(values: Floats) -> float:
    expected = np.diff(halfnorm.cdf(CELLS)) * len(values)
    return float(chisquare(np.histogram(values, CELLS)[0], expected * (len(values) / expected.sum())).pvalue)


def test_half_normals_have_their_law() -> None:
    assert fit(half_normals(1, N)) > ALARM


def test_a_tail_that_is_cut_off_is_seen() -> None:
    values = half_normals(1, N)
    assert fit(values[values < EDGE]) < CAUGHT


def test_strips_taken_whole_are_seen() -> None:
    """About 1 point of 100 lies in a part of its strip that the curve cuts: taken as it is, it may be anywhere."""
    values = half_normals(1, N)
    wrong = np.random.default_rng(1).uniform(0, EDGE, N // 100)
    assert fit(np.concatenate([values, wrong])) < CAUGHT
