"""The exceptions that a user of rankduel may want to catch."""

__all__ = ["DatasetError", "RankduelError", "SnapshotError", "UnknownDuel"]


class RankduelError(Exception):
    """Base of every error that is rankduel's own."""


class UnknownDuel(RankduelError, LookupError):  # noqa: N818 - it names what was found, as KeyError does
    """A `tell` for a duel that this bandit never asked for, or that was told or forgotten before."""


class SnapshotError(RankduelError, ValueError):
    """A snapshot that cannot be restored: damaged, of another bandit or of a newer version."""


class DatasetError(RankduelError, ValueError):
    """A file of queries, runs, judgements or models that cannot be read; the message names the place."""
