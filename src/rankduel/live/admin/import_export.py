"""Export and import tables as NDJSON, CSV or Parquet. Rows are streamed, so memory use does not grow with the table."""

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from io import StringIO
from itertools import chain, islice
from typing import Any, BinaryIO, NamedTuple

from rankduel.errors import DatasetError
from rankduel.live.rules.validation import brief, check_name
from rankduel.types import Outcome

__all__ = [
    "BATTLES",
    "JOURNAL",
    "Battle",
    "battle_rows",
    "gathered",
    "read_csv",
    "read_ndjson",
    "read_parquet",
    "to_csv",
    "to_ndjson",
    "write_parquet",
]

JOURNAL: Mapping[str, type] = {"number": int, "time": float, "kind": str, "body": str}  # columns of `Event._asdict`
BATTLES: Mapping[str, type] = {"model_a": str, "model_b": str, "winner": str}
_WINNERS = {Outcome.FIRST: "model_a", Outcome.SECOND: "model_b", Outcome.TIE: "tie"}
_OUTCOMES = {winner: outcome for outcome, winner in _WINNERS.items()} | {  # other names of ties in public datasets
    "tie (bothbad)": Outcome.TIE,
    "both_bad": Outcome.TIE,
}
_MAX_PARQUET_ROWS = 10_000  # in memory at a time
_FORMULA = re.compile(r"'*[=+\-@\t\r\n]")  # start of a cell that a spreadsheet might run as a formula, escaped or not
_ESCAPED = re.compile(r"'+[=+\-@\t\r\n]")
_text = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode


class Battle(NamedTuple):
    """Two rankers that met, by name, and the outcome."""

    first: str
    second: str
    outcome: Outcome


# Export


def battle_rows(battles: Iterable[tuple[str, str, Outcome]]) -> Iterator[dict[str, str]]:
    r"""Convert battles into rows of a battle table, for any of the three formats.

    >>> list(to_csv(battle_rows([("bm25", "=ltr", Outcome.SECOND)]), BATTLES))
    ['model_a,model_b,winner\r\n', "bm25,'=ltr,model_b\r\n"]
    """
    for first, second, outcome in battles:
        yield {"model_a": first, "model_b": second, "winner": _WINNERS[outcome]}


def to_ndjson(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    r"""Yield a line of JSON for each row.

    >>> list(to_ndjson([{"number": 1, "body": {"reason": "slow"}}]))
    ['{"number":1,"body":{"reason":"slow"}}\n']
    """
    for row in rows:
        yield _text(dict(row)) + "\n"


def to_csv(rows: Iterable[Mapping[str, Any]], columns: Iterable[str]) -> Iterator[str]:
    """Yield a header line, and a line for each row. Lists and dictionaries are JSON. None is an empty cell.

    A text that a spreadsheet might run as a formula is escaped with an apostrophe in front: one that begins with
    = + - @, a tab or a line break, perhaps after other apostrophes. `read_csv` removes one apostrophe.
    """
    names = list(columns)
    table: Iterable[list[Any]] = ([row.get(column) for column in names] for row in rows)
    buffer = StringIO()
    writer = csv.writer(buffer)
    for cells in chain([names], table):
        writer.writerow([_cell(cell) for cell in cells])
        yield buffer.getvalue()
        buffer.seek(0)
        buffer.truncate()


def write_parquet(rows: Iterable[Mapping[str, Any]], columns: Mapping[str, type], file: BinaryIO) -> int:
    """Write rows to a binary file and return their number. The file is incomplete if this raises.

    `columns` maps names to types: int, float, str or bool. Requires the extra `parquet`.
    """
    arrow, parquet = _pyarrow()
    types = {int: arrow.int64(), float: arrow.float64(), str: arrow.string(), bool: arrow.bool_()}
    schema = arrow.schema([(column, types[kind]) for column, kind in columns.items()])
    remaining, written = iter(rows), 0
    with parquet.ParquetWriter(file, schema) as writer:
        while chunk := list(islice(remaining, _MAX_PARQUET_ROWS)):
            plain = [{column: _plain(row.get(column)) for column in columns} for row in chunk]
            writer.write_table(arrow.Table.from_pylist(plain, schema))
            written += len(chunk)
    return written


# Import


def read_csv(lines: Iterable[str]) -> Iterator[Battle]:
    """Read battles from CSV with the columns model_a, model_b and winner, in any order. Other columns are ignored.

    >>> list(read_csv(["winner,model_a,model_b", "tie,bm25,ltr"]))
    [Battle(first='bm25', second='ltr', outcome=<Outcome.TIE: 'tie'>)]
    >>> list(read_csv(["model_a,model_b,winner", "bm25,ltr,ltr"]))
    Traceback (most recent call last):
    rankduel.errors.DatasetError: line 2: winner must be model_a, model_b or tie, got 'ltr'
    """
    reader = csv.reader(lines, strict=True)
    indices: list[int] | None = None
    try:
        for cells in reader:
            place = f"line {reader.line_num}"
            if not cells:
                continue
            if indices is None:
                indices = _column_indices(place, cells)
            elif len(cells) <= max(indices):
                raise DatasetError(f"{place}: expected at least {max(indices) + 1} cells, got {len(cells)}")
            else:
                yield _battle(place, [_unescaped(cells[index]) for index in indices])
    except csv.Error as error:
        raise DatasetError(f"line {reader.line_num}: {error}") from None
    except UnicodeDecodeError as error:
        raise DatasetError(f"after line {reader.line_num}: {error}") from None
    if indices is None:
        raise DatasetError(f"line 1: expected columns {', '.join(BATTLES)}, got an empty file")


def read_ndjson(lines: Iterable[str]) -> Iterator[Battle]:
    """Read battles from lines of JSON with model_a, model_b and winner. Other fields are ignored.

    >>> list(read_ndjson(['{"model_a": "bm25", "model_b": "ltr"}']))
    Traceback (most recent call last):
    rankduel.errors.DatasetError: line 1: winner must be model_a, model_b or tie, got None
    """
    index = 0
    try:
        for index, line in enumerate(lines, 1):
            if line.strip():
                yield _battle(f"line {index}", _object(f"line {index}", line))
    except UnicodeDecodeError as error:
        raise DatasetError(f"after line {index}: {error}") from None


def read_parquet(file: BinaryIO) -> Iterator[Battle]:
    """Read battles from a binary Parquet file with the same columns. Requires the extra `parquet`."""
    arrow, parquet = _pyarrow()
    try:
        table = parquet.ParquetFile(file)
        _column_indices("the file", table.schema_arrow.names)
        row = 0
        for batch in table.iter_batches(batch_size=_MAX_PARQUET_ROWS, columns=list(BATTLES)):
            for cells in zip(*(batch.column(column).to_pylist() for column in BATTLES), strict=True):
                row += 1
                yield _battle(f"row {row}", cells)
    except (arrow.ArrowException, OSError) as error:
        raise DatasetError(f"invalid Parquet file: {error}") from error


def gathered(battles: Iterable[Battle]) -> tuple[list[str], list[tuple[int, int, Outcome]]]:
    """Return the names in order of first appearance, and the battles by index, for a warm start or a replay.

    >>> gathered([Battle("bm25", "ltr", Outcome.TIE), Battle("ltr", "bm25", Outcome.FIRST)])
    (['bm25', 'ltr'], [(0, 1, <Outcome.TIE: 'tie'>), (1, 0, <Outcome.FIRST: 'first'>)])
    """
    arms: dict[str, int] = {}
    duels = []
    for first, second, outcome in battles:
        duels.append((arms.setdefault(first, len(arms)), arms.setdefault(second, len(arms)), outcome))
    return list(arms), duels


def _object(place: str, line: str) -> list[Any]:
    """Return the three values of a line of JSON."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        row = line.strip()
    if not isinstance(row, dict):
        raise DatasetError(f"{place}: expected a JSON object, got {brief(row)}")
    return [row.get(column) for column in BATTLES]


def _column_indices(place: str, header: Iterable[object]) -> list[int]:
    """Return the indices of the three columns."""
    names = [str(column).removeprefix("\ufeff").strip() for column in header]
    for column in BATTLES:
        if names.count(column) != 1:
            got = brief(", ".join(names))
            raise DatasetError(f"{place}: expected columns {', '.join(BATTLES)}, each once, got {got}")
    return [names.index(column) for column in BATTLES]


def _battle(place: str, cells: Iterable[Any]) -> Battle:
    first, second, winner = cells
    try:
        first, second = check_name("model_a", first), check_name("model_b", second)
    except ValueError as error:
        raise DatasetError(f"{place}: {error}") from None
    if not isinstance(winner, str) or winner not in _OUTCOMES:
        raise DatasetError(f"{place}: winner must be model_a, model_b or tie, got {brief(winner)}")
    return Battle(first, second, _OUTCOMES[winner])


def _plain(value: Any) -> Any:
    return _text(value) if isinstance(value, dict | list | tuple) else value


def _cell(value: Any) -> Any:
    plain = _plain(value)
    return f"'{plain}" if isinstance(plain, str) and _FORMULA.match(plain) else plain


def _unescaped(cell: str) -> str:
    return cell[1:] if _ESCAPED.match(cell) else cell


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow  # noqa: PLC0415 - optional, and slow to import
        import pyarrow.parquet  # noqa: PLC0415
    except ImportError as error:
        raise ImportError("Parquet needs pyarrow; install it by pip install 'rankduel[parquet]'") from error
    return pyarrow, pyarrow.parquet
