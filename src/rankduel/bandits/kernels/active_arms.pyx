"""The arms that can be chosen, for CertifiedSparring: eliminated, retired and paused arms have no slot."""

import numpy as np

cimport numpy as cnp

from rankduel.bandits.kernels.sample_trees cimport NO_SAMPLE, SampleTrees, get, put
from rankduel.bandits.snapshot_checks import Equal, Values

cnp.import_array()


cdef class ActiveArms:
    """Starts with all arms and samples of 0. The bandit that owns it stores the arrays."""

    def __init__(self, n_arms):
        self.arrays = {  # the names in snapshots
            "arm_at": np.arange(n_arms, dtype=np.int32),
            "seat_of": np.arange(n_arms, dtype=np.int32),
            "samples": np.zeros((2, n_arms)),
        }
        self.bind_arrays()

    def bind_arrays(self):
        """Update the pointers after the arrays were replaced or loaded, and build the trees of the samples."""
        self.arm_at = <int32_t *>cnp.PyArray_DATA(self.arrays["arm_at"])
        self.slot_of = <int32_t *>cnp.PyArray_DATA(self.arrays["seat_of"])
        self.n = int((self.arrays["seat_of"] >= 0).sum())
        self.samples = SampleTrees(self.arrays["samples"], self.n)

    def store_samples(self):
        """Copy the samples from the leaves of the trees to the array, with 0 for free slots."""
        cdef double[:, ::1] samples = self.arrays["samples"]
        cdef int which, slot
        for which in range(2):
            for slot in range(samples.shape[1]):
                samples[which, slot] = get(self.samples, which, slot) if slot < self.n else 0

    cdef void insert(self, int arm) noexcept nogil:
        """Give an arm the next slot. The caller must draw its samples."""
        self.slot_of[arm], self.arm_at[self.n] = self.n, arm
        self.n += 1

    cdef void remove(self, int arm) noexcept nogil:
        """Free the slot of an arm, if it has one. The arm in the last slot moves there with its samples."""
        cdef int slot = self.slot_of[arm], which, end = self.n - 1
        if slot < 0:
            return
        self.slot_of[arm], self.n = -1, end
        for which in range(2):
            put(self.samples, which, slot, get(self.samples, which, end))
            put(self.samples, which, end, NO_SAMPLE)
        if slot != end:
            self.arm_at[slot] = self.arm_at[end]
            self.slot_of[self.arm_at[slot]] = slot

    def snapshot_rules(self, bandit, stored):
        """Yield the snapshot rules for the arrays. `gone` must be checked before."""
        arm_at, slot_of = self.arrays["arm_at"], self.arrays["seat_of"]
        last = len(arm_at) - 1
        yield "samples", self.arrays["samples"], Values(-1e12, 1e12)
        yield "arm_at", arm_at, Values(0, last)
        yield "seat_of", slot_of, Values(-1, last)
        active = np.flatnonzero(slot_of >= 0)  # they must have the first slots and not be eliminated
        yield "seat_of", np.sort(slot_of[active]), Equal(np.arange(len(active)))
        yield "arm_at", arm_at[slot_of[active]], Equal(active)
        yield "gone", stored["gone"][active], Equal(0)
