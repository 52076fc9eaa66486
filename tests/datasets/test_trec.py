import gzip
import re
from pathlib import Path

import pytest

from rankduel.datasets import load_trec
from rankduel.errors import DatasetError

QRELS = "q1 0 a 0\nq1 0 b 2\nq1 0 c -2\nq1 0 never 3\nq3 0 a 1\n"


def write(folder: Path, **files: str) -> list[Path]:
    paths = []
    for name, text in files.items():
        paths.append(folder / f"{name}.txt")
        paths[-1].write_text(text)
    return paths


def lines(tag: str, *found: tuple[str, str, float]) -> str:
    """A run; the ranks in it are wrong on purpose: only scores count."""
    return "".join(f"{query} Q0 {docno} 7 {score} {tag}\n" for query, docno, score in found)


def test_union_ties_and_what_was_not_retrieved(tmp_path: Path) -> None:
    one = lines("one", ("q1", "a", 1), ("q1", "b", 3), ("q1", "d", 3))
    two = lines("two", ("q1", "c", -5.5), ("q2", "x", 0))
    *runs, qrels = write(tmp_path, one=one, two=two, qrels=QRELS)
    collection = load_trec(runs, qrels)
    assert collection.rankers == ("one", "two")
    assert collection.queries == ("q1", "q2")  # nothing was retrieved for q3
    assert collection.grades_of(0).tolist() == [0, 0, 2, 0]  # d, c, b, a: unjudged, negative, 2, 0
    assert collection.ranking(0, 0).tolist() == [0, 2, 3, 1]  # d and b tie, the greater docno first; c last
    assert collection.starts(0, 0).tolist() == [0, 3, 0, 2]
    assert collection.ranking(0, 1).tolist() == [1, 0, 2, 3]
    assert collection.starts(0, 1).tolist() == [1, 0, 1, 1]  # all below c, tied
    assert collection.ranking(1, 0).tolist() == [0]
    assert collection.grades_of(1).tolist() == [0]


def test_depth_cuts_as_trec_eval_would(tmp_path: Path) -> None:
    one = lines("one", ("q", "a", 1), ("q", "b", 1), ("q", "c", 1), ("q", "d", 2))
    two = lines("two", ("q", "e", 1))
    *runs, qrels = write(tmp_path, one=one, two=two, qrels=QRELS)
    collection = load_trec(runs, qrels, depth=2)
    assert collection.n_documents == 3  # e, d, c
    assert collection.ranking(0, 0).tolist() == [1, 2, 0]


def test_names(tmp_path: Path) -> None:
    run = lines("same", ("q", "a", 1))
    one, two, qrels = write(tmp_path, one=run, two=run, qrels=QRELS)
    assert load_trec([one, two], qrels).rankers == ("one.txt", "two.txt")
    (tmp_path / "sub").mkdir()
    third = tmp_path / "sub" / "one.txt"
    third.write_text(run)
    assert load_trec([one, third], qrels).rankers == (str(one), str(third))


def test_gzip_blank_lines_and_windows(tmp_path: Path) -> None:
    run, qrels = write(tmp_path, run="", qrels=QRELS.replace("\n", "\r\n\r\n").replace(" ", "\t"))
    run.write_bytes(gzip.compress(lines("t", ("q1", "b", 1), ("q1", "a", 2)).encode()))
    collection = load_trec([run], qrels)
    assert collection.grades.tolist() == [2, 0]
    assert collection.ranking(0, 0).tolist() == [1, 0]


@pytest.mark.parametrize(
    ("run", "qrels", "message"),
    [
        ("q1 Q0 a 1 2\n", QRELS, "run.txt:1: expected qid Q0 docno rank score tag, got 5 words"),
        ("\nq1 Q0 a 1 high t\n", QRELS, "run.txt:2: expected a finite score, got 'high'"),
        ("q1 Q0 a 1 nan t\n", QRELS, "run.txt:1: expected a finite score, got 'nan'"),
        ("q1 Q0 a 1 -inf t\n", QRELS, "run.txt:1: expected a finite score, got '-inf'"),
        ("q1 Q0 a 1 1 t\nq1 Q0 a 2 0 t\n", QRELS, "run.txt:2: document 'a' is listed twice for query 'q1'"),
        ("\n", QRELS, "run.txt: the run is empty"),
        ("q1 Q0 a 1 1 t\n", "q1 0 a\n", "qrels.txt:1: expected qid 0 docno grade, got 3 words"),
        ("q1 Q0 a 1 1 t\n", "q1 0 a 1.5\n", "qrels.txt:1: expected a whole grade up to 30, got '1.5'"),
        ("q1 Q0 a 1 1 t\n", "q1 0 a 31\n", "qrels.txt:1: expected a whole grade up to 30, got '31'"),
        ("q1 Q0 a 1 1 t\n", "q1 0 a 1\nq1 0 a 1\n", "qrels.txt:2: document 'a' is judged twice for query 'q1'"),
        ("q1 Q0 a 1 1 t\n", "", "qrels.txt: no judgements; expected lines of qid 0 docno grade"),
    ],
)
def test_the_place_of_a_fault_is_named(tmp_path: Path, run: str, qrels: str, message: str) -> None:
    path, judged = write(tmp_path, run=run, qrels=qrels)
    with pytest.raises(DatasetError, match=re.escape(f"{tmp_path}/{message}")):
        load_trec([path], judged)


def test_what_else_cannot_be(tmp_path: Path) -> None:
    run, qrels = write(tmp_path, run=lines("t", ("q", "a", 1)), qrels=QRELS)
    with pytest.raises(ValueError, match="runs must name at least one file, got an empty list"):
        load_trec([], qrels)
    with pytest.raises(ValueError, match="depth must be at least 1, got 0"):
        load_trec([run], qrels, depth=0)
    with pytest.raises(FileNotFoundError, match="nowhere"):
        load_trec([run], tmp_path / "nowhere")
