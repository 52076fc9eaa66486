"""Checks of traces: the same seed gives the same duels, by hand and in simulations, with prompt and late outcomes."""

from collections.abc import Callable

from rankduel.bandits import Bandit
from rankduel.preferences import PreferenceMatrix, regret
from rankduel.randomness import generator
from rankduel.simulation import MatrixWorld, Play, simulate
from rankduel.testing.contract import require_consistent
from rankduel.testing.fixtures import (
    Coin,
    Factory,
    Trace,
    arms_of,
    ladder,
    play,
    require,
    require_same_state,
    state,
)
from rankduel.types import Duel, Outcome

DUELS_IN_FLIGHT = 50


def same_seed(factory: Factory) -> None:
    """Two bandits with the same seed and the same outcomes return the same duels, and end in the same state."""
    for n_arms in (2, 7, 20):
        one, other = factory(n_arms, seed=12), factory(n_arms, seed=12)
        traces = [play(bandit, Coin(ladder(n_arms), 12), 400) for bandit in (one, other)]
        for duel, twin in zip(*traces, strict=True):
            require(duel == twin, f"with the same seed and outcomes, ask() returned {duel} and {twin}")
        require_same_state(state(one), state(other), "same seed, same outcomes")


def different_seeds(factory: Factory) -> None:
    """Different seeds give different duels. Skip this if your bandit uses no randomness."""
    traces = []
    for seed in (13, 14, 15):
        bandit = factory(20, seed=seed)
        require(bandit.seed == seed, f"seed must be {seed}, got {bandit.seed}")
        traces.append(arms_of(play(bandit, lambda _: Outcome.FIRST, 200)))
    for trace in traces[1:]:
        require(trace != traces[0], "bandits with different seeds return the same duels: the seed has no effect")


def live_is_compiled(factory: Factory) -> None:
    """`ask` and `tell` by hand give the same duels and the same state as a simulation with the same outcomes."""
    for n_arms in (2, 5, 20):
        problem = ladder(n_arms)
        live, simulated, at_once = (factory(n_arms, seed=16) for _ in range(3))
        coin, cost = Coin(problem, 17), regret(problem)
        loop = Play(simulated, MatrixWorld(problem, 17), cost)
        for step in range(1, 601):
            if live.n_alive == 1:
                break
            before, duel = loop.regret, live.ask()
            live.tell(duel, coin(duel))
            loop.advance(step)
            suffered, expected = loop.regret - before, cost.of(duel.first, duel.second)
            require(
                abs(suffered - expected) < 1e-9,
                f"duel {step}: by hand {duel} with regret {expected:.4f}, simulated one with regret {suffered:.4f}",
            )
        require_same_state(state(live), state(simulated), f"after {live.asked} duels, by hand and simulated")
        run = simulate(at_once, problem, horizon=live.asked, seed=17)
        require_same_state(state(live), state(at_once), f"after {live.asked} duels, by hand and simulate()")
        require(
            abs(run.regret[-1] - loop.regret) < 1e-9,
            f"regret of simulate() must be {loop.regret}, got {run.regret[-1]}",
        )


def late_tells(factory: Factory) -> None:
    """With late, reordered and lost outcomes, arms stay valid, and the seed still determines the duels."""
    for n_arms in (3, 20):
        problem = ladder(n_arms)
        bandits = [factory(n_arms, seed=18) for _ in range(2)]
        traces = [play_late(bandit, problem, 1200, seed=18, look=_consistent) for bandit in bandits]
        require(traces[0] == traces[1], "with the same seed and the same late outcomes, the traces differ")
        require_same_state(state(bandits[0]), state(bandits[1]), "same seed, same late outcomes")
        for duel in traces[0]:
            require(min(duel.first, duel.second) >= 0, f"{duel} has an arm that does not exist")
            require(max(duel.first, duel.second) < n_arms, f"{duel} has an arm that does not exist")


def adopted(factory: Factory) -> None:
    """A bandit that adopts all duels of another one with the same seed learns the same. Other duels do no harm."""
    for n_arms in (3, 20):
        bandit, follower, stranger = (factory(n_arms, seed=seed) for seed in (19, 19, 20))
        coin = Coin(ladder(n_arms), 19)
        for number in range(1, 601):
            duel = bandit.propose()
            require(bandit.pending == [], f"{duel} was only proposed and must not be pending")
            if number % 3 == 0:
                continue
            told, outcome = duel._replace(number=bandit.told + 1), coin(duel)
            for learner in (bandit, follower, stranger):
                learner.adopt(told, outcome)
            stranger.propose()
        require_consistent(stranger, "with the duels of another bandit")
        require(follower.told == bandit.told, f"told of the follower must be {bandit.told}, got {follower.told}")
        require(follower.champion == bandit.champion, "the champions differ after the same duels")
        require(follower.decision() == bandit.decision(), "the decisions differ after the same duels")


def _consistent(bandit: Bandit, in_flight: Trace) -> None:
    if bandit.asked % 100 == 0:
        require_consistent(bandit, f"{bandit.told} late outcomes told")
        require(
            sorted(bandit.pending, key=_number) == sorted(in_flight, key=_number),
            "pending must list the duels in flight",
        )


def _number(duel: Duel) -> int:
    return duel.number


def play_late(
    bandit: Bandit,
    problem: PreferenceMatrix,
    n_duels: int,
    *,
    seed: int,
    look: Callable[[Bandit, Trace], None] = lambda bandit, in_flight: None,
) -> Trace:
    """Like `play`, with up to 50 duels in flight. Tells come in bursts and in random order. One in ten is forgotten."""
    coin, draws = Coin(problem, seed), generator(seed, "late")
    trace: Trace = []
    in_flight: Trace = []
    for _ in range(n_duels):
        trace.append(bandit.ask())
        in_flight.append(trace[-1])
        left = draws.integers(DUELS_IN_FLIGHT) if len(in_flight) == DUELS_IN_FLIGHT else DUELS_IN_FLIGHT
        while len(in_flight) > left:
            duel = in_flight.pop(draws.integers(len(in_flight)))
            if draws.random() < 0.1:
                bandit.forget(duel)
            else:
                bandit.tell(duel, coin(duel))
        look(bandit, in_flight)
    return trace
