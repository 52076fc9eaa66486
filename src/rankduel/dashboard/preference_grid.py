"""Preference grid: duels between rankers. A cell is a pair of rankers, or a pair of groups if there are too many."""

from dataclasses import dataclass

import numpy as np

from rankduel.dashboard.leaderboard import leaderboard
from rankduel.live import View

__all__ = ["PreferenceGrid", "preference_grid"]


@dataclass(frozen=True, slots=True)
class PreferenceGrid:
    """Rankers in the order of the leaderboard, `group` of them per row, and the cells above the diagonal.

    A cell is a list: its row, its column, wins and losses of the row against the column, and ties. Cells without duels
    and pairs within one group are omitted.
    """

    rankers: list[str]  # of this part of the leaderboard
    first: int  # position of the first of them on the leaderboard, counted from 0
    total: int  # rankers on the leaderboard
    group: int
    cells: list[list[int]]


def preference_grid(view: View, cells: int, first: int = 0, last: int | None = None) -> PreferenceGrid:
    """Return the grid of the leaderboard from position `first` up to `last` (excluded), with at most `cells` rows."""
    order = [row.ranker for row in leaderboard(view)]
    number_of = {name: number for number, name in enumerate(view.names)}
    first = min(first, max(0, len(order) - 1))
    last = len(order) if last is None else min(max(last, first + 1), len(order))
    group = -(-(last - first) // cells)
    row_of = np.full(len(order), -1)
    for position, name in enumerate(order[first:last]):
        row_of[number_of[name]] = position // group
    i, j, won, lost, tied = view.meetings.T
    row, column = row_of[i], row_of[j]
    inside = (row >= 0) & (column >= 0) & (row != column)
    row, column, won, lost, tied = row[inside], column[inside], won[inside], lost[inside], tied[inside]
    below = row > column
    row, column = np.where(below, column, row), np.where(below, row, column)
    won, lost = np.where(below, lost, won), np.where(below, won, lost)
    keys, indices = np.unique(row * len(order) + column, return_inverse=True)
    sums = [np.bincount(indices, counts, len(keys)).astype(np.int64) for counts in (won, lost, tied)]
    table = np.stack([*np.divmod(keys, len(order)), *sums], axis=1)
    return PreferenceGrid(order[first:last], first, len(order), group, table.tolist())
