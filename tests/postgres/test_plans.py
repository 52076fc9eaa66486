"""The plans of PostgreSQL: each statement finds its rows by an index, from the first duel on.

A plan is made once per connection, from table statistics that are missing or old, and used until the table is analyzed.
A plan that is fast only because the table was empty makes each statement slower as the table grows.
"""

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

import rankduel as rd
from postgres.server import Server
from rankduel.live import LocalTournament
from rankduel.live.storage import shared_statements
from rankduel.live.storage.postgres_connection import Connection, connect, parse_address
from rankduel.live.storage.postgres_statements import STATEMENTS, with_rows
from rankduel.live.storage.shared_statements import BulkWrite

LARGE = {"duels", "journal", "signals"}  # tables with rows for each duel
VERBS = ("SELECT ", "INSERT ", "UPDATE ", "DELETE ")
WALKS = {"PRUNED_WITH_QUERY", "COUNT_PRUNED_WITH_QUERY"}  # an operator's prune reads each query once, in order
ROWS = 10_000


def statements() -> dict[str, str]:
    """All statements that PostgreSQL runs, by name."""
    shared = {name: value for name, value in vars(shared_statements).items() if name.isupper()}
    bulk = {name: with_rows(value) for name, value in shared.items() if isinstance(value, BulkWrite)}
    plain = {name: value for name, value in shared.items() if isinstance(value, str) and value.startswith(VERBS)}
    return plain | bulk | STATEMENTS._asdict()


def prepare(connection: Connection) -> None:
    for name, statement in statements().items():
        connection.execute(f"PREPARE {name.lower()} AS {statement}".encode())


def plan(connection: Connection, name: str) -> dict[str, Any]:
    """The plan that this connection uses for a prepared statement, whatever its values are."""
    found = connection.execute(
        "SELECT cardinality(parameter_types) FROM pg_prepared_statements WHERE name = $1", (name.lower(),)
    ).fetchone()
    assert found is not None
    values = f"({', '.join(['NULL'] * found[0])})" if found[0] else ""
    ((explained,),) = connection.execute(f"EXPLAIN (FORMAT JSON) EXECUTE {name.lower()}{values}".encode())
    top: dict[str, Any] = explained[0]["Plan"]
    return top


def nodes(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for below in node.get("Plans", ()):
        yield from nodes(below)


def slow_reads(top: dict[str, Any]) -> list[str]:
    """What a plan reads of large tables besides the rows that it needs.

    That is a table read from end to end, or rows that are read by an index and then compared with a given value.
    """
    found = []
    for node in nodes(top):
        if "Join Filter" in node:
            found.append(f"{node['Node Type']}: {node['Join Filter']}")
        if node.get("Relation Name") in LARGE and node["Node Type"] != "ModifyTable":
            if "Index" not in node["Node Type"] and node["Node Type"] != "Bitmap Heap Scan":
                found.append(f"{node['Node Type']} on {node['Relation Name']}")
            if "$" in (condition := node.get("Filter", "")) or "listed." in condition:
                found.append(f"{node['Node Type']} on {node['Relation Name']}, then {condition}")
    return found


def check(connection: Connection) -> None:
    checked = statements().keys() - WALKS
    slow = {name: found for name in sorted(checked) if (found := slow_reads(plan(connection, name)))}
    assert slow == {}


def play(t: LocalTournament, start: int, stop: int) -> None:
    """Most duels are resolved, some wait for an outcome or for a signal."""
    for first in range(start, stop, 500):
        duels = t.ask_many([(f"q{number}", f"c{number % 50}") for number in range(first, min(stop, first + 500))])
        page = duels[0].interleave(["d1"], ["d2"], k=2)
        t.show(duels[0], page)
        t.observe([rd.live.Signal(f"q{first}", "click", "d1", 1, duels[0].expires - 86_000, None, f"k{first}")])
        t.tell_many([(duel, rd.Outcome.FIRST) for duel in duels[5:]])


@pytest.mark.parametrize("analyzed_at", [None, 0, 50, ROWS], ids=lambda rows: f"analyzed at {rows}")
def test_each_statement_finds_its_rows_by_an_index(postgres: Server, analyzed_at: int | None) -> None:
    url = postgres.empty()
    with (
        LocalTournament.create("search", rankers=["a", "b", "c"], storage=url, seed=1) as t,
        closing(connect(parse_address(url))) as early,
        closing(connect(parse_address(url))) as late,
    ):
        for table in LARGE:  # whatever the server does meanwhile
            early.execute(f"ALTER TABLE {table} SET (autovacuum_enabled = off)".encode())
        played = 0
        for rows in sorted({0, analyzed_at or 0}):
            play(t, played, rows)
            played = rows
            if rows == analyzed_at:
                early.execute("ANALYZE")
            if rows == 0:
                prepare(early)
            check(early)
        play(t, played, ROWS)
        check(early)  # with plans for the tables as they were
        prepare(late)
        check(late)
        assert t.counts.issued == ROWS


def test_slow_plans_are_recognised(postgres: Server) -> None:
    """The joins that were used before: with an empty table, a plan for them reads the whole tournament."""
    url = postgres.empty()
    joined = "SELECT d.page FROM json_array_elements_text($1::json) AS listed (value) CROSS JOIN duels AS d"
    slow = {
        f"{joined} WHERE d.tournament = $2 AND d.query = listed.value": "Nested Loop: ((listed.value)::text = d.query)",
        "SELECT page FROM duels WHERE tournament = $1 AND outcome = $2": "then (outcome = $2)",
        "SELECT page FROM duels WHERE page LIKE 'x%'": "Seq Scan on duels",
    }
    LocalTournament.create("search", rankers=["a", "b"], storage=url).close()
    with closing(connect(parse_address(url))) as connection:
        for number, (statement, why) in enumerate(slow.items()):
            connection.execute(f"PREPARE slow{number} AS {statement}".encode())
            (found,) = slow_reads(plan(connection, f"slow{number}"))
            assert found.endswith(why)
