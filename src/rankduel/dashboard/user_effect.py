"""The effect of the duels on users, estimated from the ratings."""

from dataclasses import dataclass

import numpy as np

from rankduel.live import View

__all__ = ["UserEffect", "user_effect"]


@dataclass(frozen=True, slots=True)
class UserEffect:
    """The estimated effect of the duels on users, compared with showing one ranker (`against`) all the time.

    `per_page` is the probability that users prefer a ranker of a duel to `against`, minus one half, averaged over all
    duels. Above 0, users were better off.
    """

    against: str  # the baseline, or the champion if there is no baseline
    per_page: float
    pages: float  # per_page, summed over all duels


def user_effect(view: View) -> UserEffect | None:
    """Return the effect on users. None before the first duel, and if the baseline is not one of the rankers.

    Each ranker of a duel contributes half of the page. So a page of i and j has the mean effect of i and j.
    """
    if not len(view.meetings):
        return None
    baseline = view.settings.baseline
    against = view.champion if baseline is None else _arm_of(view, baseline)
    if against is None:
        return None
    means = view.ratings.means
    gain = 1 / (1 + np.exp(means[against] - means)) - 0.5
    i, j = view.meetings[:, 0], view.meetings[:, 1]
    duels = view.meetings[:, 2:].sum(1)
    total = float(((gain[i] + gain[j]) / 2 * duels).sum())
    return UserEffect(view.names[against], total / float(duels.sum()), total)


def _arm_of(view: View, name: str) -> int | None:
    return view.names.index(name) if name in view.names else None
