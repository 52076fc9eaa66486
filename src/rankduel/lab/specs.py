"""Specs: TOML files that describe experiments by problems, bandits, parameter sweeps, horizons and runs."""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import product
from os import PathLike
from pathlib import Path
from typing import Any, get_args

from rankduel.bandits import REGISTRY
from rankduel.lab.plan import Experiment
from rankduel.lab.sources import Source, Sources
from rankduel.preferences import Kind
from rankduel.simulation import delay_from
from rankduel.spec import parse

__all__ = ["PlannedExperiment", "Figure", "Part", "Scale", "Spec", "certified_specs", "load_spec", "paper_specs"]

PAPER = Path(__file__).parent / "paper"
CERTIFIED = Path(__file__).parent / "certified"
SCALES = ("smoke", "small", "paper")
QUANTITIES = ("regret", "cpu")
_PLACE = re.compile(r"\{(\w+)\}")
_TYPE_NAMES = {
    str: "a string",
    int: "a number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "a table",
}


@dataclass(frozen=True, slots=True)
class Scale:
    """Horizon and number of runs of each bandit. None: use the values of the whole spec."""

    horizon: int | None = None
    runs: int | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """Several bandits on one problem. Parts of one panel share a figure and a table."""

    name: str
    panel: str  # may contain an {option} of the problem, which takes each value of the sweep
    problem: str  # may contain an {option}
    bandits: tuple[str, ...]  # may contain an {option}
    sweep: Mapping[str, tuple[str, ...]]
    scales: Mapping[str, Scale]
    delay: str | None = None  # may contain an {option}


@dataclass(frozen=True, slots=True)
class Figure:
    """A plot of a quantity at the horizon against a swept option."""

    name: str
    title: str
    part: str
    quantity: str  # "cpu" or "regret"
    across: str


@dataclass(frozen=True, eq=False)
class PlannedExperiment:
    """One experiment of a spec: the `Experiment` to run, its place in the report, and the labels of its bandits."""

    question: str
    part: str
    panel: str
    setting: Mapping[str, str]  # swept options of its problem
    written: str  # the problem as the spec names it
    world: Mapping[str, Any]  # options of an online problem
    source: Source
    labels: tuple[str, ...]
    settings: tuple[Mapping[str, str], ...]  # swept options of its bandits
    experiment: Experiment

    @property
    def name(self) -> str:
        """The part and its swept values: unique within the spec."""
        return "-".join([self.part, *self.setting.values()])


@dataclass(frozen=True, eq=False)
class Spec:
    """A spec file: parts with problems, bandits and sweeps. `experiments` turns it into a plan.

    >>> spec = load_spec(PAPER / "rq4.toml")
    >>> spec.title, [part.problem for part in spec.parts], sorted(spec.scales)
    ('Cycles', ['cycle', 'cycle2'], ['paper', 'small', 'smoke'])
    """

    path: Path
    name: str
    title: str
    question: str
    where: str  # in the paper
    regret: Kind
    scales: Mapping[str, Scale]
    parts: tuple[Part, ...]
    figures: tuple[Figure, ...] = ()
    curves: bool = True  # whether to plot regret against duels
    table: Mapping[str, Any] = field(default_factory=dict)
    world: Mapping[str, Any] = field(default_factory=dict)

    def experiments(self, scale: str | None, sources: Sources, seed: int = 0) -> list[PlannedExperiment]:
        """The experiments of a scale. Invalid values raise a ValueError that names the file and the part."""
        scale = self.scale(scale)
        return [each for part in self.parts for each in self._experiments(part, scale, sources, seed)]

    def scale(self, scale: str | None) -> str:
        """Check the name of a scale. None selects the default of the spec."""
        if scale is None:
            scale = "own" if "own" in self.scales else "small"
        if scale not in self.scales:
            raise ValueError(f"{self.path}: unknown scale {scale!r}, expected one of {', '.join(self.scales)}")
        return scale

    def _experiments(self, part: Part, scale: str, sources: Sources, seed: int) -> Iterator[PlannedExperiment]:
        whole, own = self.scales[scale], part.scales.get(scale, Scale())
        horizon, runs = own.horizon or whole.horizon, own.runs or whole.runs
        try:
            if horizon is None or runs is None:
                raise ValueError(f"scale {scale!r} has no {'horizon' if horizon is None else 'runs'}; add the key")
            for setting in _settings(f"{part.problem} {part.delay}", part.sweep):
                written = _filled(part.problem, setting)
                source = sources.find(written, self.world, self.path.parent)
                swept = [
                    (template, each) for template in part.bandits for each in _settings(template, part.sweep, setting)
                ]
                typed = [_filled(template, setting | each) for template, each in swept]
                labels = [_label(template, each, len(part.bandits) > 1) for template, each in swept]
                bandits = tuple(_theoretical(bandit, source.problem.n_arms, horizon) for bandit in typed)
                experiment = Experiment(
                    source.title,
                    source.problem,
                    bandits,
                    horizon=horizon,
                    runs=runs,
                    seed=seed,
                    kind=self.regret,
                    delay=None if part.delay is None else delay_from(_filled(part.delay, setting)),
                )
                yield PlannedExperiment(
                    question=self.name,
                    part=part.name,
                    panel=_filled(part.panel, setting),
                    setting=setting,
                    written=written,
                    world=self.world,
                    source=source,
                    labels=tuple(labels),
                    settings=tuple(each for _, each in swept),
                    experiment=experiment,
                )
        except (ValueError, TypeError, ArithmeticError) as error:
            raise ValueError(f"{self.path}: part {part.name!r}: {error}") from error


def _settings(
    template: str, sweep: Mapping[str, tuple[str, ...]], given: Mapping[str, str] | None = None
) -> list[dict[str, str]]:
    """All combinations of values for the options in a template, such as {alpha}."""
    names = [name for name in dict.fromkeys(_PLACE.findall(template)) if name not in (given or {})]
    for name in names:
        if name not in sweep:
            raise ValueError(f"{template!r} contains {{{name}}}, but the sweep has no values for {name}")
    return [dict(zip(names, values, strict=True)) for values in product(*(sweep[name] for name in names))]


def _filled(template: str, setting: Mapping[str, str]) -> str:
    return _PLACE.sub(lambda place: setting[place[1]], template)


def _label(template: str, setting: Mapping[str, str], several: bool) -> str:
    """The label of a bandit: its swept options, with its name if there are several bandits."""
    if not setting:
        return template
    values = ", ".join(f"{name}={value}" for name, value in setting.items())
    return f"{template.partition('(')[0]}, {values}" if several else values


def _theoretical(bandit: str, n_arms: int, horizon: int) -> str:
    """Replace "MergeDTS.theoretical(...)" by MergeDTS with the theorem's parameters for this problem and horizon."""
    name, dot, options = bandit.partition(".theoretical")
    if not dot:
        return bandit
    made = getattr(REGISTRY.get(name), "theoretical", None)
    if made is None:
        raise ValueError(f"unknown bandit {bandit!r}: {name} has no theoretical parameters")
    parameters = made(n_arms, horizon=horizon, seed=0, **parse(f"{name}{options}")[1]).parameters
    return f"{name}({', '.join(f'{option}={value!r}' for option, value in parameters.items())})"


class _Table:
    """A TOML table. Each key is taken once. Keys that are left at the end are unknown."""

    def __init__(self, path: Path, where: str, content: Mapping[str, Any]) -> None:
        self.path, self.where, self.content = path, where, dict(content)

    def take(self, key: str, kind: type | tuple[type, ...], default: Any = None, *, needed: bool = False) -> Any:
        if key not in self.content:
            if needed:
                raise ValueError(f"{self.path}: {self.where}{key} is missing")
            return default
        value = self.content.pop(key)
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            kinds = kind if isinstance(kind, tuple) else (kind,)
            names = " or ".join(dict.fromkeys(_TYPE_NAMES[each] for each in kinds))
            raise ValueError(f"{self.path}: {self.where}{key} must be {names}, got {value!r}")
        return value

    def texts(self, key: str, default: Sequence[str] = (), *, needed: bool = False) -> tuple[str, ...]:
        values = self.take(key, list, list(default), needed=needed)
        for value in values:
            if not isinstance(value, str):
                raise ValueError(f"{self.path}: {self.where}{key} must be a list of strings, got {value!r}")
        return tuple(values)

    def inner(self, key: str, value: Any) -> list[Any]:
        """Check that a value of a nested table is a non-empty list."""
        if not isinstance(value, list) or not value:
            raise ValueError(f"{self.path}: {self.where}{key} must be a non-empty list, got {value!r}")
        return value

    def tables(self, key: str) -> list[Any]:
        """Take an array of tables, [[key]]."""
        values = self.take(key, list, [])
        for value in values:
            if not isinstance(value, dict):
                raise ValueError(f"{self.path}: {self.where}{key} must be an array of tables, [[{key}]], got {value!r}")
        return list(values)

    def number(self, key: str) -> int | None:
        """Take a whole number of at least 1. 1e6 is valid too."""
        value = self.take(key, (int, float))
        if value is not None and (value < 1 or value != int(value)):
            raise ValueError(f"{self.path}: {self.where}{key} must be a whole number of at least 1, got {value}")
        return None if value is None else int(value)

    def scale(self, key: str) -> Scale | None:
        """Take the horizon and the runs of a scale. None if the key is missing."""
        if key not in self.content:
            return None
        table = _Table(self.path, f"{self.where}{key}.", self.take(key, dict))
        scale = Scale(table.number("horizon"), table.number("runs"))
        table.done("horizon runs")
        return scale

    def done(self, *expected: str | Sequence[str]) -> None:
        """Raise a ValueError if an unknown key is left."""
        known = [word for words in expected for word in (words.split() if isinstance(words, str) else words)]
        part, colon, table = self.where.rpartition(": ")
        for key in self.content:
            near = get_close_matches(key, known, 1)
            hint = f"did you mean {table}{near[0]}?" if near else f"expected one of {', '.join(known)}"
            raise ValueError(f"{self.path}: {part}{colon}unknown key {table}{key}; {hint}")


def load_spec(path: str | PathLike[str]) -> Spec:
    """Read a spec file. Invalid content raises a ValueError that names the file and the key.

    The shortest spec has the keys `problems`, `bandits`, `horizon` and `runs`. docs/reproduction.md explains all keys.
    """
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"spec file not found: {path}")
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: invalid TOML: {error}") from error
    table = _Table(path, "", content)
    name = table.take("name", str, path.stem)
    regret = table.take("regret", str, "average")
    if regret not in get_args(Kind):
        raise ValueError(f"{path}: regret must be one of {', '.join(get_args(Kind))}, got {regret!r}")
    bandits = table.texts("bandits")
    scales = {scale: found for scale in SCALES if (found := table.scale(scale)) is not None}
    own = Scale(table.number("horizon"), table.number("runs"))
    if own != Scale() or not scales:
        scales["own"] = Scale(own.horizon or 1_000_000, own.runs or 10)
    parts = [Part(problem, problem, problem, bandits, {}, {}) for problem in table.texts("problems")]
    parts += [_part(_Table(path, f"part {n}: ", each), bandits) for n, each in enumerate(table.tables("part"), 1)]
    figures = [_figure(_Table(path, f"figure {n}: ", each)) for n, each in enumerate(table.tables("figure"), 1)]
    spec = Spec(
        path=path,
        name=name,
        title=table.take("title", str, name),
        question=table.take("question", str, ""),
        where=table.take("where", str, ""),
        regret=regret,
        scales=scales,
        parts=tuple(parts),
        figures=tuple(figures),
        curves=table.take("curves", bool, True),
        table=table.take("table", dict, {}),
        world=table.take("world", dict, {}),
    )
    table.done("name title question where regret problems bandits horizon runs part figure curves table world", SCALES)
    _check(spec)
    return spec


def _part(table: _Table, bandits: tuple[str, ...]) -> Part:
    problem = table.take("problem", str, needed=True)
    name = table.take("name", str, problem)
    sweep = {
        option: tuple(map(str, table.inner(f"sweep.{option}", values)))
        for option, values in table.take("sweep", dict, {}).items()
    }
    everywhere = Scale(table.number("horizon"), table.number("runs"))
    scales = dict.fromkeys((*SCALES, "own"), everywhere)
    for scale in SCALES:
        if (found := table.scale(scale)) is not None:
            scales[scale] = Scale(found.horizon or everywhere.horizon, found.runs or everywhere.runs)
    part = Part(
        name=name,
        panel=table.take("panel", str, name),
        problem=problem,
        bandits=table.texts("bandits", bandits),
        sweep=sweep,
        scales=scales,
        delay=table.take("delay", str),
    )
    table.done("name panel problem bandits sweep delay horizon runs", SCALES)
    return part


def _figure(table: _Table) -> Figure:
    quantity = table.take("quantity", str, "regret")
    if quantity not in QUANTITIES:
        raise ValueError(f"{table.path}: {table.where}quantity must be {' or '.join(QUANTITIES)}, got {quantity!r}")
    part, across = table.take("part", str, needed=True), table.take("across", str, needed=True)
    name = table.take("name", str, f"{part}-{across}")
    figure = Figure(name, table.take("title", str, name), part, quantity, across)
    table.done("name title part quantity across")
    return figure


def _check(spec: Spec) -> None:
    """Checks that need more than one table."""
    if not spec.parts:
        raise ValueError(f"{spec.path}: no problems; add problems = [...] or a [[part]]")
    for part in spec.parts:
        if not part.bandits:
            raise ValueError(f"{spec.path}: part {part.name!r} has no bandits; add bandits = [...]")
        used = set(_PLACE.findall(" ".join([part.problem, *part.bandits, part.delay or ""])))
        for option in part.sweep.keys() - used:
            raise ValueError(
                f"{spec.path}: part {part.name!r} sweeps {option}, but its problem, bandits and delay do not contain "
                f"{{{option}}}"
            )
    names = [part.name for part in spec.parts]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{spec.path}: {names.count(name)} parts have the name {name!r}; names must be unique")
    for figure in spec.figures:
        swept = next((part.sweep for part in spec.parts if part.name == figure.part), None)
        if swept is None or figure.across not in swept:
            raise ValueError(
                f"{spec.path}: figure {figure.name!r}: found no part {figure.part!r} that sweeps {figure.across}"
            )


def paper_specs() -> dict[str, Spec]:
    """The specs of the paper's experiments, by name.

    >>> list(paper_specs())
    ['rq1', 'rq2', 'rq3', 'rq4', 'rq5', 'rq6', 'rq7', 'theory']
    """
    return {path.stem: load_spec(path) for path in sorted(PAPER.glob("*.toml")) if path.stem != "data"}


def certified_specs() -> dict[str, Spec]:
    """The specs of the experiments on certified bandits, by name.

    >>> [name.removeprefix("certified-") for name in certified_specs()]
    ['delay', 'growth', 'matrices', 'regret', 'ties', 'validity']
    """
    return {spec.name: spec for spec in map(load_spec, sorted(CERTIFIED.glob("*.toml")))}
