"""The pages of docs/reproduction/certified/, and the tables of docs/certified.md, made from what was measured.

`rankduel bench certified-regret --scale small --out FOLDER`, and the same for the other experiments of `rankduel bench
--list`, measure. `python docs/certify.py FOLDER` computes nothing, and writes what is in the folder; of problems that
are not there, the pages keep what they have. `python docs/certify.py FOLDER --cost` measures CPU time and memory, which
needs a quiet machine, and keeps them there; `--warnings DATA` how often problems without a best arm are warned of;
`--adversaries` how often the best arm is lost to somebody who chooses the pairs.
"""

import argparse
import json
import math
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import rankduel as rd
from rankduel.lab import Curve, Measured, Panel, Series, Spec, Table, certified_specs, save_plot
from rankduel.lab.certified_tables import (
    HORIZONS_DUELS,
    final_regret,
    format_mean,
    guarantee_table,
    oracle_regret,
    regret_table,
    regret_until,
    upper_limit,
)
from rankduel.lab.judging import figure

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
BY_PROBLEM = ("ends", "race", "divergence")  # tables with a row for each problem
HEARD = 3_000  # duels that an adversary chooses, in a run
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
        there, bound = series_of(parts), oracle_regret(parts[0], 0.01)
        row = [panel, f"{parts[0].n_arms:,}", figure(bound)]
        for label in SHORT:
            end = final_regret(there[label]) if label in there else None
            lost = sum(measured.lost(there[label]) or 0 for measured in parts if label in measured.series)
            mark = "" if not lost or end is None else f" ({lost} of {len(end)} lost)"
            row.append(f"{format_mean(end)}{mark}")
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
        for duels in HORIZONS_DUELS:
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
    return Table("", ["problem", *(f"at {duels:.0e}".replace("+0", "") for duels in HORIZONS_DUELS)], rows)


def growth(parts: Sequence[Measured]) -> Table:
    """Regret of the runs that kept the winner: one that lost it pays until the horizon, as far away as one likes."""
    rows = []
    for measured in parts:
        for label, series in measured.series.items():
            end, bound = final_regret(series), oracle_regret(measured, 0.01)
            row = [f"{measured.n_arms:,}", SHORT.get(label, label), str(series.runs), str(measured.lost(series))]
            if end is None:
                so_far = f"{format_mean(series.regret[:, -1])} after {series.horizon:,} duels"
                rows.append([*row, "-", "-", so_far, figure(bound), "-"])
                continue
            over, kept = float(series.converged_at.mean()), end[series.best_left > 0]
            row += [figure(over), figure(over / measured.n_arms), format_mean(kept), figure(bound)]
            rows.append([*row, figure(float(kept.mean()) / bound)])
    head = ["K", "bandit", "runs", "winner lost", "duels to the end", "per ranker", "regret", "bound", "regret / bound"]
    return Table("", head, rows)


def late(parts: Sequence[Measured]) -> Table:
    """A row for each delay, whichever part of the experiment has its bandits."""
    by_delay: dict[int, dict[str, list[str]]] = {}
    for measured in parts:
        row = by_delay.setdefault(int(measured.facts["setting"]["late"]), {})
        for label, series in measured.series.items():
            row[SHORT.get(label, label)] = [format_mean(final_regret(series)), f"{measured.lost(series)}/{series.runs}"]
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
        row += [format_mean(regret_until(rmed, duels)) for duels in HORIZONS_DUELS]
        for label in (OURS, "MergeDTS(elimination=Certified(delta=0.01))"):
            row.append(format_mean(final_regret(there[label])))
            row.append(figure(float(np.median(there[label].converged_at))))
        rows.append(row)
    head = ["problem", "K", "runs", *(f"RMED1 at {duels:.0e}".replace("+0", "") for duels in HORIZONS_DUELS)]
    head += ["CertifiedSparring, end", "after", "MergeDTS certified, end", "after"]
    return Table("", head, rows)


def promises(parts: Sequence[Measured]) -> Table:
    return guarantee_table("", parts)


# Figures


def draw(panel: str, parts: Sequence[Measured], pages: Path) -> None:
    """Regret against duels, both on log axes, with the bound."""
    there = series_of(parts)
    curves = [replace(series.curve(), label=SHORT.get(label, label)) for label, series in there.items()]
    duels = there[OURS].checkpoints
    bound = Curve("the bound, delta = 0.01", duels, np.full(len(duels), oracle_regret(parts[0], 0.01)))
    shown = Panel("cumulative regret", [*curves, bound], log=True)
    title = f"{panel}: mean regret ± standard error"
    save_plot(pages / Path(_file(panel)).stem, [shown], title=title, formats=("svg",))


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


def measure_cost() -> list[dict[str, Any]]:
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


def cost(told: Sequence[Mapping[str, Any]]) -> Table:
    """With the median of the runs; the growth is of the medians, beside the first size."""
    rows = []
    first = median(told[0]["us"][OURS])
    for each in told:
        times = {spec: median(values) for spec, values in each["us"].items()}
        row = [f"{each['K']:,}", f"{times[OURS]:.2f}", f"{times[OURS] / first:.2f}"]
        theirs = times.get("MergeDTS")
        row += ["-", "-"] if theirs is None else [f"{theirs:.2f}", f"{times[OURS] / theirs:.2f}"]
        ended = len(times) == 1 and "duels" in each
        rows.append([*row, *([f"{each['duels']:,}", f"{each['MB']:,.0f}"] if ended else ["-", "-"])])
    head = ["K", "CPU us per duel", "growth", "of MergeDTS", "ratio", "duels to the end", "memory to the end (MB)"]
    return Table("", head, rows)


# No best arm


def measure_warnings(data: Path) -> list[dict[str, Any]]:
    """How often problems without a best arm are warned of, and how often the Copeland answer would have been right."""
    circle = rd.PreferenceMatrix.from_array([[0.5, 0.6, 0.4], [0.4, 0.5, 0.6], [0.6, 0.4, 0.5]])
    plans = [("a circle of three", circle, f"CertifiedSparring(delta={delta})", 200) for delta in CIRCLE_DELTAS]
    for name, problem in (
        ("two_winners", rd.problems.two_winners()),
        ("MSLR, 32 rankers", rd.PreferenceMatrix.load(data / "matrices" / "dts_mslr32_noncondorcet_reconstructed.npz")),
    ):
        plans += [(name, problem, bandit, 20) for bandit in NO_BEST]
    told: list[dict[str, Any]] = []
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


def warnings(told: Sequence[Mapping[str, Any]]) -> Table:
    head = ["problem", "bandit", "runs", "warned", "a Copeland winner has most pairs"]
    rows = [[f"{each[word]}" for word in ("problem", "bandit", "runs", "warned", "right")] for each in told]
    return Table("", head, rows)


# Pairs chosen against the best arm

Chooser = Callable[[int, list[list[int]], list[list[float]]], tuple[int, int]]


def boldest(number: int, records: list[list[int]], chances: list[list[float]]) -> tuple[int, int]:
    """The best arm meets whoever has the best record against it: evidence grows fastest with the largest bets."""
    return 0, max(range(1, len(records)), key=lambda j: (records[j][1] + 1) / (sum(records[j]) + 2))


def flatterer(number: int, records: list[list[int]], chances: list[list[float]]) -> tuple[int, int]:
    """The same, and in turns that opponent meets whom it beats most easily: ratings, and with them bets, err."""
    best, other = boldest(number, records, chances)
    return (best, other) if number % 2 else (other, chances[other].index(max(chances[other])))


def fresh_starts(number: int, records: list[list[int]], chances: list[list[float]]) -> tuple[int, int]:
    """An opponent meets the best arm as long as it is less than three duels behind, then comes another: to a foregone
    conclusion, if it were not for the evidence of all opponents being one number.
    """
    hopeful = (j for j in range(1, len(records)) if records[j][0] - records[j][1] < 3)
    return 0, next(hopeful, 1 + number % (len(records) - 1))


def lost_to(choose: Chooser, problem: rd.PreferenceMatrix, spec: str, seed: int) -> bool:
    """Whether the best arm, 0, is out at any time, where pairs are chosen by somebody who wants that."""
    bandit, coins = rd.bandit_from(spec, problem.n_arms, seed=seed), np.random.default_rng(seed).random(HEARD)
    records = [[0, 0] for _ in range(problem.n_arms)]  # of the best arm, against each: won and lost
    chances = problem.probabilities.tolist()
    for number, coin in enumerate(coins.tolist()):
        first, second = choose(number, records, chances)
        duel, won = rd.Duel(number, first, second), coin < chances[first][second]
        bandit.adopt(duel, rd.Outcome.FIRST if won else rd.Outcome.SECOND)
        if first == 0:
            records[second][not won] += 1
        if bandit.n_alive < problem.n_arms and 0 not in bandit.alive:
            return True
    return False


def best_first(problem: rd.PreferenceMatrix) -> rd.PreferenceMatrix:
    order = np.argsort(np.arange(problem.n_arms) != problem.condorcet_winner, kind="stable")
    return rd.PreferenceMatrix(problem.probabilities[np.ix_(order, order)])


def measure_adversaries(runs: int = 10_000) -> list[dict[str, Any]]:
    """How many runs lose the best arm to each of them."""
    told: list[dict[str, Any]] = []
    with ProcessPoolExecutor() as processes:
        for choose, n_arms, winner in ((boldest, 10, 0.505), (flatterer, 10, 0.505), (fresh_starts, 50, 0.505)):
            problem = best_first(rd.problems.random_tournament(n_arms=n_arms, winner=winner))
            for spec in ("CertifiedSparring(delta=0.05)", "Uniform(elimination=Certified(delta=0.05))"):
                lose = partial(lost_to, choose, problem, spec)
                lost = sum(processes.map(lose, range(runs), chunksize=50))
                told.append({"who": choose.__name__, "K": n_arms, "bandit": spec, "runs": runs, "lost": lost})
    return told


def adversaries(told: Sequence[Mapping[str, Any]]) -> Table:
    head = ["who chooses the pairs", "K", "bandit", "runs", "duels", "the best arm lost", "share", "at most (95%)"]
    rows = []
    for each in told:
        lost, runs = each["lost"], each["runs"]
        who = [each["who"].replace("_", " "), str(each["K"]), each["bandit"], f"{runs:,}", f"{HEARD:,}", f"{lost:,}"]
        rows.append([*who, f"{lost / runs:.2%}", f"{upper_limit(lost, runs):.2%}"])
    return Table("", head, rows)


# The pages


def page(specs: Mapping[str, list[Measured]], told: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    facts = next(iter(specs.values()))[0].facts
    machine = facts["machine"]
    yield f"# Certified bandits, as measured\n\n{NOTICE}\n"
    yield (
        f"rankduel {rd.__version__}, seed {facts['seed']}, scale {facts['scale']}; the newest on"
        f" {machine['processor']}, shared with other work, Python {machine['python']}, NumPy {machine['numpy']}; same"
        " seeds gave the same regret on other processors, and other CPU times."
        " [What to make of it](../../certified.md)."
        " Regret is the mean over the runs with its standard error; a run that loses the winner pays for it until the"
        " horizon, and that is in the mean. The bound is `rd.oracle_bound` for the bandit's delta, or for 0.01 where it"
        " promises nothing.\n"
    )
    known = certified_specs()
    for name, parts in specs.items():
        yield f"## {name}: {known[name].title}\n\n{known[name].question}\n"
        if known[name].table["kind"] == "promise":
            yield f"Commit {_commits(parts)}:\n\n{guarantee_table('', parts).markdown}"
        else:
            for panel, each in panels_of(parts).items():
                what = f"{each[0].n_arms:,} rankers ({each[0].facts['told']}; commit {_commits(each)})"
                yield f"{panel}, {what}:\n\n{regret_table('', each).markdown}"
    yield "## Figures\n"
    yield from (f"![{panel}: regret]({_file(panel)})\n" for panel in FIGURES)
    if told:
        yield f"## CPU time and memory\n\n{cost(told).markdown}"


def _commits(parts: Sequence[Measured]) -> str:
    return ", ".join(sorted({str(each.facts["commit"])[:10] for each in parts}))


def renewed(old: str, new: str) -> str:
    """A page with the sections and problems of a new one, and of the old one what the new one has not."""
    sections: dict[str, dict[str, str]] = {}
    for page in (old, new):
        for section in re.split(r"^(?=## )", page, flags=re.MULTILINE):
            parts = sections.setdefault(section.partition("\n")[0], {})
            head, *problems = re.split(r"^(?=\S.*, [\d,]+ rankers \()", section, flags=re.MULTILINE)
            parts[""] = head.strip()
            parts |= {problem.partition(" rankers (")[0]: problem.strip() for problem in problems}
    return "\n\n".join(part for parts in sections.values() for part in parts.values() if part) + "\n"


def fill(text: str, tables: Mapping[str, Table]) -> str:
    """Put each table between its marks; those `BY_PROBLEM` keep the rows of problems that are not in the new one."""
    for name, table in tables.items():
        found = re.search(rf"(?<=<!-- table {name} -->\n).*?(?=<!-- end -->)", text, re.DOTALL)
        if found is None:
            raise ValueError(f"docs/certified.md has no place for the table {name!r}")
        shown = with_rows_of(found[0], table) if name in BY_PROBLEM else table
        text = f"{text[: found.start()]}\n{shown.markdown}\n{text[found.end() :]}"
    return text


def with_rows_of(old: str, table: Table) -> Table:
    head, *rows = [line[2:-2].split(" | ") for line in old.splitlines() if line.startswith("| ")] or [[]]
    if head != list(table.head):
        return table
    return replace(table, rows=list({row[0]: row for row in [*rows, *table.rows]}.values()))


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the pages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="what --out of rankduel bench was")
    parser.add_argument("--cost", action="store_true", help="measure CPU time and memory")
    parser.add_argument(
        "--warnings", type=Path, metavar="DATA", help="play problems without a best arm, of that folder"
    )
    parser.add_argument("--adversaries", action="store_true", help="let others choose the pairs, against the best arm")
    parser.add_argument("--docs", type=Path, default=DOCS, help="where to write")
    asked = parser.parse_args(arguments)
    measures = {
        "cost": (asked.cost, measure_cost),
        "warnings": (asked.warnings is not None, lambda: measure_warnings(asked.warnings)),
        "adversaries": (asked.adversaries, measure_adversaries),
    }
    kept: dict[str, list[dict[str, Any]]] = {}
    for name, (is_asked, measure) in measures.items():
        file = asked.folder / f"{name}.json"
        if is_asked:
            file.write_text(json.dumps(measure()), encoding="utf-8")
        kept[name] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else []
    specs = {name: parts for name, spec in certified_specs().items() if (parts := measured_of(spec, asked.folder))}
    pages = asked.docs / "reproduction" / "certified"
    pages.mkdir(parents=True, exist_ok=True)
    report = pages / "README.md"
    before = report.read_text(encoding="utf-8") if report.exists() else ""
    report.write_text(renewed(before, "\n".join(page(specs, kept["cost"]))), encoding="utf-8")
    panels = {**panels_of(specs.get("certified-regret", [])), **panels_of(specs.get("certified-matrices", []))}
    for panel in FIGURES:
        if panel in panels:
            draw(panel, panels[panel], pages)
    tables = {"ends": ends(panels), "race": race(panels), "divergence": divergence(panels)}
    for name, table in (("growth", growth), ("delay", late), ("validity", promises), ("ties", promises)):
        if f"certified-{name}" in specs:
            tables[name] = table(specs[f"certified-{name}"])
    for name, told in (("cost", cost), ("warnings", warnings), ("adversaries", adversaries)):
        if kept[name]:
            tables[name] = told(kept[name])
    essay = asked.docs / "certified.md"
    essay.write_text(fill(essay.read_text(encoding="utf-8"), tables), encoding="utf-8")


if __name__ == "__main__":
    main()
