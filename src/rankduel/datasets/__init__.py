"""Collections of queries, graded documents and rankers: load LETOR and TREC files, or generate one."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from rankduel.datasets.collection import Collection
from rankduel.datasets.synthetic import synthetic

if TYPE_CHECKING:
    from rankduel.datasets.letor import load_letor
    from rankduel.datasets.trec import load_trec

__all__ = ["Collection", "load_letor", "load_trec", "synthetic"]

_LAZY = {"load_letor": "rankduel.datasets.letor", "load_trec": "rankduel.datasets.trec"}


def __getattr__(name: str) -> Any:
    """Import the loaders of files on first use, so that `import rankduel` stays fast."""
    if name not in _LAZY:
        raise AttributeError(f"module 'rankduel.datasets' has no attribute {name!r}")
    return getattr(import_module(_LAZY[name]), name)
