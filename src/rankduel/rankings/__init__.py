"""How rankers order the documents of a query: tables that the kernels read, ties included."""

from rankduel.rankings.lists import Lists

__all__ = ["Lists"]
