"""Preference grid: who beats whom; a cell is a pair of rankers, or of groups of them where there are too many."""

from dataclasses import dataclass

import numpy as np

from rankduel.dashboard.leaderboard import leaderboard
from rankduel.live import View

__all__ = ["PreferenceGrid", "preference_grid"]


@dataclass(frozen=True, slots=True)
class PreferenceGrid:
    """Rankers in the order of the leaderboard, `group` of them to a row, and a line for each cell above the diagonal.

    A line is the row, the column, wins and losses of the row against the column, and ties. Pairs of one group are left
    out.
    """

    rankers: list[str]  # those of this part
    first: int  # place of the first of them on the leaderboard, from 0
    total: int  # rankers on the leaderboard
    group: int
    cells: list[list[int]]


def preference_grid(view: View, cells: int, first: int = 0, last: int | None = None) -> PreferenceGrid:
    """The part of the leaderboard from `first` to `last` (not with it), in at most `cells` rows."""
    order = [row.ranker for row in leaderboard(view)]
    number_of = {name: number for number, name in enumerate(view.names)}
    first = min(first, max(0, len(order) - 1))
    last = len(order) if last is None else min(max(last, first + 1), len(order))
    group = -(-(last - first) // cells)
    row_of = np.full(len(order), -1)
    for place, name in enumerate(order[first:last]):
        row_of[number_of[name]] = place // group
    i, j, won, lost, tied = view.meetings.T
    row, column = row_of[i], row_of[j]
    kept = (row >= 0) & (column >= 0) & (row != column)
    row, column, won, lost, tied = row[kept], column[kept], won[kept], lost[kept], tied[kept]
    below = row > column
    row, column = np.where(below, column, row), np.where(below, row, column)
    won, lost = np.where(below, lost, won), np.where(below, won, lost)
    keys, places = np.unique(row * len(order) + column, return_inverse=True)
    sums = [np.bincount(places, counts, len(keys)).astype(np.int64) for counts in (won, lost, tied)]
    table = np.stack([*np.divmod(keys, len(order)), *sums], axis=1)
    return PreferenceGrid(order[first:last], first, len(order), group, table.tolist())
