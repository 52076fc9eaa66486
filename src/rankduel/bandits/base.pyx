"""The contract of every bandit: what `ask` and `tell` do around the two rules of a paper, `choose` and `learn`."""

import io
import json

import numpy as np

cimport numpy as cnp
from cpython.pycapsule cimport PyCapsule_GetPointer

from rankduel.bandits.elimination import Confidence, Decision
from rankduel.errors import SnapshotError, UnknownDuel
from rankduel.randomness import bit_generator, fresh_seed
from rankduel.types import Duel, Outcome

cnp.import_array()

cdef int SCHEMA = 1  # of snapshots
OUTCOMES = {<int>FIRST: Outcome.FIRST, <int>SECOND: Outcome.SECOND, <int>TIE: Outcome.TIE}


cdef class Bandit:
    """A dueling bandit: `ask` for two arms that should meet, `tell` who won; late, in any order, or never.

    A bandit is defined by two rules. `choose` reads what was learnt, draws random numbers and moves a cursor; `learn`
    is deterministic and the only place where evidence, elimination and merging change. So outcomes may come late
    and out of order, and telling them again in the same order rebuilds the bandit bit for bit.

    A `TIE` teaches nothing, and neither does a duel of an arm with itself where a bandit's page does not say
    otherwise; but time passes.

    A bandit of your own is a subclass with `pick` and `update`. It is asked, told, checked, stored and simulated as
    any other, at the speed of Python:

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

    def __init__(self, n_arms, *, seed=None, **parameters):
        if isinstance(n_arms, bool) or not isinstance(n_arms, (int, np.integer)) or not 1 <= n_arms < 2**31:
            raise ValueError(f"n_arms must be a whole number of at least 1, got {n_arms!r}")
        self.n_arms = self.n_alive = n_arms
        self._bit_generator = bit_generator(seed := fresh_seed() if seed is None else seed, "bandit")
        self.seed = int(seed)
        self.rng = <bitgen_t *>PyCapsule_GetPointer(self._bit_generator.capsule, "BitGenerator")
        self._parameters = parameters
        self._arrays = {}
        self._ranges = {}  # of arrays whose values are indices: kernels trust them
        self._pending = {}

    # The two rules. A bandit in Cython overrides these; one in Python overrides `pick` and `update`.

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
        """Take in one outcome."""
        with gil:
            self.update(duel.first, duel.second, OUTCOMES[<int>outcome])
        return 0

    def pick(self):
        """The two arms that should meet next."""
        raise NotImplementedError(f"{type(self).__name__} needs pick() -> (first, second)")

    def update(self, first, second, outcome):
        """Learn who won a duel of two arms."""
        raise NotImplementedError(f"{type(self).__name__} needs update(first, second, outcome)")

    @property
    def random(self):
        """The bandit's own stream of random numbers; a snapshot keeps its place."""
        return np.random.Generator(self._bit_generator)

    def keep(self, name, array):
        """Make an array part of the state, so that snapshots keep it; returns it, to be changed in place."""
        self._arrays[name] = np.array(array)
        return self._arrays[name]

    cdef void *array(self, str name, shape, dtype=np.int64) except NULL:
        """A zeroed array of the bandit's state: snapshots find it by its name, kernels by this pointer."""
        self._arrays[name] = np.zeros(shape, dtype)
        return cnp.PyArray_DATA(self._arrays[name])

    def _adopt(self, prefix, part):
        """Make the arrays of a part of the bandit its own state."""
        self._arrays.update({prefix + name: array for name, array in part.arrays.items()})

    # What a user calls

    def ask(self):
        """The next duel. It stays pending until it is told or forgotten."""
        self._check_made()
        cdef duel_t duel
        duel.first_propensity = duel.second_propensity = 0
        duel.number = self.asked + 1
        self.choose(&duel)
        self.asked += 1
        propensity = (duel.first_propensity, duel.second_propensity) if duel.first_propensity else None
        asked = Duel(duel.number, duel.first, duel.second, propensity)
        self._pending[asked.number] = asked
        return asked

    def tell(self, duel, outcome):
        """Who won a duel that was asked for."""
        self._check_pending(duel)
        if not isinstance(outcome, Outcome):
            raise TypeError(f"outcome must be Outcome.FIRST, Outcome.SECOND or Outcome.TIE, got {outcome!r}")
        cdef duel_t told
        told.number, told.first, told.second = duel.number, duel.first, duel.second
        told.first_propensity, told.second_propensity = duel.propensity or (0, 0)
        self.told += 1
        try:
            self.learn(&told, FIRST if outcome is Outcome.FIRST else SECOND if outcome is Outcome.SECOND else TIE)
        except BaseException:
            self.told -= 1
            raise
        del self._pending[duel.number]

    def forget(self, duel):
        """Give up on a duel that will never be told, so that nothing is kept for it."""
        self._check_pending(duel)
        del self._pending[duel.number]

    def _check_made(self):
        if self.rng == NULL:
            raise TypeError(f"{type(self).__name__}.__init__ has not run: call super().__init__(n_arms, seed=seed)")

    def _check_pending(self, duel):
        self._check_made()
        if not isinstance(duel, Duel):
            raise TypeError(f"duel must be a Duel from ask(), got {duel!r}")
        for arm in (duel.first, duel.second):
            if not 0 <= arm < self.n_arms:
                raise ValueError(f"{duel} names arm {arm}, expected 0 to {self.n_arms - 1}")
        if self._pending.get(duel.number) != duel:
            raise UnknownDuel(f"{duel} is not pending: never asked for, or told or forgotten before")

    @property
    def pending(self):
        """Duels asked for and neither told nor forgotten, oldest first."""
        return list(self._pending.values())

    @property
    def alive(self):
        """The arms still in the race, in ascending order. A bandit that never eliminates keeps them all."""
        return np.arange(self.n_arms) if self.out is None else self.out.alive

    @property
    def champion(self):
        """The arm that is the best guess now."""
        raise NotImplementedError(f"{type(self).__name__} needs a champion")

    @property
    def winner(self):
        """The arm declared the best, or None while several are alive."""
        return int(self.alive[0]) if self.n_alive == 1 else None

    def confidence(self):
        """What is guaranteed now, in numbers and, by `str`, in words."""
        rule = getattr(self.out, "rule", None)
        delta, tolerance = (None, None) if rule is None else (rule.delta, rule.tolerance)
        alive = tuple(self.alive.tolist())
        evidence = [self.out.evidence_against(arm) for arm in alive] if rule is not None else []
        return Confidence(delta, alive, self.tied, tolerance, min(evidence, default=0.0))

    def decision(self):
        """The winner, or the arms that are tied, with the evidence against all that are out; or where it stands."""
        tied = tuple(self.alive.tolist()) if self.tied else ()
        return Decision(self.winner, tied, self.confidence(), () if self.out is None else self.out.listed())

    @property
    def parameters(self):
        """The algorithm's parameters by name."""
        return dict(self._parameters)

    def __repr__(self):
        parameters = "".join(f", {name}={value!r}" for name, value in self._parameters.items() if value is not None)
        return f"{type(self).__name__}({self.n_arms}{parameters}, seed={self.seed})"

    # Snapshots

    def snapshot(self):
        """Everything the bandit knows, as bytes (npz): restored, it goes on exactly as this one would."""
        self._check_made()
        generator = self._bit_generator.state
        header = {
            "schema": SCHEMA,
            "bandit": type(self).__name__,
            "n_arms": self.n_arms,
            "seed": self.seed,
            "parameters": self._parameters,
            "asked": self.asked,
            "told": self.told,
            "n_alive": self.n_alive,
            "tied": self.tied,
            "generator": [int(word) for word in generator["state"]["state"]],
            "half_word": [generator["has_uint32"], generator["uinteger"]],
            "pending": [[duel.number, duel.first, duel.second, duel.propensity] for duel in self._pending.values()],
        }
        file = io.BytesIO()
        np.savez_compressed(file, header=np.array(json.dumps(header, default=repr)), **self._state())
        return file.getvalue()

    @classmethod
    def restore(cls, data):
        """The bandit of a snapshot. `Bandit.restore` knows every bandit of the registry, `MyBandit.restore` its own."""
        try:
            with np.load(io.BytesIO(data), allow_pickle=False) as file:
                arrays = dict(file)
            header = json.loads(str(arrays.pop("header")))
            schema, name = header["schema"], header["bandit"]
        except Exception as error:
            raise SnapshotError(f"not a rankduel snapshot, or a damaged one: {error}") from error
        if schema != SCHEMA:
            raise SnapshotError(f"snapshot has schema {schema}, this version of rankduel reads {SCHEMA}")
        if cls is Bandit:
            from rankduel.bandits import REGISTRY  # it lists the subclasses of this class
            if str(name) not in REGISTRY:
                raise SnapshotError(f"snapshot of an unknown bandit {name!r}: restore it with its own class")
            cls = REGISTRY[str(name)]
        elif cls.__name__ != name:
            raise SnapshotError(f"snapshot of {name}, not of {cls.__name__}")
        try:
            bandit = cls(header["n_arms"], seed=header["seed"], **header["parameters"])
            bandit._take(header, arrays)
        except Exception as error:
            raise SnapshotError(f"snapshot of {name} does not fit: {error!r}") from error
        return bandit

    def _take(self, header, arrays):
        self.asked, self.told = header["asked"], header["told"]
        self.n_alive, self.tied = header["n_alive"], header["tied"]
        state = self._bit_generator.state
        state["state"]["state"][:] = header["generator"]
        state["has_uint32"], state["uinteger"] = header["half_word"]
        self._bit_generator.state = state
        for number, first, second, propensity in header["pending"]:
            self._pending[number] = Duel(number, first, second, tuple(propensity) if propensity else None)
        self._load(arrays)

    def _state(self):
        """The arrays of the state by name. A bandit with more than fixed arrays says how it is stored and loaded."""
        return self._arrays if self.out is None else {**self._arrays, **self.out.more_state()}

    def _load(self, arrays):
        for name, array in self._arrays.items():
            stored = arrays[name]
            if stored.shape != array.shape or stored.dtype != array.dtype:
                raise ValueError(f"{name} is {stored.dtype}{stored.shape}, expected {array.dtype}{array.shape}")
            low, high = self._ranges.get(name, (None, None))
            if low is not None and stored.size and not (stored.min() >= low and stored.max() <= high):
                raise ValueError(f"{name} has values beyond {low} to {high}")
            array[...] = stored
        if self.out is not None:
            self.out.load(arrays)

    def __reduce__(self):
        return type(self).restore, (self.snapshot(),)
