"""Who wins a duel of two rankers on a query, by enumeration: all lists and all clicks of a cascade user."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

from naive.interleaving import Order, posteriors, probabilistic, probabilistic_credit

User = tuple[Sequence[float], Sequence[float]]  # click and stop probabilities by grade
Chances = tuple[float, float, float]  # that the first wins, the second, neither


def click_chance(
    clicks: Sequence[bool],
    grades: Sequence[int],
    click: Sequence[float],
    stop: Sequence[float],
) -> float:
    """That a cascade user clicks exactly these: after a click they leave with the grade's stop probability."""
    chance = 0.0
    reached = 1.0  # looked at everything so far, with these clicks
    for position, (clicked, grade) in enumerate(zip(clicks, grades, strict=True)):
        reached *= click[grade] if clicked else 1 - click[grade]
        leaves = stop[grade] if clicked else 0.0
        if not any(clicks[position + 1 :]):
            chance += reached * leaves  # left here: nothing below was clicked
        reached *= 1 - leaves
    return chance + reached


def duel(orders: tuple[Order, Order], grades: Sequence[int], user: User, k: int) -> Chances:
    """The chances of a duel with probabilistic interleaving."""
    won = lost = tied = 0.0
    for shown, probability in probabilistic(*orders, k).items():
        chances = posteriors(*orders, shown)
        for clicks in product([False, True], repeat=len(shown)):
            share = float(probability) * click_chance(clicks, [grades[d] for d in shown], *user)
            credit = Fraction(probabilistic_credit(chances, clicks))
            won += share * (credit > 0)
            lost += share * (credit < 0)
            tied += share * (credit == 0)
    return won, lost, tied
