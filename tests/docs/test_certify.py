"""docs/certify.py: the tables on the certificate's page are what was measured."""

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from fences import ROOT
from rankduel.lab import load_spec, plan_all, run_all, write_report

SPEC = """
name = "certified-regret"
title = "Two bandits"
question = "Who is ahead?"
horizon = 200_000
runs = 4
table = { kind = "oracle" }

[[part]]
name = "ends"
panel = "{problem}"
problem = "{problem}"
sweep = { problem = ["random_tournament(n_arms=6, winner=0.7)", "cycle2"] }
bandits = ["CertifiedSparring(delta=0.01)", "MergeDTS.theoretical", "MergeDTS(elimination=Certified(delta=0.01))"]

[[part]]
name = "endless"
panel = "{problem}"
problem = "{problem}"
sweep = { problem = ["random_tournament(n_arms=6, winner=0.7)", "cycle2"] }
bandits = ["Uniform", "RMED1"]
"""
COST = [
    {"K": 136, "us": {"CertifiedSparring(delta=0.01)": [0.3, 0.5, 0.4], "MergeDTS": [0.8]}, "MB": 1.0, "duels": 1000},
    {"K": 1000, "us": {"CertifiedSparring(delta=0.01)": [0.6]}, "MB": 12.4, "duels": 9999},
]


@pytest.fixture
def certify() -> ModuleType:
    made = importlib.util.spec_from_file_location("certify", ROOT / "docs" / "certify.py")
    assert made is not None
    assert made.loader is not None
    module = importlib.util.module_from_spec(made)
    made.loader.exec_module(module)
    return module


def test_pages_of_what_was_measured(certify: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    (tmp_path / "regret.toml").write_text(SPEC)
    spec, out, docs = load_spec(tmp_path / "regret.toml"), tmp_path / "out", tmp_path / "docs"
    (study,) = run_all(plan_all([spec]), scale=None, jobs=1, out=out)
    write_report([study], out)
    (out / "cost.json").write_text(json.dumps(COST))
    docs.mkdir()
    marks = "".join(f"<!-- table {name} -->\nold\n<!-- end -->\n" for name in ("ends", "race", "divergence", "cost"))
    (docs / "certified.md").write_text(f"before\n{marks}after\n")
    monkeypatch.setattr(certify, "certified_specs", lambda: {spec.name: spec})
    monkeypatch.setattr(certify, "FIGURES", ("cycle2",))
    certify.main([str(out), "--docs", str(docs)])

    ours = study.measured["ends-cycle2"].series["CertifiedSparring(delta=0.01)"].regret[:, -1].mean()
    others = {
        certify.SHORT.get(label, label): series.regret_at(1e4)
        for part in ("ends-cycle2", "endless-cycle2")
        for label, series in study.measured[part].series.items()
        if label != "CertifiedSparring(delta=0.01)"
    }
    essay = (docs / "certified.md").read_text()
    assert essay.startswith("before\n")
    assert essay.endswith("after\n")
    assert "old" not in essay
    assert f"| cycle2 | 20 | 217 | {ours:,.0f} ± " in essay
    best = min(others, key=lambda name: others[name].mean())
    mine = study.measured["ends-cycle2"].series["CertifiedSparring(delta=0.01)"].regret_at(1e4)
    told = [f"{mine.mean():,.0f}", f"{others[best].mean():,.0f} {best}"]
    if abs(mine.mean() - others[best].mean()) > 2 * np.sqrt((mine.var(ddof=1) + others[best].var(ddof=1)) / 4):
        ahead = int(mine.mean() > others[best].mean())
        told[ahead] = f"**{told[ahead]}**"
    assert f"| cycle2 | {' / '.join(told)} |" in essay
    rmed = study.measured["endless-cycle2"].series["RMED1"].regret_at(1e5).mean()
    assert f" | {rmed:,.0f} ± " in essay.partition("table divergence")[2]
    assert "| 136 | 0.40 | 1.00 | 0.80 | 0.50 | - | - |" in essay
    assert "| 1,000 | 0.60 | 1.50 | - | - | 9,999 | 12 |" in essay
    report = docs / "reproduction" / "certified" / "README.md"
    page = report.read_text()
    assert page.index("random_tournament(n_arms=6, winner=0.7), 6 rankers") < page.index("cycle2, 20 rankers")
    assert "![cycle2: regret](cycle2.svg)" in page
    assert (docs / "reproduction" / "certified" / "cycle2.svg").exists()

    # What is measured once more is replaced; the other problem, and the cost, stay.
    (tmp_path / "regret.toml").write_text(SPEC.replace('"random_tournament(n_arms=6, winner=0.7)", ', ""))
    spec, again = load_spec(tmp_path / "regret.toml"), tmp_path / "again"
    (study,) = run_all(plan_all([spec], seed=7), scale=None, jobs=1, out=again)
    write_report([study], again)
    monkeypatch.setattr(certify, "certified_specs", lambda: {spec.name: spec})
    certify.main([str(again), "--docs", str(docs)])
    for old, new in ((essay, (docs / "certified.md").read_text()), (page, report.read_text())):
        kept = [line for line in old.splitlines() if line in new.splitlines()]
        assert len(kept) >= len(old.splitlines()) - 9
        assert any("random_tournament(n_arms=6, winner=0.7)" in line for line in kept)
        assert len(new.splitlines()) == len(old.splitlines())
    ours = study.measured["ends-cycle2"].series["CertifiedSparring(delta=0.01)"].regret[:, -1].mean()
    assert f"| cycle2 | 20 | 217 | {ours:,.0f} ± " in (docs / "certified.md").read_text()

    (docs / "certified.md").write_text("no place for any table")
    with pytest.raises(ValueError, match=r"docs/certified\.md has no marks for the table 'ends'"):
        certify.main([str(again), "--docs", str(docs)])


def test_the_page_was_made_by_the_script(certify: ModuleType) -> None:
    page = ROOT / "docs" / "reproduction" / "certified" / "README.md"
    assert certify.NOTICE in page.read_text()
