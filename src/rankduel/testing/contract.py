"""Checks of `ask` and `tell`: valid arms, counters and errors."""

import math
from typing import Any, cast

from rankduel.bandits import Bandit, Certified
from rankduel.errors import UnknownDuel
from rankduel.randomness import generator
from rankduel.testing.fixtures import (
    Coin,
    Factory,
    ladder,
    play,
    require,
    require_error,
    require_same_state,
    state,
)
from rankduel.types import Duel, Outcome

OUTCOMES = tuple(Outcome)


def legal_arms(factory: Factory) -> None:
    """`ask` returns only arms that exist. If no duel is pending, it returns only arms that are alive."""
    for n_arms in (5, 17, 40):
        bandit, coin = factory(n_arms, seed=1), Coin(ladder(n_arms), 1)
        for number in range(1, 401):
            alive = set(bandit.alive.tolist())
            duel = bandit.ask()
            require(duel.number == number, f"duel {number} must have number {number}, got {duel.number}")
            for arm in (duel.first, duel.second):
                require(type(arm) is int, f"an arm must be an int, got {arm!r}")
                require(0 <= arm < n_arms, f"ask() returned arm {arm}, expected 0 to {n_arms - 1}")
                require(arm in alive, f"ask() returned arm {arm}, which was eliminated")
            bandit.tell(duel, coin(duel))


def few_arms(factory: Factory) -> None:
    """The bandit also works with one, two or three arms."""
    for n_arms in (1, 2, 3):
        bandit, coin = factory(n_arms, seed=1), Coin(ladder(n_arms), 1)
        require(bandit.n_arms == n_arms, f"n_arms must be {n_arms}, got {bandit.n_arms}")
        trace = play(bandit, coin, 300)
        arms = {arm for duel in trace for arm in (duel.first, duel.second)}
        require(arms <= set(range(n_arms)), f"with {n_arms} arms, ask() returned arms {sorted(arms)}")
        require(len(arms) == n_arms, f"in 300 duels of {n_arms} arms, ask() returned only arms {sorted(arms)}")
        require_consistent(bandit, f"{n_arms} arms")
        if n_arms == 1:
            require(bandit.winner == 0, f"winner of a single arm must be 0, got {bandit.winner}")


def counters(factory: Factory) -> None:
    """`asked`, `told` and `pending` count asks, tells and forgotten duels."""
    bandit = factory(6, seed=2)
    require(
        (bandit.asked, bandit.told, bandit.pending) == (0, 0, []),
        "asked, told and pending of a new bandit must be 0, 0 and []",
    )
    duels = [bandit.ask() for _ in range(10)]
    require(bandit.pending == duels, "pending must list the duels that were asked for, oldest first")
    bandit.tell(duels[4], Outcome.FIRST)
    bandit.tell(duels[0], Outcome.TIE)
    bandit.forget(duels[7])
    require(
        (bandit.asked, bandit.told) == (10, 2),
        f"after 10 asks and 2 tells, asked is {bandit.asked} and told is {bandit.told}",
    )
    require(bandit.pending == [duels[k] for k in (1, 2, 3, 5, 6, 8, 9)], "told and forgotten duels must not be pending")
    require(bandit.ask().number == 11, "duel numbers must count the asks from 1, forgotten duels included")


def alive_champion_winner(factory: Factory) -> None:
    """`alive` never grows, the `champion` is alive, and the last arm alive is the `winner`."""
    for n_arms in (2, 8, 20):
        bandit, coin = factory(n_arms, seed=3), Coin(ladder(n_arms), 3)
        before = set(range(n_arms))
        for _ in range(40):
            require_consistent(bandit, f"{n_arms} arms, {bandit.told} told")
            alive = set(bandit.alive.tolist())
            require(alive <= before, f"eliminated arms {sorted(alive - before)} are alive again")
            before = alive
            play(bandit, coin, 100)


def require_consistent(bandit: Bandit, what: str) -> None:
    """The properties of the bandit are consistent with each other."""
    alive = bandit.alive.tolist()
    require(alive, f"{what}: alive is empty")
    require(alive == sorted(set(alive)), f"{what}: alive must be in ascending order, got {alive}")
    require(
        alive[0] >= 0 and alive[-1] < bandit.n_arms,
        f"{what}: alive must be arms from 0 to {bandit.n_arms - 1}, got {alive}",
    )
    require(bandit.n_alive == len(alive), f"{what}: n_alive is {bandit.n_alive}, but alive is {alive}")
    champion, winner = bandit.champion, bandit.winner
    require(type(champion) is int, f"{what}: champion must be an int, got {champion!r}")
    require(champion in alive, f"{what}: champion {champion} is not alive")
    expected = alive[0] if len(alive) == 1 else None
    require(winner == expected, f"{what}: winner must be {expected} with {len(alive)} arms alive, got {winner!r}")


def ties_and_self_duels(factory: Factory) -> None:
    """A `TIE` is a valid outcome, also if both arms are the same. Ties alone eliminate no arm."""
    bandit = factory(6, seed=4)
    for _ in range(300):
        bandit.tell(bandit.ask(), Outcome.TIE)
    require(bandit.told == 300, f"told must be 300 after 300 ties, got {bandit.told}")
    require(bandit.n_alive == 6, f"ties alone eliminated arms: {bandit.n_alive} of 6 are left")
    require_consistent(bandit, "after 300 ties")
    for n_arms, seed in ((1, 5), (2, 6), (4, 7)):
        bandit, coin, draws = factory(n_arms, seed=seed), Coin(ladder(n_arms), seed), generator(seed, "outcomes")
        for _ in range(600):
            duel = bandit.ask()
            anything = duel.first == duel.second or draws.random() < 0.1
            bandit.tell(duel, OUTCOMES[draws.integers(3)] if anything else coin(duel))
        require(bandit.told == 600, f"told must be 600 after 600 outcomes, got {bandit.told}")
        require_consistent(bandit, f"{n_arms} arms, with ties and self-duels")


def wrong_duels(factory: Factory) -> None:
    """`tell` and `forget` raise `UnknownDuel` for a duel that is not pending, and change nothing."""
    bandit, stranger, coin = factory(6, seed=8), factory(6, seed=9), Coin(ladder(6), 8)
    play(bandit, coin, 20)
    play(stranger, coin, 20)
    done, gone, pending = bandit.ask(), bandit.ask(), bandit.ask()
    bandit.tell(done, Outcome.SECOND)
    bandit.forget(gone)
    other = 1 - pending.first if pending.first < 2 else 0
    foreign = [stranger.ask() for _ in range(30)]
    for duel, what in (
        (done, "a duel told before"),
        (gone, "a duel forgotten before"),
        (Duel(10**6, 0, 1), "a duel never asked for"),
        (Duel(0, 0, 1), "a duel with number 0"),
        (Duel(pending.number, other, pending.second, pending.propensity), "a pending duel with another arm"),
        (foreign[-1], "a duel of another bandit"),
        *((duel, "a duel of another bandit") for duel in foreign if duel.number == pending.number and duel != pending),
    ):
        _refuses(bandit, duel, (UnknownDuel,), what)
    for arms in ((-1, 0), (0, 6), (10**12, 0)):
        _refuses(bandit, Duel(pending.number, *arms), (ValueError, UnknownDuel), f"a duel of arms {arms}")
    for nonsense in ((0, 1), None, pending.number):
        _refuses(bandit, cast(Duel, nonsense), (TypeError,), f"{nonsense!r} as a duel")
    bandit.tell(pending, Outcome.FIRST)
    require(bandit.pending == [], "the pending duel must accept its outcome after the errors, and then not be pending")


def _refuses(bandit: Bandit, duel: Duel, errors: tuple[type[Exception], ...], what: str) -> None:
    before = state(bandit)
    require_error(errors, f"tell of {what}", lambda: bandit.tell(duel, Outcome.FIRST))
    require_same_state(before, state(bandit), f"tell of {what}")
    require_error(errors, f"forget of {what}", lambda: bandit.forget(duel))
    require_same_state(before, state(bandit), f"forget of {what}")


def wrong_outcomes(factory: Factory) -> None:
    """`tell` accepts only an `Outcome`. A bool, number or string raises an error and changes nothing."""
    bandit = factory(6, seed=10)
    play(bandit, Coin(ladder(6), 10), 20)
    duel = bandit.ask()
    before = state(bandit)
    for outcome in (True, False, 0, 1, None, "first", 0.5, duel):
        what = f"outcome {outcome!r}"
        require_error((TypeError, ValueError), what, lambda: bandit.tell(duel, cast(Outcome, outcome)))  # noqa: B023
        require_same_state(before, state(bandit), what)
    bandit.tell(duel, Outcome.FIRST)


def wrong_arguments(factory: Factory) -> None:
    """The bandit rejects an `n_arms` that is not a whole number of at least 1, and an invalid `seed`."""
    anything = cast(Any, factory)
    for n_arms in (0, -1, 2.5, math.nan, True, None, "3"):
        require_error((ValueError, TypeError), f"n_arms={n_arms!r}", lambda: anything(n_arms, seed=1))  # noqa: B023
    for seed in (-1, 2.5, True, "1", b"1"):
        require_error((ValueError, TypeError), f"seed={seed!r}", lambda: anything(3, seed=seed))  # noqa: B023


def repr_round_trips(factory: Factory) -> None:
    """`eval(repr(bandit))` creates the same bandit, before its first duel."""
    for n_arms, seed in ((1, 0), (6, 11), (17, 2**100 + 1)):
        bandit = factory(n_arms, seed=seed)
        require(
            (bandit.n_arms, bandit.seed) == (n_arms, seed),
            f"n_arms and seed must be {n_arms} and {seed}, got {bandit.n_arms} and {bandit.seed}",
        )
        try:
            again = eval(repr(bandit), {type(bandit).__name__: type(bandit), "Certified": Certified, "inf": math.inf})
        except Exception as error:
            raise AssertionError(f"eval({bandit!r}) raises {type(error).__name__}: {error}") from error
        require(type(again) is type(bandit), f"eval({bandit!r}) returns a {type(again).__name__}")
        require(repr(again) == repr(bandit), f"eval({bandit!r}) returns {again!r}")
        require(
            again.parameters == bandit.parameters,
            f"eval(repr(bandit)) changes the parameters from {bandit.parameters} to {again.parameters}",
        )
        require_same_state(state(bandit), state(again), f"eval({bandit!r})")
        play(bandit, Coin(ladder(n_arms), 1), 50)
        require(repr(bandit) == repr(again), f"playing changes the repr from {again!r} to {bandit!r}")
