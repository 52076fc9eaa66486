"""Checks of `ask` and `tell`: legal arms, counters and errors."""

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
    """Every arm asked for exists, and is still in the race if all outcomes are in."""
    for n_arms in (5, 17, 40):
        bandit, coin = factory(n_arms, seed=1), Coin(ladder(n_arms), 1)
        for number in range(1, 401):
            alive = set(bandit.alive.tolist())
            duel = bandit.ask()
            require(duel.number == number, f"ask number {number} is numbered {duel.number}")
            for arm in (duel.first, duel.second):
                require(type(arm) is int, f"an arm is an int, got {arm!r}")
                require(0 <= arm < n_arms, f"asked for arm {arm} of {n_arms}")
                require(arm in alive, f"asked for arm {arm}, which is no longer alive")
            bandit.tell(duel, coin(duel))


def few_arms(factory: Factory) -> None:
    """One, two or three arms are a problem like any other."""
    for n_arms in (1, 2, 3):
        bandit, coin = factory(n_arms, seed=1), Coin(ladder(n_arms), 1)
        require(bandit.n_arms == n_arms, f"made with {n_arms} arms, it has {bandit.n_arms}")
        trace = play(bandit, coin, 300)
        arms = {arm for duel in trace for arm in (duel.first, duel.second)}
        require(arms <= set(range(n_arms)), f"of {n_arms} arms it asked for {sorted(arms)}")
        require(len(arms) == n_arms, f"of {n_arms} arms it never asked for any but {sorted(arms)} in 300 duels")
        require_consistent(bandit, f"{n_arms} arms")
        if n_arms == 1:
            require(bandit.winner == 0, f"with one arm there is a winner from the start, got {bandit.winner}")


def counters(factory: Factory) -> None:
    """`asked`, `told` and `pending` say what was asked, told and forgotten."""
    bandit = factory(6, seed=2)
    require((bandit.asked, bandit.told, bandit.pending) == (0, 0, []), "a new bandit has been asked or told something")
    duels = [bandit.ask() for _ in range(10)]
    require(bandit.pending == duels, "pending duels are those asked for, oldest first")
    bandit.tell(duels[4], Outcome.FIRST)
    bandit.tell(duels[0], Outcome.TIE)
    bandit.forget(duels[7])
    require((bandit.asked, bandit.told) == (10, 2), f"10 asks, 2 tells: it says {bandit.asked} and {bandit.told}")
    require(bandit.pending == [duels[k] for k in (1, 2, 3, 5, 6, 8, 9)], "told and forgotten duels are not pending")
    require(bandit.ask().number == 11, "numbers of duels count the asks from 1")


def alive_champion_winner(factory: Factory) -> None:
    """`alive` only shrinks, the `champion` is one of them, and the last one is the `winner`."""
    for n_arms in (2, 8, 20):
        bandit, coin = factory(n_arms, seed=3), Coin(ladder(n_arms), 3)
        before = set(range(n_arms))
        for _ in range(40):
            require_consistent(bandit, f"{n_arms} arms, {bandit.told} told")
            alive = set(bandit.alive.tolist())
            require(alive <= before, f"arms {sorted(alive - before)} have come back to life")
            before = alive
            play(bandit, coin, 100)


def require_consistent(bandit: Bandit, what: str) -> None:
    """What the properties of a bandit say of each other holds."""
    alive = bandit.alive.tolist()
    require(alive, f"{what}: no arm is alive")
    require(alive == sorted(set(alive)), f"{what}: alive is not in ascending order: {alive}")
    require(alive[0] >= 0 and alive[-1] < bandit.n_arms, f"{what}: alive names arms that do not exist: {alive}")
    require(bandit.n_alive == len(alive), f"{what}: n_alive is {bandit.n_alive}, alive {alive}")
    champion, winner = bandit.champion, bandit.winner
    require(type(champion) is int, f"{what}: champion must be an int, got {champion!r}")
    require(champion in alive, f"{what}: champion {champion} is not alive")
    expected = alive[0] if len(alive) == 1 else None
    require(winner == expected, f"{what}: winner is {winner!r}, expected {expected} with {len(alive)} alive")


def ties_and_self_duels(factory: Factory) -> None:
    """A `TIE` is an outcome, also of an arm with itself; ties alone knock nobody out."""
    bandit = factory(6, seed=4)
    for _ in range(300):
        bandit.tell(bandit.ask(), Outcome.TIE)
    require(bandit.told == 300, f"told 300 ties, it counts {bandit.told}")
    require(bandit.n_alive == 6, f"ties alone left {bandit.n_alive} of 6 arms")
    require_consistent(bandit, "after 300 ties")
    for n_arms, seed in ((1, 5), (2, 6), (4, 7)):
        bandit, coin, draws = factory(n_arms, seed=seed), Coin(ladder(n_arms), seed), generator(seed, "outcomes")
        for _ in range(600):
            duel = bandit.ask()
            anything = duel.first == duel.second or draws.random() < 0.1
            bandit.tell(duel, OUTCOMES[draws.integers(3)] if anything else coin(duel))
        require(bandit.told == 600, f"told 600 outcomes, it counts {bandit.told}")
        require_consistent(bandit, f"{n_arms} arms, with ties and self-duels")


def wrong_duels(factory: Factory) -> None:
    """A tell or forget of a duel that is not pending here raises `UnknownDuel`, and changes nothing."""
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
    require(bandit.pending == [], "after the errors the pending duel could still be told, and is not pending any more")


def _refuses(bandit: Bandit, duel: Duel, errors: tuple[type[Exception], ...], what: str) -> None:
    before = state(bandit)
    require_error(errors, f"tell of {what}", lambda: bandit.tell(duel, Outcome.FIRST))
    require_same_state(before, state(bandit), f"tell of {what}")
    require_error(errors, f"forget of {what}", lambda: bandit.forget(duel))
    require_same_state(before, state(bandit), f"forget of {what}")


def wrong_outcomes(factory: Factory) -> None:
    """An outcome is an `Outcome`: never a bool, a number or a string. Anything else raises and changes nothing."""
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
    """`n_arms` is a whole number of at least 1, `seed` a non-negative int: anything else is refused."""
    anything = cast(Any, factory)
    for n_arms in (0, -1, 2.5, math.nan, True, None, "3"):
        require_error((ValueError, TypeError), f"n_arms={n_arms!r}", lambda: anything(n_arms, seed=1))  # noqa: B023
    for seed in (-1, 2.5, True, "1", b"1"):
        require_error((ValueError, TypeError), f"seed={seed!r}", lambda: anything(3, seed=seed))  # noqa: B023


def repr_round_trips(factory: Factory) -> None:
    """`eval(repr(bandit))` is the same bandit, before its first duel."""
    for n_arms, seed in ((1, 0), (6, 11), (17, 2**100 + 1)):
        bandit = factory(n_arms, seed=seed)
        require((bandit.n_arms, bandit.seed) == (n_arms, seed), f"{bandit!r} was made with {n_arms=}, {seed=}")
        try:
            again = eval(repr(bandit), {type(bandit).__name__: type(bandit), "Certified": Certified, "inf": math.inf})
        except Exception as error:
            raise AssertionError(f"eval({bandit!r}) raises {type(error).__name__}: {error}") from error
        require(type(again) is type(bandit), f"eval({bandit!r}) is a {type(again).__name__}")
        require(repr(again) == repr(bandit), f"{bandit!r} comes back as {again!r}")
        require(again.parameters == bandit.parameters, f"{bandit.parameters} come back as {again.parameters}")
        require_same_state(state(bandit), state(again), f"eval({bandit!r})")
        play(bandit, Coin(ladder(n_arms), 1), 50)
        require(repr(bandit) == repr(again), f"playing changes the repr from {again!r} to {bandit!r}")
