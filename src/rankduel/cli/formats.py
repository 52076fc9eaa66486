"""Results on stdout: a table to read, JSON or CSV to go on with."""

import csv
import io
import json
from collections.abc import Callable
from dataclasses import asdict, fields
from pathlib import Path

from rankduel.lab import Results, Row

__all__ = ["FORMATS"]


def _table(results: Results, _curves: Path) -> str:
    experiment = results.experiment
    head = (
        "bandit",
        f"{experiment.kind} regret",
        "± error",
        "found",
        "lost",
        "champion right",
        "converged at",
        "us/duel",
    )
    lines = [head, *(_cells(row) for row in results.rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    problem = experiment.problem
    best = "no Condorcet winner" if problem.condorcet_winner is None else f"Condorcet winner {problem.condorcet_winner}"
    title = (
        f"{experiment.name}: {problem.n_arms} arms, {best}; "
        f"{experiment.horizon:,} duels, {experiment.runs} runs, seed {experiment.seed}"
    )
    return "\n".join([title, *(_line(cells, widths) for cells in lines)]) + "\n"


def _cells(row: Row) -> tuple[str, ...]:
    return (
        row.bandit,
        _figure(row.regret),
        "-" if row.regret_error is None else _figure(row.regret_error),
        f"{row.found}/{row.runs}",
        f"{row.lost}/{row.runs}",
        f"{row.champion_right}/{row.runs}",
        "-" if row.converged_at is None else f"{row.converged_at:,.0f}",
        f"{row.cpu_us_per_duel:.3f}",
    )


def _figure(value: float) -> str:
    return f"{value:,.1f}" if value >= 10 else f"{value:.3g}"


def _line(cells: tuple[str, ...], widths: list[int]) -> str:
    name, *figures = (cell.rjust(width) for cell, width in zip(cells, widths, strict=True))
    return "  ".join([name.strip().ljust(widths[0]), *figures])


def _json(results: Results, curves: Path) -> str:
    specs = results.experiment.specs
    bandits = [asdict(row) | {"spec": spec} for row, spec in zip(results.rows, specs, strict=True)]
    return json.dumps(results.provenance | {"bandits": bandits, "curves": str(curves)}, indent=2) + "\n"


def _csv(results: Results, _curves: Path) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, [field.name for field in fields(Row)], lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(row) for row in results.rows)
    return text.getvalue()


FORMATS: dict[str, Callable[[Results, Path], str]] = {"table": _table, "json": _json, "csv": _csv}
