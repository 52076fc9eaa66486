"""The methods for two rankers, by name."""

from rankduel.interleaving.balanced import BalancedInterleaving
from rankduel.interleaving.base import Interleaving
from rankduel.interleaving.optimized import OptimizedInterleaving
from rankduel.interleaving.probabilistic import ProbabilisticInterleaving
from rankduel.interleaving.team_draft import TeamDraftInterleaving
from rankduel.spec import parse

__all__ = ["INTERLEAVINGS", "interleaving_from"]

INTERLEAVINGS: dict[str, type[Interleaving]] = {
    "probabilistic": ProbabilisticInterleaving,
    "team_draft": TeamDraftInterleaving,
    "balanced": BalancedInterleaving,
    "optimized": OptimizedInterleaving,
}


def interleaving_from(spec: str) -> Interleaving:
    """The method of a spec as people type it: a name of `INTERLEAVINGS`, or a method's `repr`.

    >>> interleaving_from("probabilistic")
    ProbabilisticInterleaving(tau=3.0)
    >>> interleaving_from("balanced(depth='both')")
    BalancedInterleaving(depth='both')
    """
    name, options = parse(spec)
    known = {**INTERLEAVINGS, **{method.__name__: method for method in INTERLEAVINGS.values()}}
    if name not in known:
        raise ValueError(f"unknown interleaving {name!r}, expected one of {', '.join(INTERLEAVINGS)}")
    try:
        return known[name](**options)
    except TypeError as error:
        raise ValueError(f"cannot make an interleaving of {spec!r}: {error}") from None
