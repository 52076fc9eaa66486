"""The pages of docs/reproduction/, made from the finished runs of `rankduel reproduce`.

`python docs/reproduce.py FOLDER rq1 rq4 --data DATA` computes nothing: it takes what is finished in the folder, and
writes the claims, the tables and the figures. An experiment has as many runs as are finished of all its bandits.
"""

import argparse
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import rankduel as rd
from rankduel.lab import Report, Spec, Store, Study, Table, claims_table, paper_specs, plan_all, run_all, write_report
from rankduel.lab.report import data_table, panel_tables
from rankduel.lab.specs import SCALES, PlannedExperiment

PAGES = Path(__file__).resolve().parent / "reproduction"
NOTICE = "<!-- Made by docs/reproduce.py from finished runs, never by hand. -->"


def finished(
    planned: Sequence[tuple[Spec, Sequence[PlannedExperiment]]], store: Store
) -> Iterator[tuple[Spec, list[PlannedExperiment]]]:
    """What is there of each question, and the figures that can be made of it."""
    for spec, experiments in planned:
        if there := list(_finished(experiments, store)):
            parts = {each.part for each in there}
            yield replace(spec, figures=tuple(figure for figure in spec.figures if figure.part in parts)), there


def _finished(experiments: Sequence[PlannedExperiment], store: Store) -> Iterator[PlannedExperiment]:
    """The experiments with the runs that are there of all their bandits; one run alone decides nothing."""
    for each in experiments:
        missing = [unit.index for unit in each.experiment.units if store.read(unit) is None]
        runs = min(missing, default=each.experiment.runs)
        if runs > 1:
            yield replace(each, experiment=replace(each.experiment, runs=runs))


def page(studies: Sequence[Study], report: Report) -> str:
    """Everything that came out, as Markdown."""
    facts = next(iter(studies[0].measured.values())).facts
    seconds = {
        unit.key: run.cpu_seconds
        for study in studies
        for results in study.results.values()
        for unit, run in zip(results.experiment.units, results.runs, strict=True)
    }
    counts = Counter(verdict.state for verdict in report.claims.values())
    minutes, machine = sum(seconds.values()) / 60, facts["machine"]
    text = [
        f"# What came out, at scale {studies[0].scale}\n\n{NOTICE}\n",
        f"{len(seconds):,} runs of rankduel {rd.__version__}, seed {facts['seed']}, in {minutes:,.0f} minutes of CPU"
        f" time on {machine['processor']}, with Python {machine['python']} and NumPy {machine['numpy']}."
        " [How a claim is judged](../reproduction.md#how-a-claim-is-judged), and [what to make of it]"
        "(../reproduction.md#as-measured).\n",
        *(f"- [{study.spec.name}: {study.spec.title}](#{_anchor(study.spec)})" for study in studies),
        f"\n## Claims\n\n{len(report.claims)} claims: {', '.join(f'{s}: {n}' for s, n in counts.items())}.\n",
        claims_table(report.claims).markdown,
        f"## Data\n\n{data_table(studies).markdown}",
        *(_section(study, report.page.parent / "figures") for study in studies),
    ]
    return "\n".join(text)


def _section(study: Study, figures: Path) -> str:
    spec = study.spec
    lines = [f"## {spec.name}: {spec.title}\n\n{spec.question} {spec.where}.\n"]
    lines += [f"{table.title}:\n\n{table.markdown}" for table in (*panel_tables(study), took(study))]
    lines += [f"![{path.stem}]({path.name})\n" for path in sorted(figures.glob(f"{spec.name}-*.svg"))]
    return "\n".join(lines)


def took(study: Study) -> Table:
    """CPU time of each bandit."""
    rows = []
    for measured in study.measured.values():
        for series in measured.series.values():
            each, whole = series.cpu_seconds.mean(), series.cpu_seconds.sum()
            row = (measured.facts["problem"], series.label, f"{series.horizon:,}", str(series.runs))
            rows.append((*row, f"{each:.3g}", f"{whole:,.0f}"))
    head = ("problem", "bandit", "duels", "runs", "CPU seconds of a run", "of all runs")
    return Table("What it took", head, rows)


def _anchor(spec: Spec) -> str:
    return f"{spec.name}-{spec.title}".lower().replace(" ", "-")


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the pages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="what --out of rankduel reproduce was")
    parser.add_argument("questions", nargs="+", choices=list(paper_specs()))
    parser.add_argument("--data", type=Path, help="what --data was")
    parser.add_argument("--scale", choices=SCALES, default="paper")
    parser.add_argument("--pages", type=Path, default=PAGES, help="where to write")
    asked = parser.parse_args(arguments)
    store = Store(asked.folder)
    specs = [paper_specs()[name] for name in asked.questions]
    planned = plan_all(specs, scale=asked.scale, data=asked.data)
    studies = run_all(list(finished(planned, store)), scale=asked.scale, jobs=1, out=asked.folder)
    shutil.rmtree(asked.folder / "figures", ignore_errors=True)
    report = write_report(studies, asked.folder)
    asked.pages.mkdir(parents=True, exist_ok=True)
    for old in asked.pages.glob("*.svg"):
        old.unlink()
    for figure in (asked.folder / "figures").glob("*.svg"):
        shutil.copy(figure, asked.pages)
    (asked.pages / "README.md").write_text(page(studies, report), encoding="utf-8")


if __name__ == "__main__":
    main()
