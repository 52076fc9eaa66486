"""The life of a tournament: its status, the actions that each status allows, and what users see before and after.

A decision moves no traffic. Outside the traffic share, users see the baseline. Inside it, `after_decision` says what
users see after a decision. Only an operator can roll a ranker out.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

__all__ = ["ACTIONS", "AFTER_DECISION", "STATUSES", "Rollout", "Situation", "status_of"]

STATUSES = ("draft", "running", "paused", "decided", "rolled_out", "stopped", "archived")
AFTER_DECISION = ("winner", "baseline", "compare")
_BEFORE_THE_END = ("draft", "running", "paused", "decided", "rolled_out")
_OPEN = ("draft", "running", "paused", "decided")  # in which the rankers can change
ACTIONS = {  # each action of an operator, and the statuses that allow it
    "start": ("draft", "paused"),
    "pause": ("running", "decided", "rolled_out"),
    "stop": ("running", "paused", "decided", "rolled_out"),
    "roll_out": ("decided", "rolled_out"),
    "roll_back": ("rolled_out", "paused"),
    "archive": (*_BEFORE_THE_END, "stopped"),
    "delete": ("draft", "stopped", "archived"),
    "configure": _BEFORE_THE_END,
    "add_rankers": _OPEN,
    "retire": _OPEN,
    "pause_ranker": _OPEN,
    "start_ranker": _OPEN,
}
_RANKER_ACTIONS = ("add_rankers", "retire", "pause_ranker", "start_ranker")
_DUEL_PAGES = "pages that mix the results of two rankers"


class Rollout(NamedTuple):
    """The ranker that an operator has rolled out, and the share of all traffic that sees it."""

    ranker: str
    share: float


def status_of(phase: str, *, decided: bool, rolled_out: bool) -> str:
    """Return the status: the phase, except that a running tournament may be decided or rolled out.

    >>> status_of("running", decided=True, rolled_out=False), status_of("paused", decided=True, rolled_out=True)
    ('decided', 'paused')
    """
    if phase != "running":
        return phase
    return "rolled_out" if rolled_out else "decided" if decided else "running"


@dataclass(frozen=True, slots=True)
class Situation:
    """Everything that decides what users see now. `phase` is the last action of an operator or guardrail.

    >>> now = Situation("running", baseline="ltr-2", share=0.05, decided="bm25-flat")
    >>> now.status, now.users_see
    ('decided', '5 % of users see the winner `bm25-flat`, and all others see the baseline `ltr-2`.')
    >>> now.effects["stop"]
    'All users will see the baseline `ltr-2`, although `bm25-flat` won.'
    >>> now.refusal("start")
    'is decided; this is possible only while draft or paused'
    """

    phase: str  # draft, running, paused, stopped or archived
    baseline: str
    share: float = 1.0
    shadow: bool = False
    after_decision: str = "winner"
    decided: str | None = None  # the winner, or the champion of tied rankers
    tied: bool = False
    rollout: Rollout | None = None
    moving_baseline: bool = False  # an old tournament without a baseline: users see the current champion instead
    external_baseline: bool = False
    failing: bool = False  # whether the storage or the bandit fails

    @property
    def status(self) -> str:
        """One of `STATUSES`."""
        return status_of(self.phase, decided=self.decided is not None, rolled_out=self.rollout is not None)

    def refusal(self, action: str) -> str | None:
        """Return why an action is not possible now, as the rest of a sentence about the tournament, or None."""
        if action in _RANKER_ACTIONS and self.rollout is not None:
            return f"has rolled {self.rollout.ranker!r} out; roll it back before you change the rankers"
        if self.status not in ACTIONS[action]:
            needed = " or ".join(ACTIONS[action]).replace("_", " ")
            return f"is {self.status.replace('_', ' ')}; this is possible only while {needed}"
        if action == "roll_back" and self.rollout is None:
            return "has nothing to roll back; no ranker is rolled out"
        if action in _RANKER_ACTIONS[1:] and self.decided is not None and not self.tied:
            return "has only one ranker left"
        return None

    @property
    def compares(self) -> bool:
        """Whether users inside the traffic share get duels of the winner against the baseline after the decision."""
        return self.after_decision == "compare" and not self.external_baseline and self.decided != self.baseline

    def served(self, in_share: Callable[[float], bool]) -> tuple[str, str | None]:
        """Return why an ask gets no duel after a decision, and the ranker to serve; None: the baseline.

        `in_share` says whether the ask is in a share of the traffic.
        """
        if self.rollout is not None:
            ranker, share = self.rollout
            return ("rolled_out", ranker) if in_share(share) else ("share", None)
        if self.shadow:
            return "shadow", None
        if not in_share(self.share):
            return "share", None
        return "decided", None if self.after_decision == "baseline" else self.decided

    # Sentences

    @property
    def users_see(self) -> str:
        """What users see now, in one sentence."""
        return self._sentence("see")

    @property
    def effects(self) -> dict[str, str]:
        """What users will see after each action that is possible now, by action."""
        return {action: text for action, text in self._all_effects() if self.refusal(action) is None}

    def after_roll_out(self, rollout: Rollout) -> str:
        """Return what users will see after a roll-out.

        >>> decided = Situation("running", baseline="ltr-2", share=0.05, decided="bm25-flat")
        >>> decided.after_roll_out(Rollout("bm25-flat", 1.0))
        'All users (now 5 %) will see the winner `bm25-flat`.'
        """
        return replace(self, rollout=rollout)._after(self)

    def after_changes(self, **changes: Any) -> str:
        """Return what users will see after a change of settings, which are fields of this class.

        >>> Situation("running", baseline="ltr-2", share=0.05).after_changes(share=0)
        'All users will see the baseline `ltr-2`.'
        """
        moving = self.moving_baseline and "baseline" not in changes
        return replace(self, moving_baseline=moving, **changes)._after(self)

    def _all_effects(self) -> Iterator[tuple[str, str]]:
        ended = replace(self, rollout=None)
        for action, after in (
            ("start", replace(self, phase="running")),
            ("pause", replace(self, phase="paused")),
            ("stop", replace(ended, phase="stopped")),
            ("roll_back", replace(ended, after_decision="baseline")),
            ("archive", replace(ended, phase="archived")),
        ):
            yield action, after._after(self)
        if self.decided is not None:
            rolled_out = f"The share of users that you choose will see {self._named(self.decided)}"
            same = self.decided == self.baseline
            others = ", which is also the baseline" if same else f", and all others will see {self._baseline_text}"
            yield "roll_out", f"{rolled_out}{others}."
        gone = "The tournament and its data will be removed for good"
        yield "delete", f"{gone}, and your application must no longer ask for duels of it."
        yield "configure", "A new share, baseline, dry run or `after_decision` changes at once what users see."
        reopened = replace(self, decided=None, tied=False)
        opened = "" if self.decided is None else "The decision will be open again. "
        yield "add_rankers", f"{opened}{reopened._after(self) if opened else 'New rankers will take part in duels.'}"
        yield "retire", "Users will no longer see the ranker in duels."
        yield "pause_ranker", "Users will not see the ranker in duels until you start it again."
        yield "start_ranker", "Users will see the ranker in duels again."

    def _after(self, before: "Situation") -> str:
        """Return what users will see in this situation, compared with the situation before."""
        if self._sight() == before._sight():
            return self._sentence("will still see")
        (part, share, _), (part_before, share_before, rest_before) = self._sight(), before._sight()
        if part == part_before and share and share_before:
            return self._sentence("will see", f" (now {_percent(share_before)})")
        text = self._sentence("will see")
        seen, was = (part, part_before) if share == share_before == 1 else ("", "")
        if not share and share_before == 1:
            was = part_before
        elif share == 1 and not share_before:
            was = rest_before
        if seen == was or "although" in text or _DUEL_PAGES in was:
            return text
        return f"{text.removesuffix('.')} instead of {was}."

    def _sentence(self, see: str, now: str = "") -> str:
        part, share, rest = self._sight()
        if share == 1:
            return f"All users{now} {see} {part}."
        if share == 0:
            return f"All users {see} {rest}{self._because}."
        return f"{_percent(share)} of users{now} {see} {part}, and all others {see} {rest}."

    def _sight(self) -> tuple[str, float, str]:
        """Return what users in a share of the traffic see, the share, and what all others see."""
        rest, share = self._baseline_text, self.share if self.rollout is None else self.rollout.share
        _, ranker = self.served(lambda share: True)
        if self.phase != "running" or self.failing or (self.shadow and self.rollout is None):
            return rest, 0.0, rest
        if self.decided is None and self.rollout is None:
            return _DUEL_PAGES, share, rest
        if ranker is None or ranker == self.baseline:
            return rest, 0.0, rest
        if self.rollout is None and self.compares:
            return f"pages that compare {self._named(ranker)} with {rest}", share, rest
        return self._named(ranker), share, rest

    @property
    def _because(self) -> str:
        """Why all users see the baseline, where that is not obvious."""
        if self.failing:
            return ", because the tournament fails"
        if self.shadow and self.phase == "running" and self.rollout is None:
            return ", because the tournament is a dry run"
        if self.moving_baseline and self.decided is None:
            return ", because no baseline is set"
        if self.decided is not None and self.decided != self.baseline and not self.tied:
            return f", although `{self.decided}` won"
        return ""

    @property
    def _baseline_text(self) -> str:
        return f"the {'champion' if self.moving_baseline else 'baseline'} `{self.baseline}`"

    def _named(self, ranker: str) -> str:
        if ranker != self.decided:
            return f"`{ranker}`"
        return f"`{ranker}`, one of the tied rankers" if self.tied else f"the winner `{ranker}`"


def _percent(share: float) -> str:
    return f"{100 * share:.4g} %"
