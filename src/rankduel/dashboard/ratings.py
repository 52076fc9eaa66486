"""Ratings of rankers by the Bradley-Terry model, and the harm to users that follows from them."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from rankduel.live import View

__all__ = ["Harm", "Ratings", "harm", "ratings"]

Floats = npt.NDArray[np.float64]
_ITERATIONS = 100
_MIN_RATING_DEVIATION = 0.02  # of ratings around 0


class Ratings(NamedTuple):
    """i beats j with probability 1 / (1 + exp(r_j - r_i)); how far each rating may be off is a standard deviation."""

    means: Floats
    deviations: Floats


def ratings(view: View) -> Ratings:
    """The ratings that explain the duels best, by the Bradley-Terry model. A tie is half a win for both.

    They are normal around 0, and how far they spread is learnt from the duels, too (EM): so few duels make nobody look
    much better than others. Damped Newton steps on each rating; deviations are those of a rating on its own.
    """
    n = len(view.names)
    i, j, won, lost, tied = view.meetings[view.meetings[:, 0] != view.meetings[:, 1]].T
    duels, score = (won + lost + tied).astype(float), won + tied / 2
    rating, variance = np.zeros(n), 0.25
    for _ in range(_ITERATIONS):
        chance = 1 / (1 + np.exp(rating[j] - rating[i]))
        surprise, information = score - duels * chance, duels * chance * (1 - chance)
        slope = np.bincount(i, surprise, n) - np.bincount(j, surprise, n) - rating / variance
        bend = np.bincount(i, information, n) + np.bincount(j, information, n) + 1 / variance
        rating += slope / (2 * bend)
        variance = max(_MIN_RATING_DEVIATION**2, float((rating**2 + 1 / bend).mean()))
    return Ratings(rating, 1 / np.sqrt(bend))


@dataclass(frozen=True, slots=True)
class Harm:
    """What duels have cost users, against a ranker that they could have seen instead."""

    against: str
    per_page: float  # by how much users like the pages less, as a chance: 0.01 is one user in a hundred
    pages: float  # the same for all pages together


def harm(view: View, rated: Ratings) -> Harm | None:
    """The harm against the baseline, or the champion if there is none; None before the first duel.

    On the page of a duel each of the two is half of it. So a page of i and j loses, against b, the mean of P(b beats i)
    and P(b beats j), less 1/2. Below 0, users like the pages better.
    """
    if not len(view.meetings):
        return None
    baseline = view.settings.baseline
    against = view.champion if baseline is None else _arm_of(view, baseline)
    if against is None:
        return None  # the baseline is none of the rankers: nobody knows how good it is
    loss = 1 / (1 + np.exp(rated.means - rated.means[against])) - 0.5
    i, j = view.meetings[:, 0], view.meetings[:, 1]
    duels = view.meetings[:, 2:].sum(1)
    total = float(((loss[i] + loss[j]) / 2 * duels).sum())
    return Harm(view.names[against], total / float(duels.sum()), total)


def _arm_of(view: View, name: str) -> int | None:
    return view.names.index(name) if name in view.names else None
