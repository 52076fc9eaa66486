"""The specs in examples/ can be run as they are."""

from pathlib import Path

import pytest

from fences import ROOT
from rankduel.lab import run

SPECS = sorted((ROOT / "examples").glob("*.toml"))


@pytest.mark.parametrize("spec", SPECS, ids=[spec.stem for spec in SPECS])
def test_examples_run(spec: Path, tmp_path: Path) -> None:
    study = run(spec, scale="smoke", out=tmp_path)
    assert study.measured
    for measured in study.measured.values():
        assert len(measured.series) == len(study.spec.parts[0].bandits) + 4  # two of them with three values of m
