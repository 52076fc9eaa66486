"""The problem of the benchmarks, and the check of their results."""

import os
from pathlib import Path

import rankduel as rd

ROOT = Path(__file__).resolve().parent.parent


def data() -> Path | None:
    """Find the folder of real data, if there is one."""
    folder = Path(os.environ.get("RANKDUEL_DATA") or ROOT.parent / "shared" / "data")
    return folder if folder.is_dir() else None


def navigational() -> tuple[str, rd.PreferenceMatrix]:
    """Load MSLR-Navigational, 136 arms, from the folder of real data, or create its synthetic twin."""
    folder = data()
    matrix = folder / "matrices" / "mslr_navigational_136.npz" if folder else None
    if matrix and matrix.exists():
        return "MSLR-Navigational", rd.PreferenceMatrix.load(matrix)
    return "web_search(), because MSLR-Navigational is not available", rd.problems.web_search()


def check(run: rd.Run, problem: rd.PreferenceMatrix) -> None:
    """Check that the winner of a run is the Condorcet winner, or else that its champion beats nearly all arms."""
    if run.winner is not None:
        assert run.winner == problem.condorcet_winner, (
            f"{run.bandit}: winner {run.winner}, expected {problem.condorcet_winner}"
        )
    beaten = problem.copeland_scores[run.champion]
    assert beaten >= 0.9, f"{run.bandit}: champion {run.champion} beats {beaten:.0%} of the arms, expected 90 %"
