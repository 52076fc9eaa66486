"""Scoreboard of the demo on stdout: drawn in place on a terminal, else a line every few seconds."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

from rankduel.cli.shared.terminal import terminal_console

__all__ = ["Score", "show_scores"]

_LINE_INTERVAL_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Score:
    """State of the tournament at one time."""

    seconds: float  # since the start
    rankers: int
    left: int
    duels: int  # resolved
    champion: str
    effect: str  # on users so far, in words
    over: bool

    @classmethod
    def of(cls, report: dict[str, Any], seconds: float) -> Self:
        """Create a score from the report of the service."""
        eliminated = sum(line["state"] == "eliminated" for line in report["rankers"])
        return cls(
            seconds=seconds,
            rankers=len(report["rankers"]),
            left=len(report["rankers"]) - eliminated,
            duels=report["duels"],
            champion=report["champion"],
            effect=_effect(report["effect"]),
            over=report["winner"] is not None or bool(report["tied"]) or report["status"] == "stopped",
        )


@contextmanager
def show_scores() -> Iterator[Callable[[Score], None]]:
    """Yield a function that shows a score."""
    console = terminal_console(sys.stdout)
    if console is None:
        yield _lines()
    else:
        from rankduel.cli.demo.scoreboard_drawing import draw_scores  # noqa: PLC0415 - rich is installed

        with draw_scores(console) as show:
            yield show


def _lines() -> Callable[[Score], None]:
    due = 0.0

    def show(score: Score) -> None:
        nonlocal due
        if score.seconds >= due or score.over:
            due = score.seconds + _LINE_INTERVAL_SECONDS
            print(
                f"{score.seconds:3.0f} s: {score.left:>3} of {score.rankers} rankers left, {score.duels:>6,} duels, "
                f"{score.champion} leads, {score.effect}",
                flush=True,
            )

    return show


def _effect(effect: dict[str, Any] | None) -> str:
    """Describe the effect on users so far.

    >>> _effect({"against": "bm25", "per_page": 0.021, "pages": 12.0})
    'pages 2.1 % better than with bm25'
    """
    if effect is None:
        return "effect on users unknown"
    better = "better" if effect["per_page"] >= 0 else "worse"
    return f"pages {abs(100 * effect['per_page']):.1f} % {better} than with {effect['against']}"
