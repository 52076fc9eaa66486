"""Results made up for claims to judge."""

import numpy as np

from rankduel.lab import Measured, Series


def series(label: str, regret: list[float], *, horizon: int = 10**8, **per_run: list[int]) -> Series:
    """Runs whose regret grows in proportion to the square root of the duels, to what is given."""
    checkpoints = np.unique(np.geomspace(1, horizon, 81).round().astype(np.int64))
    runs = len(regret)
    filled = {name: np.array(per_run.get(name, [-1] * runs)) for name in ("winner", "champion", "converged_at")}
    return Series(
        label=label,
        spec=f"{label}()",
        setting={},
        horizon=horizon,
        checkpoints=checkpoints,
        regret=np.array(regret)[:, None] * np.sqrt(checkpoints / horizon),
        measures={},
        left=np.array(per_run.get("left", [1] * runs)),
        best_left=np.array(per_run.get("best_left", [1] * runs)),
        computed=np.full(runs, horizon),
        cpu_seconds=np.full(runs, 1.0),
        **filled,
    )


def measured(*each: Series, origin: str = "data", n_best: int = 1, n_arms: int = 136) -> Measured:
    """A part with these bandits."""
    facts = {"origin": origin, "told": origin, "problem": "MSLR", "n_best": n_best, "n_arms": n_arms}
    facts |= {"horizon": each[0].horizon, "smallest_difference": 0.01}
    return Measured(facts, {one.label: one for one in each})
