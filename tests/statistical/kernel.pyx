# cython: language_level=3, boundscheck=False, cdivision=True
"""Coins and tallies as DTS uses them, many times over: built by the tests that need them."""

from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport uint64_t

import numpy as np

from numpy.random cimport bitgen_t

from rankduel.bandits.kernels.coin_words cimport LATER, PLACES, bit, coins_t, ones, set_coin, tally_add, tally_of, tally_t, toss

N_PLACES = PLACES


def tosses(bit_generator, const double[:, ::1] chances, uint64_t wanted, int n):
    """n words of the coins whose chances are the last row; the rows before are chances that they had earlier."""
    cdef bitgen_t *rng = <bitgen_t *>PyCapsule_GetPointer(bit_generator.capsule, "BitGenerator")
    cdef coins_t coins
    cdef uint64_t later[LATER]
    cdef uint64_t[::1] words = np.empty(n, np.uint64)
    cdef int row, k
    coins.first = coins.more = 0
    for k in range(LATER):
        later[k] = 0
    for row in range(chances.shape[0]):
        for k in range(64):
            set_coin(&coins, later, bit(k), chances[row, k])
    for k in range(n):
        words[k] = toss(rng, &coins, later, wanted, &chances[chances.shape[0] - 1, 0], 1)
    return np.asarray(words)


def tally(const uint64_t[::1] words):
    """How many of the words have each bit."""
    cdef tally_t counts[32]
    cdef int k
    for k in range(32):
        counts[k].sums = 0
        counts[k].waiting = 0
    for k in range(words.shape[0]):
        tally_add(counts, k, words[k])
    return np.array([tally_of(counts, words.shape[0], k) for k in range(64)])


def n_ones(const uint64_t[::1] words):
    """How many bits of each word are set."""
    return np.array([ones(words[k]) for k in range(words.shape[0])])
