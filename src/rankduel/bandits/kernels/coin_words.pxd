# Whether theta_ij > 1/2, for 64 opponents j of an arm at once: 64 coins, the same binary place of all of them in a word.
#
# A coin with the chance p = 0.p0 p1 p2 ... is a yes if a random number 0.r0 r1 r2 ... is below it: the first place k with
# rk != pk decides, with a yes where pk = 1. So one random word decides about half of the coins that are open. Where nothing
# but zeros follow, the number is not below, and the coin a no: a pair that has not met, p = 1/2, takes one bit. Few are
# open behind the last place that is kept. Each of them takes a uniform number, against what is left of its p.
#
# Who was beaten how often is counted in words, too, by adders that turn three bits of one weight into one of that and one
# of the next. Of each weight, a word of sums and a word that waits for the next to come are kept: so the adder of weight
# 2^k is needed once in 2^(k + 1) words, and a word takes one adder on average, however many there are.

from libc.stdint cimport uint64_t

from numpy.random cimport bitgen_t

from rankduel.randomness.draws cimport eight_bytes, uniform

cdef extern from *:
    int __builtin_ctzll(uint64_t word) noexcept nogil

cdef enum:
    STEPS = 6  # of two places each that are kept behind the first
    PLACES = 1 + 2 * STEPS
    LATER = 3 * STEPS  # words: of each step two places, and a 1 where that is not all

cdef struct coins_t:
    uint64_t first  # place of each coin
    uint64_t more  # a 1 where it is not all


cdef inline uint64_t bit(int j) noexcept nogil:
    """Of j in its word."""
    return <uint64_t>1 << (j & 63)


cdef inline void put(uint64_t *word, uint64_t which, bint value) noexcept nogil:
    word[0] = word[0] | which if value else word[0] & ~which


cdef inline void set_coin(coins_t *coins, uint64_t *later, uint64_t which, double p) noexcept nogil:
    """Change one of the 64."""
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
    """The chance of a coin that is still open behind the last place."""
    p *= 1 << PLACES
    return p - <int>min((1 << PLACES) - 1.0, p)


cdef inline uint64_t toss(
    bitgen_t *rng, const coins_t *coins, const uint64_t *later, uint64_t wanted, const double *p, size_t stride
) noexcept nogil:
    """The coins that are a yes, of those that are wanted; p[k stride] is the chance of coin k."""
    cdef uint64_t random = eight_bytes(rng), yes = coins.first & ~random
    cdef uint64_t open = ~(coins.first ^ random) & coins.more & wanted
    cdef int k = 0
    while open != 0 and k < LATER:  # two places at once: whether one is enough, a processor cannot guess
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
    """How many bits are set. Not every processor that we compile for has an instruction for it."""
    word -= word >> 1 & <uint64_t>0x5555555555555555
    word = (word & <uint64_t>0x3333333333333333) + (word >> 2 & <uint64_t>0x3333333333333333)
    return <int>(((word + (word >> 4)) & <uint64_t>0x0F0F0F0F0F0F0F0F) * <uint64_t>0x0101010101010101 >> 56)


cdef struct tally_t:
    uint64_t sums
    uint64_t waiting  # if the bit of this weight is set in the number of words that were added


cdef inline void tally_add(tally_t *tally, int n_added, uint64_t word) noexcept nogil:
    """Count each bit of one word more."""
    cdef uint64_t either, both
    while n_added & 1:
        either, both = tally.sums ^ tally.waiting, tally.sums & tally.waiting
        tally.sums = either ^ word
        word = both | (either & word)
        tally += 1
        n_added >>= 1
    tally.waiting = word


cdef inline int tally_of(const tally_t *tally, int n_added, int j) noexcept nogil:
    """How many of the words had the bit of j."""
    cdef int weight = 0, count = 0
    while n_added >> weight:
        count += <int>((tally.sums >> (j & 63) & 1) + (tally.waiting >> (j & 63) & n_added >> weight & 1)) << weight
        tally += 1
        weight += 1
    return count
