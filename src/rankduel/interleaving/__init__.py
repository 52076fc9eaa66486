"""Two or more rankers share one page: build the list that a user sees, and credit the clicks."""

from rankduel.interleaving.base import Impression, Interleaving
from rankduel.interleaving.interleaved import Interleaved
from rankduel.interleaving.probabilistic import ProbabilisticInterleaving

__all__ = ["Impression", "Interleaved", "Interleaving", "ProbabilisticInterleaving"]
