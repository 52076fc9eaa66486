"""`Bandit`: the base class of dueling bandits. `ask` and `tell` wrap the two rules of a paper, `choose` and `learn`."""

from rankduel.bandits.snapshot_checks import MAX_DUELS
from rankduel.errors import SnapshotError
from rankduel.types import Duel, Outcome

OUTCOMES = {<int>FIRST: Outcome.FIRST, <int>SECOND: Outcome.SECOND, <int>TIE: Outcome.TIE}


cdef class Bandit(Learner):
    """A dueling bandit: `ask` for the next duel, `tell` its outcome. Outcomes may be late, out of order or missing.

    Two rules define a bandit. `choose` reads the state, draws random numbers and moves a cursor. `learn` is
    deterministic, and the only place where evidence, elimination and merging change. This is why outcomes may come late
    and out of order, and why telling them again in the same order rebuilds the bandit bit for bit.

    A `TIE` changes no counts, but the clock t advances. The same holds for a duel of an arm with itself, unless the
    bandit's page says otherwise.

    To write your own bandit, subclass this and define `pick` and `update`. You can ask, tell, check, store and simulate
    it like any other, at the speed of Python:

    >>> import rankduel as rd
    >>> class Greedy(rd.Bandit):
    ...     def __init__(self, n_arms, *, seed=None):
    ...         super().__init__(n_arms, seed=seed)
    ...         self.wins = self.keep("wins", [0] * n_arms)
    ...     def pick(self):
    ...         return int(self.wins.argmax()), int(self.random.integers(self.n_arms))
    ...     def update(self, first, second, outcome):
    ...         self.wins[first if outcome is rd.Outcome.FIRST else second] += 1
    ...     @property
    ...     def champion(self):
    ...         return int(self.wins.argmax())
    >>> rd.simulate(Greedy(20, seed=1), rd.problems.cycle2(), horizon=1000).duels
    1000
    """

    # The two rules. A bandit in Cython overrides these. A bandit in Python overrides `pick` and `update`.

    cdef int choose(self, duel_t *duel) except -1 nogil:
        """Fill in the two arms that should meet next."""
        with gil:
            first, second = self.pick()
            for arm in (first, second):
                if not 0 <= arm < self.n_arms:
                    raise ValueError(f"{type(self).__name__}.pick() chose arm {arm}, expected 0 to {self.n_arms - 1}")
            duel.first, duel.second = first, second
        return 0

    cdef int learn(self, const duel_t *duel, outcome_t outcome) except -1 nogil:
        """Learn from one outcome."""
        with gil:
            self.update(duel.first, duel.second, OUTCOMES[<int>outcome])
        return 0

    def pick(self):
        """Return the two arms of the next duel. Override this in a bandit of your own."""
        raise NotImplementedError(f"{type(self).__name__} needs pick() -> (first, second)")

    def update(self, first, second, outcome):
        """Learn from the outcome of a duel. Override this in a bandit of your own."""
        raise NotImplementedError(f"{type(self).__name__} needs update(first, second, outcome)")

    # The calls of a user

    def ask(self):
        """Return the next duel. It stays pending until you tell or forget it."""
        asked = self.propose()
        self._pending[asked.number] = asked
        return asked

    def tell(self, duel, outcome):
        """Report the outcome of a pending duel."""
        self._check_pending(duel)
        self._learn(duel, outcome)
        del self._pending[duel.number]

    def propose(self):
        """Return the next duel as `ask` does, but do not keep it as pending. Report its outcome with `adopt`."""
        self._check_made()
        cdef duel_t duel
        duel.first_propensity = duel.second_propensity = 0
        duel.number = self.asked + 1
        self.choose(&duel)
        self.asked += 1
        propensity = (duel.first_propensity, duel.second_propensity) if duel.first_propensity else None
        return Duel(duel.number, duel.first, duel.second, propensity)

    def adopt(self, duel, outcome):
        """Report the outcome of a duel that is not pending, proposed by this bandit or by another one.

        Use it for duels that you keep elsewhere, for example in a database that survives a crash. Learning does not
        depend on which bandit chose the duel. A bandit that adopts all duels of another one, in the order in which that
        bandit was told, has learnt the same.

        >>> import rankduel as rd
        >>> bandit = rd.MergeDTS(3, seed=1)
        >>> bandit.adopt(rd.Duel(1, 0, 2), rd.Outcome.FIRST)
        >>> bandit.told
        1
        """
        self._check_duel(duel)
        if duel.number in self._pending:
            raise ValueError(f"duel {duel.number} is pending; call tell() instead of adopt()")
        self._learn(duel, outcome)
        self.asked = max(self.asked, duel.number)

    cdef int _learn(self, duel, outcome) except -1:
        if not isinstance(outcome, Outcome):
            raise TypeError(f"outcome must be Outcome.FIRST, Outcome.SECOND or Outcome.TIE, got {outcome!r}")
        cdef duel_t told
        told.number, told.first, told.second, propensity = duel
        told.first_propensity, told.second_propensity = propensity or (0, 0)
        self.told += 1
        try:
            self.learn(&told, FIRST if outcome is Outcome.FIRST else SECOND if outcome is Outcome.SECOND else TIE)
        except BaseException:
            self.told -= 1
            raise
        return 0

    def _check_pending(self, duel):
        if isinstance(duel, Duel) and self._pending.get(duel.number) is duel:
            return
        self._check_duel(duel)
        super()._check_pending(duel)

    def _check_duel(self, duel):
        self._check_made()
        if not isinstance(duel, Duel):
            raise TypeError(f"duel must be a Duel from ask(), got {duel!r}")
        for arm in duel[1:3]:
            if not 0 <= arm < self.n_arms:
                raise ValueError(f"{duel} names arm {arm}, expected 0 to {self.n_arms - 1}")
        if not 0 <= duel.number <= MAX_DUELS:
            raise ValueError(f"{duel} has the number {duel.number}, expected 0 to {MAX_DUELS}")

    def _pack(self, duel):
        return [duel.number, duel.first, duel.second, duel.propensity]

    def _unpack(self, packed):
        number, first, second, propensity = packed
        if propensity is not None:
            propensity = tuple([float(chance) for chance in propensity])
            if len(propensity) != 2 or not all([0 < chance <= 1 for chance in propensity]):
                raise SnapshotError(f"the propensities of pending duel {number} are {propensity}, expected 2 in (0, 1]")
        return Duel(number, self._unpack_arm(first), self._unpack_arm(second), propensity)

    @classmethod
    def _registry(cls):
        if cls is not Bandit:
            return None
        from rankduel.bandits import REGISTRY  # imported here because it lists the subclasses of this class
        return REGISTRY
