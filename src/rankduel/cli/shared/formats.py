"""Output formats of results: table, JSON and CSV."""

import csv
import io
import json
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path

from rankduel.lab import Results, Row

__all__ = ["FORMATS"]


def _table(results: Results, _curves: Path) -> str:
    experiment = results.experiment
    columns = _columns(results)
    lines = [tuple(columns), *(tuple(cell(row) for cell in columns.values()) for row in results.rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    problem = experiment.problem
    if not results.knows_regret:
        best = "preferences not known"
    elif problem.condorcet_winner is None:
        best = "no Condorcet winner"
    else:
        best = f"Condorcet winner {problem.condorcet_winner}"
    title = (
        f"{experiment.name}: {problem.n_arms} arms, {best}; "
        f"{experiment.horizon:,} duels, {experiment.runs} runs, seed {experiment.seed}"
        f"{'' if experiment.delay is None else f', {experiment.delay!r}'}"
    )
    return "\n".join([title, *(_line(cells, widths) for cells in lines)]) + "\n"


def _columns(results: Results) -> dict[str, Callable[[Row], str]]:
    """The columns of the table by their heads, and how a row fills them."""
    experiment = results.experiment
    columns: dict[str, Callable[[Row], str]] = {"bandit": lambda row: row.bandit}
    for name in results.measures:
        columns[name] = partial(_measure, name)
        columns[f"± {name}"] = partial(_measure, f"{name}_error")
    if results.knows_regret:
        columns |= {
            f"{experiment.kind} regret": lambda row: _figure(row.regret),
            "± error": lambda row: _figure(row.regret_error),
            "found": lambda row: f"{row.found}/{row.runs}",
            "lost": lambda row: f"{row.lost}/{row.runs}",
            "champion right": lambda row: f"{row.champion_right}/{row.runs}",
        }
    else:
        columns["champions"] = lambda row: ", ".join(f"{arm} ({runs}x)" for arm, runs in [*row.champions.items()][:3])
    columns["converged at"] = lambda row: "-" if row.converged_at is None else f"{row.converged_at:,.0f}"
    if experiment.delay is not None and experiment.delay.in_flight is not None:
        columns["waited"] = lambda row: f"{100 * row.waited:.1f} %"
    columns["us/duel"] = lambda row: f"{row.cpu_us_per_duel:.3f}"
    return columns


def _figure(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.1f}" if value >= 10 else f"{value:.3g}"


def _measure(name: str, row: Row) -> str:
    return f"{row.measures[name]:.4f}" if name in row.measures else "-"


def _line(cells: tuple[str, ...], widths: list[int]) -> str:
    name, *figures = (cell.rjust(width) for cell, width in zip(cells, widths, strict=True))
    return "  ".join([name.strip().ljust(widths[0]), *figures])


def _json(results: Results, curves: Path) -> str:
    specs = results.experiment.specs
    bandits = [asdict(row) | {"spec": spec} for row, spec in zip(results.rows, specs, strict=True)]
    return json.dumps(results.provenance | {"bandits": bandits, "curves": str(curves)}, indent=2) + "\n"


def _csv(results: Results, _curves: Path) -> str:
    rows = [_flat(row) for row in results.rows]
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _flat(row: Row) -> dict[str, object]:
    cells: dict[str, object] = asdict(row)
    del cells["measures"]
    cells["champions"] = " ".join(f"{arm}:{runs}" for arm, runs in row.champions.items())
    return cells | row.measures


FORMATS: dict[str, Callable[[Results, Path], str]] = {"table": _table, "json": _json, "csv": _csv}
