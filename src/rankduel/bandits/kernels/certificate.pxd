# Certificates: evidence against each arm, which adds up over all opponents, and the arms that are eliminated.

from libc.math cimport fabs, log1p, sqrt
from libc.stdint cimport int32_t, int64_t, uint8_t

from rankduel.bandits.kernels.pair_table cimport PairTable
from rankduel.bandits.kernels.sample_trees cimport prefetch

cdef enum:
    ELIMINATED = 1
    RETIRED = 2  # by an operator
    EVEN_PRIOR_DUELS = 1000  # prior of the fourth bet, at even odds, for a pair without a prediction

cdef struct evidence_t:
    double bets[4]  # wealth of four bettors against the arm, each from a stake of 1


cdef class Eliminations:
    cdef readonly dict arrays
    cdef int64_t n_arms
    cdef uint8_t *gone
    cdef int64_t *at  # outcomes learnt when it was eliminated
    cdef int32_t *by
    cdef int32_t *lead  # pairs won less pairs lost, of the pairs that are kept no more

    cdef void add(self, int arm, int by, int64_t told) noexcept nogil


cdef class Certificate(Eliminations):
    cdef readonly object rule  # Certified
    cdef evidence_t *evidence
    cdef double enough  # evidence that eliminates an arm
    cdef double enough_per_arm  # with a tolerance, `enough` is this times the arms left
    cdef int64_t left
    cdef double log_chances, scale, tolerance
    cdef readonly double min_even_duels  # before a pair can be known to be even

    cdef void add(self, int arm, int by, int64_t told) noexcept nogil


cdef class CountingCertificate(Certificate):
    cdef PairTable pairs

    cdef bint record_duel(self, int winner, int loser) except -1 nogil
    cdef bint has_evened(self, int i, int j) noexcept nogil
    cdef bint all_even(self) noexcept nogil


cdef inline double total(const evidence_t *evidence) noexcept nogil:
    """The evidence: the mean of the four."""
    return (evidence.bets[0] + evidence.bets[1] + evidence.bets[2] + evidence.bets[3]) / 4


cdef inline void bet(
    evidence_t *evidence, bint won, double wins, double losses, double guess, double trust
) noexcept nogil:
    """One duel of an arm, before it is counted, against an opponent over whom it has so many wins and losses.

    Three bets on this pair's record alone, with prior weights 5, 30, 200; one that begins at a guess of the chance to win.
    """
    if wins < losses:  # else no q is below 1/2
        stake(&evidence.bets[0], won, (wins + 5) / (wins + losses + 10))
        stake(&evidence.bets[1], won, (wins + 30) / (wins + losses + 60))
        stake(&evidence.bets[2], won, (wins + 200) / (wins + losses + 400))
    stake(&evidence.bets[3], won, (wins + 2 * trust * guess) / (wins + losses + 2 * trust))


cdef inline void stake(double *value, bint won, double q) noexcept nogil:
    """Multiply by 2 q if the arm has won, else by 2 (1 - q); no bet is placed at q >= 1/2, where it could not be fair."""
    if q < 0.5:
        value[0] *= 2 * q if won else 2 - 2 * q
        if value[0] < 1e-280:
            value[0] = 0


cdef inline bint record_bets(
    Certificate certificate, int winner, int loser, double winner_wins, double loser_wins, double guess, double trust
) noexcept nogil:
    """Record a duel as bets, before its win is counted; true if the evidence against the loser is now enough.

    `guess` is a prediction of the winner's chance, from the past, and `trust` its weight in duels; 1/2 where there is
    none. What is known of two arms before their duel and nothing else enters a bet.
    """
    bet(&certificate.evidence[winner], True, winner_wins, loser_wins, guess, trust)
    bet(&certificate.evidence[loser], False, loser_wins, winner_wins, 1 - guess, trust)
    return total(&certificate.evidence[loser]) >= certificate.enough


cdef inline bint even(Certificate certificate, double wins, double losses) noexcept nogil:
    """Whether two arms are known to be within the tolerance, by their record."""
    cdef double n = wins + losses
    return n >= certificate.min_even_duels and fabs(wins / n - 0.5) + radius(certificate, n) <= certificate.tolerance


cdef inline double radius(Certificate certificate, double n) noexcept nogil:
    """Half the width, after n duels, of an interval that holds p at all times (Robbins' normal mixture)."""
    cdef double scale = certificate.scale
    return sqrt((n / 4 + scale) * (log1p(n / 4 / scale) + 2 * certificate.log_chances)) / n


cdef inline void prefetch_arms(Certificate certificate, int i, int j) noexcept nogil:
    """Prefetch the evidence of two arms that are about to meet."""
    prefetch(&certificate.evidence[i])
    prefetch(&certificate.evidence[j])
    prefetch(&certificate.gone[i])
    prefetch(&certificate.gone[j])
