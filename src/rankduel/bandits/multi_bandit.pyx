"""`MultiBandit`: the base class of bandits with many arms per duel. `ask` for a set, `tell` the preferences."""

import numpy as np

cimport numpy as cnp
from libc.stdint cimport int32_t
from libc.string cimport memcpy

from rankduel.errors import SnapshotError
from rankduel.types import MultiDuel

cnp.import_array()


cdef class MultiBandit(Learner):
    """A bandit with many arms per duel: `ask` for a set of arms, `tell` the preferences between them.

    A `MultiBandit` works with multileaving as a `Bandit` works with interleaving. Outcomes may be late, out of order or
    missing. Preferences are an antisymmetric matrix, as `Multileaving.preferences` returns it. The entry [x, y] is
    positive if the x-th arm of the duel is preferred to the y-th, and 0 for a tie, which changes no counts. The size of
    a preference counts: 0.3 is three tenths of a win, 1 or more is one win. (Probabilistic Multileaving is the reason:
    its preferences are right on average, but their signs are not, as docs/multileaving.md shows.)

    As in a `Bandit`, there are two rules. `choose` reads the state, draws random numbers and moves a cursor. `learn` is
    deterministic, and the only place where evidence and elimination change. To write your own bandit, subclass this and
    define `pick` and `update`. It plays on a `SearchWorld` like any other:

    >>> import numpy as np
    >>> import rankduel as rd
    >>> class BestThree(rd.MultiBandit):
    ...     def __init__(self, n_arms, *, seed=None):
    ...         super().__init__(n_arms, seed=seed)
    ...         self.lead = self.keep("lead", np.zeros(n_arms))
    ...     def pick(self):
    ...         return np.argsort(self.random.normal(self.lead))[-3:]
    ...     def update(self, arms, preferences):
    ...         self.lead[list(arms)] += np.sign(preferences).sum(1)
    ...     @property
    ...     def champion(self):
    ...         return int(self.lead.argmax())
    >>> bandit = BestThree(20, seed=1)
    >>> duel = bandit.ask()
    >>> len(duel.arms)
    3
    >>> bandit.tell(duel, [[0, 1, 1], [-1, 0, 0], [-1, 0, 0]])
    >>> bandit.champion == duel.arms[0]
    True
    """

    # The two rules. A bandit in Cython overrides these. A bandit in Python overrides `pick` and `update`.

    cdef int choose(self, multi_duel_t *duel) except -1 nogil:
        """Fill in the arms of the next duel, each once, and their number `n`."""
        with gil:
            arms = self._checked(self.pick())
            for arm in arms:
                duel.arms[duel.n] = arm
                duel.n += 1
        return 0

    cdef int learn(self, const multi_duel_t *duel, const double *preferences) except -1 nogil:
        """Learn from the preferences [n, n] of one duel."""
        with gil:
            matrix = np.empty((duel.n, duel.n))
            memcpy(cnp.PyArray_DATA(matrix), preferences, matrix.nbytes)
            self.update(tuple([duel.arms[x] for x in range(duel.n)]), matrix)
        return 0

    def pick(self):
        """Return the arms of the next duel. Override this in a bandit of your own."""
        raise NotImplementedError(f"{type(self).__name__} needs pick() -> arms")

    def update(self, arms, preferences):
        """Learn from the preferences between the arms of a duel. Override this in a bandit of your own."""
        raise NotImplementedError(f"{type(self).__name__} needs update(arms, preferences)")

    def _checked(self, arms):
        """Validate the arms that `pick` chose, and return them as ints."""
        chosen = np.asarray(arms)
        if chosen.ndim != 1 or not len(chosen) or not np.issubdtype(chosen.dtype, np.integer):
            raise ValueError(f"{type(self).__name__}.pick() chose {arms!r}, expected a sequence of arm numbers")
        if len(set(chosen.tolist())) < len(chosen) or chosen.min() < 0 or chosen.max() >= self.n_arms:
            raise ValueError(
                f"{type(self).__name__}.pick() chose {arms!r}, expected different arms from 0 to {self.n_arms - 1}"
            )
        return chosen.tolist()

    # The calls of a user

    def ask(self):
        """Return the next duel. It stays pending until you tell or forget it."""
        self._check_made()
        cdef multi_duel_t duel
        arms = np.empty(self.n_arms, np.int32)
        duel.number, duel.n, duel.arms = self.asked + 1, 0, <int *><int32_t *>cnp.PyArray_DATA(arms)
        self.choose(&duel)
        self.asked += 1
        asked = MultiDuel(duel.number, tuple(arms[:duel.n].tolist()))
        self._pending[asked.number] = asked
        return asked

    def tell(self, duel, preferences):
        """Report the preferences of a pending duel, an antisymmetric matrix with one row per arm."""
        self._check_pending(duel)
        n = len(duel.arms)
        matrix = np.ascontiguousarray(preferences, np.float64)
        if matrix.shape != (n, n):
            raise ValueError(f"preferences of {n} arms must be {n} x {n}, got shape {matrix.shape}")
        wrong = ~(matrix == -matrix.T)
        if wrong.any():
            x, y = np.argwhere(wrong)[0]
            raise ValueError(
                f"preferences[{x}, {y}] is {matrix[x, y]} and preferences[{y}, {x}] is {matrix[y, x]}, "
                f"expected an antisymmetric matrix"
            )
        cdef multi_duel_t told
        arms = np.array(duel.arms, np.int32)
        told.number, told.n, told.arms = duel.number, n, <int *><int32_t *>cnp.PyArray_DATA(arms)
        self.told += 1
        try:
            self.learn(&told, <const double *>cnp.PyArray_DATA(matrix))
        except BaseException:
            self.told -= 1
            raise
        del self._pending[duel.number]

    def _check_pending(self, duel):
        self._check_made()
        if not isinstance(duel, MultiDuel):
            raise TypeError(f"duel must be a MultiDuel from ask(), got {duel!r}")
        super()._check_pending(duel)

    def _pack(self, duel):
        return [duel.number, duel.arms]

    def _unpack(self, packed):
        number, arms = packed
        arms = tuple([self._unpack_arm(arm) for arm in arms])
        if not arms or len(set(arms)) < len(arms):
            raise SnapshotError(f"pending duel {number} has arms {arms}, expected at least one arm and none twice")
        return MultiDuel(number, arms)

    @classmethod
    def _registry(cls):
        if cls is not MultiBandit:
            return None
        from rankduel.bandits import MULTI_REGISTRY  # imported here because it lists the subclasses of this class
        return MULTI_REGISTRY
