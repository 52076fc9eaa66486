"""The problem that is timed, and the check of a result that comes before its time is looked at."""

import os
from pathlib import Path

import rankduel as rd

ROOT = Path(__file__).resolve().parent.parent


def data() -> Path | None:
    """The folder of real data, if there is one."""
    folder = Path(os.environ.get("RANKDUEL_DATA") or ROOT.parent / "shared" / "data")
    return folder if folder.is_dir() else None


def navigational() -> tuple[str, rd.PreferenceMatrix]:
    """MSLR-Navigational, 136 arms, from the folder of real data; its synthetic twin where that is absent."""
    folder = data()
    matrix = folder / "matrices" / "mslr_navigational_136.npz" if folder else None
    if matrix and matrix.exists():
        return "MSLR-Navigational", rd.PreferenceMatrix.load(matrix)
    return "web_search(), for want of MSLR-Navigational", rd.problems.web_search()


def check(run: rd.Run, problem: rd.PreferenceMatrix) -> None:
    """A run that ended has found the Condorcet winner; in any other, the champion beats nearly all arms."""
    if run.winner is not None:
        assert run.winner == problem.condorcet_winner, f"{run.bandit} ended with {run.winner}"
    beaten = problem.copeland_scores[run.champion]
    assert beaten >= 0.9, f"{run.bandit}: after {run.duels} duels, champion {run.champion} beats only {beaten:.0%}"
