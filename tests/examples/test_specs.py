"""The specs in examples/ can be run as they are."""

from pathlib import Path

import pytest

from fences import ROOT
from rankduel.lab import run

EXAMPLES = ROOT / "examples"
SPECS = sorted(EXAMPLES.glob("*.toml"))
SERIES = {
    "multileaving": 6 + 2 * 2,  # two of six with three values of m
    "own_bandit": 4,
}


@pytest.mark.parametrize("spec", SPECS, ids=[spec.stem for spec in SPECS])
def test_examples_run(spec: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(EXAMPLES)  # as on the command line, in that folder
    study = run(spec, scale="smoke", out=tmp_path)
    assert study.measured
    for measured in study.measured.values():
        assert len(measured.series) == SERIES[spec.stem]
