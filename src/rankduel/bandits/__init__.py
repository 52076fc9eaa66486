"""Dueling bandits, one file per paper.

- Two arms per duel: `certified_sparring`, `merge_dts`, `merge_rucb`, `dts`, `rmed1`, `self_sparring`, `rex3`, `rucb`,
  `sparring`, `uniform`.
- Many arms per duel: `multi_ucb`, `mdb`, `multi_self_sparring`, `certified_multi`.
- Base classes: `base` and `multi_bandit`, on top of `stateful` (state and snapshots, checked by `snapshot_checks`).
- Shared code: `families` (base classes of related bandits) and `kernels` (compiled parts).
- `elimination`: rules that eliminate arms. `parameters`: validation. `plugins`: bandits of other packages. `drift`: the
  alarm after a decision.

To add a bandit, write its file, register it here and name the paper in its docstring.
"""

from collections.abc import Callable, Mapping
from typing import TypeVar

from rankduel.bandits.base import Bandit
from rankduel.bandits.certified_multi import CertifiedMulti
from rankduel.bandits.certified_sparring import CertifiedSparring
from rankduel.bandits.drift import DriftAlarm
from rankduel.bandits.dts import DTS
from rankduel.bandits.elimination import Certified, Confidence, Decision, Elimination, Hoeffding
from rankduel.bandits.mdb import MDB
from rankduel.bandits.merge_dts import MergeDTS
from rankduel.bandits.merge_rucb import MergeRUCB
from rankduel.bandits.multi_bandit import MultiBandit
from rankduel.bandits.multi_self_sparring import MultiSelfSparring
from rankduel.bandits.multi_ucb import MultiUCB
from rankduel.bandits.plugins import code_of, own_class, plays_in_python, split, stored_class
from rankduel.bandits.rex3 import REX3
from rankduel.bandits.rmed1 import RMED1
from rankduel.bandits.rucb import RUCB
from rankduel.bandits.self_sparring import SelfSparring
from rankduel.bandits.sparring import SparringEXP3, SparringThompson, SparringTsallisINF, SparringUCB1
from rankduel.bandits.uniform import Uniform
from rankduel.spec import parse

Made = TypeVar("Made", bound=Bandit | MultiBandit)

REGISTRY: dict[str, type[Bandit]] = {
    "CertifiedSparring": CertifiedSparring,
    "MergeDTS": MergeDTS,
    "MergeRUCB": MergeRUCB,
    "DTS": DTS,
    "RMED1": RMED1,
    "SelfSparring": SelfSparring,
    "REX3": REX3,
    "RUCB": RUCB,
    "SparringUCB1": SparringUCB1,
    "SparringThompson": SparringThompson,
    "SparringEXP3": SparringEXP3,
    "SparringTsallisINF": SparringTsallisINF,
    "Uniform": Uniform,
}
MULTI_REGISTRY: dict[str, type[MultiBandit]] = {
    "MultiUCB": MultiUCB,
    "MDB": MDB,
    "MultiSelfSparring": MultiSelfSparring,
    "CertifiedMulti": CertifiedMulti,
}


def bandit_from(spec: str, n_arms: int, *, seed: int | None = None) -> Bandit:
    """Make a bandit from a spec: a name in the registry, or your own class as "my_module:MyBandit(option=value)".

    >>> bandit_from("MergeRUCB(alpha=0.26, batch_size=4)", 20, seed=1)
    MergeRUCB(20, alpha=0.26, batch_size=4, c=400000.0, seed=1)
    """
    return _create(REGISTRY, spec, n_arms, seed)


def stored_bandit(spec: str, n_arms: int, *, seed: int) -> Bandit:
    """Make the bandit that a storage names. Import your own class before, or list it in `RANKDUEL_BANDITS`."""
    return _create(REGISTRY, spec, n_arms, seed, stored_class)


def any_bandit_from(spec: str, n_arms: int, *, seed: int | None = None) -> Bandit | MultiBandit:
    """Make a bandit from a spec, as `bandit_from` does. Names in `MULTI_REGISTRY` are accepted as well.

    >>> any_bandit_from("MultiUCB(rule='released')", 20, seed=1)
    MultiUCB(20, alpha=0.51, rule='released', seed=1)
    """
    registry: dict[str, type[Bandit | MultiBandit]] = {**REGISTRY, **MULTI_REGISTRY}
    return _create(registry, spec, n_arms, seed)


def _create(
    registry: Mapping[str, Callable[..., Made]],
    spec: str,
    n_arms: int,
    seed: int | None,
    find: Callable[[str, str], type[Bandit]] = own_class,
) -> Made | Bandit:
    module, rest = split(spec)
    name, options = parse(rest)
    if module is not None:
        return _create_plugin(f"{module}:{name}", find(module, name), options, n_arms, seed)
    if name not in registry:
        raise ValueError(f"unknown bandit {name!r}, expected one of {', '.join(registry)}, or your own as module:Class")
    known = registry[name](1, seed=0).parameters
    for option in options:
        if option not in known:
            raise ValueError(f"{name} has no option {option!r}; its options: {', '.join(known) or 'none'}")
    return registry[name](n_arms, seed=seed, **options)


def _create_plugin(
    address: str, own: type[Bandit], options: dict[str, object], n_arms: int, seed: int | None
) -> Bandit:
    try:
        made = own(n_arms, seed=seed, **options)
    except ValueError:
        raise
    except Exception as error:  # a constructor may raise anything, for example a TypeError for an unknown option
        raise ValueError(f"cannot make {address} with {n_arms} arms: {type(error).__name__}: {error}") from error
    for option in options:
        if option not in made.parameters:
            raise ValueError(
                f"{address} does not report its option {option!r}; call "
                f"super().__init__(n_arms, seed=seed, {option}={option}) in its __init__"
            )
    return made


__all__ = [
    "DTS",
    "MDB",
    "MULTI_REGISTRY",
    "REGISTRY",
    "REX3",
    "RMED1",
    "RUCB",
    "Bandit",
    "Certified",
    "CertifiedMulti",
    "CertifiedSparring",
    "Confidence",
    "Decision",
    "DriftAlarm",
    "Elimination",
    "Hoeffding",
    "MergeDTS",
    "MergeRUCB",
    "MultiBandit",
    "MultiSelfSparring",
    "MultiUCB",
    "SelfSparring",
    "SparringEXP3",
    "SparringThompson",
    "SparringTsallisINF",
    "SparringUCB1",
    "Uniform",
    "any_bandit_from",
    "bandit_from",
    "code_of",
    "plays_in_python",
    "split",
    "stored_bandit",
]
