"""The reader's numbers are those of float(), bit for bit."""

import math
import random
import struct
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankduel.datasets.letor_numbers import number


def same(text: str) -> None:
    value = number(text)
    assert value is not None, text
    assert struct.pack("d", value) == struct.pack("d", float(text)), text


def test_every_kind_of_double() -> None:
    draw = random.Random(1)
    for _ in range(100_000):
        value = struct.unpack("d", struct.pack("Q", draw.getrandbits(64)))[0]
        if not math.isnan(value):
            same(repr(value))


def test_as_files_have_them() -> None:
    draw = random.Random(2)
    for _ in range(30_000):
        many = draw.getrandbits(63)
        same(f"{many % 10 ** draw.randint(1, 9)}.{many % 1000:03}")
        same(f"{(many % 10**7 - 5 * 10**6) / 10**6:.6f}")
        same(f"{many % 10 ** draw.randint(1, 19)}e{draw.randint(-350, 320)}")
        same(f"0.{many}")
        same(str(many))


def test_half_way_between_two_doubles() -> None:
    # The hardest to round: to even if exact, else as the last digit says.
    draw = random.Random(3)
    for _ in range(5_000):
        odd = 2 * (draw.getrandbits(52) | 1 << 52) + 1
        exponent = draw.randint(-30, 10)
        half = Fraction(odd) * Fraction(2) ** exponent
        digits, places = half.numerator, 0
        while half.denominator * digits != half.numerator * 10**places:
            places += 1
            digits = half.numerator * 10**places // half.denominator
        for last in (digits - 1, digits, digits + 1):
            same(f"{last}e-{places}")


def test_by_hand() -> None:
    texts = (
        "0 -0 +0 0.0 -0.0 5. .5 -.5 +1 0e5 1e0 1E2 1e+2 1e-2 1e22 1e23 1e400 -1e400 1e-400 4.9e-324 2.4e-324 2.5e-324"
        " 2.2250738585072014e-308 2.2250738585072011e-308 1.7976931348623157E308 1.7976931348623158e308"
        " 1.7976931348623159e308 9007199254740991 9007199254740992 9007199254740993 9007199254740993.0"
        " 18446744073709551615 18446744073709551616 9999999999999999999 00000000000000000000000000001"
        " 0.00000000000000000000000000001 1.00000000000000011102230246251565 123456789012345678901234567890"
        " 1e0000000001 1e99999999999999999999 inf -inf +Infinity INF"
    )
    for text in texts.split():
        same(text)


@given(st.floats(allow_nan=False), st.integers(0, 20))
def test_any_format(value: float, digits: int) -> None:
    same(repr(value))
    same(f"{value:.{digits}e}")


@pytest.mark.parametrize(
    "text",
    ["", "-", "+", ".", "-.", "e5", "1e", "1e+", "1.2.3", "0x10", "1_0", "1._5", "--1", "1,5", "NULL", "1 2", "infx"],
)
def test_no_numbers(text: str) -> None:
    assert number(text) is None


def test_nan_is_read() -> None:
    assert math.isnan(number("nan") or 0)
    assert math.isnan(number("-NaN") or 0)
