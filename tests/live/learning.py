"""What a tournament has learnt, as one value that can be compared."""

from typing import Any

from rankduel.live.runtime.state import State

__all__ = ["learnt"]

THOMPSON = {"fitted", "level", "n_sure", "sure", "tree", "weights"}

# What bandits keep to choose the next duel; nothing is learnt from it.
CHOICE = {
    "CertifiedSparring": {"samples"},
    "DTS": {"calm", "favourite", "leader", "pairs", "rates", "tails", "tops"},
    "MergeDTS": {"bytes", "pairs"},
    "RMED1": {"barrier", "best", "counts", "listed", "pair", "turns", "waiting"},
    "RUCB": {"favourite"},
    "SelfSparring": {*THOMPSON, "calm", "leader"},
    "SparringThompson": {f"{side}_{name}" for side in ("first", "second") for name in THOMPSON},
    "SparringTsallisINF": {"first_shift", "second_shift"},
}


def learnt(state: State) -> tuple[Any, ...]:
    """All but the random numbers and what was chosen with them."""
    bandit = state.bandit
    arrays = {
        name: array.tobytes()
        for name, array in bandit._state().items()  # type: ignore[attr-defined]
        if name not in CHOICE.get(type(bandit).__name__, set())
    }
    own = (state.settings, state.rankers, sorted(state.retired), state.paused, state.status, state.number, state.time)
    life = (state.phase, state.rollout, state._keeps_decision)
    return (*own, *life, state.wins, state.ties, bandit.told, bandit.champion, bandit.decision(), arrays)
