"""Report of a tournament: the decision, what it rests on, what to do next, and all rankers."""

from dataclasses import dataclass

from rankduel.bandits.decision_text import DOUBT_P_VALUE
from rankduel.dashboard.comparisons import Comparison, compare, rivals
from rankduel.dashboard.leaderboard import LeaderboardRow, leaderboard
from rankduel.dashboard.milestones import Milestone, milestones
from rankduel.dashboard.next_steps import NextStep, next_steps
from rankduel.dashboard.user_effect import UserEffect, user_effect
from rankduel.live import LiveDecision, LocalTournament, View
from rankduel.live.client_counts import ClientCounts
from rankduel.live.standings import decision

__all__ = ["Report", "assumptions", "confidence_reached", "report"]

_MAX_CHANGES = 1_000  # events other than outcomes; with more, the timeline has no times of eliminations


@dataclass(frozen=True, slots=True)
class Report:
    """The decision of a tournament, or its state before one.

    `confidence` is the confidence that a decision has. It is reached only if `confidence_reached` is true.
    """

    tournament: str
    status: str
    users_see: str  # what users see now, in one sentence
    headline: str  # what is decided, in one line
    meaning: str  # the assumptions on which the headline holds
    next_steps: list[NextStep]  # the most important one first
    comparisons: list[Comparison]  # of the winner with the baseline and its rivals
    winner: str | None
    tied: list[str]
    champion: str
    confidence: float | None  # None: the bandit gives no guarantee
    confidence_reached: bool
    bandit: str
    baseline: str | None
    begun: float
    until: float
    duels: int  # resolved
    ties: int
    clients: int | None  # distinct clients of resolved duels; None: unknown
    issued: int
    expired: int
    effect: UserEffect | None  # on users so far
    effect_text: str
    timeline: list[Milestone]  # oldest first
    rankers: list[LeaderboardRow]  # all rankers, in the order of the leaderboard
    best_exists: float  # p-value of "one ranker is at least as good as all others"
    assumptions: list[str]  # on which the report holds, and how to read it


def report(t: LocalTournament, clients: ClientCounts | None = None) -> Report:
    """Return the report of a tournament now. Without `clients`, this reads all its duels to count them."""
    view, health = t.view(), t.health()
    found, changes = decision(view), t.audit(_MAX_CHANGES)
    clients = clients or t.count_clients(rivals(view))
    ties = sum(view.ties.values())
    duels = sum(view.wins.values()) + ties
    comparisons, reached, effect = compare(view, clients.of_pairs), confidence_reached(found), user_effect(view)
    return Report(
        tournament=t.name,
        status=view.status,
        users_see=t.users_see,
        headline=found.headline,
        meaning=found.meaning,
        next_steps=next_steps(view, found, comparisons, reached=reached),
        comparisons=comparisons,
        winner=found.winner,
        tied=list(found.tied),
        champion=found.champion,
        confidence=None if found.delta is None else 1 - found.delta,
        confidence_reached=reached,
        bandit=view.settings.bandit,
        baseline=view.settings.baseline,
        begun=t.audit(1, before=2)[0].time,
        until=view.time,
        duels=duels,
        ties=ties,
        clients=clients.total,
        issued=health.counts.issued,
        expired=health.counts.expired,
        effect=effect,
        effect_text=_effect_text(effect, duels),
        timeline=milestones(view, changes, t.event_time),
        rankers=leaderboard(view),
        best_exists=found.p_best_exists,
        assumptions=assumptions(view, found, effect),
    )


def confidence_reached(found: LiveDecision) -> bool:
    """Return whether a decision is reached, with its confidence. This is when its headline names the confidence."""
    decided = found.winner is not None or bool(found.tied)
    return decided and found.delta is not None and found.p_best_exists > DOUBT_P_VALUE


def _effect_text(effect: UserEffect | None, duels: int) -> str:
    """Say what the duels cost or gained users."""
    if effect is None:
        return "Unknown: the baseline took part in no duel." if duels else "Nothing yet: there was no duel."
    better = "Users were better off" if effect.per_page >= 0 else "Users paid a price"
    return (
        f"{better}: compared with {effect.against}, they preferred a ranker of the page with an estimated probability "
        f"of {100 * (0.5 + effect.per_page):.1f} %, over {duels:,} duels. 50 % would be no difference."
    )


def assumptions(view: View, found: LiveDecision, effect: UserEffect | None) -> list[str]:
    """Return the assumptions on which the report holds, and how to read its numbers."""
    texts = [
        found.meaning,
        "Intervals: each holds at all times at once, with 95 % confidence (a confidence sequence). So it also holds if "
        "the results decide when the duels end. An interval for a fixed number of duels would be too narrow.",
        f"Selection: {found.champion} and its rivals are shown because of their results. So the leads in their duels "
        "exceed the truth more often than an interval says. The confidence of a decision takes this into account.",
        "Rating: the estimated probability to win against an average ranker, with a tie as half a win, from all duels "
        "(Bradley-Terry). It takes into account which opponents a ranker met, and it orders the rankers.",
    ]
    if view.evidence is not None:
        texts.append(
            "Evidence against: high is bad for the ranker. 100 % eliminates it. It adds up over all opponents. So a "
            "ranker may be eliminated although its duels with the winner alone are not clear."
        )
    if effect is not None:
        texts.append(
            f"Effect on users: the estimated probability that users prefer a ranker of a duel to {effect.against}, "
            "minus 50 %. It comes from the ratings, and has no guarantee."
        )
    if view.ties:
        texts.append(_about_ties(view))
    if found.retired:
        texts.append("Retired rankers were taken out by an operator. Nothing is claimed about them.")
    return texts


def _about_ties(view: View) -> str:
    ties = sum(view.ties.values())
    share = ties / (sum(view.wins.values()) + ties)
    text = (
        f"Ties: {100 * share:.0f} % of the duels. A duel is a tie if its page gives both rankers the same credit, such "
        "as one click for each, or if the application reports a tie, such as for a page without clicks. Similar result "
        "lists tie often. A tie is no evidence for a ranker. So a decision rests on the decisive duels, and ties make "
        "it later."
    )
    tolerance = view.decision.confidence.tolerance
    if tolerance is None:
        return text
    low, high = 100 * (0.5 - tolerance), 100 * (0.5 + tolerance)
    return (
        f"{text} The tolerance of {tolerance:g} is about decisive duels: tied rankers win {low:g} % to {high:g} % of "
        "them. In 100 duels with this share of ties, the wins of two tied rankers differ by at most "
        f"{200 * tolerance * (1 - share):.1f}."
    )
