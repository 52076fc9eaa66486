"""One seed, many named and independent random streams; no global state."""

from rankduel.randomness.streams import bit_generator, fresh_seed, generator, subseed

__all__ = ["bit_generator", "fresh_seed", "generator", "subseed"]
