"""Two or more rankers share one page: build the list that a user sees, and credit the clicks."""

from rankduel.interleaving.balanced import BalancedInterleaving
from rankduel.interleaving.base import Impression, Interleaving
from rankduel.interleaving.interleaved import Interleaved
from rankduel.interleaving.optimized import OptimizedInterleaving
from rankduel.interleaving.probabilistic import ProbabilisticInterleaving
from rankduel.interleaving.registry import INTERLEAVINGS, interleaving_from
from rankduel.interleaving.team_draft import TeamDraftInterleaving

__all__ = [
    "INTERLEAVINGS",
    "BalancedInterleaving",
    "Impression",
    "Interleaved",
    "Interleaving",
    "OptimizedInterleaving",
    "ProbabilisticInterleaving",
    "TeamDraftInterleaving",
    "interleaving_from",
]
