"""Whatever is asked, told, forgotten, stored and restored, in whatever order: a bandit stays one."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankduel as rd
from rankduel.testing.fixtures import require_same_answers, require_same_state, state

OUTCOMES = tuple(rd.Outcome)
STEPS = st.lists(
    st.tuples(st.sampled_from(["ask", "ask", "ask", "tell", "tell", "forget", "restore"]), st.integers(0, 99))
)


@pytest.mark.parametrize("name", rd.REGISTRY)
@settings(max_examples=40)
@given(n_arms=st.integers(1, 40), seed=st.integers(0, 2**64), steps=STEPS)
def test_any_order_of_calls(name: str, n_arms: int, seed: int, steps: list[tuple[str, int]]) -> None:
    """A bandit that is stored and restored on the way answers as one that never was, and both stay consistent."""
    bandit, untouched = rd.REGISTRY[name](n_arms, seed=seed), rd.REGISTRY[name](n_arms, seed=seed)
    asked, told, pending = 0, 0, []
    for step, number in [*steps, *[("ask", 0), ("tell", 1)] * 60]:
        alive = set(bandit.alive.tolist())
        if step == "ask":
            duel = bandit.ask()
            assert duel == untouched.ask()
            assert {duel.first, duel.second} <= alive
            pending.append(duel)
            asked += 1
        elif step == "restore":
            bandit = rd.Bandit.restore(bandit.snapshot())
        elif pending:
            duel = pending.pop(number % len(pending))
            for each in (bandit, untouched):
                if step == "forget":
                    each.forget(duel)
                else:
                    each.tell(duel, OUTCOMES[number % 3])
            told += step == "tell"
        assert (bandit.asked, bandit.told, bandit.pending) == (asked, told, pending)
        left = bandit.alive.tolist()
        assert left
        assert set(left) <= alive
        assert bandit.champion in left
        assert bandit.winner == (left[0] if len(left) == 1 else None)
    require_same_state(state(bandit), state(untouched), "restored and untouched")
    require_same_answers(bandit, untouched, "restored and untouched")
