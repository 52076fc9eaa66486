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

cdef int SCHEMA = 1  # version of the snapshot format
cdef int MANY_ARMS = 1_000_000  # above it, a snapshot must contain an array of that length before memory is allocated


cdef class Learner:
    """The common base of `Bandit` (two arms per duel) and `MultiBandit` (many arms per duel)."""

    def __init__(self, n_arms, *, seed=None, **parameters):
        if isinstance(n_arms, bool) or not isinstance(n_arms, (int, np.integer)) or not 1 <= n_arms < 2**31:
            raise ValueError(f"n_arms must be a whole number of at least 1, got {n_arms!r}")
        if self._stored is not None and n_arms > MANY_ARMS:
            if n_arms > max([array.size for array in self._stored.values()], default=0):
                raise SnapshotError(f"n_arms is {n_arms}, but no array of the snapshot is that long")
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
        """The bandit's own random generator. A snapshot stores its position."""
        return np.random.Generator(self._bit_generator)

    def keep(self, name, array):
        """Make an array part of the state, so that snapshots store it. Change the returned array in place."""
        self._arrays[name] = np.array(array)
        return self._arrays[name]

    cdef void *array(self, str name, shape, dtype=np.int64) except NULL:
        """Allocate a zeroed state array. Snapshots find it by its name, kernels by the returned pointer."""
        if self._stored is not None:  # validate the stored array before allocating memory of its size
            check([(name, self._stored[name], Shape(dtype, shape if isinstance(shape, tuple) else (shape,)))])
        self._arrays[name] = np.zeros(shape, dtype)
        return cnp.PyArray_DATA(self._arrays[name])

    def _adopt(self, prefix, part):
        """Add the arrays of a part (a kernel object) to the state of the bandit."""
        self._parts.append((prefix, part))
        self._arrays.update({prefix + name: array for name, array in part.arrays.items()})

    # Duels: subclasses define their type

    def forget(self, duel):
        """Drop a pending duel without an outcome."""
        self._check_pending(duel)
        del self._pending[duel.number]

    @property
    def pending(self):
        """The duels that were asked for and neither told nor forgotten, oldest first."""
        return list(self._pending.values())

    def _check_made(self):
        if self.rng == NULL:
            raise TypeError(
                f"{type(self).__name__} is not initialised; call super().__init__(n_arms, seed=seed) in its __init__"
            )

    def _check_pending(self, duel):
        if self._pending.get(duel.number) != duel:
            raise UnknownDuel(f"{duel} is not pending: it was never asked for, or it was already told or forgotten")

    def _pack(self, duel):
        """Convert a pending duel to JSON types. `_unpack` is the inverse."""
        raise NotImplementedError

    def _unpack(self, packed):
        raise NotImplementedError

    # Results

    @property
    def alive(self):
        """The arms that are not eliminated, in ascending order. All arms, if the bandit never eliminates."""
        return np.arange(self.n_arms) if self.eliminations is None else self.eliminations.alive

    @property
    def champion(self):
        """The current best guess of the best arm."""
        raise NotImplementedError(f"{type(self).__name__} needs the property champion -> arm")

    @property
    def winner(self):
        """The last arm left, declared the best. None while several arms are left."""
        return int(self.alive[0]) if self.n_alive == 1 else None

    def confidence(self):
        """The guarantee now, in numbers; `str` gives it in words."""
        rule = getattr(self.eliminations, "rule", None)
        delta, tolerance = (None, None) if rule is None else (rule.delta, rule.tolerance)
        doubt = 0.0 if self.eliminations is None else self.eliminations.least_evidence()
        return self._confidence(delta, tolerance, doubt)

    def _confidence(self, delta, tolerance, doubt):
        return Confidence(
            delta,
            tuple(self.alive.tolist()),
            self.tied,
            tolerance,
            doubt,
            champion=self.champion,
            n_arms=self.n_arms,
            n_retired=0 if self.eliminations is None else len(self.eliminations.retired),
            told=self.told,
        )

    def decision(self):
        """The winner or the tied arms, if it is decided, and all eliminations with their evidence."""
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
        """The natural logarithm of the evidence against each arm. None if the elimination rule keeps no evidence."""
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
        """Serialise the whole state to bytes (npz). A restored bandit continues exactly as this one would."""
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
        """Restore a bandit from a snapshot. A base class restores any bandit of its registry, a bandit only its own."""
        try:
            with np.load(io.BytesIO(data), allow_pickle=False) as file:
                arrays = dict(file)
            header = json.loads(str(arrays.pop("header")))
            schema, name = header["schema"], header["bandit"]
        except Exception as error:
            raise SnapshotError(f"this is not a rankduel snapshot, or it is damaged: {error}") from error
        if schema != SCHEMA:
            raise SnapshotError(f"the snapshot has schema {schema}, but this version of rankduel reads schema {SCHEMA}")
        registry = cls._registry()
        if registry is not None:
            if str(name) not in registry:
                raise SnapshotError(f"unknown bandit {name!r} in the snapshot; restore it with its own class")
            cls = registry[str(name)]
        elif cls.__name__ != name:
            raise SnapshotError(f"this is a snapshot of {name}, expected {cls.__name__}")
        cdef Learner bandit
        try:
            n_arms, seed, parameters = header["n_arms"], header["seed"], header["parameters"]
            bandit = cls.__new__(cls, n_arms, seed=seed, **parameters)
            bandit._stored = arrays
            bandit.__init__(n_arms, seed=seed, **parameters)
            bandit._take(header, arrays)
            bandit._stored = None
        except SnapshotError as error:
            raise SnapshotError(f"invalid snapshot of {name}: {error}") from error
        except Exception as error:
            raise SnapshotError(f"invalid snapshot of {name}: {error!r}") from error
        return bandit

    @classmethod
    def _registry(cls):
        """The bandits that a base class can restore, by name. None for a class that is a bandit itself."""
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
                raise SnapshotError(f"duel {duel.number} is pending twice")
            self._pending[duel.number] = duel
        self._load(arrays)

    def _unpack_arm(self, arm):
        return check_whole("an arm of a pending duel", arm, 0, self.n_arms - 1)

    def _snapshot_rules(self, stored):
        """Yield the rules of `snapshot_checks` for the loaded state. `stored` has all arrays of the snapshot.

        A bandit with compiled kernels overrides this and yields more rules, because its kernels trust the arrays. A
        bandit in Python needs none.
        """
        for prefix, part in self._parts:
            for name, found, rule in part.snapshot_rules(self, stored):
                yield prefix + name, found, rule
        if type(self).alive is Learner.alive:
            yield "n_alive", self.n_alive, Equal(len(self.alive))

    def _state(self):
        """The arrays of the state by name. A bandit with other state overrides `_state` and `_load`."""
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
