"""Delayed outcomes, as in real traffic: distributions of the delay, a limit on duels in flight, lost outcomes."""

import hashlib
from math import ceil
from numbers import Real
from pathlib import Path

import numpy as np

cimport numpy as cnp
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport INT64_MAX, int64_t

from numpy.random.c_distributions cimport random_geometric

from rankduel.bandits.parameters import number
from rankduel.randomness import bit_generator
from rankduel.randomness.draws cimport uniform
from rankduel.spec import parse

cnp.import_array()

__all__ = ["LAWS", "Delay", "Empirical", "Fixed", "Geometric", "delay_from"]

cdef int64_t MAX_DELAY_DUELS = 10**15  # the compiled loop counts in 64 bits
cdef int MAX_SHOWN_DELAYS = 20  # a repr lists at most this number of delays


cdef class Delay:
    """Delay of outcomes, in duels: with a delay of d, the bandit learns an outcome after d more pages were shown.

    The subclasses are distributions of d. The delay of a duel does not depend on its outcome. All take these options:

    in_flight: the maximum number of duels that wait for their outcome. At this limit, pages are shown without a duel.
    unanswered: the share of duels that never get an outcome. It needs a timeout.
    timeout: the number of duels after which a duel is forgotten and no longer in flight. Later outcomes are lost.

    >>> from rankduel import delays
    >>> delays.Geometric(mean=1000, in_flight=5000, unanswered=0.1, timeout=20_000)
    Geometric(mean=1000.0, in_flight=5000, unanswered=0.1, timeout=20000)
    """

    def __init__(self, *, in_flight=None, unanswered=0.0, timeout=None):
        self.in_flight = None if in_flight is None else _duels("in_flight", in_flight, 1)
        self.timeout = None if timeout is None else _duels("timeout", timeout, 0)
        if isinstance(unanswered, bool) or not isinstance(unanswered, Real) or not 0 <= unanswered < 1:
            raise ValueError(f"unanswered must be at least 0 and below 1, got {unanswered!r}")
        if unanswered and timeout is None:
            raise ValueError(f"unanswered={unanswered!r} needs a timeout, after which such duels are forgotten")
        self.unanswered = unanswered
        self.max_in_flight = INT64_MAX if in_flight is None else self.in_flight
        self.timeout_duels = INT64_MAX if timeout is None else self.timeout

    cdef int64_t draw(self, bitgen_t *rng) noexcept nogil:
        """Draw the delay of one duel."""
        return 0

    cdef int64_t answer(self, bitgen_t *rng, bint *comes) noexcept nogil:
        """Draw the time until a duel gets its outcome (`comes` is true) or is forgotten (false)."""
        cdef int64_t late = self.draw(rng)
        comes[0] = not (self.unanswered > 0 and uniform(rng) < self.unanswered) and late <= self.timeout_duels
        return late if comes[0] else self.timeout_duels

    def sample(self, int64_t n, seed=0):
        """Draw `n` delays. A duel that is forgotten has the timeout as its delay."""
        generator = bit_generator(seed, "delay")
        cdef bitgen_t *rng = <bitgen_t *>PyCapsule_GetPointer(generator.capsule, "BitGenerator")
        cdef int64_t[::1] delays = np.empty(n, np.int64)
        cdef int64_t i
        cdef bint comes
        for i in range(n):
            delays[i] = self.answer(rng, &comes)
        return np.asarray(delays)

    @property
    def fingerprint(self):
        """The SHA-256 of the distribution and its options."""
        return hashlib.sha256(repr((type(self).__name__, self._options())).encode()).hexdigest()

    def _options(self):
        """The options of the constructor that differ from the default."""
        shared = {"in_flight": self.in_flight, "unanswered": self.unanswered or None, "timeout": self.timeout}
        return {name: value for name, value in shared.items() if value is not None}

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self._options().items())})"

    def __eq__(self, other):
        return isinstance(other, Delay) and self.fingerprint == other.fingerprint

    def __hash__(self):
        return hash(self.fingerprint)

    def __reduce__(self):
        return _made, (type(self), self._options())


cdef class Fixed(Delay):
    """Every outcome comes after the same number of duels. With 1000, a thousand duels are always in flight.

    >>> from rankduel import delays
    >>> delays.Fixed(duels=1000).sample(3).tolist()
    [1000, 1000, 1000]
    """

    cdef readonly int64_t duels

    def __init__(self, duels, *, in_flight=None, unanswered=0.0, timeout=None):
        super().__init__(in_flight=in_flight, unanswered=unanswered, timeout=timeout)
        self.duels = _duels("duels", duels, 0)

    cdef int64_t draw(self, bitgen_t *rng) noexcept nogil:
        return self.duels

    def _options(self):
        return {"duels": self.duels, **super()._options()}


cdef class Geometric(Delay):
    """Outcomes come after `mean` duels on average, with a geometric (memoryless) distribution.

    >>> from rankduel import delays
    >>> round(float(delays.Geometric(mean=1000).sample(1_000_000).mean()), -1)
    1000.0
    """

    cdef readonly double mean
    cdef double chance  # probability that an outcome comes before the next duel

    def __init__(self, mean, *, in_flight=None, unanswered=0.0, timeout=None):
        super().__init__(in_flight=in_flight, unanswered=unanswered, timeout=timeout)
        self.mean = number("mean", mean, at_most=MAX_DELAY_DUELS)
        self.chance = 1 / (1 + self.mean)

    cdef int64_t draw(self, bitgen_t *rng) noexcept nogil:
        return random_geometric(rng, self.chance) - 1

    def _options(self):
        return {"mean": self.mean, **super()._options()}


cdef class Empirical(Delay):
    """Delays drawn uniformly from your measurements: a list, or a text file of whole numbers.

    >>> from rankduel import delays
    >>> delays.Empirical(delays=[0, 10, 500]).mean
    170.0
    """

    cdef readonly object delays
    cdef const int64_t *first
    cdef int64_t n

    def __init__(self, delays=None, *, file=None, in_flight=None, unanswered=0.0, timeout=None):
        super().__init__(in_flight=in_flight, unanswered=unanswered, timeout=timeout)
        if (delays is None) is (file is None):
            raise ValueError("Empirical needs either delays=[...] or file='...'")
        values = delays if file is None else _read_numbers(file)
        array = np.array([_duels("a delay", value, 0) for value in values], np.int64)
        if not len(array):
            raise ValueError(f"Empirical needs at least one delay, got none{'' if file is None else f' in {file}'}")
        array.flags.writeable = False
        self.delays = array
        self.first = <const int64_t *>cnp.PyArray_DATA(array)
        self.n = len(array)

    cdef int64_t draw(self, bitgen_t *rng) noexcept nogil:
        return self.first[<int64_t>(uniform(rng) * self.n)]

    @property
    def mean(self):
        """The mean of the delays, in duels."""
        return float(self.delays.mean())

    def _options(self):
        return {"delays": self.delays.tolist(), **super()._options()}

    def __repr__(self):
        if self.n <= MAX_SHOWN_DELAYS:
            return super().__repr__()
        shared = super()._options()
        options = "".join(f", {name}={value!r}" for name, value in shared.items())
        return f"<Empirical: {self.n:,} delays, {self.mean:,.1f} on average{options}>"


LAWS = {"Fixed": Fixed, "Geometric": Geometric, "Empirical": Empirical}
OPTIONS = {"Fixed": "duels", "Geometric": "mean", "Empirical": "delays or file"}


def delay_from(spec):
    """Make a delay from its text form.

    >>> delay_from("Geometric(mean=1e3, in_flight=5000)")
    Geometric(mean=1000.0, in_flight=5000)
    """
    name, options = parse(spec)
    if name not in LAWS:
        raise ValueError(f"unknown delay {name!r}, expected one of {', '.join(LAWS)}")
    try:
        return LAWS[name](**options)
    except TypeError as error:
        raise ValueError(
            f"{spec}: {error}; options of {name}: {OPTIONS[name]}, in_flight, unanswered, timeout"
        ) from None


def _made(law, options):
    """Rebuild a delay. `pickle` calls this."""
    return law(**options)


def _duels(name, value, minimum):
    """Return a whole number of duels as an int. 1e6 is accepted too."""
    real = isinstance(value, (Real, np.integer)) and not isinstance(value, bool)
    if not real or not minimum <= value <= MAX_DELAY_DUELS or value != ceil(value):
        raise ValueError(f"{name} must be a whole number of duels from {minimum} to {MAX_DELAY_DUELS:.0e}, got {value!r}")
    return int(value)


def _read_numbers(file):
    """Yield the numbers of a text file, separated by white space or commas."""
    for word in Path(file).read_text(encoding="utf-8").replace(",", " ").split():
        try:
            yield float(word)
        except ValueError:
            raise ValueError(f"{file}: expected whole numbers of duels, got {word!r}") from None
