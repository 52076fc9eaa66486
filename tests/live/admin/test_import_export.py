import csv
import io
import json
import sys
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from itertools import count, islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankduel.errors import DatasetError
from rankduel.live import Event
from rankduel.live.admin.import_export import (
    BATTLES,
    JOURNAL,
    Battle,
    battle_rows,
    gathered,
    read_csv,
    read_ndjson,
    read_parquet,
    to_csv,
    to_ndjson,
    write_parquet,
)
from rankduel.types import Outcome

FIRST, SECOND, TIE = Outcome.FIRST, Outcome.SECOND, Outcome.TIE
SOME = [Battle("bm25", "ltr", SECOND), Battle("ltr", "neural", TIE), Battle("bm25", "bm25", FIRST)]


def parquet(rows: Iterable[dict[str, Any]], columns: Any = BATTLES) -> io.BytesIO:
    file = io.BytesIO()
    write_parquet(rows, columns, file)
    file.seek(0)
    return file


def through_csv(battles: Iterable[Battle]) -> Iterator[Battle]:
    return read_csv(io.StringIO("".join(to_csv(battle_rows(battles), BATTLES)), newline=""))


def through_ndjson(battles: Iterable[Battle]) -> Iterator[Battle]:
    return read_ndjson(io.StringIO("".join(to_ndjson(battle_rows(battles)))))


def through_parquet(battles: Iterable[Battle]) -> Iterator[Battle]:
    return read_parquet(parquet(battle_rows(battles)))


NAMES = st.one_of(
    st.text(min_size=1, max_size=30).filter(str.isprintable),
    st.text("='+-@,\"", min_size=1, max_size=5),
)
TABLES = st.lists(st.builds(Battle, NAMES, NAMES, st.sampled_from(Outcome)))


@pytest.mark.slow
@pytest.mark.parametrize("through", [through_csv, through_ndjson, through_parquet])
def test_what_goes_out_comes_in(through: Callable[[Iterable[Battle]], Iterator[Battle]]) -> None:
    @given(TABLES)
    def check(battles: list[Battle]) -> None:
        assert list(through(battles)) == battles

    check()


def test_a_battle_table_is_what_others_read() -> None:
    text = "".join(to_csv(battle_rows(SOME), BATTLES))
    assert next(csv.DictReader(io.StringIO(text))) == {"model_a": "bm25", "model_b": "ltr", "winner": "model_b"}
    assert [json.loads(line) for line in to_ndjson(battle_rows(SOME))] == pq.read_table(
        parquet(battle_rows(SOME))
    ).to_pylist()


# The journal


def test_a_journal_in_each_form() -> None:
    events = [
        Event(1, 1_800_000_000.25, "created", {"rankers": ["=a", "b"]}),
        Event(2, 1_800_000_001.5, "paused", {"reason": "a\nb \ud800"}),
    ]
    rows = [event._asdict() for event in events]
    assert [Event(**json.loads(line)) for line in to_ndjson(rows)] == events
    table = list(csv.DictReader(io.StringIO("".join(to_csv(rows, JOURNAL)), newline="")))
    assert [[row["number"], row["time"], row["kind"], json.loads(row["body"])] for row in table] == [
        [str(event.number), repr(event.time), event.kind, event.body] for event in events
    ]
    read = pq.read_table(parquet(rows, JOURNAL))
    assert [str(field.type) for field in read.schema] == ["int64", "double", "string", "string"]
    assert [Event(**row | {"body": json.loads(row["body"])}) for row in read.to_pylist()] == events


def test_nothing_is_an_empty_cell() -> None:
    columns = {"a": int, "b": str, "c": bool}
    rows: list[dict[str, Any]] = [{"a": None, "b": "x", "c": True}, {"b": None}]
    assert list(to_csv(rows, columns)) == ["a,b,c\r\n", ",x,True\r\n", ",,\r\n"]
    expected = [{"a": None, "b": "x", "c": True}, {"a": None, "b": None, "c": None}]
    assert pq.read_table(parquet(rows, columns)).to_pylist() == expected


@pytest.mark.parametrize("beginning", ["=", "+", "-", "@", "\t", "\r", "\n", "'=", "''@"])
def test_formulas_are_escaped(beginning: str) -> None:
    dangerous = f'{beginning}HYPERLINK("x")'
    text = "".join(to_csv([{"name": dangerous}], ["name"]))
    assert list(csv.reader(io.StringIO(text, newline="")))[1] == [f"'{dangerous}"]


def test_what_is_no_formula_stays() -> None:
    rows = [{"name": name} for name in ("a=b", " =b", "'a", "1-2", "")]
    assert [line.strip("\r\n") for line in to_csv(rows, ["name"])][1:] == ["a=b", " =b", "'a", "1-2", '""']
    assert list(to_csv([{"n": -1.5}, {"n": -3}], ["n"]))[1:] == ["-1.5\r\n", "-3\r\n"]  # a number runs nothing


# Tables of others


def test_columns_in_any_order_among_others() -> None:
    lines = [
        "\ufeffwinner,model_b,judge,model_a",
        "",
        "tie (bothbad),b,x,a",
        "model_a,b,x,'=a",
        "both_bad,b,y,a",
    ]
    assert list(read_csv(lines)) == [Battle("a", "b", TIE), Battle("=a", "b", FIRST), Battle("a", "b", TIE)]
    text = '\n{"winner": "model_b", "turn": 1, "model_b": "b", "model_a": "a"}\n'
    assert list(read_ndjson(io.StringIO(text))) == [Battle("a", "b", SECOND)]
    others = pa.table({"x": [1], "winner": pa.array(["tie"]).dictionary_encode(), "model_b": ["b"], "model_a": ["a"]})
    file = io.BytesIO()
    pq.write_table(others, file)
    assert list(read_parquet(file)) == [Battle("a", "b", TIE)]


def test_names_are_numbered_as_they_come() -> None:
    assert gathered(iter(SOME)) == (["bm25", "ltr", "neural"], [(0, 1, SECOND), (1, 2, TIE), (0, 0, FIRST)])
    assert gathered([]) == ([], [])


HEADER = "model_a,model_b,winner\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: expected columns model_a, model_b, winner, got an empty file"),
        ("a,b\n", "line 1: expected columns model_a, model_b, winner, each once, got 'a, b'"),
        ("model_a,model_b,winner,winner\n", "line 1: expected columns model_a, model_b, winner, each once"),
        (HEADER + "a,b,tie\na,b\n", "line 3: expected at least 3 cells, got 2"),
        (HEADER + "a,b,a\n", "line 2: winner must be model_a, model_b or tie, got 'a'"),
        (HEADER + "a,b,\n", "line 2: winner must be model_a, model_b or tie, got ''"),
        (HEADER + '"a\nx",b,tie\n', r"line 3: model_a must be 1 to 200 printable characters, got 'a\nx'"),
        (HEADER + f"a,{'b' * 201},tie\n", "line 2: model_b must be 1 to 200 printable characters, got 'bbb"),
        (HEADER + '"a"b,c,tie\n', "line 2: "),
        (HEADER + f"{'a' * 200_000},c,tie\n", "line 2: field larger than field limit"),
        (HEADER + '"a,b,tie\n', "line 2: "),
    ],
)
def test_errors_of_csv_name_line_and_value(text: str, message: str) -> None:
    with pytest.raises(DatasetError) as error:
        list(read_csv(io.StringIO(text, newline="")))
    assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "line 2: expected a JSON object, got '{'"),
        ("[1]", "line 2: expected a JSON object, got [1]"),
        ("[" * 100_000, "line 2: expected a JSON object, got '[["),
        ("{}", "line 2: model_a must be 1 to 200 printable characters, got None"),
        (
            '{"model_a": 1, "model_b": "b", "winner": "tie"}',
            "line 2: model_a must be 1 to 200 printable characters, got 1",
        ),
        (
            '{"model_a": "a", "model_b": "b", "winner": ["tie"]}',
            "line 2: winner must be model_a, model_b or tie, got [",
        ),
    ],
)
def test_errors_of_ndjson_name_line_and_value(line: str, message: str) -> None:
    with pytest.raises(DatasetError) as error:
        list(read_ndjson(["", line]))
    assert str(error.value).startswith(message)


def test_errors_of_parquet_name_row_and_value() -> None:
    rows = [*battle_rows(SOME), {"model_a": "a", "model_b": "b", "winner": "b"}]
    with pytest.raises(DatasetError, match="row 4: winner must be model_a, model_b or tie, got 'b'"):
        list(read_parquet(parquet(rows)))
    with pytest.raises(DatasetError, match="expected columns model_a, model_b, winner, each once, got 'a'"):
        list(read_parquet(parquet([{"a": 1}], {"a": int})))
    whole = parquet(battle_rows(SOME)).getvalue()
    for broken in (b"", b"model_a,model_b", whole[:-9], whole[:10] + b"\xff" * 60 + whole[70:]):
        with pytest.raises(DatasetError, match=r"invalid Parquet file|row 1"):
            list(read_parquet(io.BytesIO(broken)))


def test_bytes_that_are_no_text_are_an_error_with_a_place(tmp_path: Path) -> None:
    path = tmp_path / "battles"
    path.write_bytes(HEADER.encode() + b"a,\xff,tie\n")
    with (
        path.open(encoding="utf-8", newline="") as file,
        pytest.raises(DatasetError, match="after line 0: 'utf-8' codec"),
    ):
        list(read_csv(file))
    with path.open(encoding="utf-8") as file, pytest.raises(DatasetError, match="after line 0: 'utf-8' codec"):
        list(read_ndjson(file))


# Without pyarrow, and without end


def test_without_pyarrow_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"Parquet needs pyarrow; install it by pip install 'rankduel\[parquet\]'"):
        write_parquet([], BATTLES, io.BytesIO())
    with pytest.raises(ImportError, match="Parquet needs pyarrow; install it by pip install"):
        list(read_parquet(io.BytesIO()))
    assert len(list(through_csv(SOME))) == 3


def endless() -> Iterator[Battle]:
    return (Battle(f"ranker {number % 100}", "other", TIE) for number in count())


@pytest.mark.parametrize(
    "through",
    [
        lambda battles: read_csv(to_csv(battle_rows(battles), BATTLES)),
        lambda battles: read_ndjson(to_ndjson(battle_rows(battles))),
    ],
)
def test_a_table_without_end_goes_through_row_by_row(through: Callable[[Iterable[Battle]], Iterator[Battle]]) -> None:
    assert list(islice(through(endless()), 1_000)) == list(islice(endless(), 1_000))


def test_parquet_is_written_in_parts() -> None:
    file, sizes = io.BytesIO(), []

    def rows() -> Iterator[dict[str, str]]:
        for row in battle_rows(islice(endless(), 40_000)):
            sizes.append(len(file.getvalue()))
            yield row

    assert write_parquet(rows(), BATTLES, file) == 40_000
    assert len(set(sizes)) == 4  # each part was on its way before the next one was asked for


@pytest.mark.slow
def test_parquet_is_read_in_parts() -> None:
    """Each part is 10,000 rows; 1.9 MB of Python at once; all 50,000 are 9.5 MB."""
    battles = read_parquet(parquet(battle_rows(islice(endless(), 50_000))))
    tracemalloc.start()
    try:
        assert sum(1 for _ in battles) == 50_000
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()
