"""Explain a duel: how the bandit selects rankers, and the records of the two rankers when the duel was issued."""

from dataclasses import dataclass

from rankduel.dashboard.leaderboard import LeaderboardRow, leaderboard
from rankduel.live import DuelRow, View

__all__ = ["DuelContext", "duel_context", "selection_rule", "explain_duel"]


@dataclass(frozen=True, slots=True)
class DuelContext:
    """Records of the two rankers of a duel when it was issued."""

    resolved: int  # duels at that time
    rankers_left: int
    first: LeaderboardRow
    second: LeaderboardRow
    first_place: int  # position on the leaderboard, counted from 1
    second_place: int
    wins: int  # of the first over the second
    losses: int
    ties: int


def duel_context(view: View, duel: DuelRow) -> DuelContext:
    """Return the records of the two rankers of a duel in a view."""
    board = leaderboard(view)
    position = {row.ranker: index for index, row in enumerate(board)}
    first, second = position[view.names[duel.first]], position[view.names[duel.second]]
    pair = duel.first, duel.second
    return DuelContext(
        view.resolved, len(view.alive), board[first], board[second], first + 1, second + 1,
        view.wins.get(pair, 0), view.wins.get(pair[::-1], 0), view.ties.get((min(pair), max(pair)), 0),
    )  # fmt: skip


def selection_rule(bandit: str) -> str:
    """Describe how a bandit selects the two rankers."""
    return _RULES.get(bandit, f"Both rankers were chosen by {bandit}.")


def explain_duel(then: View | None, duel: DuelRow) -> str:
    """Explain why two rankers met, from the view at that time, which is None if the duel is too old."""
    if then is None:
        return "This duel is too old to restore the records of its rankers at that time."
    first, second = then.names[duel.first], then.names[duel.second]
    left, were = len(then.alive), "was" if len(then.alive) == 1 else "were"
    facts = [f"After {then.resolved:,} outcomes, {left:,} of {len(then.names):,} rankers {were} left."]
    if duel.first == duel.second:
        facts.append(f"{first} was chosen for both sides.")
    elif met := _met(then, duel.first, duel.second):
        won, lost = then.wins.get((duel.first, duel.second), 0), then.wins.get((duel.second, duel.first), 0)
        ties = f", {_ties(met - won - lost)}" if met > won + lost else ""
        facts.append(f"They had met {_times(met)}: {first} won {won:,}, {second} won {lost:,}{ties}.")
    else:
        facts.append("They had not met before.")
    if then.champion in (duel.first, duel.second):
        facts.append(f"{then.names[then.champion]} was the champion.")
    if then.bandit == "CertifiedSparring":
        facts += [
            f"{then.names[other]} was the remaining ranker that had beaten {then.names[arm]} most clearly."
            for arm, other in ((duel.first, duel.second), (duel.second, duel.first))
            if arm != other and _nemesis(then, arm) == other
        ]
    for number, batch in enumerate(then.batches or (), 1):
        if duel.first in batch and duel.second in batch and then.batches is not None:
            facts.append(f"They were in batch {number} of {len(then.batches):,}, with {len(batch):,} rankers.")
    if then.bandit == "RMED1" and then.resolved < len(then.names) * (len(then.names) - 1) // 2:
        facts.append("It was the first phase, in which every pair meets once.")
    if duel.first_propensity is not None and duel.second_propensity is not None:
        first_chance, second_chance = _percent(duel.first_propensity), _percent(duel.second_propensity)
        facts.append(f"{first} was drawn with probability {first_chance}, {second} with probability {second_chance}.")
    return " ".join(facts)


def _met(view: View, i: int, j: int) -> int:
    return view.wins.get((i, j), 0) + view.wins.get((j, i), 0) + view.ties.get((min(i, j), max(i, j)), 0)


def _nemesis(view: View, arm: int) -> int | None:
    """Return the remaining ranker that has beaten a ranker most clearly, by lead^2 / duels."""
    clearest, found = 0.0, None
    for other in view.alive.tolist():
        lost, won = view.wins.get((other, arm), 0), view.wins.get((arm, other), 0)
        if lost > won and (lost - won) ** 2 / (lost + won) > clearest:
            clearest, found = (lost - won) ** 2 / (lost + won), other
    return found


def _times(n: int) -> str:
    return "once" if n == 1 else f"{n:,} times"


def _ties(n: int) -> str:
    return "1 tie" if n == 1 else f"{n:,} ties"


def _percent(p: float) -> str:
    return f"{100 * p:.3g} %"


_SPARRING = "Each side has its own learner, which is rewarded when its ranker wins. The learner "
_RULES = {
    "CertifiedSparring": "Every ranker has a rating with an uncertainty, and two random samples of this rating. The "
    "best first sample gives the champion, the best second sample of the others gives the target. The opponent of the "
    "target is the champion, the ranker that has beaten the target most clearly, or a random one: the choice with the "
    "most expected evidence for the least cost to users. If target and champion have met often and neither leads, a "
    "random ranker replaces the target half of the time.",
    "DTS": "One ranker wins most pairs in a random sample of all win probabilities, among the rankers that beat the "
    "most others by their upper confidence bounds. The other one has the largest probability to beat it in a second "
    "sample.",
    "MergeDTS": "Batches take turns. One ranker wins most pairs of its batch in a random sample of win probabilities. "
    "The other one is the least likely to beat it in a second sample, so that weak rankers are eliminated soon.",
    "MergeRUCB": "Batches take turns. One ranker is drawn at random from its batch. The other one has the highest "
    "upper confidence bound on its probability to beat the first one.",
    "REX3": "Both rankers are drawn at random, with weights that grow with every win and fall with every loss.",
    "RMED1": "Rankers that may still be the best take turns. The ranker whose turn it is meets the most likely best "
    "ranker. If it leads against that one, it meets the ranker with the best record against it instead.",
    "RUCB": "One ranker is drawn from those that no upper confidence bound rules out as the best. The other one has "
    "the highest upper confidence bound on its probability to beat the first one.",
    "SelfSparring": "The win rate of every ranker is sampled twice. Each of the two rankers is the best in one sample.",
    "SparringEXP3": f"{_SPARRING}draws a ranker with weights that grow with every reward.",
    "SparringThompson": f"{_SPARRING}takes the best ranker in a random sample of their win rates.",
    "SparringTsallisINF": f"{_SPARRING}draws a ranker with weights that fall with every loss.",
    "SparringUCB1": f"{_SPARRING}takes the ranker with the highest upper confidence bound.",
    "Uniform": "All remaining pairs meet equally often.",
}
