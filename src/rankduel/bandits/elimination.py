"""Elimination rules (`Certified`, `Hoeffding`), and the `Confidence` and `Decision` of a bandit.

The compiled code that applies the rules is in `families/merging.pyx::learn` and `kernels/certificate.pxd::record_bets`.
"""

import math
from dataclasses import KW_ONLY, dataclass, fields

from rankduel.bandits.decision_text import DOUBT_P_VALUE, DecisionFacts, headline, meaning
from rankduel.bandits.parameters import number
from rankduel.errors import brief
from rankduel.spec import parse

__all__ = ["Certified", "Confidence", "Decision", "Elimination", "Hoeffding", "Rule", "elimination_from"]


@dataclass(frozen=True)
class Certified:
    """Eliminate arms on evidence from all opponents. The best arm is eliminated with probability at most `delta`.

    The best arm is a Condorcet winner, ties allowed: given the past, it wins each of its duels with probability at
    least 1/2. The guarantee holds over the whole run, for any number of arms, and for any choice of duels
    (docs/certified.md has the proof).

    Set a `tolerance` to end with a tie: the bandit stops as soon as all pairs of arms left are known to have
    |p - 1/2| < tolerance. Then `delta` covers the tied set too: all arms that share the first place are in it. In
    exchange, an elimination needs log(2 n) more evidence while n arms are left.

    >>> Certified(delta=0.05)
    Certified(delta=0.05)
    >>> Certified(delta=0)
    Traceback (most recent call last):
    ValueError: delta must be > 0 and <= 0.5, got 0
    """

    delta: float = 0.01
    tolerance: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", number("delta", self.delta, at_most=0.5))
        if self.tolerance is not None:
            object.__setattr__(self, "tolerance", number("tolerance", self.tolerance, at_most=0.25))

    def __repr__(self) -> str:
        return _spec(self)


@dataclass(frozen=True)
class Hoeffding:
    """Eliminate an arm when w / n + sqrt(alpha log(t + c) / n) < 1/2 against one opponent, as in the MergeDTS paper.

    >>> Hoeffding(alpha=0.8**6, c=4e6)
    Hoeffding(alpha=0.2621440000000001, c=4000000.0)
    """

    alpha: float
    c: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", number("alpha", self.alpha))
        object.__setattr__(self, "c", number("c", self.c))


Rule = Certified | Hoeffding | str | None  # the type of the parameter `elimination` of a bandit


def elimination_from(value: object) -> Certified | Hoeffding | None:
    """Parse an elimination rule from text. A rule or None is returned unchanged.

    >>> elimination_from("Certified(delta=0.05, tolerance=0.01)")
    Certified(delta=0.05, tolerance=0.01)
    """
    if value is None or isinstance(value, Certified | Hoeffding):
        return value
    rules: dict[str, type[Certified] | type[Hoeffding]] = {"Certified": Certified, "Hoeffding": Hoeffding}
    if isinstance(value, str):
        name, options = parse(value)
        if name in rules:
            known = [field.name for field in fields(rules[name])]
            for option in options:
                if option not in known:
                    raise ValueError(f"{name} has no option {option!r}; its options: {', '.join(known)}")
            return rules[name](**options)  # type: ignore[arg-type]
    raise ValueError(f"elimination must be Certified(delta=...) or Hoeffding(alpha=..., c=...), got {brief(value)}")


def _spec(rule: Certified) -> str:
    given = {field.name: getattr(rule, field.name) for field in fields(rule)}
    return (
        f"{type(rule).__name__}({', '.join(f'{name}={value}' for name, value in given.items() if value is not None)})"
    )


@dataclass(frozen=True)
class Elimination:
    """An eliminated arm: the duel that eliminated it, the arm that won this duel, and the evidence at that time."""

    arm: int
    told: int  # number of outcomes learnt at that time
    by: int
    evidence: float | None  # natural logarithm, summed over all opponents. None if the rule keeps no evidence

    def __str__(self) -> str:
        strength = "" if self.evidence is None else f", evidence {self.evidence:.2f}"
        return f"arm {self.arm} was eliminated after duel {self.told:,}, which arm {self.by} won{strength}"


@dataclass(frozen=True)
class Confidence:
    """The guarantee of a bandit now.

    `delta` is the largest probability that the best arm is not among `alive`. None: there is no guarantee.
    """

    delta: float | None
    alive: tuple[int, ...]
    tied: bool
    tolerance: float | None
    doubt: float = 0.0  # the least evidence against any arm, a natural logarithm
    _: KW_ONLY
    champion: int
    n_arms: int
    n_retired: int = 0
    told: int  # outcomes learnt

    @property
    def p_best_exists(self) -> float:
        """The p-value of "one arm is at least as good as all others". It is valid whenever you look."""
        return math.exp(-max(0.0, self.doubt))

    @property
    def in_doubt(self) -> bool:
        """Whether the evidence is against every arm, so that none of them may be called the best."""
        return self.p_best_exists <= DOUBT_P_VALUE

    @property
    def headline(self) -> str:
        """What is decided, in one line."""
        return headline(self._facts())

    @property
    def meaning(self) -> str:
        """The assumptions on which the headline holds."""
        return meaning(self._facts())

    def __str__(self) -> str:
        return f"{self.headline}\n{self.meaning}"

    def _facts(self, copeland: tuple[int, ...] = ()) -> DecisionFacts:
        alive = [str(arm) for arm in self.alive]
        return DecisionFacts(
            left=len(alive),
            tried=self.n_arms,
            retired=self.n_retired,
            resolved=self.told,
            leader=str(self.champion),
            winner=alive[0] if len(alive) == 1 else None,
            tied=alive if self.tied else (),
            delta=self.delta,
            tolerance=self.tolerance,
            p_best_exists=self.p_best_exists,
            copeland=[str(arm) for arm in copeland],
            noun="arm",
        )


@dataclass(frozen=True)
class Decision:
    """The decision of a bandit: the winner or the tied arms, and the eliminations; both are empty before a decision.

    Where the evidence is against every arm, `copeland` has the arms that win most of the pairs that met, with half a
    point for a pair that did not meet. It is an estimate without a guarantee.
    """

    winner: int | None
    tied: tuple[int, ...]
    confidence: Confidence
    eliminated: tuple[Elimination, ...]  # in their order
    copeland: tuple[int, ...] = ()

    @property
    def headline(self) -> str:
        """What is decided, in one line."""
        return headline(self.confidence._facts(self.copeland))

    @property
    def meaning(self) -> str:
        """The assumptions on which the headline holds, and the Copeland estimate if there is one."""
        return meaning(self.confidence._facts(self.copeland))

    def __str__(self) -> str:
        return f"{self.headline}\n{self.meaning}"
