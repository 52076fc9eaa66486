"""Findings of a check: what was looked at, how bad it is, and what to do about it."""

from typing import NamedTuple

__all__ = ["Finding"]


class Finding(NamedTuple):
    """One thing that was looked at: `level` is ok, warning or error, `told` what was found and what to do about it."""

    level: str
    about: str
    told: str
