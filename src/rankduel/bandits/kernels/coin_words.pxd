# Bit-sliced coin flips: decide theta_ij > 1/2 for 64 opponents j of an arm at once. A word holds the same binary digit
# of 64 probabilities.
#
# A coin with probability p = 0.p0 p1 p2 ... (binary) succeeds if a uniform number r = 0.r0 r1 r2 ... is below p. The
# first digit k with rk != pk decides: the coin succeeds if pk = 1. So one random word decides about half of the coins
# that are still open. If all remaining digits of p are 0, r is not below p and the coin fails. A pair that has not met
# has p = 1/2, and needs a single random bit. The few coins that are open after the last stored digit are decided by a
# uniform number each, compared with the remainder of p.
#
# The wins are counted bit-sliced too. A full adder turns three bits of one weight into one bit of the same weight and
# one of the next. For each weight, a word of sums and a word that waits for its partner are stored. So the adder of
# weight 2^k runs once in 2^(k + 1) words, and a word needs one adder on average, independently of the number of words.

from libc.stdint cimport uint64_t

from numpy.random cimport bitgen_t

from rankduel.randomness.draws cimport eight_bytes, uniform

cdef extern from *:
    int __builtin_ctzll(uint64_t word) noexcept nogil

cdef enum:
    STEPS = 6  # steps of two digits each, after the first digit
    PLACES = 1 + 2 * STEPS  # stored binary digits
    LATER = 3 * STEPS  # words per 64 coins: each step has two digits, and a 1 for coins with further nonzero digits

cdef struct coins_t:
    uint64_t first  # first binary digit of each coin
    uint64_t more  # 1 for coins with further nonzero digits


cdef inline uint64_t bit(int j) noexcept nogil:
    """The bit of j in its word."""
    return <uint64_t>1 << (j & 63)


cdef inline void put(uint64_t *word, uint64_t which, bint value) noexcept nogil:
    word[0] = word[0] | which if value else word[0] & ~which


cdef inline void set_coin(coins_t *coins, uint64_t *later, uint64_t which, double p) noexcept nogil:
    """Set the probability of one of the 64 coins."""
    cdef double left = rest(p)
    cdef int step, shift = 2 * STEPS, places = <int>((1 << PLACES) * p - left)
    put(&coins.first, which, places >> shift & 1)
    put(&coins.more, which, left > 0 or places & ((1 << shift) - 1))
    for step in range(STEPS):
        shift -= 2
        put(&later[3 * step], which, places >> (shift + 1) & 1)
        put(&later[3 * step + 1], which, places >> shift & 1)
        put(&later[3 * step + 2], which, left > 0 or places & ((1 << shift) - 1))


cdef inline double rest(double p) noexcept nogil:
    """The success probability of a coin that is open after the last stored digit."""
    p *= 1 << PLACES
    return p - <int>min((1 << PLACES) - 1.0, p)


cdef inline uint64_t toss(
    bitgen_t *rng, const coins_t *coins, const uint64_t *later, uint64_t wanted, const double *p, size_t stride
) noexcept nogil:
    """Flip the wanted coins, and return the successes. p[k * stride] is the probability of coin k."""
    cdef uint64_t random = eight_bytes(rng), yes = coins.first & ~random
    cdef uint64_t open = ~(coins.first ^ random) & coins.more & wanted
    cdef int k = 0
    while open != 0 and k < LATER:  # two digits per step: a branch after each one would be mispredicted
        random = eight_bytes(rng)
        yes |= open & later[k] & ~random
        open &= ~(later[k] ^ random)
        random = eight_bytes(rng)
        yes |= open & later[k + 1] & ~random
        open &= ~(later[k + 1] ^ random) & later[k + 2]
        k += 3
    while open != 0:
        k = __builtin_ctzll(open)
        if uniform(rng) < rest(p[k * stride]):
            yes |= bit(k)
        open &= open - 1
    return yes


cdef inline int ones(uint64_t word) noexcept nogil:
    """Population count. Some of the processors that we compile for have no instruction for it."""
    word -= word >> 1 & <uint64_t>0x5555555555555555
    word = (word & <uint64_t>0x3333333333333333) + (word >> 2 & <uint64_t>0x3333333333333333)
    return <int>(((word + (word >> 4)) & <uint64_t>0x0F0F0F0F0F0F0F0F) * <uint64_t>0x0101010101010101 >> 56)


cdef struct tally_t:
    uint64_t sums
    uint64_t waiting  # valid if the bit of this weight is set in the number of added words


cdef inline void tally_add(tally_t *tally, int n_added, uint64_t word) noexcept nogil:
    """Add each bit of a word to its counter."""
    cdef uint64_t either, both
    while n_added & 1:
        either, both = tally.sums ^ tally.waiting, tally.sums & tally.waiting
        tally.sums = either ^ word
        word = both | (either & word)
        tally += 1
        n_added >>= 1
    tally.waiting = word


cdef inline int tally_of(const tally_t *tally, int n_added, int j) noexcept nogil:
    """The number of added words in which the bit of j was set."""
    cdef int weight = 0, count = 0
    while n_added >> weight:
        count += <int>((tally.sums >> (j & 63) & 1) + (tally.waiting >> (j & 63) & n_added >> weight & 1)) << weight
        tally += 1
        weight += 1
    return count
