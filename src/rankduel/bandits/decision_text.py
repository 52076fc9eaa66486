"""Texts of a decision: `headline` says what is decided, `meaning` says when that holds.

Python, the command line, HTTP, the Markdown report and the dashboard all show these texts, for arms and for rankers.
"""

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["DOUBT_P_VALUE", "DecisionFacts", "confidence_percent", "headline", "meaning"]

DOUBT_P_VALUE = 0.1  # for "one arm is at least as good as all others"; at or below it, no best arm is claimed
_MAX_LISTED_NAMES = 5
_MIN_DELTA_SHOWN = 1e-9  # a smaller one would be rounded to 100 % confidence
_ASSUMPTIONS = "votes are independent and preferences do not change"


@dataclass(frozen=True, slots=True)
class DecisionFacts:
    """Facts for the texts of a decision. Rankers have names; for the noun "arm" the names are numbers."""

    left: int  # neither eliminated nor retired
    tried: int  # ever took part, retired ones included
    retired: int  # by an operator
    resolved: int  # duels
    leader: str
    winner: str | None
    tied: Sequence[str]
    delta: float | None  # None: no guarantee
    tolerance: float | None
    p_best_exists: float  # p-value for "one ranker is at least as good as all others"
    copeland: Sequence[str] = ()  # win most pairs: an estimate, for the case that no best ranker exists
    noun: str = "ranker"
    stopped: bool = False  # for good: no more duels are played

    @property
    def decided(self) -> bool:
        """Whether one is left, or all that are left are tied."""
        return self.winner is not None or bool(self.tied)

    @property
    def in_doubt(self) -> bool:
        """Whether the evidence is against every ranker, so that none of them may be called the best."""
        return self.p_best_exists <= DOUBT_P_VALUE


def headline(facts: DecisionFacts) -> str:
    """Say in one line what is decided. A confidence is named only once it is reached.

    >>> headline(DecisionFacts(1, 5, 0, 1300, "ltr", "ltr", (), 0.01, None, 1.0))
    'ltr is the best of 5 rankers, with at least 99 % confidence (1,300 duels).'
    >>> headline(DecisionFacts(3, 5, 0, 1300, "ltr", None, (), 0.01, None, 1.0))
    'No decision yet: 3 of 5 rankers are left, and ltr leads (1,300 duels).'
    >>> headline(DecisionFacts(3, 5, 0, 1300, "ltr", None, (), 0.01, None, 1.0, stopped=True))
    'Stopped before a decision: 3 of 5 rankers are left, and ltr leads (1,300 duels).'
    """
    of, duels = _count(facts.tried - facts.retired, facts.noun), f"({_count(facts.resolved, 'duel')})"
    if facts.retired:
        of += f" ({facts.retired:,} retired)"
    doubt = f"No {facts.noun} beats all others (p = {facts.p_best_exists:.2g}). " if facts.in_doubt else ""
    if not facts.decided:
        leads = f", and {_named([facts.leader], facts)} leads" if facts.resolved else ""
        are = "is" if facts.left == 1 else "are"
        undecided = "Stopped before a decision: " if facts.stopped else "No decision yet: "
        return f"{doubt or undecided}{facts.left:,} of {of} {are} left{leads} {duels}."
    names = _named([facts.winner] if facts.winner is not None else facts.tied, facts)
    if facts.noun == "arm":
        names = names.capitalize()
    if doubt or facts.delta is None:
        last = f"are the last of {of} left, and tied" if facts.tied else f"is the last of {of} left"
        return f"{doubt}{names} {last} {duels}." + ("" if doubt else " This bandit gives no guarantee.")
    best = f"are tied for the best of {of}" if facts.tied else f"is the best of {of}"
    return f"{names} {best}, with at least {confidence_percent(facts.delta)} confidence {duels}."


def meaning(facts: DecisionFacts) -> str:
    """Say on which assumptions the headline holds.

    >>> meaning(DecisionFacts(1, 5, 0, 1300, "ltr", "ltr", (), 0.01, None, 1.0))[:76]
    'The confidence holds whenever you look, provided that one ranker is at least'
    """
    one, others = f"one {facts.noun}", "all others"
    if facts.retired:
        one, others = f"{one} that is not retired", f"{others}, retired ones included"
    if facts.in_doubt:
        text = (
            f'p is the p-value of "{one} is at least as good as {others}". It holds whenever you look, provided that '
        )
        text += f"{_ASSUMPTIONS}."
        if facts.copeland:
            text += f" Most pairs are won by {_named(facts.copeland, facts)}: an estimate without a guarantee."
        return text
    if facts.delta is None:
        advice = f"Use a certified bandit, such as CertifiedSparring, to find the best {facts.noun} with a confidence."
        return advice if facts.decided else f"This bandit gives no guarantee. {advice}"
    provided = f"provided that {one} is at least as good as {others}, {_ASSUMPTIONS}."
    if not facts.decided and facts.stopped:
        would = f"a decision would have had at least {confidence_percent(facts.delta)} confidence"
        return f"No confidence is claimed: {would}, {provided}"
    if not facts.decided:
        return f"The decision will have at least {confidence_percent(facts.delta)} confidence, {provided}"
    text = f"The confidence holds whenever you look, {provided}"
    if facts.tied and facts.tolerance is not None:
        text += f" Tied {facts.noun}s beat each other with a probability within {facts.tolerance:g} of one half."
    return text


def confidence_percent(delta: float) -> str:
    """Return the confidence of a decision in percent, from the largest probability of an error.

    >>> confidence_percent(0.01), confidence_percent(0.001), confidence_percent(1e-200)
    ('99 %', '99.9 %', '99.9999999 %')
    """
    return f"{100 * (1 - max(delta, _MIN_DELTA_SHOWN)):.9g} %"


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def _named(names: Sequence[str], facts: DecisionFacts) -> str:
    more = len(names) - _MAX_LISTED_NAMES + 1
    listed = ", ".join(names) if more <= 1 else f"{', '.join(names[: _MAX_LISTED_NAMES - 1])} and {more:,} more"
    return listed if facts.noun != "arm" else f"arm {listed}" if len(names) == 1 else f"arms {listed}"
