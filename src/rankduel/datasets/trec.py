"""`load_trec`: read TREC runs as rankers, and the grades of documents from qrels."""

import math
from collections.abc import Sequence
from os import PathLike
from pathlib import Path

import numpy as np

from rankduel.datasets.collection import MAX_GRADE, Collection
from rankduel.datasets.files import words
from rankduel.errors import DatasetError
from rankduel.rankings import GrowingTables

__all__ = ["load_trec"]

Scores = dict[str, dict[str, float]]  # query, document


def load_trec(runs: Sequence[str | PathLike[str]], qrels: str | PathLike[str], *, depth: int = 1000) -> Collection:
    r"""Read runs, with lines `qid Q0 docno rank score tag`, and qrels, with lines `qid 0 docno grade`.

    Files may be gzipped. Documents are ordered by score, highest first. The rank in the file is ignored. Equal scores
    tie. If an order is needed, it is the order of trec_eval: the greater docno comes first. This order also applies to
    `depth`, and it is the file order of the collection.

    The documents of a query are all documents that any run has down to `depth`. Documents that a run did not retrieve
    are tied below all documents that it did. Unjudged documents, and documents with a negative judgement, have grade 0.
    Queries are in the order of the runs. Queries without any retrieved documents, and judged documents that no run
    retrieved, are left out.

    Rankers are named after the tags of the runs, or after the files if tags repeat.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     bm25, boolean, qrels = (Path(folder) / name for name in ("bm25.run", "boolean.run", "qrels"))
    ...     _ = bm25.write_text("q1 Q0 a 1 9.5 BM25\nq1 Q0 b 2 7.25 BM25\n")
    ...     _ = boolean.write_text("q1 Q0 b 1 1 boolean\nq1 Q0 c 2 1 boolean\n")
    ...     _ = qrels.write_text("q1 0 a 0\nq1 0 b 2\n")
    ...     collection = load_trec([bm25, boolean], qrels)
    >>> collection
    <Collection: 1 query, 3 documents, 2 rankers, grades 0 to 2>
    >>> [collection.ranking(0, ranker).tolist() for ranker in range(2)]  # the documents are c, b, a
    [[2, 1, 0], [0, 1, 2]]
    """
    if depth < 1:
        raise ValueError(f"depth must be at least 1, got {depth}")
    files = [Path(path) for path in runs]
    if not files:
        raise ValueError("runs must name at least one file, got an empty list")
    tags, retrieved = zip(*(_run(file, depth) for file in files), strict=True)
    judged = _judgements(Path(qrels))
    queries = list(dict.fromkeys(query for scores in retrieved for query in scores))
    grades, tables = [], GrowingTables()
    for query in queries:
        documents = sorted({docno for scores in retrieved for docno in scores.get(query, ())}, reverse=True)
        table = [[scores.get(query, {}).get(docno, -math.inf) for scores in retrieved] for docno in documents]
        tables.add(np.array(table), np.array([0, len(documents)]))
        grades += [judged.get(query, {}).get(docno, 0) for docno in documents]
    offsets, order, start = tables.finished()
    return Collection(tuple(queries), offsets, np.array(grades, np.uint8), _names(files, tags), order, start)


def _names(files: Sequence[Path], tags: Sequence[str]) -> tuple[str, ...]:
    for names in (tags, [file.name for file in files]):
        if len(set(names)) == len(names):
            return tuple(names)
    return tuple(map(str, files))


def _run(path: Path, depth: int) -> tuple[str, Scores]:
    """Read the tag of the first line, and the scores of the best `depth` documents of each query."""
    tag, run = "", Scores()
    for line, found in words(path):
        if len(found) != 6:
            raise DatasetError(f"{path}:{line}: expected qid Q0 docno rank score tag, got {len(found)} words")
        query, _, docno, _, text, tagged = found
        try:
            score = float(text)
        except ValueError:
            score = math.nan
        if not math.isfinite(score):
            raise DatasetError(f"{path}:{line}: expected a finite score, got {text!r}")
        scores = run.setdefault(query, {})
        if docno in scores:
            raise DatasetError(f"{path}:{line}: document {docno!r} is listed twice for query {query!r}")
        scores[docno] = score
        tag = tag or tagged
    if not run:
        raise DatasetError(f"{path}: the run is empty; expected lines of qid Q0 docno rank score tag")
    for query, scores in run.items():
        if len(scores) > depth:
            best = sorted(scores, key=lambda docno: (scores[docno], docno), reverse=True)[:depth]
            run[query] = {docno: scores[docno] for docno in best}
    return tag, run


def _judgements(path: Path) -> dict[str, dict[str, int]]:
    judged: dict[str, dict[str, int]] = {}
    for line, found in words(path):
        if len(found) != 4:
            raise DatasetError(f"{path}:{line}: expected qid 0 docno grade, got {len(found)} words")
        query, _, docno, text = found
        try:
            grade = int(text)
        except ValueError:
            grade = MAX_GRADE + 1
        if grade > MAX_GRADE:
            raise DatasetError(f"{path}:{line}: expected a whole grade up to {MAX_GRADE}, got {text!r}")
        if docno in judged.setdefault(query, {}):
            raise DatasetError(f"{path}:{line}: document {docno!r} is judged twice for query {query!r}")
        judged[query][docno] = max(0, grade)
    if not judged:
        raise DatasetError(f"{path}: no judgements; expected lines of qid 0 docno grade")
    return judged
