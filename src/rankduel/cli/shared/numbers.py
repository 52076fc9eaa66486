"""Parse whole numbers such as 1e8 and durations such as 90d; format counts and durations."""

import argparse
import re
from collections.abc import Callable
from decimal import Decimal, InvalidOperation

__all__ = ["age", "count", "duration", "whole"]

_SECONDS = {"d": 86_400, "h": 3_600, "m": 60}


def whole(minimum: int) -> Callable[[str], int]:
    """An argparse type: a whole number of at least `minimum`; accepts 1e8 and 100_000.

    >>> whole(1)("1e8")
    100000000
    """

    def convert(text: str) -> int:
        try:
            value = Decimal(text)
            if value.is_finite() and value.adjusted() < 40 and value == value.to_integral_value() and value >= minimum:
                return int(value)
        except InvalidOperation:
            pass
        raise argparse.ArgumentTypeError(f"expected a whole number of at least {minimum}, got {text!r}")

    return convert


def age(text: str) -> float:
    """An argparse type: a duration in days, hours or minutes. Return seconds.

    >>> age("90d"), age("12h"), age("1.5m")
    (7776000.0, 43200.0, 90.0)
    """
    found = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)([dhm])", text, re.ASCII)
    if found is None or float(found[1]) == 0:
        raise argparse.ArgumentTypeError(f"expected a duration above 0 such as 90d, 12h or 30m, got {text!r}")
    return float(found[1]) * _SECONDS[found[2]]


def count(number: float) -> str:
    """Format a number with about three digits.

    >>> count(950), count(12_345), count(3_400_000), count(2.5e9)
    ('950', '12.3k', '3.4M', '2.5G')
    """
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if number >= size:
            return f"{number / size:.3g}{unit}" if number < 1000 * size else f"{number / size:,.0f}{unit}"
    return f"{number:.0f}"


def duration(seconds: float) -> str:
    """Format a time in its two largest units.

    >>> duration(8.2), duration(200), duration(7500)
    ('8 s', '3 min 20 s', '2 h 5 min')
    """
    total = round(seconds)
    if total < 60:
        return f"{total} s"
    if total < 3600:
        return f"{total // 60} min {total % 60} s"
    return f"{total // 3600} h {total % 3600 // 60} min"
