"""Parameters are checked once, in constructors: what passes is a float or an int that kernels can hold."""

from fractions import Fraction

import numpy as np
import pytest

from rankduel.bandits.parameters import MAX_WHOLE, number, whole


@pytest.mark.parametrize("value", [1, 0.5, Fraction(1, 2), np.float32(0.5), np.int64(1), 1.0])
def test_any_real_number_within_the_bounds_becomes_a_float(value: float) -> None:
    assert type(number("x", value, at_most=1)) is float


@pytest.mark.parametrize("value", [0, -1, 1.1, float("nan"), float("inf"), 10**400, True, "1", None, 1j])
def test_other_numbers_are_refused(value: float) -> None:
    with pytest.raises(ValueError, match="x must be > 0 and <= 1, got "):
        number("x", value, at_most=1)


def test_huge_numbers_are_refused_without_an_upper_bound_too() -> None:
    with pytest.raises(ValueError, match="x must be > 0, got "):
        number("x", 10**400)


@pytest.mark.parametrize("value", [2, np.int32(7), MAX_WHOLE])
def test_whole_numbers_become_an_int(value: int) -> None:
    assert type(whole("n", value, minimum=2)) is int


@pytest.mark.parametrize("value", [1, 2.0, True, "2", None])
def test_other_whole_numbers_are_refused(value: int) -> None:
    with pytest.raises(ValueError, match="n must be a whole number of at least 2, got "):
        whole("n", value, minimum=2)


def test_a_whole_number_fits_a_c_int() -> None:
    with pytest.raises(ValueError, match=f"at least 2 and at most {MAX_WHOLE}, got {MAX_WHOLE + 1}"):
        whole("n", MAX_WHOLE + 1, minimum=2)
