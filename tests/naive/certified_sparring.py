"""CertifiedSparring: its rules as they are told, with dense tables and full searches; the same random numbers."""

import math

import numpy as np

from .base import Floats, Ints, Naive

WEIGHTS = (5, 30, 200)  # of the bets on a pair's record alone


class Certificate:
    """The evidence against each arm: four bets, as logarithms; what they make together is their mean."""

    def __init__(self, n_arms: int, delta: float, cap: float = 0.5) -> None:
        self.logs: Floats = np.zeros((n_arms, 4))
        self.delta = delta
        self.cap = cap  # of q; the rule is 1/2

    def record_bets(
        self, arm: int, won: bool, wins: int, losses: int, *, guess: float = 0.5, trust: float = 1000.0
    ) -> None:
        """One duel of an arm, before it is counted."""
        for k in range(4):
            if k < 3:
                q = (wins + WEIGHTS[k]) / (wins + losses + 2 * WEIGHTS[k])
            else:
                q = (wins + 2 * trust * guess) / (wins + losses + 2 * trust)
            q = min(self.cap, q)
            if won:
                self.logs[arm, k] += math.log(2 * q)
            else:
                self.logs[arm, k] += math.log(2 * (1 - q))

    def against(self, arm: int) -> float:
        return float(np.log(np.exp(self.logs[arm]).mean()))

    def enough(self, arm: int) -> bool:
        return self.against(arm) >= math.log(1 / self.delta)


class CertifiedSparring(Naive):
    """Without a tolerance."""

    def __init__(self, n_arms: int, *, delta: float = 0.01, rng: np.random.Generator) -> None:
        super().__init__(n_arms, rng=rng)
        self.certificate = Certificate(n_arms, delta)
        self.wins: Ints = np.zeros((n_arms, n_arms), np.int64)
        self.mean, self.variance = np.zeros(n_arms), np.ones(n_arms)
        self.grudge: Floats = np.zeros(n_arms)
        self.nemesis: Ints = np.full(n_arms, -1)
        self.seats = list(range(n_arms))  # the arms left; the last one takes the place of one that goes
        self.x, self.y = np.zeros(n_arms), np.zeros(n_arms)  # samples, by arm
        self.last: list[int] = []
        self.strayed, self.early = 0.0, 0
        for arm in range(n_arms):
            self.sample(arm)

    @property
    def alive(self) -> list[int]:
        return sorted(self.seats)

    @property
    def trust(self) -> float:
        spread = (self.strayed + 0.01 * 50) / (self.early + 50)
        return min(max(0.125 / max(spread, 1e-6) - 0.5, 1), 2000)

    def below(self, n: int) -> int:
        """As NumPy's C function: bits under a mask, until they are small enough."""
        if n <= 1:
            return 0
        mask = (1 << (n - 1).bit_length()) - 1
        bits = self.rng.bit_generator.ctypes
        while (number := bits.next_uint32(bits.state) & mask) > n - 1:
            pass
        return int(number)

    def sample(self, arm: int) -> None:
        deviation = math.sqrt(self.variance[arm] + 0.2 / self.trust)
        self.x[arm] = self.mean[arm] + deviation * self.rng.standard_normal()
        self.y[arm] = self.mean[arm] + deviation * self.rng.standard_normal()

    def predict(self, i: int, j: int) -> float:
        return 1 / (1 + math.exp(self.mean[j] - self.mean[i]))

    def choose(self) -> tuple[int, int]:
        if len(self.seats) == 1:
            return self.seats[0], self.seats[0]
        *others, stranger = (self.seats[self.below(len(self.seats))] for _ in range(3))
        for arm in self.last + others:
            if arm in self.seats:
                self.sample(arm)
        champion = max(self.seats, key=lambda arm: self.x[arm])
        target = max((arm for arm in self.seats if arm != champion), key=lambda arm: self.y[arm])
        n, lead = self.met(target, champion), self.wins[target, champion] - self.wins[champion, target]
        if len(self.seats) > 2 and n > 1000 and lead**2 < n and self.rng.random() < 0.5:
            place = self.seats.index(champion) + 1 + self.below(len(self.seats) - 1)
            target = self.seats[place % len(self.seats)]
        other = self.opponent(target, champion, stranger)
        return (other, target) if self.rng.random() < 0.5 else (target, other)

    def met(self, i: int, j: int) -> int:
        return int(self.wins[i, j] + self.wins[j, i])

    def opponent(self, target: int, champion: int, stranger: int) -> int:
        candidates = [champion]
        for arm in (int(self.nemesis[target]), stranger):
            if arm in self.seats and arm != target and arm not in candidates:
                candidates.append(arm)
        worths = [self.worth(target, arm, champion) for arm in candidates]
        return candidates[int(np.argmax(worths))]

    def worth(self, target: int, other: int, champion: int) -> float:
        weight, n = 2 * self.trust, self.met(target, other)
        guess = min(max(self.predict(target, other), 0.01), 0.99)
        mean = (self.wins[target, other] + weight * guess) / (n + weight)
        chance = mean + 0.25 * math.sqrt(mean * (1 - mean) / (n + weight + 1)) * self.rng.standard_normal()
        if chance >= 0.5:
            return 0.0
        x = (1 - 2 * chance) ** 2
        harm = sum(max(0.0, self.predict(champion, arm) - 0.5) for arm in (target, other) if arm != champion)
        return float((x / 2 + x**2 / 12 + x**3 / 30) / (harm / 2 + 0.01))

    def learn(self, first: int, second: int, first_won: bool) -> None:
        self.t += 1
        winner, loser = (first, second) if first_won else (second, first)
        if winner == loser or winner not in self.seats or loser not in self.seats:
            return
        won, lost = int(self.wins[winner, loser]), int(self.wins[loser, winner])
        expected, trust = self.predict(winner, loser), self.trust
        self.certificate.record_bets(winner, True, won, lost, guess=expected, trust=trust)
        self.certificate.record_bets(loser, False, lost, won, guess=1 - expected, trust=trust)
        if 0 < won + lost <= 4:
            self.strayed += (won - (won + lost) * expected) * (1 - expected)
            self.early += won + lost
        information = expected * (1 - expected)
        a, b = self.variance[winner], self.variance[loser]
        total = 1 + information * (a + b)
        self.mean[winner] += a * (1 - expected) / total
        self.mean[loser] -= b * (1 - expected) / total
        self.variance[winner] -= a * a * information / total
        self.variance[loser] -= b * b * information / total
        self.wins[winner, loser] += 1
        self.remember(loser, winner)
        self.remember(winner, loser)
        self.last = [winner, loser]
        if self.certificate.enough(loser) and len(self.seats) > 1:
            self.seats[self.seats.index(loser)] = self.seats[-1]
            self.seats.pop()
            for arm in self.seats if len(self.seats) <= 512 else ():
                if self.nemesis[arm] == loser:
                    self.nemesis[arm], self.grudge[arm] = -1, 0
                    for other in self.seats:
                        if other != arm and self.met(arm, other):
                            self.remember(arm, other)

    def remember(self, arm: int, other: int) -> None:
        lost, won = self.wins[other, arm], self.wins[arm, other]
        grudge = (lost - won) ** 2 / (lost + won) if lost > won else 0
        nemesis = int(self.nemesis[arm])
        if other == nemesis:
            self.grudge[arm] = grudge
        elif grudge > self.grudge[arm] or (grudge > 0 and nemesis >= 0 and nemesis not in self.seats):
            self.nemesis[arm], self.grudge[arm] = other, grudge
