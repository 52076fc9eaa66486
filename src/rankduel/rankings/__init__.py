"""Ranking tables: how rankers order the documents of each query, ties included, as the kernels read them."""

from rankduel.rankings.arrays import Offsets, Places
from rankduel.rankings.growing import GrowingTables
from rankduel.rankings.lists import Lists
from rankduel.rankings.tables import misplaced, place_type, rank_scores

__all__ = ["GrowingTables", "Lists", "Offsets", "Places", "misplaced", "place_type", "rank_scores"]
