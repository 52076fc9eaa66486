# Simulate many rare events over many rounds: skip the rounds without any event, then find the events of a round.
#
# Event i happens in a round with probability p_i. It is modelled as at least one arrival of a Poisson process within a
# unit of time, with the rate -log(1 - p_i), and a round is a unit of time. The time until the next arrival of all
# processes together is exponential, so the rounds before it are skipped. Poisson processes are memoryless, so this time
# may be drawn again whenever a rate has changed.

from libc.math cimport log1p

from numpy.random cimport bitgen_t
from numpy.random.c_distributions cimport random_standard_exponential

from rankduel.randomness.draws cimport uniform
from rankduel.randomness.sum_tree cimport tree_draw


cdef inline double arrival_rate(double chance) noexcept nogil:
    return -log1p(-chance)


cdef inline double arrival_wait(bitgen_t *rng, double total) noexcept nogil:
    """Draw the time until the next arrival, given the sum of all rates."""
    return random_standard_exponential(rng) / total if total > 0 else 1e300


cdef inline int arrival_of(bitgen_t *rng, const double *rates, int n, double total) noexcept nogil:
    """Draw the event that an arrival belongs to, in proportion to the rates."""
    cdef double left = uniform(rng) * total
    cdef int i, last = 0
    for i in range(n):
        if rates[i] > 0:
            if left < rates[i]:
                return i
            left -= rates[i]
            last = i
    return last  # reached only by rounding


cdef inline int with_event(int *events, int n_events, int event) noexcept nogil:
    """Add an event to the list unless it is there. Returns the new length."""
    cdef int k = 0
    while k < n_events and events[k] != event:
        k += 1
    events[k] = event
    return max(n_events, k + 1)


cdef inline int arrivals_now(
    bitgen_t *rng, const double *rates, int n, double total, double *wait, int *events
) noexcept nogil:
    """Fill in the events of this round, each once, given the time until the next arrival. Returns their number."""
    cdef int n_events = 0
    while wait[0] < 1:
        n_events = with_event(events, n_events, arrival_of(rng, rates, n, total))
        wait[0] += arrival_wait(rng, total)
    wait[0] -= 1
    return n_events


cdef inline int arrivals_in_tree(bitgen_t *rng, const double *tree, int size, double *wait, int *events) noexcept nogil:
    """The same as `arrivals_now`, with the rates as leaves of a sum tree."""
    cdef int n_events = 0
    while wait[0] < 1:
        n_events = with_event(events, n_events, tree_draw(rng, tree, size))
        wait[0] += arrival_wait(rng, tree[1])
    wait[0] -= 1
    return n_events
