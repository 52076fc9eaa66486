"""Findings of a check: the subject, the severity and the advice."""

from typing import NamedTuple

__all__ = ["Finding", "restore_backup"]


class Finding(NamedTuple):
    """A result of a check: `level` is ok, warning or error, `told` describes the result and what to do about it."""

    level: str
    about: str
    told: str


def restore_backup(problem: object) -> str:
    """Add the advice to restore a backup to the description of a problem.

    >>> restore_backup("the journal is empty")
    'the journal is empty; restore a backup'
    """
    advice = "; restore a backup"
    return f"{str(problem).removesuffix(advice)}{advice}"
