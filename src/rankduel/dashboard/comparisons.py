"""Comparisons of the winner with the baseline and its rivals: results of their duels, intervals, and plain words."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from rankduel.dashboard.confidence_sequence import win_interval
from rankduel.live import View

__all__ = ["Comparison", "Pair", "compare", "rivals"]

_MAX_BY_DUELS = 3
_MAX_BY_RATING = 2
Pair = tuple[int, int]  # the winner and another ranker, as indices into `View.names`


@dataclass(frozen=True, slots=True)
class Comparison:
    """The duels of the winner against another ranker. Before a decision, the champion takes the place of the winner.

    `low` and `high` bound the probability that the winner wins a decisive duel (a duel that is no tie), with 95 %
    confidence whenever you look. `estimate` follows from the ratings of all rankers. It has no guarantee.
    """

    winner: str
    rival: str
    roles: list[str]  # why the rival is compared: baseline, tied, met most often, next by rating
    state: str  # of the rival
    wins: int  # of the winner
    losses: int  # of the winner
    ties: int
    clients: int | None  # distinct clients of these duels; None: unknown
    win_share: float | None  # of the decisive duels; None: there were none
    low: float
    high: float
    tie_share: float | None  # None: there were no duels
    lead: float | None  # wins minus losses of the winner, as a share of all duels
    estimate: float  # of the probability that the winner wins, ties counted half
    sentence: str


def rivals(view: View) -> dict[Pair, list[str]]:
    """Return the pairs to compare, each with the roles of the rival, the most important pair first.

    These are the baseline, the rankers tied with the winner, those it met most often, and the next ones by rating.
    """
    champion, roles = view.champion, dict[Pair, list[str]]()
    for role, arm in _candidates(view):
        if arm != champion:
            roles.setdefault((champion, arm), []).append(role)
    return roles


def _candidates(view: View) -> Iterator[tuple[str, int]]:
    champion, baseline = view.champion, view.settings.baseline
    if baseline in view.names:
        yield "baseline", view.names.index(baseline)
    by_rating = sorted((arm for arm in range(len(view.names)) if arm != champion), key=lambda k: -view.ratings.means[k])
    tied = set(view.decision.tied)
    yield from (("tied", arm) for arm in [arm for arm in by_rating if arm in tied][:_MAX_BY_DUELS])
    with_champion = (view.meetings[:, :2] == champion).any(axis=1) & (view.meetings[:, 0] != view.meetings[:, 1])
    met = view.meetings[with_champion].tolist()
    duels = {i if j == champion else j: won + lost + draws for i, j, won, lost, draws in met}
    most = sorted(duels, key=lambda arm: (-duels[arm], arm))
    yield from (("met most often", arm) for arm in most[:_MAX_BY_DUELS])
    yield from (("next by rating", arm) for arm in by_rating[:_MAX_BY_RATING])


def compare(view: View, clients: Mapping[Pair, int | None]) -> list[Comparison]:
    """Return the comparisons of all pairs of `rivals`. `clients` has the number of clients of each pair."""
    return [_comparison(view, pair, roles, clients.get(pair)) for pair, roles in rivals(view).items()]


def _comparison(view: View, pair: Pair, roles: list[str], clients: int | None) -> Comparison:
    wins, losses = view.wins.get(pair, 0), view.wins.get(pair[::-1], 0)
    ties = view.ties.get((min(pair), max(pair)), 0)
    decisive, duels = wins + losses, wins + losses + ties
    winner, rival = (view.names[arm] for arm in pair)
    low, high = win_interval(wins, losses)
    estimate = view.ratings.chance(*pair)
    found = Comparison(
        winner=winner,
        rival=rival,
        roles=roles,
        state=view.state_of(pair[1]),
        wins=wins,
        losses=losses,
        ties=ties,
        clients=clients,
        win_share=wins / decisive if decisive else None,
        low=low,
        high=high,
        tie_share=ties / duels if duels else None,
        lead=(wins - losses) / duels if duels else None,
        estimate=estimate,
        sentence="",
    )
    return replace(found, sentence=_sentence(found))


def _sentence(found: Comparison) -> str:
    """Put a comparison in words."""
    duels = found.wins + found.losses + found.ties
    if found.win_share is None or found.lead is None or found.tie_share is None:
        met = f"only in ties ({_count(duels, 'duel')})" if duels else "in no duel"
        return (
            f"{found.winner} and {found.rival} met {met}. By the ratings of all rankers, {found.winner} wins an "
            f"estimated {_percent(found.estimate)}, with a tie as half a win. This estimate has no guarantee."
        )
    clients = "an unknown number of clients" if found.clients is None else _count(found.clients, "client")
    # Rounded outwards, so that the interval stays valid.
    low, high = math.floor(1000 * found.low) / 10, math.ceil(1000 * found.high) / 10
    sentence = (
        f"{found.winner} wins {_percent(found.win_share)} of decisive duels against {found.rival} "
        f"(95 % interval {low:.1f} % to {high:.1f} %), {_count(duels, 'duel')}, {clients}."
    )
    if not found.ties:
        return sentence
    more = f"{abs(100 * found.lead):.1f} more" if found.lead >= 0 else f"{abs(100 * found.lead):.1f} fewer"
    return (
        f"{sentence} {_percent(found.tie_share)} of these duels were ties, so in 100 duels {found.winner} wins {more} "
        "than it loses."
    )


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"
