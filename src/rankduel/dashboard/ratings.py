"""How good rankers are, estimated from all their duels; and what the duels have cost users."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rankduel.live import View

__all__ = ["Harm", "harm", "ratings"]

Floats = npt.NDArray[np.float64]
_ROUNDS = 100
_SPREAD = 1.0  # of ratings around 0, before anybody has met: a standard deviation


def ratings(view: View) -> Floats:
    """The ratings that explain the duels best: i beats j with probability 1 / (1 + exp(r_j - r_i)).

    The mode of the Bradley-Terry model with a normal prior, by damped Newton steps on each rating. A tie is half a win
    for both.
    """
    n = len(view.names)
    i, j, won, lost, tied = view.meetings[view.meetings[:, 0] != view.meetings[:, 1]].T
    duels, score = (won + lost + tied).astype(float), won + tied / 2
    rating = np.zeros(n)
    for _ in range(_ROUNDS):
        chance = 1 / (1 + np.exp(rating[j] - rating[i]))
        surprise, information = score - duels * chance, duels * chance * (1 - chance)
        slope = np.bincount(i, surprise, n) - np.bincount(j, surprise, n) - rating / _SPREAD**2
        bend = np.bincount(i, information, n) + np.bincount(j, information, n) + 1 / _SPREAD**2
        rating += slope / (2 * bend)
    return rating


@dataclass(frozen=True, slots=True)
class Harm:
    """What duels have cost users, against a ranker that they could have seen instead."""

    against: str
    per_page: float  # by how much users like the pages less, as a chance: 0.01 is one user in a hundred
    pages: float  # the same for all pages together


def harm(view: View, rated: Floats) -> Harm | None:
    """The harm against the baseline, or the champion if there is none; None before the first duel.

    On the page of a duel each of the two is half of it. So a page of i and j loses, against b, the mean of P(b beats i)
    and P(b beats j), less 1/2. Below 0, users like the pages better.
    """
    if not len(view.meetings):
        return None
    baseline = view.settings.baseline
    against = view.champion if baseline is None else _place(view, baseline)
    if against is None:
        return None  # the baseline is none of the rankers: nobody knows how good it is
    loss = 1 / (1 + np.exp(rated - rated[against])) - 0.5
    i, j = view.meetings[:, 0], view.meetings[:, 1]
    duels = view.meetings[:, 2:].sum(1)
    total = float(((loss[i] + loss[j]) / 2 * duels).sum())
    return Harm(view.names[against], total / float(duels.sum()), total)


def _place(view: View, name: str) -> int | None:
    return view.names.index(name) if name in view.names else None
