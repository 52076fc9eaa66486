"""Elimination rules (`Certified`, `Hoeffding`), and the `Confidence` and `Decision` that follow from them.

The tests that eliminate an arm are compiled: `families/merging.pyx::learn` and `kernels/certificate.pxd::record_bets`.
"""

import math
from dataclasses import dataclass, fields

from rankduel.bandits.parameters import number
from rankduel.errors import brief
from rankduel.spec import parse

__all__ = ["Certified", "Confidence", "Decision", "Elimination", "Hoeffding", "Rule", "elimination_from"]

DOUBT_P_VALUE = 0.1  # of "there is a best arm"; at or below it, no best arm is in sight


@dataclass(frozen=True)
class Certified:
    """Eliminate on evidence that adds up over all opponents; the best arm is lost with probability `delta` at most.

    The best arm is the Condorcet winner: given the past, it wins each of its duels with probability 1/2 at least. The
    promise holds at any time, for any number of arms, and whoever is chosen to meet (docs/certified.md has the proof).
    With a `tolerance`, arms end together as soon as each two of them are known to be within it, |p - 1/2| < tolerance;
    then all that share the first place are kept, for log(2 n) more evidence while n arms are left.

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
    """Eliminate an arm when w / n + sqrt(alpha log(t + c) / n) < 1/2 against one opponent: the rule of the paper.

    >>> Hoeffding(alpha=0.8**6, c=4e6)
    Hoeffding(alpha=0.2621440000000001, c=4000000.0)
    """

    alpha: float
    c: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", number("alpha", self.alpha))
        object.__setattr__(self, "c", number("c", self.c))


Rule = Certified | Hoeffding | str | None  # as it is handed to a bandit


def elimination_from(value: object) -> Certified | Hoeffding | None:
    """A rule, from itself or as people type it.

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
                    raise ValueError(f"{name} has no option {option!r}, expected {', '.join(known)}")
            return rules[name](**options)  # type: ignore[arg-type]
    raise ValueError(f"elimination must be Certified(delta=...) or Hoeffding(alpha=..., c=...), got {brief(value)}")


def _spec(rule: Certified) -> str:
    given = {field.name: getattr(rule, field.name) for field in fields(rule)}
    return (
        f"{type(rule).__name__}({', '.join(f'{name}={value}' for name, value in given.items() if value is not None)})"
    )


@dataclass(frozen=True)
class Elimination:
    """An arm that is out: after which duel, who won that duel, and how strong the evidence was then."""

    arm: int
    told: int  # outcomes learnt by then
    by: int
    evidence: float | None  # natural logarithm; it adds up over all opponents. None where the rule has no such number

    def __str__(self) -> str:
        strength = "" if self.evidence is None else f", evidence {self.evidence:.2f}"
        return f"arm {self.arm} is out since duel {self.told:,}, which arm {self.by} won{strength}"


@dataclass(frozen=True)
class Confidence:
    """What is guaranteed now. `delta` is the largest chance that the best arm is not among `alive`; None: not known."""

    delta: float | None
    alive: tuple[int, ...]
    tied: bool
    tolerance: float | None
    doubt: float = 0.0  # the least evidence against any arm, a logarithm; if all carry much, there is no best arm

    @property
    def p_best_exists(self) -> float:
        """A p-value, good at any time, of "some arm is at least as good as each other one"."""
        return math.exp(-max(0.0, self.doubt))

    @property
    def in_doubt(self) -> bool:
        """Whether no best arm is in sight: each one carries evidence against it."""
        return self.p_best_exists <= DOUBT_P_VALUE

    def __str__(self) -> str:
        left = f"arm {self.alive[0]}" if len(self.alive) == 1 else f"one of the {len(self.alive)} arms left"
        if self.delta is None:
            return f"Nothing is guaranteed: the rule has no proof for these parameters. Its answer is {left}."
        sure = f"With probability {1 - self.delta:g} at least, at whatever time you look"
        text = f"{sure}: if some arm is at least as good as each other one, it is {left}"
        if self.tied and self.tolerance is not None:
            text += f", and each two of them are within {self.tolerance:g} of even"
        if self.in_doubt:
            p = f"p = {self.p_best_exists:.2g}"
            text += f". But no best arm is in sight: each one carries evidence against it ({p})"
        return text + "."


@dataclass(frozen=True)
class Decision:
    """The end of a tournament, or where it stands: the winner, or the tied arms, and why the others are out.

    Where no best arm is in sight, `copeland` has the arms that win most of the pairs that met, a pair that did not meet
    counted half. It is an estimate, and nothing about it is guaranteed.
    """

    winner: int | None
    tied: tuple[int, ...]
    confidence: Confidence
    eliminated: tuple[Elimination, ...]  # in their order
    copeland: tuple[int, ...] = ()

    def __str__(self) -> str:
        if self.copeland:
            arms = f"arm{'' if len(self.copeland) == 1 else 's'} {', '.join(map(str, self.copeland))}"
            return f"{self._head} {self.confidence} Most pairs are won by {arms}: an estimate without a guarantee."
        return f"{self._head} {self.confidence}"

    @property
    def _head(self) -> str:
        if self.winner is not None and self.copeland:
            return f"Arm {self.winner} is the last one left."
        if self.winner is not None:
            return f"The winner is arm {self.winner}."
        if self.tied:
            return f"Arms {', '.join(map(str, self.tied))} are tied."
        return f"Not decided: {len(self.confidence.alive)} arms are left."
