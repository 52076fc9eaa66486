"""Named random streams from one seed (`streams`), and random draws for kernels (`draws.pxd`, `beta.pxd`, ...)."""

from rankduel.randomness.streams import bit_generator, fresh_seed, generator, subseed

__all__ = ["bit_generator", "fresh_seed", "generator", "subseed"]
