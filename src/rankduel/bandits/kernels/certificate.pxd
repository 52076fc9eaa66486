# Certificates: evidence against each arm, accumulated over all opponents, and the eliminated arms.

from libc.math cimport fabs, log1p, sqrt
from libc.stdint cimport int32_t, int64_t, uint8_t

from rankduel.bandits.kernels.pair_table cimport PairTable
from rankduel.bandits.kernels.sample_trees cimport prefetch

cdef enum:
    ELIMINATED = 1
    RETIRED = 2  # removed by an operator
    EVEN_PRIOR_DUELS = 1000  # prior weight of the fourth bet, at even odds, for a pair without a prediction

cdef struct evidence_t:
    double bets[4]  # wealth of four bettors against the arm, each starting at 1


cdef class Eliminations:
    cdef readonly dict arrays
    cdef int64_t n_arms
    cdef uint8_t *gone
    cdef int64_t *at  # number of outcomes learnt when the arm was eliminated
    cdef int32_t *by  # the winner of the duel that eliminated the arm
    cdef int32_t *lead  # pairs won minus pairs lost, over the pairs that are no longer stored

    cdef void add(self, int arm, int by, int64_t told) noexcept nogil


cdef class Certificate(Eliminations):
    cdef readonly object rule  # Certified
    cdef evidence_t *evidence
    cdef double enough  # the evidence that eliminates an arm
    cdef double enough_per_arm  # with a tolerance, `enough` is this times the number of arms left
    cdef int64_t left  # number of arms left
    cdef double log_chances, scale, tolerance
    cdef readonly double min_even_duels  # the fewest duels after which a pair can be known to be even

    cdef void add(self, int arm, int by, int64_t told) noexcept nogil


cdef class CountingCertificate(Certificate):
    cdef PairTable pairs

    cdef bint record_duel(self, int winner, int loser) except -1 nogil
    cdef bint has_evened(self, int i, int j) noexcept nogil
    cdef bint all_even(self) noexcept nogil


cdef inline double total(const evidence_t *evidence) noexcept nogil:
    """The evidence against an arm: the mean wealth of the four bettors."""
    return (evidence.bets[0] + evidence.bets[1] + evidence.bets[2] + evidence.bets[3]) / 4


cdef inline void bet(
    evidence_t *evidence, bint won, double wins, double losses, double guess, double trust
) noexcept nogil:
    """Bet against an arm in one duel, given its wins and losses against the opponent before this duel.

    Three bets use the record of the pair alone, with prior weights 5, 30 and 200. The fourth starts from `guess`, a
    prediction of the arm's probability to win, with weight `trust`.
    """
    if wins < losses:  # otherwise their q is at least 1/2 and no bet is placed
        stake(&evidence.bets[0], won, (wins + 5) / (wins + losses + 10))
        stake(&evidence.bets[1], won, (wins + 30) / (wins + losses + 60))
        stake(&evidence.bets[2], won, (wins + 200) / (wins + losses + 400))
    stake(&evidence.bets[3], won, (wins + 2 * trust * guess) / (wins + losses + 2 * trust))


cdef inline void stake(double *value, bint won, double q) noexcept nogil:
    """Multiply by 2 q if the arm won, else by 2 (1 - q).

    No bet is placed if q >= 1/2: for an arm that wins with probability above 1/2, its expected gain could be positive.
    """
    if q < 0.5:
        value[0] *= 2 * q if won else 2 - 2 * q
        if value[0] < 1e-280:
            value[0] = 0


cdef inline bint record_bets(
    Certificate certificate, int winner, int loser, double winner_wins, double loser_wins, double guess, double trust
) noexcept nogil:
    """Record a duel as bets. Return true if the evidence against the loser is now enough to eliminate it.

    Call it before the win is counted: a bet may depend only on outcomes from before its duel. `guess` is a prediction
    of the winner's probability to win, made from the past, and `trust` is its weight in duels. Pass a guess of 1/2 if
    there is no prediction.
    """
    bet(&certificate.evidence[winner], True, winner_wins, loser_wins, guess, trust)
    bet(&certificate.evidence[loser], False, loser_wins, winner_wins, 1 - guess, trust)
    return total(&certificate.evidence[loser]) >= certificate.enough


cdef inline bint even(Certificate certificate, double wins, double losses) noexcept nogil:
    """Whether two arms with this record are known to be within the tolerance."""
    cdef double n = wins + losses
    return n >= certificate.min_even_duels and fabs(wins / n - 0.5) + radius(certificate, n) <= certificate.tolerance


cdef inline double radius(Certificate certificate, double n) noexcept nogil:
    """Half the width, after n duels, of a confidence sequence for p (Robbins' normal mixture), valid at all times."""
    cdef double scale = certificate.scale
    return sqrt((n / 4 + scale) * (log1p(n / 4 / scale) + 2 * certificate.log_chances)) / n


cdef inline void prefetch_arms(Certificate certificate, int i, int j) noexcept nogil:
    """Prefetch the evidence of the two arms of the next duel."""
    prefetch(&certificate.evidence[i])
    prefetch(&certificate.evidence[j])
    prefetch(&certificate.gone[i])
    prefetch(&certificate.gone[j])
