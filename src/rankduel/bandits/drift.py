"""`DriftAlarm`: detect that a declared winner has stopped being the best."""

from rankduel.bandits.parameters import number
from rankduel.types import Outcome

__all__ = ["DriftAlarm"]

_STAKES = (0.02, 0.05, 0.1, 0.2, 0.4)


class DriftAlarm:
    """Alarm that rings when the declared winner begins to lose its duels with others.

    While the winner wins each duel with probability at least 1/2, given the past, there are on average at least
    1 / `rate` duels before an alarm; whoever chooses the opponents, and however often you look. Once it wins with
    probability p < 1/2 only, the alarm comes after about log(1 / rate) / KL(p, 1/2) duels.

    It is an e-detector of Shiryaev and Roberts: at each duel a new bet against the winner begins, and the sum of what
    all of them have become is compared with 1 / rate. Ties teach nothing.

    >>> alarm = DriftAlarm(rate=1e-4)
    >>> [alarm.update(won=True) for _ in range(1000)].count(True)
    0
    >>> losses = 0
    >>> while not alarm.update(won=False):
    ...     losses += 1
    >>> losses < 40
    True
    """

    def __init__(self, *, rate: float = 1e-6) -> None:
        self.rate = number("rate", rate, at_most=0.5)
        self.duels = 0
        self._sums = [0.0] * len(_STAKES)

    def __repr__(self) -> str:
        return f"DriftAlarm(rate={self.rate})"

    @property
    def evidence(self) -> float:
        """What the bets have become. While all is well it grows by 1 a duel on average, or less; 1 / rate rings."""
        return sum(self._sums) / len(_STAKES)

    @property
    def rings(self) -> bool:
        """Whether the evidence is enough."""
        return self.evidence >= 1 / self.rate

    def update(self, *, won: bool) -> bool:
        """Add one duel of the winner; true if the alarm rings. It rings until it is reset."""
        self.duels += 1
        if not self.rings:
            self._sums = [
                (total + 1) * (1 - stake if won else 1 + stake)
                for total, stake in zip(self._sums, _STAKES, strict=True)
            ]
        return self.rings

    def tell(self, winner_is_first: bool, outcome: Outcome) -> bool:
        """The same for an outcome of `ask` and `tell`; a tie teaches nothing."""
        if outcome is Outcome.TIE:
            return self.rings
        return self.update(won=(outcome is Outcome.FIRST) is winner_is_first)

    def reset(self) -> None:
        """Begin anew."""
        self.duels, self._sums = 0, [0.0] * len(_STAKES)
