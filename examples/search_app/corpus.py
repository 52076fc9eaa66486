"""Real text that is on every machine: the docstrings of Python's standard library, read from its source files."""

import ast
import re
import sysconfig
from pathlib import Path
from typing import NamedTuple

WORD = re.compile(r"[a-z]+|\d+")


class Passage(NamedTuple):
    """A documented name, such as `textwrap.shorten`, and its docstring."""

    title: str
    text: str


def passages() -> list[Passage]:
    """Collect the docstrings with at least ten words of all classes and functions in single-file modules."""
    found = []
    for path in sorted(Path(sysconfig.get_paths()["stdlib"]).glob("[a-z]*.py")):
        found += _documented(ast.parse(path.read_bytes()), path.stem)
    return [passage for passage in found if len(passage.text.split()) >= 10]


def _documented(tree: ast.AST, name: str) -> list[Passage]:
    found = []
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            title = f"{name}.{node.name}"
            found += [Passage(title, ast.get_docstring(node) or ""), *_documented(node, title)]
    return found


def words(text: str) -> list[str]:
    """Split a text into lower-case words. A name such as `OrderedDict.move_to_end` becomes several words."""
    return WORD.findall(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text).lower())
