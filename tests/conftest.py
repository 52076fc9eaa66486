"""The real matrices, where they are at hand."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from rankduel.preferences import PreferenceMatrix

HERE = Path(__file__).resolve()


@pytest.fixture
def real_matrix() -> Callable[[str], PreferenceMatrix]:
    """Load one of the real matrices by name, or skip the test and say why."""
    folders = [os.environ.get("RANKDUEL_DATA"), HERE.parents[1].parent / "shared" / "data"]
    found = [Path(folder) for folder in folders if folder and (Path(folder) / "matrices").is_dir()]

    def load(name: str) -> PreferenceMatrix:
        if not found:
            pytest.skip("no folder of real data: neither RANKDUEL_DATA nor ../shared/data")
        return PreferenceMatrix.load(found[0] / "matrices" / f"{name}.npz")

    return load
