"""How rankers order the documents of a query: tables that the kernels read, ties included."""

from rankduel.rankings.arrays import Offsets, Places
from rankduel.rankings.growing import GrowingTables
from rankduel.rankings.lists import Lists
from rankduel.rankings.tables import misplaced, place_type, rank_scores

__all__ = ["GrowingTables", "Lists", "Offsets", "Places", "misplaced", "place_type", "rank_scores"]
