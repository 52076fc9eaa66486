"""Every question at the smallest scale, and that the report says what the stored curves say."""

import html
import json
import re
import sys
from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import rankduel as rd
from rankduel.lab import (
    Measured,
    Report,
    Study,
    Table,
    judge,
    load_spec,
    paper_specs,
    plan_all,
    run,
    run_all,
    write_report,
)
from rankduel.lab.report import panel_tables
from rankduel.lab.sources import Sources


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("reproduced")


@pytest.fixture(scope="module")
def studies(folder: Path) -> list[Study]:
    """All of the paper, on stand-ins."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("RANKDUEL_DATA", raising=False)
        planned = plan_all(list(paper_specs().values()), scale="smoke", seed=3)
    return run_all(planned, scale="smoke", jobs=2, out=folder)


@pytest.fixture(scope="module")
def report(studies: list[Study], folder: Path) -> Report:
    """Of some of it: curves, growth, measures, a bound."""
    return write_report([study for study in studies if study.spec.name in ("rq2", "rq6", "theory")], folder)


def test_every_question_runs_and_every_claim_is_judged(studies: list[Study]) -> None:
    assert [study.spec.name for study in studies] == list(paper_specs())
    for study in studies:
        assert study.measured.keys() == study.results.keys() == {each.name for each in study.experiments}
        for table in panel_tables(study):
            assert table.rows
            assert {len(row) for row in table.rows} == {len(table.head)}
    verdicts = judge({study.spec.name: study.measured for study in studies})
    # Smoke is for seeing that everything runs: nothing of the paper's data is decided by it.
    decided = {claim.id for claim, verdict in verdicts.items() if verdict.state in ("holds", "does not hold")}
    assert decided <= {"theory-bound"}


def stored(folder: Path, question: str) -> dict[str, Measured]:
    """What is in the files of a question, and nothing else."""
    files = sorted((folder / "curves").glob(f"{question}-*.npz"))
    return {path.stem.removeprefix(f"{question}-"): Measured.load(path) for path in files}


def test_curves_are_stored_exactly(studies: list[Study], report: Report) -> None:
    for study in studies:
        if study.spec.name in ("rq2", "rq6", "theory"):
            again = stored(report.page.parent, study.spec.name)
            assert again.keys() == study.measured.keys()
            for name, measured in study.measured.items():
                assert again[name].facts == json.loads(json.dumps(measured.facts))
                assert list(again[name].series) == list(measured.series)
                for label, series in measured.series.items():
                    for field, value in vars(series).items():
                        np.testing.assert_equal(getattr(again[name].series[label], field), value)


def test_the_reports_numbers_follow_from_the_stored_curves(studies: list[Study], report: Report) -> None:
    folder = report.page.parent
    names = ("rq2", "rq6", "theory")
    loaded = {name: stored(folder, name) for name in names}
    verdicts = judge(loaded)
    told = {claim["id"]: claim for claim in json.loads((folder / "claims.json").read_text())}
    assert {c.id: (v.state, v.measured, v.why) for c, v in verdicts.items()} == {
        name: (claim["verdict"], claim["measured"], claim["why"]) for name, claim in told.items()
    }
    page = html.unescape(report.page.read_text())
    for verdict in verdicts.values():
        assert verdict.measured in page
    # By hand, from the arrays of a file alone: a row of a table.
    with np.load(folder / "curves" / "theory-cycle2.npz") as file:
        place = file["labels"].tolist().index("MergeDTS")
        last = file["regret"][place, :, -1]
        provenance = json.loads(str(file["provenance"]))
    error = last.std(ddof=1) / np.sqrt(len(last))
    assert provenance["horizon"] == 5_000
    row = next(
        line for line in (folder / "tables" / "theory-2-Cycle2.md").read_text().splitlines() if "| MergeDTS |" in line
    )
    mean, told_error = re.findall(r"\| ([\d.]+) ± ([\d.]+) \|", row)[0]
    assert float(mean) == pytest.approx(last.mean(), rel=0.005)
    assert float(told_error) == pytest.approx(error, rel=0.005)
    assert f"{mean} ± {told_error}" in page


def test_provenance_is_enough_to_repeat_any_run(report: Report) -> None:
    """From the files alone: of every experiment the last run of its last bandit, byte for byte."""
    for path in sorted((report.page.parent / "curves").iterdir()):
        measured = Measured.load(path)
        facts, (*_, (label, series)) = measured.facts, measured.series.items()
        assert facts["rankduel"] == rd.__version__
        assert {"commit", "sources", "machine", "seconds", "jobs", "seed", "fingerprint", "scale"} <= facts.keys()
        problem = Sources(None).find(facts["written"], facts["world"]).problem
        again = measured.repeat(label, series.runs - 1, problem)
        assert again.regret.tobytes() == series.regret[-1].tobytes(), path.name
        assert again.measures.keys() == series.measures.keys()
        for name, values in again.measures.items():
            assert values.tobytes() == series.measures[name][-1].tobytes(), path.name


def test_what_was_not_played_is_not_repeated(report: Report) -> None:
    measured = Measured.load(report.page.parent / "curves" / "theory-cycle2.npz")
    with pytest.raises(ValueError, match="is not the problem of this run: expected cycle2 with the same numbers"):
        measured.repeat("MergeDTS", 0, rd.problems.cycle())
    for label, index in (("MergeDTS", 2), ("MergeDTS", -1), ("Nobody", 0)):
        with pytest.raises(
            ValueError, match=rf"no run {index} of '{label}'; stored runs: 2 of MergeDTS.theoretical, 2 of"
        ):
            measured.repeat(label, index, rd.problems.cycle2())


class Page(HTMLParser):
    """Which elements and ids a page has, and what it would load."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.tags: list[str] = []
        self.loads: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        found: Mapping[str, str | None] = dict(attributes)
        self.tags.append(tag)
        self.ids += [value for name, value in attributes if name == "id" and value]
        self.loads += [value for name in ("src", "href", "xlink:href") if (value := found.get(name))]


def test_the_page_needs_nothing_but_itself(report: Report) -> None:
    text = report.page.read_text()
    page = Page(text)
    assert not {"script", "link", "img", "iframe", "object"} & set(page.tags)
    assert all(link.startswith("#") for link in page.loads)
    assert {link[1:] for link in page.loads} <= set(page.ids)
    assert len(page.ids) == len(set(page.ids))
    assert "@import" not in text
    assert not re.search(r"url\((?!#)", text)
    # The claims come first, and the data that was used is told.
    assert text.index("<table class=claims") < text.index("<h2>")
    assert text.count("<figure") == 2 + 3 + 4
    assert "stand-in: web_search" in text
    assert 'name="viewport"' in text
    assert "prefers-color-scheme: dark" in text


def test_figures_and_tables_come_in_every_form(report: Report) -> None:
    folder = report.page.parent
    for form in ("png", "svg", "pdf"):
        assert (folder / "figures" / f"rq2-arms.{form}").stat().st_size > 1000
    for form in ("md", "csv", "tex"):
        assert (folder / f"claims.{form}").read_text().count("rq2-dts") == 1
    (table,) = (folder / "tables").glob("rq2-1-CPU-days-for-1e8-duels-compared-with-Table-2-of-the-paper-*.csv")
    days = table.read_text()
    assert re.search(r"^DTS,[\d.e-]+ \*,5.23,[\d\",]+", days, re.MULTILINE)


def test_without_matplotlib_there_is_a_report_all_the_same(
    studies: list[Study], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    report = write_report([study for study in studies if study.spec.name == "rq4"], tmp_path)
    assert "pip install 'rankduel[lab]'" in report.warnings[0]
    assert "<figure" not in report.page.read_text()


def test_a_frame_of_ones_own_spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('problems = ["cycle2"]\nbandits = ["MergeDTS", "Uniform"]\nhorizon = 1000\nruns = 3\n')
    study = run(path, out=tmp_path / "out", seed=1)
    frame = study.frame()
    assert list(frame.columns) == ["part", "problem", "bandit", "spec", "run", "duels", "regret"]
    last = frame[(frame.duels == 1000) & (frame.bandit == "MergeDTS")]
    runs = rd.simulate_runs("MergeDTS", rd.problems.cycle2(), horizon=1000, runs=3, seed=1)
    assert last.regret.tolist() == [each.regret[-1] for each in runs]
    assert run(load_spec(path), out=tmp_path / "out", seed=1).records() == study.records()
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(RuntimeError, match=r"pip install 'rankduel\[frame\]'"):
        study.frame()


def test_tables_escape_what_their_form_cannot_hold() -> None:
    table = Table("50 % & more", ("a|b", "n"), [("x_1 < 2 ± 1", "3"), ('a "b", c', "-")])
    assert r"| a\|b | n |" in table.markdown
    assert '"a ""b"", c",-' in table.csv
    assert table.text.splitlines()[1:] == ["x_1 < 2 ± 1  3", 'a "b", c     -']
    assert r"x\_1 \textless{} 2 $\pm$ 1 & 3 \\" in table.latex
    assert "<caption>50 % &amp; more</caption>" in table.html
    assert "<td>x_1 &lt; 2 ± 1</td><td class=n>3</td>" in table.html
