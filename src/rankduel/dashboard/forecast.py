"""Forecast the number of duels to a decision: simulate the tournament from its current state."""

from dataclasses import dataclass
from math import ceil, inf
from time import thread_time

import numpy as np
import numpy.typing as npt

from rankduel.bandits import Bandit
from rankduel.dashboard.preference_posterior import PreferencePosterior
from rankduel.live import View
from rankduel.live.history import state_after
from rankduel.live.read_only import ReadOnlyTournament
from rankduel.live.view import view_of
from rankduel.preferences import PreferenceMatrix
from rankduel.randomness import bit_generator
from rankduel.simulation import MatrixWorld, Play

__all__ = ["Forecast", "can_forecast", "forecast", "forecast_after"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
_MAX_RANKERS = 512  # each run has a matrix of its own: 2 MB
_RUNS = 39
_OUTSIDE = 4  # the interval is from the 4th to the 36th end: another end lies in it with probability 32/40
_FIRST_DUELS = 256  # of each run, before the first look at the clock
_MAX_DUELS = 5_000_000  # of all runs. Where this bound is reached before the next, a forecast can be repeated exactly
_MAX_EXTRAPOLATION = 2  # least more duels per duel so far, above which it is too early for a forecast
_CPU_SECONDS = 2.0  # of all runs
_PRIOR_DUELS = 20.0  # weight of the share of ties of all pairs, for the pairs that are left


@dataclass(frozen=True, slots=True)
class Forecast:
    """More duels to a decision, ties included: the median and an 80 % interval of simulated runs.

    The runs are followed for `horizon` duels. `least`, `duels` and `most` are None if they are above the horizon. If it
    is too early to tell, they are None too, and horizon and chance are 0.
    """

    least: int | None
    duels: int | None
    most: int | None
    horizon: int
    chance: float  # share of the runs that end within the horizon
    too_early: bool = False


def can_forecast(view: View) -> bool:
    """Whether a tournament can be forecast: it has outcomes, will end, and has at most 512 rankers."""
    decided = view.decision.winner is not None or bool(view.decision.tied)
    going = bool(view.ends and view.resolved) and not decided and view.status not in ("stopped", "archived")
    return going and len(view.names) <= _MAX_RANKERS


def forecast_after(t: ReadOnlyTournament, resolved: int) -> Forecast | None:
    """Return the forecast that a tournament had after its first `resolved` outcomes, to compare it with the real end.

    None if it could not be forecast. The journal is replayed, from a snapshot if there is one.
    """
    state = state_after(t.storage, t.name, resolved)
    view = view_of(state)
    if not can_forecast(view):
        return None
    return forecast(type(state.bandit), state.bandit.snapshot(), view.meetings, resolved=resolved)


def forecast(kind: type[Bandit], snapshot: bytes, meetings: Integers, *, resolved: int) -> Forecast:
    """Simulate a bandit from a snapshot until it decides. Return the duels after the first `resolved` ones.

    `meetings` has rows of ranker i, ranker j, wins of i, wins of j, and ties. Each run draws its own true preferences
    and its own share of ties, given the meetings. The runs take about two seconds of CPU at most, and other threads can
    run meanwhile. The same arguments give the same forecast, unless the time is over before the duels.
    """
    bandit = kind.restore(snapshot)
    if bandit.n_alive == 1 or bandit.tied:
        return Forecast(0, 0, 0, 0, 1.0)
    random = np.random.default_rng(0)
    posterior = PreferencePosterior(bandit.n_arms, meetings)
    decisive = _decisive_shares(bandit, meetings, random)
    plays = [_start(kind, snapshot, posterior.draw(bandit.alive, random), run) for run in range(_RUNS)]
    horizon = _play(plays)
    late = bandit.told - resolved  # outcomes between `resolved` and the snapshot
    ends = sorted(
        inf if play.settled_at is None or play.settled_at > horizon else max(0, late + ceil(play.settled_at / share))
        for play, share in zip(plays, decisive.tolist(), strict=True)
    )
    reach = max(0, late + int(horizon / decisive.mean()))
    if not reach or min(ends[_OUTSIDE - 1], reach) > _MAX_EXTRAPOLATION * resolved:
        return Forecast(None, None, None, 0, 0.0, too_early=True)
    chosen = ends[_OUTSIDE - 1], ends[_RUNS // 2], ends[-_OUTSIDE]
    least, middle, most = (int(end) if end < inf else None for end in chosen)
    return Forecast(least, middle, most, reach, sum(end < inf for end in ends) / _RUNS)


def _start(kind: type[Bandit], snapshot: bytes, truth: PreferenceMatrix, run: int) -> Play:
    """Start a run, with random numbers of its own."""
    bandit = kind.restore(snapshot)
    bandit.random.bit_generator.state = bit_generator(run, "forecast").state
    return Play(bandit, MatrixWorld(truth, run), None)


def _play(plays: list[Play]) -> int:
    """Play all runs until enough have ended for the interval, or the budget is spent. Return the duels of each run."""
    deadline = thread_time() + _CPU_SECONDS
    horizon = 0
    while True:
        going = [play for play in plays if not play.over]
        if len(going) < _OUTSIDE:
            return horizon
        affordable = (_MAX_DUELS - sum(play.duels for play in plays)) // len(going)
        if not affordable:
            return horizon
        until = horizon + min(max(_FIRST_DUELS, horizon), affordable)
        for play in going:
            play.advance(until)
            if thread_time() > deadline:
                return horizon
        horizon = until


def _decisive_shares(bandit: Bandit, meetings: Integers, random: np.random.Generator) -> Floats:
    """Draw the share of duels without a tie for each run: from the pairs that are left, and a little from all pairs."""
    met = meetings[meetings[:, 0] != meetings[:, 1]]
    left = met[np.isin(met[:, :2], bandit.alive).all(1)]
    prior = _decisive_and_tied(met) * (_PRIOR_DUELS / max(_PRIOR_DUELS, met[:, 2:].sum()))
    decisive, tied = _decisive_and_tied(left) + prior + 0.5
    return random.beta(decisive, tied, _RUNS)


def _decisive_and_tied(met: Integers) -> Floats:
    return np.array([met[:, 2:4].sum(), met[:, 4].sum()], np.float64)
