"""Settings of a tournament, validated when it is created and when they are changed."""

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Self

from rankduel.bandits import Bandit, bandit_from
from rankduel.errors import TournamentExists
from rankduel.interleaving import interleaving_from
from rankduel.live.rules.attribution import MAX_ACTIONS, Attribution
from rankduel.live.rules.guardrails import MAX_GUARDRAILS, MAX_WINDOW_SECONDS, Guardrail
from rankduel.live.rules.validation import as_list, brief, check_name, number, whole

__all__ = [
    "DAY",
    "DEFAULT",
    "DIALS",
    "MAX_RANKERS",
    "Settings",
    "check_new",
    "check_same",
    "check_window",
    "checked_dials",
    "new_settings",
]

DAY = 86_400.0  # seconds
DEFAULT = "CertifiedSparring"
MAX_RANKERS = 10_000  # of a tournament, those that were retired or eliminated included
DIALS = ("baseline", "share", "shadow", "daily_cap", "in_flight_cap", "guardrails", "attribution")


@dataclass(frozen=True)
class Settings:
    """The settings of a tournament. Those in `DIALS` can be changed while it runs."""

    rankers: tuple[str, ...]  # at the beginning
    bandit: str  # as `bandit_from` takes it, with every parameter
    seed: int
    interleaving: str
    expires_after: float  # seconds
    salt: str  # of the hashes of client ids
    baseline: str | None = None
    share: float = 1.0  # of the traffic that duels
    shadow: bool = False
    daily_cap: int | None = None  # duels of a client in a day
    in_flight_cap: int | None = None
    guardrails: tuple[dict[str, Any], ...] = ()
    attribution: dict[str, Any] | None = None

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> Self:
        """The settings again, from what JSON made of them."""
        known = {field.name for field in fields(cls)}
        given = {name: value for name, value in stored.items() if name in known}
        return cls(**given | {name: tuple(given[name]) for name in ("rankers", "guardrails") if name in given})

    def to_dict(self) -> dict[str, Any]:
        """As JSON holds them."""
        return asdict(self) | {"rankers": list(self.rankers), "guardrails": list(self.guardrails)}

    @property
    def limited(self) -> bool:
        """Whether somebody may be refused a duel while others get one."""
        return self.share < 1 or self.daily_cap is not None or self.in_flight_cap is not None


def new_settings(
    rankers: Iterable[str],
    *,
    bandit: str | None = None,
    delta: float | None = None,
    tolerance: float | None = None,
    interleaving: str = "team_draft",
    expires_after: float = DAY,
    seed: int | None = None,
    **dials: Any,
) -> Settings:
    """The settings of a new tournament, checked."""
    names = tuple(check_name("a ranker", ranker) for ranker in as_list("rankers", rankers))
    check_new(names, ())
    if not names:
        raise ValueError("a tournament needs at least one ranker")
    if isinstance(expires_after, bool) or not isinstance(expires_after, int | float) or not 0 < expires_after < 1e9:
        raise ValueError(f"expires_after must be a number of seconds, > 0 and < 1e9, got {brief(expires_after)}")
    spec = _spec(bandit, delta, tolerance)
    played = bandit_from(spec, len(names), seed=seed)
    settings = Settings(
        rankers=names,
        bandit=_full(spec, played),
        seed=played.seed,
        interleaving=repr(interleaving_from(interleaving)),
        expires_after=float(expires_after),
        salt=secrets.token_hex(16),
        **checked_dials(dials),
    )
    check_window(settings.attribution, settings.expires_after)
    return settings


def _spec(bandit: str | None, delta: float | None, tolerance: float | None) -> str:
    """The bandit as people type it."""
    options = {"delta": delta, "tolerance": tolerance}
    given = ", ".join(f"{name}={value!r}" for name, value in options.items() if value is not None)
    if bandit is None:
        return f"{DEFAULT}({given})"
    if given:
        raise ValueError(f"delta and tolerance are for the default bandit: write them into {bandit!r}")
    return bandit


def _full(spec: str, bandit: Bandit) -> str:
    """A bandit as people type it, with every parameter: another default in a later version changes nothing."""
    own, colon, _ = spec.partition("(")[0].rpartition(":")
    options = ", ".join(f"{name}={value!r}" for name, value in bandit.parameters.items())
    return f"{own}{colon}{type(bandit).__name__}({options})"


def checked_dials(given: Mapping[str, Any]) -> dict[str, Any]:
    """Settings that may be changed, checked."""
    for name in given:
        if name not in DIALS:
            raise TypeError(f"no setting {name!r}; settings that can be changed: {', '.join(DIALS)}")
    checked = dict(given)
    if given.get("baseline") is not None:
        check_name("baseline", given["baseline"])
    if "share" in given and number("share", given["share"]) > 1:
        raise ValueError(f"share must be a number from 0 to 1, got {given['share']!r}")
    if not isinstance(given.get("shadow", False), bool):
        raise ValueError(f"shadow must be True or False, got {brief(given['shadow'])}")
    for cap in ("daily_cap", "in_flight_cap"):
        if given.get(cap) is not None:
            checked[cap] = whole(cap, given[cap])
    if "guardrails" in given:
        rails = as_list("guardrails", given["guardrails"])
        if len(rails) > MAX_GUARDRAILS:
            raise ValueError(f"a tournament has at most {MAX_GUARDRAILS} guardrails, got {len(rails):,}")
        checked["guardrails"] = [_guardrail(rail) for rail in rails]
    rules = given.get("attribution")
    if rules is not None:
        checked["attribution"] = (rules if isinstance(rules, Attribution) else Attribution.from_dict(rules)).to_dict()
        if (n_actions := len(checked["attribution"]["actions"])) > MAX_ACTIONS:
            raise ValueError(f"an attribution names at most {MAX_ACTIONS} actions, got {n_actions:,}")
    return checked


def _guardrail(given: Any) -> dict[str, Any]:
    rail = given if isinstance(given, Guardrail) else Guardrail.from_dict(given)
    if rail.window > MAX_WINDOW_SECONDS:
        raise ValueError(f"the window of a guardrail is at most {MAX_WINDOW_SECONDS:g} s, got {rail.window:g}")
    return rail.to_dict()


def check_window(attribution: dict[str, Any] | None, expires_after: float) -> None:
    """The window of an attribution closes before a duel expires."""
    window = (attribution or {}).get("window", 0.0)
    if window >= expires_after:
        raise ValueError(f"the window of {window:g} s must close before a duel expires, after {expires_after:g} s")


def check_same(name: str, stored: Settings, given: Settings, *, seeded: bool) -> None:
    """A tournament that is there has the settings that are given; a salt is drawn, and so is a seed that is not."""
    ignored = {"salt"} if seeded else {"salt", "seed"}
    for setting, value in vars(given).items():
        if setting not in ignored and vars(stored)[setting] != value:
            raise TournamentExists(f"{name!r} is there with {setting}={vars(stored)[setting]!r}, not {value!r}")


def check_new(names: Sequence[str], known: Iterable[str]) -> None:
    """No ranker is there twice, and there are not too many."""
    seen = set(known)
    if len(names) + len(seen) > MAX_RANKERS:
        has = f"it has {len(seen):,}, and {len(names):,} more were given" if seen else f"got {len(names):,}"
        raise ValueError(f"a tournament has at most {MAX_RANKERS:,} rankers: {has}")
    for name in names:
        if name in seen:
            raise ValueError(f"ranker {name!r} is there twice")
        seen.add(name)
