"""Registry of the interleaving and multileaving methods, by name.

To add a method, subclass `Interleaving` (base.pyx) in a new .pyx file with a .pyi file, as team_draft.pyx does. The
build finds the file. List the class here, export it in `__init__.py`, and run `make docs`. To add a multileaving
method, subclass `Multileaving` (multileaving.pyx). The form of the dashboard offers all methods.
"""

from collections.abc import Mapping
from typing import TypeVar

from rankduel.interleaving.balanced import BalancedInterleaving
from rankduel.interleaving.base import Interleaving
from rankduel.interleaving.multileaving import Multileaving
from rankduel.interleaving.optimized import OptimizedInterleaving
from rankduel.interleaving.pairwise_preference_multileaving import PairwisePreferenceMultileaving
from rankduel.interleaving.probabilistic import ProbabilisticInterleaving
from rankduel.interleaving.probabilistic_multileaving import ProbabilisticMultileaving
from rankduel.interleaving.sosm import SOSM
from rankduel.interleaving.team_draft import TeamDraftInterleaving
from rankduel.interleaving.team_draft_multileaving import TeamDraftMultileaving
from rankduel.spec import parse

__all__ = ["INTERLEAVINGS", "MULTILEAVINGS", "by_name", "interleaving_from", "multileaving_from"]


def by_name(*methods: type[Interleaving]) -> dict[str, type[Interleaving]]:
    """Interleaving methods by name. TypeError if a method does not declare the credit data of its stored pages.

    >>> by_name(TeamDraftInterleaving)["team_draft"].credit_field
    'teams'
    """
    for method in methods:
        checks = method.check_credit_value is not Interleaving.check_credit_value
        if not (method.name and method.credit_field and checks):
            needed = "name, credit_field and check_credit_value"
            raise TypeError(f"{method.__name__} must define {needed}, so that its pages can be stored")
    return {method.name: method for method in methods}


INTERLEAVINGS = by_name(
    ProbabilisticInterleaving,
    TeamDraftInterleaving,
    BalancedInterleaving,
    OptimizedInterleaving,
)
MULTILEAVINGS: dict[str, type[Multileaving]] = {
    "sosm": SOSM,
    "team_draft": TeamDraftMultileaving,
    "probabilistic": ProbabilisticMultileaving,
    "pairwise_preference": PairwisePreferenceMultileaving,
}

Method = TypeVar("Method", Interleaving, Multileaving)


def interleaving_from(spec: str) -> Interleaving:
    """Parse the spec of an interleaving method: a name of `INTERLEAVINGS`, or the `repr` of a method.

    >>> interleaving_from("probabilistic")
    ProbabilisticInterleaving(tau=3.0)
    >>> interleaving_from("balanced(depth='both')")
    BalancedInterleaving(depth='both')
    """
    return _method(spec, INTERLEAVINGS, "interleaving")


def multileaving_from(spec: str) -> Multileaving:
    """Parse the spec of a multileaving method: a name of `MULTILEAVINGS`, or the `repr` of a method.

    >>> multileaving_from("sosm(tau=2)")
    SOSM(tau=2.0)
    """
    return _method(spec, MULTILEAVINGS, "multileaving")


def _method(spec: str, registry: Mapping[str, type[Method]], kind: str) -> Method:
    name, options = parse(spec)
    known = {**registry, **{method.__name__: method for method in registry.values()}}
    if name not in known:
        raise ValueError(f"unknown {kind} {name!r}; expected one of {', '.join(registry)}")
    try:
        return known[name](**options)
    except TypeError as error:
        raise ValueError(f"invalid {kind} {spec!r}: {error}") from None
