"""Collections of queries, documents and rankers: the only room that reads corpora."""

from rankduel.datasets.collection import Collection
from rankduel.datasets.letor import load_letor
from rankduel.datasets.synthetic import synthetic
from rankduel.datasets.trec import load_trec

__all__ = ["Collection", "load_letor", "load_trec", "synthetic"]
