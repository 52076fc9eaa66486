"""The problems that the states are reached on."""

import numpy as np

import rankduel as rd

CYCLE, CYCLE2 = rd.problems.cycle(), rd.problems.cycle2()


def ladder(n_arms: int, ratio: float = 1.5) -> rd.PreferenceMatrix:
    """Each arm beats the next one ratio : 1, in a scrambled order of labels."""
    rank = np.random.default_rng(n_arms).permutation(n_arms)
    return rd.PreferenceMatrix.from_array(1 / (1 + ratio ** np.subtract.outer(rank, rank).astype(float)))


def even(n_arms: int) -> rd.PreferenceMatrix:
    """Nobody is better."""
    return rd.PreferenceMatrix.from_array(np.full((n_arms, n_arms), 0.5))


def hopeless(n_arms: int) -> rd.PreferenceMatrix:
    """Three good arms, the others win one duel in twenty against them and are even among themselves."""
    P = np.full((n_arms, n_arms), 0.5)
    P[:3, 3:], P[3:, :3] = 0.95, 0.05
    P[0, 1:3], P[1:3, 0] = 0.55, 0.45
    return rd.PreferenceMatrix.from_array(P)


def scissors(n_arms: int) -> rd.PreferenceMatrix:
    """Everybody beats the next half of a circle: no winner at all."""
    ahead = np.subtract.outer(-np.arange(n_arms), -np.arange(n_arms)).astype(int) % n_arms
    P = np.select([ahead == 0, 2 * ahead == n_arms, 2 * ahead < n_arms], [0.5, 0.5, 0.7], 0.3)
    return rd.PreferenceMatrix.from_array(P)
