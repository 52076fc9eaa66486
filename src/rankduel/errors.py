"""Exceptions of rankduel, and how error messages show a value."""

__all__ = [
    "BrokenTournament",
    "DatasetError",
    "RankduelError",
    "SnapshotError",
    "StorageError",
    "TournamentExists",
    "UnknownDuel",
    "UnknownTournament",
    "brief",
]


class RankduelError(Exception):
    """Base class of all exceptions that rankduel defines."""


class UnknownDuel(RankduelError, LookupError):  # noqa: N818 - named like KeyError
    """A duel that is not in flight: never issued, or already resolved or forgotten."""


class SnapshotError(RankduelError, ValueError):
    """A snapshot that cannot be restored: damaged, from another bandit, or from a newer version."""


class DatasetError(RankduelError, ValueError):
    """A file of queries, runs, judgements or models that cannot be read. The message names the file and the line."""


class StorageError(RankduelError, OSError):
    """A storage that cannot be opened, read or written: in use, damaged, full, unreachable, or with another schema."""


class BrokenTournament(StorageError):  # noqa: N818
    """A tournament whose journal cannot be replayed. Other tournaments in the same storage are not affected."""


class TournamentExists(RankduelError, ValueError):  # noqa: N818
    """A tournament with this name already exists, is already open in this process, or has other settings."""


class UnknownTournament(RankduelError, LookupError):  # noqa: N818
    """The storage has no tournament with this name."""


def brief(value: object) -> str:
    """Return the `repr` of a value for an error message, cut to 60 characters.

    >>> brief("a" * 100)
    "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa..."
    """
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # an integer with thousands of digits, or deeply nested lists
        return f"a {type(value).__name__} that is too long to show"
    return text if len(text) <= 60 else f"{text[:57]}..."
