"""Attribution: turn signals and clicks into the outcome of a duel.

Signals after the window of a duel do not count (`Attribution.judge`). Two other rules refuse what comes late:
`apply_outcome` in duels.py (an outcome, or clicks, after the duel has expired) and `TournamentTransaction._signal` in
live/storage/transaction.py (a signal of a duel that is over).
"""

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from hashlib import blake2b
from itertools import groupby
from typing import Any, NamedTuple, Self

from rankduel.interleaving import Interleaved, Interleaving
from rankduel.live.rules.signals import Signal
from rankduel.live.rules.validation import brief, check_name, known, number, whole
from rankduel.types import Outcome

__all__ = ["MAX_ACTIONS", "RULES", "Attribution", "Judgement"]

MAX_ACTIONS = 100  # of a tournament: each action has two counters
RULES = ("skip", "half", "coin")
_TIED = 1e-9  # relative tolerance for ties, as in the methods: 0.1 + 0.2 against 0.3 is a tie despite rounding


class Judgement(NamedTuple):
    """The outcome of a duel, and counts of its signals. Signals of actions without a weight are not counted."""

    outcome: Outcome | None  # None: nothing to learn
    counted: int  # signals that contributed to the outcome
    orphans: int  # signals about documents that are not on the page
    late: int  # signals after the window
    hasty: int  # signals with less than the minimum dwell time


@dataclass(frozen=True)
class Attribution:
    """Rules that turn the signals of a query into the outcome of its duel.

    The interleaving method credits each action separately, with a number from -1 (all for the second ranker) to 1 (all
    for the first). The weighted sum over all actions decides. `tie` is the rule for a sum of 0, `no_click` the rule if
    no signal counts: `skip` (learn nothing), `half` (a tie) or `coin` (a fair coin flip, fixed for each duel).

    A tournament that changes its attribution increments `version`.

    >>> Attribution(actions={"click": 1, "purchase": 5}, dwell=10)
    Attribution(actions={'click': 1.0, 'purchase': 5.0}, window=1800.0, dwell=10.0, tie='half', no_click='skip',
    version=1)
    >>> Attribution(tie="flip")
    Traceback (most recent call last):
    ValueError: tie must be one of skip, half, coin, got 'flip'
    """

    actions: Mapping[str, float] = field(default_factory=lambda: {"click": 1.0}, hash=False)  # weights; 0: ignored
    window: float = 1800.0  # seconds after the duel was issued; later signals do not count
    dwell: float = 0.0  # minimum seconds on a document for a signal to count
    tie: str = "half"
    no_click: str = "skip"
    version: int = 1

    def __post_init__(self) -> None:
        if not isinstance(self.actions, Mapping):
            raise TypeError(f"actions must be a dictionary of weights by action, got {brief(self.actions)}")
        actions = {
            check_name("an action", action): number(f"the weight of {action!r}", weight, below=1e9)
            for action, weight in self.actions.items()
        }
        if not any(actions.values()):
            raise ValueError(f"at least one of actions must have a weight above 0, got {brief(actions)}")
        window = number("window", self.window)
        if window == 0:
            raise ValueError(f"window must be a number of seconds above 0, got {self.window!r}")
        values = {
            "actions": actions,
            "window": window,
            "dwell": number("dwell", self.dwell, below=window),
            "version": whole("version", self.version, at_least=1),
        }
        for rule in ("tie", "no_click"):
            if getattr(self, rule) not in RULES:
                raise ValueError(f"{rule} must be one of {', '.join(RULES)}, got {brief(getattr(self, rule))}")
        for attribute, value in values.items():
            object.__setattr__(self, attribute, value)

    def to_dict(self) -> dict[str, Any]:
        """Return the rules as JSON values."""
        return {each.name: getattr(self, each.name) for each in fields(self)} | {"actions": dict(self.actions)}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Self:
        """Make rules from the result of `to_dict`. Missing fields have their defaults.

        >>> Attribution.from_dict({"window": 60}).to_dict()["window"]
        60.0
        """
        return cls(**known("an attribution", stored, [each.name for each in fields(cls)]))

    def of_clicks(
        self, shown: Interleaved, clicks: Iterable[Hashable], *, seed: int, method: Interleaving
    ) -> Outcome | None:
        """Return the outcome from clicked documents, all with the same weight; None if there is nothing to learn.

        Clicks have no times, so the window does not apply.
        """
        clicked = list(clicks)
        lead = method.credit(shown, clicked) if clicked else 0.0
        if abs(lead) > _TIED:
            return Outcome.FIRST if lead > 0 else Outcome.SECOND
        return _by_rule(self.tie if clicked else self.no_click, seed)

    def resolve(
        self, shown: Interleaved, signals: Iterable[Signal], *, seed: int, method: Interleaving, issued: float
    ) -> Outcome | None:
        """Return the outcome of a duel from its page and its signals; None if there is nothing to learn.

        >>> from rankduel.interleaving import TeamDraftInterleaving
        >>> method = TeamDraftInterleaving()
        >>> page = method.interleave("abc", "cba", k=3, seed=1)
        >>> page.documents, page.credit_data
        (('c', 'a', 'b'), ('second', 'first', 'second'))
        >>> click = Signal("q", "click", "a", position=None, time=5.0, dwell=None, key="1")
        >>> purchase = Signal("q", "purchase", "c", position=None, time=90.0, dwell=None, key="2")
        >>> rules = Attribution(actions={"click": 1, "purchase": 5})
        >>> rules.resolve(page, [click], seed=1, method=method, issued=0.0)
        <Outcome.FIRST: 'first'>
        >>> rules.resolve(page, [click, purchase], seed=1, method=method, issued=0.0)
        <Outcome.SECOND: 'second'>
        >>> rules.resolve(page, [], seed=1, method=method, issued=0.0) is None
        True
        """
        return self.judge(shown, signals, seed=seed, method=method, issued=issued).outcome

    def judge(
        self, shown: Interleaved, signals: Iterable[Signal], *, seed: int, method: Interleaving, issued: float
    ) -> Judgement:
        """Like `resolve`, with counts of the signals.

        Order and duplicates do not matter: signals with equal keys are one signal, and a document counts once per
        action. `issued` is the time of the ask in seconds since 1970. Signals with an earlier time count too: nobody
        clicks before the page is shown, so the clock of the user must be slow.

        The dwell time of a document ends with the next signal about another document, or about none. Buying the clicked
        document does not end it. Signals after the window do not end it either, because they may arrive after the
        judgement.
        """
        weights = {action: weight for action, weight in self.actions.items() if weight > 0}
        page = {str(document): document for document in shown.documents}
        clicks: dict[str, set[Hashable]] = {}
        counted = orphans = hasty = late = 0
        for signal, stay in _with_dwell_times(_once(signals), issued + self.window):
            if signal.action not in weights:
                continue
            if stay is None:
                late += 1
            elif signal.object not in page:
                orphans += 1
            elif stay < self.dwell:
                hasty += 1
            else:
                counted += 1
                clicks.setdefault(signal.action, set()).add(page[signal.object])
        leads = [weights[action] * method.credit(shown, documents) for action, documents in clicks.items()]
        lead = math.fsum(leads)
        if abs(lead) > _TIED * math.fsum(map(abs, leads)):
            outcome: Outcome | None = Outcome.FIRST if lead > 0 else Outcome.SECOND
        else:
            outcome = _by_rule(self.tie if clicks else self.no_click, seed)
        return Judgement(outcome, counted, orphans, late, hasty)


def _once(signals: Iterable[Signal]) -> list[Signal]:
    """Remove duplicate keys and sort by time. The result does not depend on the order of the signals."""
    unique: dict[str, Signal] = {}
    for signal in sorted(signals, key=lambda signal: (signal.time, repr(signal))):
        unique.setdefault(signal.key, signal)
    return list(unique.values())


def _with_dwell_times(signals: list[Signal], end: float) -> Iterator[tuple[Signal, float | None]]:
    """Yield each signal, the last first, with the dwell time of its document; None if the signal is late.

    `signals` are sorted by time. Signals with equal times do not end each other's dwell time.
    """
    next_object: str | None = None
    next_time = other_time = math.inf  # of the next signal about `next_object`, and of the next about anything else
    for time, together in groupby(reversed(signals), key=lambda signal: signal.time):
        group = list(together)
        for signal in group if time <= end else ():
            if signal.object != next_object:
                next_object, other_time = signal.object, next_time
            next_time = time
        for signal in group:
            left = other_time if signal.object == next_object else next_time
            measured = math.inf if signal.dwell is None else signal.dwell
            yield signal, min(left - time, measured) if time <= end else None


def _by_rule(rule: str, seed: int) -> Outcome | None:
    if rule == "coin":
        hashed = blake2b(str(seed).encode(), digest_size=1, person=b"rankduel coin").digest()
        return Outcome.FIRST if hashed[0] & 1 else Outcome.SECOND
    return Outcome.TIE if rule == "half" else None
