"""Plan: an `Experiment` is a list of `Unit`s, one run each. The key of a unit hashes all inputs of its result."""

import hashlib
import json
import re
from collections import Counter
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import rankduel
from rankduel.bandits import Bandit, any_bandit_from, bandit_from, code_of, split
from rankduel.preferences import Kind, PreferenceMatrix, problems
from rankduel.simulation import (
    Delay,
    Problem,
    Run,
    SearchWorld,
    Watch,
    log_checkpoints,
    regret_of,
    run_bandit,
    run_seed,
    simulate,
)
from rankduel.spec import parse

__all__ = ["Experiment", "Unit", "normal_form", "problem_from"]

_MAX_HORIZON_DUELS = 10**15  # the compiled loop counts in 64 bits
_MAX_RUNS = 10**6


@dataclass(frozen=True, eq=False)
class Unit:
    """One run of one bandit. The store finds its result by its key."""

    problem: Problem
    bandit: str  # in normal form
    horizon: int
    checkpoints: tuple[int, ...]
    kind: Kind
    seed: int  # of the experiment
    index: int  # of the run
    delay: Delay | None = None

    @cached_property
    def content(self) -> dict[str, object]:
        """Everything that determines the result, as JSON values."""
        code = code_of(self.bandit)
        return {
            "rankduel": rankduel.__version__,
            "sources": _sources(),
            **({} if code is None else {"code": code}),
            "problem": self.problem.fingerprint,
            "bandit": self.bandit,
            "horizon": self.horizon,
            "checkpoints": list(self.checkpoints),
            "regret": self.kind,
            "seed": self.seed,
            "run": self.index,
            "delay": None if self.delay is None else self.delay.fingerprint,
        }

    @cached_property
    def key(self) -> str:
        """The SHA-256 of the content. The same key means the same numbers."""
        return hashlib.sha256(json.dumps(self.content, sort_keys=True).encode()).hexdigest()

    @property
    def label(self) -> str:
        """A short label: the bandit without parameters, and the number of the run."""
        return f"{self.bandit.partition('(')[0].rpartition(':')[2]} run {self.index}"

    def play(self, watch: Watch | None = None) -> Run:
        """Compute the run. Bandit and world have their own random streams, so every worker gets the same result."""
        return simulate(
            run_bandit(self.bandit, self.problem.n_arms, self.seed, self.index),
            self.problem,
            horizon=self.horizon,
            checkpoints=self.checkpoints,
            seed=run_seed(self.seed, self.index),
            kind=self.kind,
            delay=self.delay,
            watch=watch,
        )


@dataclass(frozen=True, eq=False)
class Experiment:
    """Several bandits on one problem, with the same number of runs. All values are checked before anything is computed.

    >>> experiment = Experiment(*problem_from("cycle2"), ("MergeDTS", "Uniform"), horizon=1000, runs=3)
    >>> [(unit.index, unit.bandit[:8]) for unit in experiment.units][:3]
    [(0, 'MergeDTS'), (0, 'Uniform('), (1, 'MergeDTS')]
    """

    name: str  # of the problem, for display
    problem: Problem
    bandits: tuple[str, ...]  # as the user wrote them
    horizon: int
    runs: int
    seed: int = 0
    kind: Kind = "average"
    checkpoints: tuple[int, ...] = ()  # empty: logarithmically spaced
    delay: Delay | None = None  # of the feedback

    def __post_init__(self) -> None:
        for name, value, least, most in (
            ("horizon", self.horizon, 1, _MAX_HORIZON_DUELS),
            ("runs", self.runs, 1, _MAX_RUNS),
            ("seed", self.seed, 0, None),
        ):
            if value < least or (most is not None and value > most):
                limits = f"at least {least}" if most is None else f"from {least} to {most:.0e}"
                raise ValueError(f"{name} must be a whole number {limits}, got {value}")
        if not self.bandits:
            raise ValueError("no bandits given; an experiment needs at least one")
        for spec, times in Counter(self.specs).items():
            if times > 1:
                raise ValueError(
                    f"{self.bandits[self.specs.index(spec)]} is given {times} times, as {spec}; give it once"
                )
        regret_of(self.problem, self.kind)  # ValueError if the problem has no regret of this kind
        for spec in self.specs if self.delay is not None else ():
            if not isinstance(made := any_bandit_from(spec, self.problem.n_arms, seed=0), Bandit):
                raise ValueError(f"{type(made).__name__} does not support late outcomes, got delay {self.delay!r}")
        if not self.checkpoints:
            object.__setattr__(self, "checkpoints", tuple(log_checkpoints(self.horizon).tolist()))

    @cached_property
    def specs(self) -> tuple[str, ...]:
        """The bandits in normal form."""
        many = isinstance(self.problem, SearchWorld)  # supports more than two rankers per page
        return tuple(normal_form(bandit, self.problem.n_arms, many=many) for bandit in self.bandits)

    @cached_property
    def units(self) -> tuple[Unit, ...]:
        """All units, run by run: at any time, the finished ones are the same experiment with fewer runs."""
        return tuple(
            Unit(self.problem, spec, self.horizon, self.checkpoints, self.kind, self.seed, index, self.delay)
            for index in range(self.runs)
            for spec in self.specs
        )

    @cached_property
    def key(self) -> str:
        """The SHA-256 of the keys of all units."""
        return hashlib.sha256("".join(unit.key for unit in self.units).encode()).hexdigest()

    @property
    def file_name(self) -> str:
        """The name of its files, without suffix: the problem, and enough of the key to be unique."""
        name = re.sub(r"\W+", "-", self.name).strip("-")[:60] or "problem"
        return f"{name}-{self.key[:8]}"


@cache
def _sources() -> str:
    """The SHA-256 of the source code that computes a run, so that stored runs of another version are never reused."""
    package = Path(rankduel.__file__).parent
    digest = hashlib.sha256()
    for part in ("bandits", "clicks", "interleaving", "preferences", "randomness", "rankings", "simulation"):
        for file in sorted((package / part).rglob("*")):
            if file.suffix in {".py", ".pyx", ".pxd"}:
                digest.update(file.relative_to(package).as_posix().encode() + file.read_bytes())
    return digest.hexdigest()


def normal_form(bandit: str, n_arms: int, *, many: bool = False) -> str:
    """Return the spec of a bandit with all parameters, defaults included. Equal bandits get equal texts.

    >>> normal_form("MergeRUCB(c=400_000)", 20) == normal_form(" MergeRUCB( alpha=0.8**6 ) ", 20)
    True
    """
    made = (any_bandit_from if many else bandit_from)(bandit, n_arms, seed=0)
    given = {name: value for name, value in made.parameters.items() if value is not None}
    parameters = ", ".join(f"{name}={value!r}" for name, value in given.items())
    module, rest = split(bandit)
    normal = f"{parse(rest)[0]}({parameters})"
    if module is None:
        return normal
    try:
        again = parse(normal)[1]
    except ValueError as error:
        raise ValueError(f"the parameters of {bandit} must be literal values: {error}") from error
    if again != given:
        raise ValueError(f"the parameters of {bandit} must be literal values, got {made.parameters}")
    return f"{module}:{normal}"


def problem_from(text: str) -> tuple[str, Problem]:
    """Return the name and the problem of a text: a named problem, with or without options, or a matrix file.

    >>> problem_from("bradley_terry(n_arms=7)")
    ('bradley_terry(n_arms=7)', <PreferenceMatrix: 7 arms, Condorcet winner 6>)
    """
    if text.partition("(")[0].strip() in problems.PROBLEMS:
        return text, problems.named(text)
    if Path(text).is_file():
        return Path(text).name.partition(".")[0], PreferenceMatrix.load(text)
    raise ValueError(f"unknown problem {text!r}: expected a matrix file or one of {', '.join(problems.PROBLEMS)}")
