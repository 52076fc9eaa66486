"""Collections of queries, graded documents and rankers: load LETOR and TREC files, or generate one."""

from rankduel.datasets.collection import Collection
from rankduel.datasets.letor import load_letor
from rankduel.datasets.synthetic import synthetic
from rankduel.datasets.trec import load_trec

__all__ = ["Collection", "load_letor", "load_trec", "synthetic"]
