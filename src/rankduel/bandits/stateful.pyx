"""`Learner`: arms, seed, random stream, parameters, named state arrays and snapshots of every bandit."""

import io
import json

import numpy as np

cimport numpy as cnp
from cpython.pycapsule cimport PyCapsule_GetPointer

from rankduel.bandits.elimination import Confidence, Decision
from rankduel.bandits.snapshot_checks import MAX_DUELS, Equal, Shape, check, check_whole
from rankduel.errors import SnapshotError, UnknownDuel
from rankduel.randomness import bit_generator, fresh_seed

cnp.import_array()

cdef int SCHEMA = 1  # of snapshots
cdef int MANY_ARMS = 1_000_000  # above it, a snapshot must have arrays of that length before memory is allocated


cdef class Learner:
    """Whatever learns from duels of arms, be they of two or of many."""

    def __init__(self, n_arms, *, seed=None, **parameters):
        if isinstance(n_arms, bool) or not isinstance(n_arms, (int, np.integer)) or not 1 <= n_arms < 2**31:
            raise ValueError(f"n_arms must be a whole number of at least 1, got {n_arms!r}")
        if self._stored is not None and n_arms > MANY_ARMS:
            if n_arms > max([array.size for array in self._stored.values()], default=0):
                raise SnapshotError(f"n_arms is {n_arms}, and no array is that long")
        self.n_arms = self.n_alive = n_arms
        self._bit_generator = bit_generator(seed := fresh_seed() if seed is None else seed, "bandit")
        self.seed = int(seed)
        self.rng = <bitgen_t *>PyCapsule_GetPointer(self._bit_generator.capsule, "BitGenerator")
        self._parameters = parameters
        self._arrays = {}
        self._parts = []
        self._pending = {}

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
        if self._stored is not None:  # before memory is asked for
            check([(name, self._stored[name], Shape(dtype, shape if isinstance(shape, tuple) else (shape,)))])
        self._arrays[name] = np.zeros(shape, dtype)
        return cnp.PyArray_DATA(self._arrays[name])

    def _adopt(self, prefix, part):
        """Make the arrays of a part of the bandit its own state."""
        self._parts.append((prefix, part))
        self._arrays.update({prefix + name: array for name, array in part.arrays.items()})

    # Duels: their kind is the business of subclasses, but for these

    def forget(self, duel):
        """Give up on a duel that will never be told, so that nothing is kept for it."""
        self._check_pending(duel)
        del self._pending[duel.number]

    @property
    def pending(self):
        """Duels asked for and neither told nor forgotten, oldest first."""
        return list(self._pending.values())

    def _check_made(self):
        if self.rng == NULL:
            raise TypeError(f"{type(self).__name__}.__init__ has not run: call super().__init__(n_arms, seed=seed)")

    def _check_pending(self, duel):
        if self._pending.get(duel.number) != duel:
            raise UnknownDuel(f"{duel} is not pending: never asked for, or told or forgotten before")

    def _pack(self, duel):
        """A pending duel as JSON can hold it; `_unpack` makes it a duel again."""
        raise NotImplementedError

    def _unpack(self, packed):
        raise NotImplementedError

    # What is known

    @property
    def alive(self):
        """The arms still in the race, in ascending order. A bandit that never eliminates keeps them all."""
        return np.arange(self.n_arms) if self.eliminations is None else self.eliminations.alive

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
        rule = getattr(self.eliminations, "rule", None)
        delta, tolerance = (None, None) if rule is None else (rule.delta, rule.tolerance)
        doubt = 0.0 if self.eliminations is None else self.eliminations.least_evidence()
        return Confidence(delta, tuple(self.alive.tolist()), self.tied, tolerance, doubt)

    def decision(self):
        """The winner, or the arms that are tied, with the evidence against all that are out; or where it stands."""
        tied = tuple(self.alive.tolist()) if self.tied else ()
        confidence = self.confidence()
        copeland = self._copeland() if confidence.in_doubt and self.eliminations is not None else ()
        return Decision(self.winner, tied, confidence, () if self.eliminations is None else self.eliminations.listed(), copeland)

    def _copeland(self):
        """The arms that win most of the pairs that met, a pair that did not meet counted half; without the retired ones."""
        leads = self._leads()
        leads[self.eliminations.retired] = leads.min() - 1
        return tuple(np.flatnonzero(leads == leads.max()).tolist())

    def _leads(self):
        """Of each arm, the pairs won less the pairs lost."""
        return self.eliminations.leads()

    @property
    def evidence_against(self):
        """The natural logarithm of the evidence against each arm; None where the rule keeps none."""
        return None if self.eliminations is None else self.eliminations.logarithms()

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
            "pending": [self._pack(duel) for duel in self._pending.values()],
        }
        file = io.BytesIO()
        np.savez_compressed(file, header=np.array(json.dumps(header, default=repr)), **self._state())
        return file.getvalue()

    @classmethod
    def restore(cls, data):
        """The bandit of a snapshot. The base class knows every bandit of its registry, any other class its own."""
        try:
            with np.load(io.BytesIO(data), allow_pickle=False) as file:
                arrays = dict(file)
            header = json.loads(str(arrays.pop("header")))
            schema, name = header["schema"], header["bandit"]
        except Exception as error:
            raise SnapshotError(f"not a rankduel snapshot, or a damaged one: {error}") from error
        if schema != SCHEMA:
            raise SnapshotError(f"snapshot has schema {schema}, this version of rankduel reads {SCHEMA}")
        registry = cls._registry()
        if registry is not None:
            if str(name) not in registry:
                raise SnapshotError(f"snapshot of an unknown bandit {name!r}: restore it with its own class")
            cls = registry[str(name)]
        elif cls.__name__ != name:
            raise SnapshotError(f"snapshot of {name}, not of {cls.__name__}")
        cdef Learner bandit
        try:
            n_arms, seed, parameters = header["n_arms"], header["seed"], header["parameters"]
            bandit = cls.__new__(cls, n_arms, seed=seed, **parameters)
            bandit._stored = arrays
            bandit.__init__(n_arms, seed=seed, **parameters)
            bandit._take(header, arrays)
            bandit._stored = None
        except SnapshotError as error:
            raise SnapshotError(f"snapshot of {name} does not fit: {error}") from error
        except Exception as error:
            raise SnapshotError(f"snapshot of {name} does not fit: {error!r}") from error
        return bandit

    @classmethod
    def _registry(cls):
        """The bandits that a base class can restore, by name; None for a class that is a bandit itself."""
        return None

    def _take(self, header, arrays):
        self.asked = check_whole("asked", header["asked"], 0, MAX_DUELS)
        self.told = check_whole("told", header["told"], 0, MAX_DUELS)
        self.n_alive = check_whole("n_alive", header["n_alive"], 1, self.n_arms)
        self.tied = header["tied"]
        state = self._bit_generator.state
        state["state"]["state"][:] = [check_whole("generator", word, 0, 2**64 - 1) for word in header["generator"]]
        has_half, half = header["half_word"]
        state["has_uint32"] = check_whole("half_word", has_half, 0, 1)
        state["uinteger"] = check_whole("half_word", half, 0, 2**32 - 1)
        self._bit_generator.state = state
        for packed in header["pending"]:
            duel = self._unpack(packed)
            check_whole("the number of a pending duel", duel.number, 1, self.asked)
            if duel.number in self._pending:
                raise SnapshotError(f"pending has duel {duel.number} twice")
            self._pending[duel.number] = duel
        self._load(arrays)

    def _unpack_arm(self, arm):
        return check_whole("an arm of a pending duel", arm, 0, self.n_arms - 1)

    def _snapshot_rules(self, stored):
        """What the state must be, as `snapshot_checks` says it, after the arrays were taken in; `stored` has them all.

        A bandit whose kernels trust its arrays yields more: of a subclass in Python, nothing is needed.
        """
        for prefix, part in self._parts:
            for name, found, rule in part.snapshot_rules(self, stored):
                yield prefix + name, found, rule
        if type(self).alive is Learner.alive:
            yield "n_alive", self.n_alive, Equal(len(self.alive))

    def _state(self):
        """The arrays of the state by name. A bandit with more than fixed arrays says how it is stored and loaded."""
        return self._arrays if self.eliminations is None else {**self._arrays, **self.eliminations.more_state()}

    def _load(self, arrays):
        for name, array in self._arrays.items():
            check([(name, arrays[name], Shape(array.dtype, array.shape))])
            array[...] = arrays[name]
        check(self._snapshot_rules(arrays))
        if self.eliminations is not None:
            self.eliminations.load(arrays)

    def __reduce__(self):
        return type(self).restore, (self.snapshot(),)
