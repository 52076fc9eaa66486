"""The exceptions that a user of rankduel may want to catch."""

__all__ = [
    "DatasetError",
    "RankduelError",
    "SnapshotError",
    "StorageError",
    "TournamentExists",
    "UnknownDuel",
    "UnknownTournament",
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


class TournamentExists(RankduelError, ValueError):  # noqa: N818
    """A tournament of that name is there already, or is open already, or has other settings."""


class UnknownTournament(RankduelError, LookupError):  # noqa: N818
    """No tournament of that name is in the storage."""
