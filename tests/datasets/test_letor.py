"""LETOR text as people have it, and what is wrong with it."""

import gzip
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from naive import letor as naive
from naive.rankings import ranked
from rankduel.datasets import Collection, load_letor
from rankduel.datasets.letor_text import LetorText
from rankduel.errors import DatasetError

TEXT = "2 qid:7 1:0.5 2:1 3:-1\n0 qid:7 1:0.5 2:3\n1 qid:8 1:1e3 3:2\n1 qid:8 2:7\n0 qid:8\n"


def load(folder: Path, text: str | bytes) -> Collection:
    file = folder / "data.txt"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return load_letor(file, cache=False)


def compare(collection: Collection, queries: list[naive.Query]) -> None:
    assert collection.queries == tuple(query.name for query in queries)
    features = max(feature for query in queries for known in query.features for feature in known)
    assert collection.rankers == tuple(f"feature {number + 1}" for number in range(features))
    for number, query in enumerate(queries):
        assert collection.grades_of(number).tolist() == query.grades
        for ranker in range(features):
            order, start = ranked(query.scores(ranker + 1))
            assert collection.ranking(number, ranker).tolist() == order
            assert collection.starts(number, ranker).tolist() == start


def test_plain(tmp_path: Path) -> None:
    collection = load(tmp_path, TEXT)
    assert repr(collection) == "<Collection: 2 queries, 5 documents, 3 rankers, grades 0 to 2>"
    compare(collection, naive.read(TEXT))


@pytest.mark.parametrize(
    "text",
    [
        TEXT.removesuffix("\n"),
        TEXT.replace("\n", "\r\n"),
        TEXT.replace(" ", "\t"),
        TEXT.replace(" ", " \t  "),
        TEXT.replace("\n", " \n"),
        TEXT.replace("\n", " # docid = GX001 7:9 qid:3\n"),
        TEXT.replace("\n", "#\n"),
        "# a heading\n\n  \n" + TEXT.replace("\n", "\n   # and more\n\n"),
        "\ufeff" + TEXT,
        TEXT.replace("2 qid", "2.0 qid").replace("\n0 qid", "\n+0e0 qid"),
        TEXT.replace("0.5", "5e-1").replace(":1 ", ":+1.000 "),
        TEXT.replace("1:0.5 2:1 3:-1", "3:-1 1:0.5 2:1"),
        TEXT.replace("2:3", "2:3 3:-0"),
        TEXT.replace("1:0.5", "0001:0.5"),
    ],
)
def test_the_same_in_other_words(tmp_path: Path, text: str) -> None:
    assert load(tmp_path, text) == load(tmp_path, TEXT)


def test_gzip_is_told_by_content(tmp_path: Path) -> None:
    assert load(tmp_path, gzip.compress(TEXT.encode())) == load(tmp_path, TEXT)
    two = gzip.compress(TEXT[:30].encode()) + gzip.compress(TEXT[30:].encode())
    assert load(tmp_path, two) == load(tmp_path, TEXT)
    (tmp_path / "plain.gz").write_text(TEXT)
    assert load_letor(tmp_path / "plain.gz", cache=False) == load(tmp_path, TEXT)


LINE = st.tuples(
    st.integers(0, 4), st.dictionaries(st.integers(1, 400), st.sampled_from([0.0, 0.5, -2.0, 1e-9, 12.25]), max_size=5)
)


@pytest.mark.slow
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(LINE, min_size=1, max_size=6), min_size=1, max_size=8), st.integers(1, 60))
def test_against_the_twin_in_any_portions(queries: list[list[tuple[int, dict[int, float]]]], step: int) -> None:
    text = "1 qid:first 1:1\n" + "".join(
        f"{grade} qid:q{name} {' '.join(f'{feature}:{value!r}' for feature, value in known.items())}\n"
        for name, lines in enumerate(queries)
        for grade, known in lines
    )
    expected = naive.read(text)
    reader, lines = LetorText(), text.encode().splitlines(keepends=True)
    reader.open("x")
    found: list[naive.Query] = []
    for begin in range(0, len(lines), step):
        reader.feed(b"".join(lines[begin : begin + step]))
        if begin + step >= len(lines):
            reader.close()
        scores, offsets, grades, names, _ = reader.take()
        for name, low, high in zip(names, offsets, offsets[1:], strict=False):
            features = [{i + 1: value for i, value in enumerate(row) if value} for row in scores[low:high].tolist()]
            found.append(naive.Query(name, grades[low:high].tolist(), features))
    for query in expected:
        query.features = [{i: value for i, value in known.items() if value} for known in query.features]
    assert found == expected


@pytest.mark.slow
def test_portions_and_growing_features(tmp_path: Path) -> None:
    # Several megabytes, so that queries are ranked portion by portion, with a feature that first shows up at the end.
    draw = np.random.default_rng(1)
    lines = []
    for query in range(900):
        for _ in range(int(draw.integers(1, 30))):
            features = " ".join(f"{feature}:{draw.integers(9)}" for feature in draw.permutation(60)[:40] + 1)
            lines.append(f"{draw.integers(5)} qid:{query} {features}\n")
    lines.append("4 qid:last 300:1.5\n4 qid:last 300:2.5\n")
    text = "".join(lines)
    assert len(text) > 2 << 20
    collection = load(tmp_path, text)
    queries = naive.read(text)
    assert collection.n_rankers == 300
    for number in [0, 1, 450, 899, 900]:
        for feature in [1, 17, 60, 61, 300]:
            order, start = ranked(queries[number].scores(feature))
            assert collection.ranking(number, feature - 1).tolist() == order
            assert collection.starts(number, feature - 1).tolist() == start


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x qid:1 1:1", ":1: expected a whole grade from 0 to 30, got 'x'"),
        ("1 qid:1 1:1\n\n0.5 qid:1 1:1", ":3: expected a whole grade from 0 to 30, got '0.5'"),
        ("-1 qid:1 1:1", ":1: expected a whole grade from 0 to 30, got '-1'"),
        ("31 qid:1 1:1", ":1: expected a whole grade from 0 to 30, got '31'"),
        ("nan qid:1 1:1", ":1: expected a whole grade from 0 to 30, got 'nan'"),
        ("1e999 qid:1 1:1", ":1: expected a whole grade from 0 to 30, got '1e999'"),
        ("1qid:1 1:1", ":1: expected a whole grade from 0 to 30, got '1qid:1'"),
        ("1", ":1: expected qid: and the query's name, got the end of the line"),
        ("1 # qid:1", ":1: expected qid: and the query's name, got the end of the line"),
        ("1 1:1 2:3", ":1: expected qid: and the query's name, got '1:1'"),
        ("1 qid: 1:1", ":1: expected qid: and the query's name, got 'qid:'"),
        ("1 qi", ":1: expected qid: and the query's name, got 'qi'"),
        ("1 qid:1 0:1", ":1: expected feature:value, with a feature from 1 to 65535, got '0:1'"),
        ("1 qid:1 65536:1", ":1: expected feature:value, with a feature from 1 to 65535, got '65536:1'"),
        ("1 qid:1 99999999999999999999:1", "from 1 to 65535, got '99999999999999999999:1'"),
        ("1 qid:1 -1:1", "from 1 to 65535, got '-1:1'"),
        ("1 qid:1 1:1 2", "from 1 to 65535, got '2'"),
        ("1 qid:1 1:1 2 :5", "from 1 to 65535, got '2'"),
        ("1 qid:1 1:1 sid:5", "from 1 to 65535, got 'sid:5'"),
        ("1 qid:1 1:1 qid:1", "from 1 to 65535, got 'qid:1'"),
        ("1 qid:1 1:1\n1 qid:1 1:1 2:NULL", ":2: expected a number for feature 2, got 'NULL'"),
        ("1 qid:1 1:", ":1: expected a number for feature 1, got the end of the line"),
        ("1 qid:1 1: 5", ":1: expected a number for feature 1, got '5'"),
        ("1 qid:1 1:1,5", ":1: expected a number for feature 1, got '1,5'"),
        ("1 qid:1 1:1\x00 2:1", ":1: expected a number for feature 1, got '1\\x00'"),
        ("1 qid:1 1:1 7:nan", ":1: expected a number for feature 7 that can be ranked, got 'nan'"),
        ("1 qid:1 3:1 1:1 3:1", ":1: expected feature 3 only once in a line, got '3:1'"),
        ("1 qid:a 1:1\n1 qid:b 1:1\n\n1 qid:a 1:2", ":4: query 'a' already began at line 1; the lines of a query"),
        ("", ": no queries; expected lines of grade qid:Q"),
        ("\n# nothing\n\n", ": no queries; expected lines of grade qid:Q"),
        ("1 qid:1\n0 qid:2\n", ": no features; expected lines of grade qid:Q"),
        ("PK\x03\x04", ":1: expected a whole grade from 0 to 30, got 'PK\\x03\\x04'"),
        (b"1 qid:1 1:\xff\xfe", ":1: expected a number for feature 1, got '\\\\xff\\\\xfe'"),
    ],
)
def test_the_place_of_a_fault_is_named(tmp_path: Path, text: str | bytes, message: str) -> None:
    with pytest.raises(DatasetError, match=re.escape(str(tmp_path / "data.txt")) + ".*" + re.escape(message)):
        load(tmp_path, text)


@pytest.mark.slow
def test_a_fault_far_down_has_its_line(tmp_path: Path) -> None:
    lines = [f"1 qid:{number // 10} 1:{number} 2:0.5\n" for number in range(200_000)]
    lines[150_000] = "1 qid:15000 1:oops\n"
    with pytest.raises(DatasetError, match=r"data\.txt:150001: expected a number for feature 1, got 'oops'"):
        load(tmp_path, "".join(lines))
    lines[150_000] = "1 qid:3 1:1\n"
    with pytest.raises(DatasetError, match=r"data\.txt:150001: query '3' already began at line 31"):
        load(tmp_path, "".join(lines))


@pytest.mark.parametrize("cut", [3, 12, -1, -9])
def test_a_truncated_gzip_is_named(tmp_path: Path, cut: int) -> None:
    with pytest.raises(DatasetError, match=r"data\.txt: truncated or damaged gzip file"):
        load(tmp_path, gzip.compress(TEXT.encode() * 50)[:cut])


def test_a_damaged_gzip_is_named(tmp_path: Path) -> None:
    packed = bytearray(gzip.compress(TEXT.encode()))
    packed[20] ^= 0xFF
    with pytest.raises(DatasetError, match=r"data\.txt: truncated or damaged gzip file|data\.txt:\d+: expected"):
        load(tmp_path, bytes(packed))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    for cache in (False, tmp_path / "cache"):
        with pytest.raises(FileNotFoundError, match=re.escape(str(tmp_path / "nowhere"))):
            load_letor(tmp_path / "nowhere", cache=cache)
    with pytest.raises(ValueError, match="path must name at least one file or folder, got an empty list"):
        load_letor([], cache=False)


# Folders


@pytest.mark.parametrize(
    ("names", "part", "expected"),
    [
        (["train.txt", "vali.txt", "test.txt"], "train", ["train.txt"]),
        (["train.txt", "vali.txt", "test.txt"], "all", ["train.txt", "vali.txt", "test.txt"]),
        (["train.txt", "test.txt"], "all", ["train.txt", "test.txt"]),
        (["train.txt.gz", "valid.txt", "README"], "vali", ["valid.txt"]),
        (["set1.train.txt", "set1.valid.txt", "set1.test.txt"], "train", ["set1.train.txt"]),
        (["set1.train.txt", "set1.valid.txt", "set1.test.txt"], "vali", ["set1.valid.txt"]),
        (["set1.train.txt", "set2.train.txt"], "set2.train", ["set2.train.txt"]),
        (["trainingset.txt", "validationset.txt", "testset.txt"], "test", ["testset.txt"]),
        (["S1.txt", "S2.txt"], "S2", ["S2.txt"]),
    ],
)
def test_the_parts_of_a_folder(tmp_path: Path, names: list[str], part: str, expected: list[str]) -> None:
    for name in names:
        (tmp_path / name).write_text(f"1 qid:{name} 1:1\n")
    assert load_letor(tmp_path, part=part, cache=False).queries == tuple(expected)


def test_folders_that_leave_it_open(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="no file for part 'train'; files: none"):
        load_letor(tmp_path)
    (tmp_path / "Fold1").mkdir()
    with pytest.raises(DatasetError, match="no file for part 'train'; files: Fold1"):
        load_letor(tmp_path)
    for name in ("set1.train.txt", "set2.train.txt"):
        (tmp_path / name).write_text(TEXT)
    with pytest.raises(DatasetError, match=r"part 'train' matches set1\.train\.txt, set2\.train\.txt; pass one"):
        load_letor(tmp_path)


def test_a_query_of_another_file_is_another_query(tmp_path: Path) -> None:
    for name in ("train.txt", "vali.txt"):
        (tmp_path / name).write_text("1 qid:1 1:1\n0 qid:1 1:2\n")
    both = load_letor(tmp_path, part="all", cache=False)
    assert both.queries == ("1", "vali.txt:1")
    assert both.sizes.tolist() == [2, 2]
    again = load_letor([tmp_path / "train.txt", tmp_path / "vali.txt"], cache=False)
    assert again == both
    with pytest.raises(DatasetError, match=r"train\.txt is listed twice; list each file once"):
        load_letor([tmp_path / "train.txt"] * 4, cache=False)


@pytest.mark.slow
def test_progress_is_told(tmp_path: Path) -> None:
    file = tmp_path / "data.txt"
    file.write_text(TEXT + "".join(f"1 qid:x{number} 1:{number}\n" for number in range(200_000)))
    told: list[tuple[int, int]] = []
    load_letor(file, cache=False, watch=lambda done, total: told.append((done, total)))
    size = file.stat().st_size
    assert len(told) > 2
    assert told == sorted(told)
    assert told[-1] == (size, size)


def test_an_interrupt_leaves_nothing_behind(tmp_path: Path) -> None:
    file, cache = tmp_path / "data.txt", tmp_path / "cache"
    file.write_text(TEXT)

    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        load_letor(file, cache=cache, watch=interrupt)
    assert not cache.exists() or not list(cache.iterdir())
    assert load_letor(file, cache=cache).n_queries == 2
