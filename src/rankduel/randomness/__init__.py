"""Random streams by name from one seed (`streams`), and draws for kernels (`draws.pxd`, `beta.pxd`, ...)."""

from rankduel.randomness.streams import bit_generator, fresh_seed, generator, subseed

__all__ = ["bit_generator", "fresh_seed", "generator", "subseed"]
