"""Settings of a tournament, validated when they are created or changed."""

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Self

from rankduel.bandits import Bandit, bandit_from
from rankduel.errors import TournamentExists
from rankduel.interleaving import interleaving_from
from rankduel.live.defaults import DAY, DEFAULT, DEFAULT_INTERLEAVING, DEFAULTS
from rankduel.live.rules.attribution import MAX_ACTIONS, Attribution
from rankduel.live.rules.guardrails import MAX_GUARDRAILS, MAX_WINDOW_SECONDS, Guardrail
from rankduel.live.rules.lifecycle import AFTER_DECISION
from rankduel.live.rules.validation import as_list, brief, check_name, number, some_of, whole

__all__ = [
    "DIALS",
    "MAX_RANKERS",
    "MIN_RANKERS",
    "Settings",
    "check_baseline",
    "check_new",
    "check_rollout_share",
    "check_same",
    "check_window",
    "checked_dials",
    "new_settings",
]

MIN_RANKERS = 2
MAX_RANKERS = 10_000  # of a tournament, retired and eliminated ones included
DIALS = (
    "baseline",
    "external_baseline",
    "share",
    "shadow",
    "after_decision",
    "daily_cap",
    "in_flight_cap",
    "guardrails",
    "attribution",
)


@dataclass(frozen=True)
class Settings:
    """The settings of a tournament. Settings listed in `DIALS` can be changed while it runs."""

    rankers: tuple[str, ...]  # when it was created
    bandit: str  # a spec with all parameters
    seed: int
    interleaving: str
    expires_after: float  # seconds
    salt: str  # for the hashes of client ids
    baseline: str | None = None  # shown if there is no duel; None only in old tournaments: the current champion
    external_baseline: bool = False  # whether the baseline need not be a ranker
    share: float = 1.0  # of the traffic that takes part in duels
    shadow: bool = False  # dry run
    after_decision: str = "winner"  # what users in the share see after a decision: winner, baseline or compare
    daily_cap: int | None = None  # maximum number of duels of a client per day
    in_flight_cap: int | None = None  # maximum number of duels in flight
    guardrails: tuple[dict[str, Any], ...] = ()
    attribution: dict[str, Any] | None = None

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> Self:
        """Make settings from the result of `to_dict`. Unknown fields are ignored."""
        known = {field.name for field in fields(cls)}
        given = {name: value for name, value in stored.items() if name in known}
        return cls(**given | {name: tuple(given[name]) for name in ("rankers", "guardrails") if name in given})

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as JSON values."""
        return asdict(self) | {"rankers": list(self.rankers), "guardrails": list(self.guardrails)}

    @property
    def limited(self) -> bool:
        """Whether some clients or queries may get no duel while others do."""
        return self.share < 1 or self.daily_cap is not None or self.in_flight_cap is not None


def new_settings(
    rankers: Iterable[str],
    *,
    bandit: str | None = None,
    delta: float | None = None,
    tolerance: float | None = None,
    interleaving: str = DEFAULT_INTERLEAVING,
    expires_after: float = DAY,
    seed: int | None = None,
    **dials: Any,
) -> Settings:
    """Validate the settings of a new tournament. Without a baseline, it is the first ranker."""
    names = tuple(check_name("a ranker", ranker) for ranker in as_list("rankers", rankers))
    check_new(names, ())
    if len(names) < MIN_RANKERS:
        raise ValueError(f"a tournament needs at least {MIN_RANKERS} rankers, got {', '.join(names) or 'none'}")
    if isinstance(expires_after, bool) or not isinstance(expires_after, int | float) or not 0 < expires_after < 1e9:
        raise ValueError(f"expires_after must be a number of seconds above 0 and below 1e9, got {brief(expires_after)}")
    checked = checked_dials(dials)
    checked["baseline"] = baseline = checked.get("baseline") or names[0]
    check_baseline(baseline, names, external=checked.get("external_baseline", False))
    spec = _spec(bandit, delta, tolerance)
    new_bandit = bandit_from(spec, len(names), seed=seed)
    settings = Settings(
        rankers=names,
        bandit=_full(spec, new_bandit),
        seed=new_bandit.seed,
        interleaving=repr(interleaving_from(interleaving)),
        expires_after=float(expires_after),
        salt=secrets.token_hex(16),
        **checked,
    )
    check_window(settings.attribution, settings.expires_after)
    return settings


def _spec(bandit: str | None, delta: float | None, tolerance: float | None) -> str:
    """Return the spec of the bandit: the given one, or the default with its options."""
    options = {"delta": delta, "tolerance": tolerance}
    given = ", ".join(f"{name}={value!r}" for name, value in options.items() if value is not None)
    if bandit is None:
        return f"{DEFAULT}({given})"
    if given:
        raise ValueError(f"delta and tolerance apply to the default bandit only; set them in the spec {bandit!r}")
    return bandit


def _full(spec: str, bandit: Bandit) -> str:
    """Return the spec of a bandit with all parameters, so that new defaults in later versions change nothing."""
    own, colon, _ = spec.partition("(")[0].rpartition(":")
    options = ", ".join(f"{name}={value!r}" for name, value in bandit.parameters.items())
    return f"{own}{colon}{type(bandit).__name__}({options})"


def checked_dials(given: Mapping[str, Any]) -> dict[str, Any]:
    """Validate settings that can be changed while a tournament runs."""
    for name in given:
        if name not in DIALS:
            raise TypeError(f"unknown setting {name!r}; settings that can be changed: {', '.join(DIALS)}")
    checked = dict(given)
    if given.get("baseline") is not None:
        check_name("baseline", given["baseline"])
    if "share" in given and number("share", given["share"]) > 1:
        raise ValueError(f"share must be a number from 0 to 1, got {given['share']!r}")
    for switch in ("shadow", "external_baseline"):
        if not isinstance(given.get(switch, False), bool):
            raise ValueError(f"{switch} must be True or False, got {brief(given[switch])}")
    if given.get("after_decision", DEFAULTS["after_decision"]) not in AFTER_DECISION:
        expected = ", ".join(AFTER_DECISION)
        raise ValueError(f"after_decision must be one of {expected}, got {brief(given['after_decision'])}")
    for cap in ("daily_cap", "in_flight_cap"):
        if given.get(cap) is not None:
            checked[cap] = whole(cap, given[cap])
    if "guardrails" in given:
        rails = as_list("guardrails", given["guardrails"])
        if len(rails) > MAX_GUARDRAILS:
            raise ValueError(f"a tournament can have at most {MAX_GUARDRAILS} guardrails, got {len(rails):,}")
        checked["guardrails"] = [_guardrail(rail) for rail in rails]
    if given.get("attribution") is not None:
        checked["attribution"] = _attribution(given["attribution"])
    return checked


def _attribution(given: Any) -> dict[str, Any]:
    rules = (given if isinstance(given, Attribution) else Attribution.from_dict(given)).to_dict()
    if (n_actions := len(rules["actions"])) > MAX_ACTIONS:
        raise ValueError(f"an attribution can have at most {MAX_ACTIONS} actions, got {n_actions:,}")
    return rules


def _guardrail(given: Any) -> dict[str, Any]:
    rail = given if isinstance(given, Guardrail) else Guardrail.from_dict(given)
    if rail.window > MAX_WINDOW_SECONDS:
        raise ValueError(f"the window of a guardrail must be at most {MAX_WINDOW_SECONDS:g} s, got {rail.window:g}")
    return rail.to_dict()


def check_baseline(baseline: str, rankers: Sequence[str], *, external: bool) -> None:
    """Raise ValueError if a baseline is no ranker, unless it is external.

    >>> check_baseline("bm52", ["bm25", "ltr"], external=False)
    Traceback (most recent call last):
    ValueError: the baseline 'bm52' is not a ranker of the tournament; rankers: bm25, ltr; if your application shows
    another baseline, set external_baseline
    """
    if not external and baseline not in rankers:
        known = f"rankers: {some_of(rankers)}; if your application shows another baseline, set external_baseline"
        raise ValueError(f"the baseline {baseline!r} is not a ranker of the tournament; {known}")


def check_rollout_share(share: float) -> float:
    """Check the share of a roll-out, which is above 0, and return it as a float."""
    if not 0 < number("share", share) <= 1:
        raise ValueError(f"share must be a number above 0 and at most 1, got {share!r}; to show nobody, roll back")
    return float(share)


def check_window(attribution: dict[str, Any] | None, expires_after: float) -> None:
    """Raise ValueError unless the attribution window closes before a duel expires."""
    window = (attribution or {}).get("window", 0.0)
    if window >= expires_after:
        raise ValueError(f"the attribution window must be below expires_after ({expires_after:g} s), got {window:g} s")


def check_same(name: str, stored: Settings, given: Settings, *, seeded: bool) -> None:
    """Raise TournamentExists unless an existing tournament has the given settings.

    The salt is always random, and so is the seed unless the caller gave one (`seeded`). They are not compared then.
    Old tournaments without a baseline agree with the default baseline.
    """
    if stored.baseline is None and given.baseline == given.rankers[0]:
        given = replace(given, baseline=None)
    ignored = {"salt"} if seeded else {"salt", "seed"}
    for setting, value in vars(given).items():
        if setting not in ignored and vars(stored)[setting] != value:
            has = f"{setting}={vars(stored)[setting]!r}, not {value!r}"
            raise TournamentExists(f"tournament {name!r} already exists with {has}; open it, or choose another name")


def check_new(names: Sequence[str], known: Iterable[str]) -> None:
    """Raise ValueError if a new ranker is a duplicate, or if there are too many rankers."""
    seen = set(known)
    if len(names) + len(seen) > MAX_RANKERS:
        got = f"it has {len(seen):,}, got {len(names):,} more" if seen else f"got {len(names):,}"
        raise ValueError(f"a tournament can have at most {MAX_RANKERS:,} rankers; {got}")
    for name in names:
        if name in seen:
            raise ValueError(f"duplicate ranker {name!r}; names must be unique in a tournament")
        seen.add(name)
