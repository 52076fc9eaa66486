"""The lab's loop: worlds that draw outcomes, and the play of a bandit against one."""

from rankduel.simulation.play import Play
from rankduel.simulation.simulate import Run, Watch, log_checkpoints, run_bandit, run_seed, simulate, simulate_runs
from rankduel.simulation.worlds import MatrixWorld, UtilityWorld, World

__all__ = [
    "MatrixWorld",
    "Play",
    "Run",
    "UtilityWorld",
    "Watch",
    "World",
    "log_checkpoints",
    "run_bandit",
    "run_seed",
    "simulate",
    "simulate_runs",
]
