"""Streams by name: the same for the same seed and name, others for others, and known for good."""

import numpy as np
import pytest

from rankduel.randomness import bit_generator, fresh_seed, generator, subseed


def test_a_stream_depends_on_seed_and_name_alone() -> None:
    drawn = generator(1, "world").random(5)
    generator(1, "bandit").random(1000)
    assert generator(1, "world").random(5).tolist() == drawn.tolist()


def test_streams_of_other_seeds_and_names_are_others() -> None:
    names = [(), ("world",), ("bandit",), ("world", 0), ("world", "0"), ("world", 1), ("w", "orld")]
    first = [bit_generator(seed, *name).random_raw() for seed in (0, 1, 2**64, 2**128) for name in names]
    assert len(set(first)) == len(first)


def test_streams_never_change() -> None:
    """Stored tournaments and recorded figures rest on these numbers: another one is a new format, never an accident."""
    assert bit_generator(1, "world").random_raw() == 3048777392877663973
    assert subseed(1, "run", 7) == 169429289047217184051228562360904068765


@pytest.mark.parametrize("seed", [-1, True, 1.0, "1", None])
def test_a_seed_is_a_whole_number_of_at_least_0(seed: int) -> None:
    with pytest.raises(ValueError, match="seed must be a non-negative int, got"):
        generator(seed, "world")


def test_seeds_of_numpy_are_seeds() -> None:
    assert subseed(np.int64(7), "run") == subseed(7, "run")  # type: ignore[arg-type]


def test_fresh_seeds_differ() -> None:
    assert len({fresh_seed() for _ in range(100)}) == 100
