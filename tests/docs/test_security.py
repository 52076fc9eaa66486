"""SECURITY.md: each promise names the tests that show it, and they exist."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def promises() -> dict[str, list[str]]:
    """The tests of each promise."""
    table = (ROOT / "SECURITY.md").read_text().partition("| promise |")[2].partition("\n\n")[0]
    rows = [row.split(" | ") for row in table.splitlines()[2:]]
    return {row[0]: re.findall(r"`((?:\w+/)+\w+\.py::\w+)`", row[2]) for row in rows}


def test_every_promise_has_tests_that_exist() -> None:
    found = promises()
    assert len(found) > 20
    for promise, tests in found.items():
        assert tests, promise
        for test in tests:
            file, _, name = test.partition("::")
            tree = ast.parse((ROOT / "tests" / file).read_text())
            assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, test


def test_every_module_of_attacks_is_named() -> None:
    named = {test.partition("::")[0] for tests in promises().values() for test in tests}
    elsewhere = {"attack/test_remote_tournament.py"}  # the client's own errors: docs/client.md
    there = {f"attack/{path.name}" for path in (ROOT / "tests" / "attack").glob("test_*.py")}
    assert there == {test for test in named if test.startswith("attack/")} | elsewhere
