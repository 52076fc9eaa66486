# Many rare events, each with a chance of its own, asked for again and again: how long until one happens, and which?
#
# Let event i come as arrivals of a Poisson process whose rate makes the chance of at least one within a unit of time its
# own, rate = -log(1 - chance). A round is a unit of time. So the rounds in which nothing happens are jumped over, the
# time to the next arrival being exponential, and arrivals are independent of all that was before: it may be drawn anew
# whenever a rate has changed.

from libc.math cimport log1p

from numpy.random cimport bitgen_t
from numpy.random.c_distributions cimport random_standard_exponential

from rankduel.randomness.draws cimport uniform
from rankduel.randomness.sum_tree cimport tree_draw


cdef inline double arrival_rate(double chance) noexcept nogil:
    return -log1p(-chance)


cdef inline double arrival_wait(bitgen_t *rng, double total) noexcept nogil:
    """The time until the next arrival, where the rates have this sum."""
    return random_standard_exponential(rng) / total if total > 0 else 1e300


cdef inline int arrival_of(bitgen_t *rng, const double *rates, int n, double total) noexcept nogil:
    """Whose arrival it is."""
    cdef double left = uniform(rng) * total
    cdef int i, last = 0
    for i in range(n):
        if rates[i] > 0:
            if left < rates[i]:
                return i
            left -= rates[i]
            last = i
    return last  # by rounding


cdef inline int with_event(int *events, int n_events, int event) noexcept nogil:
    """Note an event once; how many there are now."""
    cdef int k = 0
    while k < n_events and events[k] != event:
        k += 1
    events[k] = event
    return max(n_events, k + 1)


cdef inline int arrivals_now(
    bitgen_t *rng, const double *rates, int n, double total, double *wait, int *events
) noexcept nogil:
    """Those whose events are in this round, each once, given the time to the next arrival; their number."""
    cdef int n_events = 0
    while wait[0] < 1:
        n_events = with_event(events, n_events, arrival_of(rng, rates, n, total))
        wait[0] += arrival_wait(rng, total)
    wait[0] -= 1
    return n_events


cdef inline int arrivals_in_tree(bitgen_t *rng, const double *tree, int size, double *wait, int *events) noexcept nogil:
    """The same, where the rates are the leaves of a tree of sums."""
    cdef int n_events = 0
    while wait[0] < 1:
        n_events = with_event(events, n_events, tree_draw(rng, tree, size))
        wait[0] += arrival_wait(rng, tree[1])
    wait[0] -= 1
    return n_events
