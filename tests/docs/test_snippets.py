"""Every Python snippet runs, and prints what the page says it prints."""

import contextlib
import doctest
import io
import re
import sys
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path
from types import ModuleType

import pytest

from fences import ROOT, Fence, fences, name, only, pages
from rankduel.lab import load_spec

NUMBER = re.compile(r"\d[\d,]*\.?\d*(?:e[-+]?\d+)?")


@pytest.mark.parametrize("page", pages(), ids=name)
def test_snippets_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # In order, in one namespace and an empty folder. A block of `text` right behind one of `python` is its output;
    # of `text about`, its output up to a factor of three in every number.
    monkeypatch.chdir(tmp_path)
    module = ModuleType("snippet")
    monkeypatch.setitem(sys.modules, "snippet", module)  # where pickle looks for a class of the page
    namespace = vars(module)
    blocks = fences(page)
    for block, follower in zip_longest(blocks, blocks[1:]):
        if block.info == "python":
            printed = run(page, block, namespace)
            if follower is not None and follower.info.startswith("text"):
                assert agrees(printed, follower), f"{page.name}:{follower.line} says\n{follower.text}not\n{printed}"


def test_the_first_experiment_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "my_first.toml"
    path.write_text(only(ROOT / "docs" / "for-research.md", "toml").text)
    assert load_spec(path).name == "my-first"


def run(page: Path, block: Fence, namespace: dict[str, object]) -> str:
    printed = io.StringIO()
    code = compile("\n" * (block.line - 1) + block.text, str(page), "exec")
    with contextlib.redirect_stdout(printed):
        exec(code, namespace)
    return printed.getvalue()


def agrees(printed: str, expected: Fence) -> bool:
    if expected.info == "text about":
        close = all(
            a == b or a / 3 <= b <= 3 * a for a, b in zip(numbers(printed), numbers(expected.text), strict=True)
        )
        return close and words(printed) == words(expected.text)
    return doctest.OutputChecker().check_output(expected.text, printed, doctest.ELLIPSIS)


def numbers(text: str) -> list[float]:
    return [float(number.replace(",", "")) for number in NUMBER.findall(text)]


def words(text: str) -> Sequence[str]:
    return NUMBER.sub("", text).split()


@pytest.mark.parametrize(
    ("printed", "info", "expected", "answer"),
    [
        ("a 1\n", "text", "a 1\n", True),
        ("a 1\n", "text", "a 2\n", False),
        ("a 1\n", "text", "a ...\n", True),
        ("a 1,500 at 3e-05\n", "text about", "a 2,000 at 4e-05\n", True),
        ("a 1,500\n", "text about", "a 5,000\n", False),
        ("a 1,500\n", "text about", "b 1,500\n", False),
    ],
)
def test_output_is_compared(printed: str, info: str, expected: str, answer: bool) -> None:
    assert agrees(printed, Fence(info, expected, 1)) is answer


def test_python_is_written_as_such() -> None:
    # A fence that nothing looks at would promise nothing.
    known = {
        "python",
        "python setup.py",
        "cython",
        "sh",
        "text",
        "text about",
        "toml",
        "json",
        "sql",
        "makefile",
        "bibtex",
        "nginx",
    }
    unknown = [
        f"{name(page)}:{fence.line} {fence.info!r}"
        for page in pages()
        for fence in fences(page)
        if fence.info not in known
    ]
    assert unknown == []
