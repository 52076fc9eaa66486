"""The exceptions that a user of rankduel may want to catch, and how messages show a value."""

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
    """Base of every error that is rankduel's own."""


class UnknownDuel(RankduelError, LookupError):  # noqa: N818 - it names what was found, as KeyError does
    """A `tell` for a duel that this bandit never asked for, or that was told or forgotten before."""


class SnapshotError(RankduelError, ValueError):
    """A snapshot that cannot be restored: damaged, of another bandit or of a newer version."""


class DatasetError(RankduelError, ValueError):
    """A file of queries, runs, judgements or models that cannot be read; the message names the place."""


class StorageError(RankduelError, OSError):
    """A storage of tournaments that cannot be opened, read or written: in use, damaged, full, or of another version."""


class BrokenTournament(StorageError):  # noqa: N818
    """A tournament whose journal cannot be replayed; the others of its storage are not affected."""


class TournamentExists(RankduelError, ValueError):  # noqa: N818
    """A tournament of that name is there already, or is open already, or has other settings."""


class UnknownTournament(RankduelError, LookupError):  # noqa: N818
    """No tournament of that name is in the storage."""


def brief(value: object) -> str:
    """A value for an error message, at most 60 characters of it.

    >>> brief("a" * 100)
    "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa..."
    """
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # a whole number of thousands of digits, or lists in lists in lists
        return f"a {type(value).__name__} that is too long to show"
    return text if len(text) <= 60 else f"{text[:57]}..."
