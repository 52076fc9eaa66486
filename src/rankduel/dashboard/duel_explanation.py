"""Explain a duel: the selection rule of the bandit, and the records of the two rankers when it was issued."""

from dataclasses import dataclass

from rankduel.dashboard.leaderboard import LeaderboardRow, leaderboard
from rankduel.live import DuelRow, View

__all__ = ["DuelContext", "duel_context", "selection_rule", "explain_duel"]


@dataclass(frozen=True, slots=True)
class DuelContext:
    """Records of the two rankers of a duel when it was issued, after so many outcomes."""

    resolved: int
    rankers_left: int
    first: LeaderboardRow
    second: LeaderboardRow
    first_place: int  # on the leaderboard, from 1
    second_place: int
    wins: int  # of the first over the second
    losses: int
    ties: int
    enough: float | None  # the evidence at which a ranker goes


def duel_context(view: View, duel: DuelRow) -> DuelContext:
    """The records of the two rankers of a duel in a view."""
    board = leaderboard(view)
    places = {line.ranker: place for place, line in enumerate(board)}
    first, second = places[view.names[duel.first]], places[view.names[duel.second]]
    pair = duel.first, duel.second
    return DuelContext(
        view.resolved, len(view.alive), board[first], board[second], first + 1, second + 1,
        view.wins.get(pair, 0), view.wins.get(pair[::-1], 0), view.ties.get((min(pair), max(pair)), 0), view.enough,
    )  # fmt: skip


def selection_rule(bandit: str) -> str:
    """How a bandit selects the two rankers, in words."""
    return _RULES.get(bandit, f"They are the choice of {bandit}.")


def explain_duel(then: View | None, duel: DuelRow) -> str:
    """Explain why two rankers met, from the view at that time; None if that is too long ago."""
    if then is None:
        return "What was known of the two when they were chosen is too long ago to be found."
    first, second = then.names[duel.first], then.names[duel.second]
    facts = [f"After {then.resolved:,} outcomes, {len(then.alive):,} of {len(then.names):,} rankers were left."]
    if duel.first == duel.second:
        facts.append(f"Both choices fell on {first}, which met itself.")
    elif met := _met(then, duel.first, duel.second):
        won, lost = then.wins.get((duel.first, duel.second), 0), then.wins.get((duel.second, duel.first), 0)
        ties = f", {met - won - lost:,} ties" if met > won + lost else ""
        facts.append(f"They had met {_times(met)}: {first} won {won:,}, {second} {lost:,}{ties}.")
    else:
        facts.append("They had not met before.")
    if then.champion in (duel.first, duel.second):
        facts.append(f"{then.names[then.champion]} led.")
    if then.bandit == "CertifiedSparring":
        facts += [
            f"Nobody that was left had beaten {then.names[arm]} more clearly than {then.names[other]}."
            for arm, other in ((duel.first, duel.second), (duel.second, duel.first))
            if arm != other and _nemesis(then, arm) == other
        ]
    for number, batch in enumerate(then.batches or (), 1):
        if duel.first in batch and duel.second in batch and then.batches is not None:
            facts.append(f"They were in batch {number} of {len(then.batches):,}, of {len(batch):,} rankers.")
    if then.bandit == "RMED1" and then.resolved < len(then.names) * (len(then.names) - 1) // 2:
        facts.append("It was still the beginning, in which every pair meets once.")
    if duel.first_propensity is not None and duel.second_propensity is not None:
        chances = f"{_chance(duel.first_propensity)}, {second} with one of {_chance(duel.second_propensity)}"
        facts.append(f"{first} was drawn with a chance of {chances}.")
    return " ".join(facts)


def _met(view: View, i: int, j: int) -> int:
    return view.wins.get((i, j), 0) + view.wins.get((j, i), 0) + view.ties.get((min(i, j), max(i, j)), 0)


def _nemesis(view: View, arm: int) -> int | None:
    """Of those that are left, who has beaten a ranker most clearly: by lead^2 / duels."""
    clearest, found = 0.0, None
    for other in view.alive.tolist():
        lost, won = view.wins.get((other, arm), 0), view.wins.get((arm, other), 0)
        if lost > won and (lost - won) ** 2 / (lost + won) > clearest:
            clearest, found = (lost - won) ** 2 / (lost + won), other
    return found


def _times(n: int) -> str:
    return "once" if n == 1 else f"{n:,} times"


def _chance(p: float) -> str:
    return f"{100 * p:.2g} %"


_SPARRING = "Each side has a learner of its own, which is rewarded when its ranker wins: "
_RULES = {
    "CertifiedSparring": "Ratings are drawn at random within their uncertainty. The best one of a second draw is put "
    "to the test: against the best one of the first, or against who has beaten it most clearly, or against a ranker at "
    "random, whichever promises most evidence for the least harm to users.",
    "DTS": "One of them won most of a tournament that was sampled from what is known, among those that may win most "
    "duels; the other had the largest sampled chance against it.",
    "MergeDTS": "Batches take turns. One of them won most of a tournament that was sampled in their batch; the other "
    "seemed least likely to beat it in a second sample, so that the weakest goes soon.",
    "MergeRUCB": "Batches take turns. One of them was drawn at random from their batch; the other may beat it by the "
    "widest margin, by its upper confidence bound.",
    "REX3": "Both were drawn at random, by weights that grow with every win and fall with every loss.",
    "RMED1": "Rankers that may still be the best take turns. One of them had its turn; the other is most likely the "
    "best, if it is ahead of it, or else who beats it most.",
    "RUCB": "One of them was drawn from those that no confidence bound says to lose to another; the other could beat "
    "it by the widest margin, by its upper confidence bound.",
    "SelfSparring": "What is known of each ranker was sampled twice; each of the two was the best of one sample.",
    "SparringEXP3": f"{_SPARRING}it draws by weights that grow with every reward.",
    "SparringThompson": f"{_SPARRING}it takes the best of a sample of what it knows.",
    "SparringTsallisINF": f"{_SPARRING}it draws by weights that fall with every loss.",
    "SparringUCB1": f"{_SPARRING}it takes the highest upper confidence bound.",
    "Uniform": "All pairs that are left meet equally often.",
}
