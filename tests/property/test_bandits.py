"""Whatever is asked, told, forgotten, stored and restored, in whatever order: a bandit stays one."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankduel as rd
from rankduel.testing.ground import require_same_answers, require_same_state, state

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


@pytest.mark.parametrize("bandit_class", [rd.MergeDTS, rd.MergeRUCB])
@settings(max_examples=25)
@given(n_arms=st.integers(2, 120), batch_size=st.integers(2, 20), seed=st.integers(0, 1000))
def test_batches_hold_the_arms_left_and_halve_with_them(
    bandit_class: type[rd.MergeDTS] | type[rd.MergeRUCB], n_arms: int, batch_size: int, seed: int
) -> None:
    """Told that the lower number always wins, so that arms go quickly and every merge is seen."""
    bandit = bandit_class(n_arms, batch_size=batch_size, c=10, seed=seed)
    stages = [n_arms]
    for _ in range(60 * n_arms):
        duel = bandit.ask()
        bandit.tell(duel, rd.Outcome.FIRST if duel.first < duel.second else rd.Outcome.SECOND)
        batches = bandit.batches
        assert sorted(arm for batch in batches for arm in batch) == bandit.alive.tolist()
        assert len(batches) == 1 or min(map(len, batches)) > 1, "a single arm joins the next batch at once"
        if 2 * len(bandit.alive) <= stages[-1]:
            stages.append(len(bandit.alive))
            sizes = sorted(map(len, batches))
            assert len(sizes) == 1 or sizes[0] + sizes[1] > 1.5 * batch_size or sizes[0] >= batch_size / 2
        if bandit.winner is not None:
            break
    assert bandit.winner == 0
