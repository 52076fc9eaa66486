"""Simulation: worlds that draw outcomes, delays of outcomes, and the compiled loops that play a bandit in a world."""

from rankduel.simulation.comparing import Comparing
from rankduel.simulation.delays import Delay, delay_from
from rankduel.simulation.multi_play import MultiPlay
from rankduel.simulation.play import Play
from rankduel.simulation.search_world import SearchWorld, Ties
from rankduel.simulation.simulate import (
    Problem,
    Run,
    Watch,
    log_checkpoints,
    regret_of,
    run_bandit,
    run_seed,
    simulate,
    simulate_runs,
)
from rankduel.simulation.worlds import MatrixWorld, UtilityWorld, World

__all__ = [
    "Comparing",
    "Delay",
    "MatrixWorld",
    "MultiPlay",
    "Play",
    "Problem",
    "Run",
    "SearchWorld",
    "Ties",
    "UtilityWorld",
    "Watch",
    "World",
    "delay_from",
    "log_checkpoints",
    "regret_of",
    "run_bandit",
    "run_seed",
    "simulate",
    "simulate_runs",
]
