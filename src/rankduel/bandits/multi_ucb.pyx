"""MultiUCB: which rankers to multileave next (Li et al. 2020, their comparison with multileaving)."""

import io
import json

import numpy as np

cimport numpy as cnp
from libc.math cimport log
from libc.stdint cimport int32_t

from rankduel.bandits.parameters import number, whole
from rankduel.errors import SnapshotError
from rankduel.randomness import fresh_seed

cnp.import_array()

cdef int SCHEMA = 1  # of snapshots
RULES = ("corrected", "released")


cdef class MultiUCB:
    """Multileave every ranker that has not been beaten, by an upper confidence bound, by any other.

    Idea
        All candidates share one page, and its clicks say who is preferred to whom among them. The bound of a pair is
        u_ij = w_ij / n_ij + sqrt(alpha log t / n_ij), n_ij = w_ij + w_ji; an arm i is a candidate while no u_ij is
        below 1/2. If none is left, all are. It is no dueling bandit: `candidates` and `update` stand where these have
        `ask` and `tell`.

    Parameters
        n_arms: K, at least 1.
        alpha: exploration, > 0; the paper uses 0.51.
        rule: `corrected`, as told above, or `released`: all arms are candidates at every step. That is what the paper's
            program comes to: it asks for u_ij > 1/2 where u_ii = 1/2, so that nobody is a candidate, and falls back on
            all.
        seed: taken as by every bandit, and kept; the rule draws nothing.

    Cost
        A step over n candidates takes O(K + n^2) time; memory is O(K^2). An arm that is out stays out until the time at
        which the growing log t lets it in again, which is known when it goes.

    Guarantee
        None is known.

    References
        Li, Markov, de Rijke, Zoghi: MergeDTS: A method for effective large-scale online ranker evaluation. ACM
        Transactions on Information Systems 38(4), 2020, the experiment with Sample-Only Scored Multileaving.

    Deviations
        Counts start at 0, and a pair that was never decided keeps nobody out; the paper's program starts its wins at 1,
        and its number of plays stays at 2. The paper's bound has log(t + C) with a C that the experiment does not name;
        here it is log t. The program's fallback draws 100 arms with replacement; `released` takes each arm once, as the
        text says. As in the program, a tie adds nothing to either side.

    Examples
        >>> import numpy as np
        >>> import rankduel as rd
        >>> bandit = rd.MultiUCB(3)
        >>> for _ in range(20):
        ...     arms = bandit.candidates()
        ...     bandit.update(arms, np.sign(arms[None, :] - arms[:, None]))  # the lower number is always preferred
        >>> bandit.candidates(), bandit.champion
        (array([0]), 0)
    """

    def __init__(self, n_arms, *, alpha=0.51, rule="corrected", seed=None):
        self.n_arms = whole("n_arms", n_arms, minimum=1)
        self.alpha = number("alpha", alpha)
        if rule not in RULES:
            raise ValueError(f"rule must be {' or '.join(RULES)}, got {rule!r}")
        if seed is not None and (isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0):
            raise ValueError(f"seed must be a non-negative int, got {seed!r}")
        self.seed = fresh_seed() if seed is None else int(seed)
        self.everyone = rule == "released"
        self._parameters = {"alpha": self.alpha, "rule": rule}
        wins, until = np.zeros((self.n_arms, self.n_arms)), np.zeros(self.n_arms)
        witness = np.zeros(self.n_arms, np.int32)
        self._arrays = wins, until, witness
        self._wins, self.until = <double *>cnp.PyArray_DATA(wins), <double *>cnp.PyArray_DATA(until)
        self.witness = <int *><int32_t *>cnp.PyArray_DATA(witness)

    cdef int choose_set(self, int *arms) except -1 nogil:
        """Fill in the arms to multileave next, in ascending order; how many they are."""
        cdef int i, n = 0
        cdef double log_t = log(self.told + 1)
        if not self.everyone:
            for i in range(self.n_arms):
                arms[n] = i
                n += self.until[i] <= log_t
        if n == 0:
            for i in range(self.n_arms):
                arms[i] = i
            n = self.n_arms
        return n

    cdef int learn_set(self, const int *arms, int n, const double *preferences) except -1 nogil:
        """Take in the preferences [n, n] between these arms: positive at [x, y] for x over y. Only x < y is read."""
        cdef int x, y, i, j
        cdef double log_t = log(self.told + 1), preference, lead, until
        cdef double *won
        cdef double *lost
        for x in range(n):
            i = arms[x]
            for y in range(x + 1, n):
                j = arms[y]
                preference = preferences[<size_t>x * n + y]
                won, lost = self._wins + <size_t>i * self.n_arms + j, self._wins + <size_t>j * self.n_arms + i
                won[0] += 1 if preference > 0 else 0
                lost[0] += 1 if preference < 0 else 0
                lead = won[0] - lost[0]
                until = self.until[j] if lead > 0 else self.until[i]
                until = until if until > log_t else log_t
                if lead * lead > 4 * self.alpha * (won[0] + lost[0]) * until:  # the one behind is out for longer
                    self.put_out(j if lead > 0 else i, i if lead > 0 else j)
        for x in range(n):
            i = arms[x]
            if self.until[i] > log_t and self.turn(i, self.witness[i]) < self.until[i]:  # it has gained on its witness
                self.look_again(i)
        self.told += 1
        return 0

    cdef double turn(self, int i, int j) noexcept nogil:
        """The log t at which u_ij reaches 1/2: (n_ij / 2 - w_ij)^2 / (alpha n_ij), or 0 if it is there anyway."""
        cdef double w = self._wins[<size_t>i * self.n_arms + j], l = self._wins[<size_t>j * self.n_arms + i]
        return (l - w) * (l - w) / (4 * self.alpha * (l + w)) if l > w else 0

    cdef void put_out(self, int i, int j) noexcept nogil:
        """i is out until u_ij reaches 1/2."""
        self.until[i], self.witness[i] = self.turn(i, j), j

    cdef void look_again(self, int i) noexcept nogil:
        """Who keeps i out, and until when?"""
        cdef int j
        self.until[i] = 0
        for j in range(self.n_arms):
            if self.turn(i, j) > self.until[i]:
                self.put_out(i, j)

    # What a user calls

    def candidates(self):
        """The arms to multileave next, in ascending order."""
        arms = np.empty(self.n_arms, np.int32)
        n = self.choose_set(<int *><int32_t *>cnp.PyArray_DATA(arms))
        return arms[:n].astype(np.int64)

    def update(self, arms, preferences):
        """Learn the preferences between some arms, as `Multileaving.preferences` gives them; their signs count."""
        chosen = np.asarray(arms)
        if chosen.ndim != 1 or not np.issubdtype(chosen.dtype, np.integer) or len(set(chosen.tolist())) < len(chosen):
            raise ValueError(f"arms must be different whole numbers, got {arms!r}")
        for arm in chosen[(chosen < 0) | (chosen >= self.n_arms)]:
            raise ValueError(f"arms must be from 0 to {self.n_arms - 1}, got {arm}")
        matrix, n = np.ascontiguousarray(preferences, np.float64), len(chosen)
        if matrix.shape != (n, n):
            raise ValueError(f"preferences of {n} arms must be {n} x {n}, got shape {matrix.shape}")
        wrong = ~(matrix == -matrix.T)
        if wrong.any():
            x, y = np.argwhere(wrong)[0]
            raise ValueError(
                f"preferences[{x}, {y}] = {matrix[x, y]}, expected minus preferences[{y}, {x}] = {matrix[y, x]}"
            )
        chosen = np.ascontiguousarray(chosen, np.int32)
        self.learn_set(<const int *><int32_t *>cnp.PyArray_DATA(chosen), n, <double *>cnp.PyArray_DATA(matrix))

    @property
    def n_candidates(self):
        """How many arms are to be multileaved next."""
        return len(self.candidates())

    @property
    def champion(self):
        """The arm that has won against most others so far; among those, the one with the best record."""
        wins = self._arrays[0]
        rate = (wins.sum(1) + 1) / (wins.sum(1) + wins.sum(0) + 2)
        return int(np.lexsort((rate, (wins > wins.T).sum(1)))[self.n_arms - 1])

    @property
    def winner(self):
        """The only candidate, or None while there are several. Nobody is out for ever: it may be taken back."""
        arms = self.candidates()
        return int(arms[0]) if len(arms) == 1 else None

    @property
    def wins(self):
        """How often arm i was preferred to arm j, at [i, j]; read-only."""
        view = self._arrays[0].view()
        view.flags.writeable = False
        return view

    @property
    def parameters(self):
        """The algorithm's parameters by name."""
        return dict(self._parameters)

    def __repr__(self):
        parameters = "".join(f", {name}={value!r}" for name, value in self._parameters.items())
        return f"{type(self).__name__}({self.n_arms}{parameters}, seed={self.seed})"

    def snapshot(self):
        """Everything the bandit knows, as bytes (npz): restored, it goes on exactly as this one would."""
        header = {
            "schema": SCHEMA,
            "bandit": type(self).__name__,
            "n_arms": self.n_arms,
            "seed": self.seed,
            "parameters": self._parameters,
            "told": self.told,
        }
        file = io.BytesIO()
        np.savez_compressed(file, header=np.array(json.dumps(header)), wins=self._arrays[0])
        return file.getvalue()

    @classmethod
    def restore(cls, data):
        """The bandit of a snapshot."""
        cdef MultiUCB bandit
        cdef int i
        try:
            with np.load(io.BytesIO(data), allow_pickle=False) as file:
                header, wins = json.loads(str(file["header"])), file["wins"]
            schema, name = header["schema"], header["bandit"]
        except Exception as error:
            raise SnapshotError(f"not a rankduel snapshot, or a damaged one: {error}") from error
        if schema != SCHEMA:
            raise SnapshotError(f"snapshot has schema {schema}, this version of rankduel reads {SCHEMA}")
        if name != cls.__name__:
            raise SnapshotError(f"snapshot of {name}, not of {cls.__name__}")
        try:
            bandit = cls(header["n_arms"], seed=header["seed"], **header["parameters"])
            if wins.shape != bandit.wins.shape or not (np.isfinite(wins) & (wins >= 0)).all():
                raise ValueError(f"wins must be {bandit.wins.shape} counts, got {wins!r}")
            bandit._arrays[0][...] = wins
            bandit.told = header["told"]
        except Exception as error:
            raise SnapshotError(f"snapshot of {name} does not fit: {error!r}") from error
        for i in range(bandit.n_arms):
            bandit.look_again(i)
        return bandit

    def __reduce__(self):
        return type(self).restore, (self.snapshot(),)
