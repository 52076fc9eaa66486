"""Late feedback by `ask`, `tell` and `forget`: the oracle of the compiled loop with a delay."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from rankduel.bandits import Bandit
from rankduel.types import Duel, Outcome

Law = Callable[[np.random.Generator], int]


def fixed(duels: int) -> Law:
    """Always the same."""
    return lambda draw: duels


def geometric(mean: float) -> Law:
    """The number of failures before a success of probability 1 / (1 + mean)."""
    return lambda draw: int(draw.geometric(1 / (1 + mean))) - 1


def empirical(delays: list[int]) -> Law:
    """One of them, each as likely."""
    return lambda draw: delays[int(draw.random() * len(delays))]


@dataclass
class Late:
    """Pages that were shown, and what became of their duels."""

    bandit: Bandit
    coin: Callable[[Duel], Outcome]
    law: Law
    draw: np.random.Generator
    in_flight: int | None = None
    unanswered: float = 0.0
    timeout: int | None = None

    shown: list[tuple[int, int]] = field(default_factory=list)
    told: list[int] = field(default_factory=list)  # numbers of duels
    forgotten: list[int] = field(default_factory=list)
    waited: int = 0
    flight: list[tuple[int, int, Duel, Outcome | None]] = field(default_factory=list)  # due after this page; number
    champion: int = -1
    fresh_until: int = 0

    def play(self, n_pages: int) -> None:
        """Show so many pages, unless a winner is found before."""
        while len(self.shown) < n_pages and self.bandit.n_alive > 1:
            page = len(self.shown) + 1
            if self.in_flight is None or len(self.flight) < self.in_flight:
                duel = self.bandit.ask()
                self.shown.append((duel.first, duel.second))
                self.flight.append(self.start_duel(page, duel))
            else:
                if page > self.fresh_until:
                    self.champion = self.bandit.champion
                    self.fresh_until = page + max(1000, self.bandit.n_arms)
                self.shown.append((self.champion, self.champion))
                self.waited += 1
            self.deliver_outcomes(page)

    def start_duel(self, page: int, duel: Duel) -> tuple[int, int, Duel, Outcome | None]:
        """Draw who won, how late that is told, and whether at all."""
        outcome: Outcome | None = self.coin(duel)
        late = self.law(self.draw)
        if self.unanswered and self.draw.random() < self.unanswered:
            outcome = None
        if self.timeout is not None and (outcome is None or late > self.timeout):
            outcome, late = None, self.timeout
        return page + late, duel.number, duel, outcome

    def deliver_outcomes(self, page: int) -> None:
        """Tell what is due by now, the oldest first."""
        for one in sorted(self.flight, key=lambda one: one[:2]):
            due, number, duel, outcome = one
            if due <= page and self.bandit.n_alive > 1:
                self.flight.remove(one)
                if outcome is None:
                    self.bandit.forget(duel)
                    self.forgotten.append(number)
                else:
                    self.bandit.tell(duel, outcome)
                    self.told.append(number)
