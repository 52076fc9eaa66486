"""`DriftAlarm`: detect that a declared winner has stopped being the best."""

from rankduel.bandits.parameters import number
from rankduel.types import Outcome

__all__ = ["DriftAlarm"]

_STAKES = (0.02, 0.05, 0.1, 0.2, 0.4)


class DriftAlarm:
    """Alarm that rings when the declared winner begins to lose its duels.

    As long as the winner wins each duel with probability at least 1/2, given the past, the expected number of duels
    before a false alarm is at least 1 / `rate`. This holds for any choice of opponents, and however often you look.
    When the winner's probability falls to p < 1/2, the alarm comes after about log(1 / rate) / KL(p, 1/2) duels.

    The method is a Shiryaev-Roberts e-detector. A new bet against the winner starts at each duel, and the alarm rings
    when the total wealth of all bets reaches 1 / rate. Ties are ignored.

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
        """The total wealth of the bets. It grows by at most 1 per duel on average while the winner is the best."""
        return sum(self._sums) / len(_STAKES)

    @property
    def rings(self) -> bool:
        """Whether the evidence has reached 1 / rate."""
        return self.evidence >= 1 / self.rate

    def update(self, *, won: bool) -> bool:
        """Add one duel of the winner, and return whether the alarm rings. It rings until you reset it."""
        self.duels += 1
        if not self.rings:
            self._sums = [
                (total + 1) * (1 - stake if won else 1 + stake)
                for total, stake in zip(self._sums, _STAKES, strict=True)
            ]
        return self.rings

    def tell(self, winner_is_first: bool, outcome: Outcome) -> bool:
        """Add one duel of the winner by its `Outcome`, and return whether the alarm rings. A tie is ignored."""
        if outcome is Outcome.TIE:
            return self.rings
        return self.update(won=(outcome is Outcome.FIRST) is winner_is_first)

    def reset(self) -> None:
        """Forget all duels, and stop ringing."""
        self.duels, self._sums = 0, [0.0] * len(_STAKES)
