"""The pages of docs/reproduction/certified/, and the tables of docs/certified.md, made from what was measured.

`rankduel bench certified-regret --scale small --out FOLDER`, and the same for the other experiments of `rankduel bench
--list`, measure. `python docs/certify.py FOLDER` computes nothing, and writes what is in the folder.
`python docs/certify.py FOLDER --cost` measures CPU time and memory, which needs a quiet machine, and keeps them there;
`--warnings DATA` how often problems without a best arm are warned of.
"""

import argparse
import json
import math
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median

import numpy as np

import rankduel as rd
from rankduel.lab import Curve, Measured, Panel, Series, Spec, Table, certified_specs, save_plot
from rankduel.lab.horizons import HORIZONS, bound_of, end_of, mean_told, promise_table, regret_table, regret_until
from rankduel.lab.verdicts import figure

DOCS = Path(__file__).resolve().parent
NOTICE = "<!-- Made by docs/certify.py from what was measured, never by hand. -->"
OURS = "CertifiedSparring(delta=0.01)"
SHORT = {
    OURS: "CertifiedSparring",
    "MergeDTS(elimination=Certified(delta=0.01))": "MergeDTS certified",
    "SelfSparring(elimination=Certified(delta=0.01))": "SelfSparring certified",
    "MergeDTS": "MergeDTS tuned",
    "MergeRUCB": "MergeRUCB tuned",
    "MergeDTS.theoretical": "MergeDTS theoretical",
}
FIGURES = ("MSLR-navigational", "bradley_terry(n_arms=1000)", "random_tournament(n_arms=500)")
CIRCLE_DELTAS = (0.05, 0.01, 0.001, 0.0001)
NO_BEST = (
    "CertifiedSparring(delta=0.01)",
    "MergeDTS(elimination=Certified(delta=0.01))",
    "Uniform(elimination=Certified(delta=0.01))",
)
COST_REPEATS = 3
COST_DUELS = 200_000

Panels = Mapping[str, Sequence[Measured]]


# What was measured


def measured_of(spec: Spec, folder: Path) -> list[Measured]:
    """All of an experiment that is there, in the order of the spec."""
    found = [Measured.load(path) for path in sorted((folder / "curves").glob(f"{spec.name}-*.npz"))]
    numbers = {part.name: number for number, part in enumerate(spec.parts)}

    def place(measured: Measured) -> tuple[int, ...]:
        number = numbers[measured.facts["part"]]
        part = spec.parts[number]
        swept = [part.sweep[name].index(value) for name, value in measured.facts["setting"].items()]
        alike = [other.name for other in spec.parts if (other.panel, other.problem) == (part.panel, part.problem)]
        same = next(name for name in alike if spec.parts[numbers[name]].sweep.items() == part.sweep.items())
        return (numbers[same], *swept, number)

    return sorted((each for each in found if each.facts["part"] in numbers), key=place)


def panels_of(parts: Sequence[Measured]) -> Panels:
    return {panel: [each for each in parts if each.panel == panel] for panel in dict.fromkeys(m.panel for m in parts)}


def series_of(parts: Sequence[Measured]) -> dict[str, Series]:
    return {label: series for measured in parts for label, series in measured.series.items()}


# Short tables, for docs/certified.md


def ends(panels: Panels) -> Table:
    """The regret when it is over, beside the bound."""
    rows = []
    for panel, parts in panels.items():
        there, bound = series_of(parts), bound_of(parts[0], 0.01)
        row = [panel, f"{parts[0].n_arms:,}", figure(bound)]
        for label in SHORT:
            end = end_of(there[label]) if label in there else None
            lost = sum(measured.lost(there[label]) or 0 for measured in parts if label in measured.series)
            mark = "" if not lost or end is None else f" ({lost} of {len(end)} lost)"
            row.append(f"{mean_told(end)}{mark}")
            if label == OURS:
                row += ["-", "-"] if end is None else [figure(x / bound) for x in (float(end.mean()), median(end))]
        rows.append(row)
    names = list(SHORT.values())
    return Table("", ["problem", "K", "bound", names[0], "/ bound", "median / bound", *names[1:]], rows)


def race(panels: Panels) -> Table:
    """At each horizon, ours and the best of all others; who is ahead by more than two standard errors is in bold."""
    rows = []
    for panel, parts in panels.items():
        there = series_of(parts)
        ours = there.pop(OURS)
        row = [panel]
        for duels in HORIZONS:
            mine = regret_until(ours, duels)
            others = {
                label: values
                for label, series in there.items()
                if not label.startswith("CertifiedSparring") and (values := regret_until(series, duels)) is not None
            }
            if mine is None or not others:
                row.append("-")
                continue
            best = min(others, key=lambda label: float(others[label].mean()))
            theirs = others[best]
            error = math.sqrt(sum(each.var(ddof=1) / len(each) for each in (mine, theirs)))
            told = [figure(float(mine.mean())), f"{figure(float(theirs.mean()))} {SHORT.get(best, best)}"]
            if abs(mine.mean() - theirs.mean()) > 2 * error:
                ahead = int(mine.mean() > theirs.mean())
                told[ahead] = f"**{told[ahead]}**"
            row.append(" / ".join(told))
        rows.append(row)
    return Table("", ["problem", *(f"at {duels:.0e}".replace("+0", "") for duels in HORIZONS)], rows)


def growth(parts: Sequence[Measured]) -> Table:
    """Regret of the runs that kept the winner: one that lost it pays until the horizon, as far away as one likes."""
    rows = []
    for measured in parts:
        for label, series in measured.series.items():
            end, bound = end_of(series), bound_of(measured, 0.01)
            row = [f"{measured.n_arms:,}", SHORT.get(label, label), str(series.runs), str(measured.lost(series))]
            if end is None:
                so_far = f"{mean_told(series.regret[:, -1])} after {series.horizon:,} duels"
                rows.append([*row, "-", "-", so_far, figure(bound), "-"])
                continue
            over, kept = float(series.converged_at.mean()), end[series.best_left > 0]
            row += [figure(over), figure(over / measured.n_arms), mean_told(kept), figure(bound)]
            rows.append([*row, figure(float(kept.mean()) / bound)])
    head = ["K", "bandit", "runs", "winner lost", "duels to the end", "per ranker", "regret", "bound", "regret / bound"]
    return Table("", head, rows)


def late(parts: Sequence[Measured]) -> Table:
    """A row for each delay, whichever part of the experiment has its bandits."""
    by_delay: dict[int, dict[str, list[str]]] = {}
    for measured in parts:
        row = by_delay.setdefault(int(measured.facts["setting"]["late"]), {})
        for label, series in measured.series.items():
            row[SHORT.get(label, label)] = [mean_told(end_of(series)), f"{measured.lost(series)}/{series.runs}"]
    names = list(dict.fromkeys(name for row in by_delay.values() for name in row))
    rows = [
        [f"{duels:,}", *(word for name in names for word in row.get(name, ["-", "-"]))]
        for duels, row in sorted(by_delay.items())
    ]
    return Table("", ["duels late", *(word for name in names for word in (name, "lost"))], rows)


def divergence(panels: Panels) -> Table:
    """RMED1, which adds up divergences over opponents and eliminates nobody, beside two that make evidence of it."""
    rows = []
    for panel, parts in panels.items():
        there = series_of(parts)
        if "RMED1" not in there:
            continue
        rmed = there["RMED1"]
        row = [panel, f"{parts[0].n_arms:,}", str(rmed.runs)]
        row += [mean_told(regret_until(rmed, duels)) for duels in HORIZONS]
        for label in (OURS, "MergeDTS(elimination=Certified(delta=0.01))"):
            row.append(mean_told(end_of(there[label])))
            row.append(figure(float(np.median(there[label].converged_at))))
        rows.append(row)
    head = ["problem", "K", "runs", *(f"RMED1 at {duels:.0e}".replace("+0", "") for duels in HORIZONS)]
    head += ["CertifiedSparring, end", "after", "MergeDTS certified, end", "after"]
    return Table("", head, rows)


def promises(parts: Sequence[Measured]) -> Table:
    return promise_table("", parts)


# Figures


def draw(panel: str, parts: Sequence[Measured], pages: Path) -> None:
    """Regret against duels, with the bound; without the theoretical parameters, beside which all others are nothing."""
    there = {label: series for label, series in series_of(parts).items() if "theoretical" not in label}
    curves = [replace(series.curve(), label=SHORT.get(label, label)) for label, series in there.items()]
    duels = there[OURS].checkpoints
    bound = Curve("the bound, delta = 0.01", duels, np.full(len(duels), bound_of(parts[0], 0.01)))
    title = f"{panel}: mean regret ± standard error"
    save_plot(
        pages / Path(_file(panel)).stem, [Panel("cumulative regret", [*curves, bound])], title=title, formats=("svg",)
    )


def _file(panel: str) -> str:
    return re.sub(r"\W+", "-", panel).strip("-") + ".svg"


# CPU time and memory

_COST = """
import json, resource, sys
import rankduel as rd
sizes, repeats = json.loads(sys.argv[1])
problems = [rd.problems.web_search(K) if K < 1000 else rd.problems.utilities(K) for K, _, _ in sizes]
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
told = [{"K": K, "us": {spec: [] for spec in bandits}} for K, _, bandits in sizes]
for seed in range(repeats):
    for each, problem, (K, horizon, bandits) in zip(told, problems, sizes):
        for spec in bandits:
            run = rd.simulate(rd.bandit_from(spec, K, seed=seed), problem, horizon=horizon, seed=seed)
            each["us"][spec].append(1e6 * run.cpu_seconds / run.computed)
        if run.converged_at is not None:
            each["duels"] = run.converged_at
            each["MB"] = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
print(json.dumps(told))
"""


def measure_cost() -> list[dict[str, object]]:
    """Several sizes in turn in one process, for what a duel costs; the largest to its end in another, for memory."""
    both = [OURS, "MergeDTS"]
    turns = [(136, COST_DUELS, both), (10_000, COST_DUELS, both), (10**6, 5 * COST_DUELS, [OURS])]
    told = []
    for plan in ((turns, COST_REPEATS), ([(10**6, 10**9, [OURS])], 1)):
        done = subprocess.run(
            [sys.executable, "-c", _COST, json.dumps(plan)], capture_output=True, text=True, check=True, timeout=1800
        )
        told += json.loads(done.stdout)
    return told


def cost(told: Sequence[Mapping[str, object]]) -> Table:
    """With the median of the runs; the growth is of the medians, beside the first size."""
    rows = []
    first = median(told[0]["us"][OURS])  # type: ignore[index]
    for each in told:
        times = {spec: median(values) for spec, values in each["us"].items()}  # type: ignore[attr-defined]
        row = [f"{each['K']:,}", f"{times[OURS]:.2f}", f"{times[OURS] / first:.2f}"]
        theirs = times.get("MergeDTS")
        row += ["-", "-"] if theirs is None else [f"{theirs:.2f}", f"{times[OURS] / theirs:.2f}"]
        ended = len(times) == 1 and "duels" in each
        rows.append([*row, *([f"{each['duels']:,}", f"{each['MB']:,.0f}"] if ended else ["-", "-"])])
    head = ["K", "CPU us per duel", "growth", "of MergeDTS", "ratio", "duels to the end", "memory to the end (MB)"]
    return Table("", head, rows)


# No best arm


def measure_warnings(data: Path) -> list[dict[str, object]]:
    """How often problems without a best arm are warned of, and how often the Copeland answer would have been right."""
    circle = rd.PreferenceMatrix.from_array([[0.5, 0.6, 0.4], [0.4, 0.5, 0.6], [0.6, 0.4, 0.5]])
    plans = [("a circle of three", circle, f"CertifiedSparring(delta={delta})", 200) for delta in CIRCLE_DELTAS]
    for name, problem in (
        ("two_winners", rd.problems.two_winners()),
        ("MSLR, 32 rankers", rd.PreferenceMatrix.load(data / "matrices" / "dts_mslr32_noncondorcet_reconstructed.npz")),
    ):
        plans += [(name, problem, bandit, 20) for bandit in NO_BEST]
    told: list[dict[str, object]] = []
    for name, problem, spec, runs in plans:
        best = set(problem.copeland_winners)
        warned = right = 0
        for seed in range(runs):
            bandit = rd.bandit_from(spec, problem.n_arms, seed=seed)
            rd.simulate(bandit, problem, horizon=300_000, seed=seed, kind="copeland")
            warned += bool(bandit.decision().copeland)
            right += set(bandit._copeland()) <= best
        told.append({"problem": name, "bandit": spec, "runs": runs, "warned": warned, "right": right})
    return told


def warnings(told: Sequence[Mapping[str, object]]) -> Table:
    head = ["problem", "bandit", "runs", "warned", "a Copeland winner has most pairs"]
    rows = [[f"{each[word]}" for word in ("problem", "bandit", "runs", "warned", "right")] for each in told]
    return Table("", head, rows)


# The pages


def page(specs: Mapping[str, list[Measured]], told: Sequence[Mapping[str, object]]) -> Iterator[str]:
    facts = next(iter(specs.values()))[0].facts
    machine = facts["machine"]
    yield f"# Certified bandits, as measured\n\n{NOTICE}\n"
    yield (
        f"rankduel {rd.__version__}, seed {facts['seed']}, scale {facts['scale']}; {machine['processor']}, shared with"
        f" other work, Python {machine['python']}, NumPy {machine['numpy']}. [What to make of it](../../certified.md)."
        " Regret is the mean over the runs with its standard error; a run that loses the winner pays for it until the"
        " horizon, and that is in the mean. The bound is `rd.oracle_bound` for the bandit's delta, or for 0.01 where it"
        " promises nothing.\n"
    )
    known = certified_specs()
    for name, parts in specs.items():
        commits = sorted({str(each.facts["commit"])[:10] for each in parts})
        yield f"## {name}: {known[name].title}\n\n{known[name].question} (commit {', '.join(commits)})\n"
        if known[name].table["kind"] == "promise":
            yield promise_table("", parts).markdown
        else:
            for panel, each in panels_of(parts).items():
                yield (
                    f"{panel}, {each[0].n_arms:,} rankers ({each[0].facts['told']}):\n\n"
                    + regret_table("", each).markdown
                )
    yield from (f"![{panel}: regret]({_file(panel)})\n" for panel in FIGURES)
    if told:
        yield f"## CPU time and memory\n\n{cost(told).markdown}"


def fill(text: str, tables: Mapping[str, Table]) -> str:
    """Put each table between its marks."""
    for name, table in tables.items():
        block = re.compile(rf"(<!-- table {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        if not block.search(text):
            raise ValueError(f"docs/certified.md has no place for the table {name!r}")
        text = block.sub(lambda found, table=table: f"{found[1]}\n{table.markdown}\n{found[2]}", text)  # type: ignore[misc]
    return text


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the pages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="what --out of rankduel bench was")
    parser.add_argument("--cost", action="store_true", help="measure CPU time and memory")
    parser.add_argument(
        "--warnings", type=Path, metavar="DATA", help="play problems without a best arm, of that folder"
    )
    parser.add_argument("--docs", type=Path, default=DOCS, help="where to write")
    asked = parser.parse_args(arguments)
    if asked.cost:
        (asked.folder / "cost.json").write_text(json.dumps(measure_cost()), encoding="utf-8")
    if asked.warnings is not None:
        (asked.folder / "warnings.json").write_text(json.dumps(measure_warnings(asked.warnings)), encoding="utf-8")
    told, warned = (
        json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else []
        for kept in (asked.folder / "cost.json", asked.folder / "warnings.json")
    )
    specs = {name: parts for name, spec in certified_specs().items() if (parts := measured_of(spec, asked.folder))}
    pages = asked.docs / "reproduction" / "certified"
    pages.mkdir(parents=True, exist_ok=True)
    (pages / "README.md").write_text("\n".join(page(specs, told)), encoding="utf-8")
    panels = {**panels_of(specs["certified-regret"]), **panels_of(specs.get("certified-matrices", []))}
    for panel in FIGURES:
        draw(panel, panels[panel], pages)
    tables = {"ends": ends(panels), "race": race(panels), "divergence": divergence(panels)}
    for name, table in (("growth", growth), ("delay", late), ("validity", promises), ("ties", promises)):
        if f"certified-{name}" in specs:
            tables[name] = table(specs[f"certified-{name}"])
    if told:
        tables["cost"] = cost(told)
    if warned:
        tables["warnings"] = warnings(warned)
    essay = asked.docs / "certified.md"
    essay.write_text(fill(essay.read_text(encoding="utf-8"), tables), encoding="utf-8")


if __name__ == "__main__":
    main()
