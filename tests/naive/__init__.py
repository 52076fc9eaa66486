"""Slow literal twins of the bandits, by public class name: the oracles of the compiled kernels."""

from .base import Naive, play
from .certified_sparring import CertifiedSparring
from .dts import DTS
from .merge_dts import MergeDTS
from .merge_rucb import MergeRUCB
from .rex3 import REX3
from .rmed1 import RMED1
from .rucb import RUCB
from .self_sparring import SelfSparring
from .sparring import SparringEXP3, SparringThompson, SparringTsallisINF, SparringUCB1
from .uniform import Uniform

NAIVE: dict[str, type[Naive]] = {
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

__all__ = [
    "NAIVE",
    "Naive",
    "play",
    "CertifiedSparring",
    "DTS",
    "MergeDTS",
    "MergeRUCB",
    "REX3",
    "RMED1",
    "RUCB",
    "SelfSparring",
    "SparringEXP3",
    "SparringThompson",
    "SparringTsallisINF",
    "SparringUCB1",
    "Uniform",
]
