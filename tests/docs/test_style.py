"""Plain English: the documentation keeps the limits of style.py, and no text has a retired word."""

import doctest
import importlib.util
import sys
from types import ModuleType

import pytest

from fences import ROOT

BAD_PAGE = f"""# Desk

Whoever is at the desk of such a house; what it says is
tossed; who asks, {"and asks again, " * 15}is told soon.

| tables; are; left; out |

```sh
make; make
```
"""


@pytest.fixture(scope="module")
def style() -> ModuleType:
    spec = importlib.util.spec_from_file_location("style", ROOT / "tests" / "docs" / "style.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def test_documentation_is_plain_english(style: ModuleType) -> None:
    pages = style.pages()
    assert ROOT / "README.md" in pages
    assert ROOT / "docs" / "live.md" in pages
    texts = [page.read_text() for page in pages]
    assert style.complaints(texts) == [], "python tests/docs/style.py shows the figures of each page"


def test_no_source_has_a_retired_word(style: ModuleType) -> None:
    sources = style.sources()
    assert {path.suffix for path in sources} >= {".md", ".py", ".pyx", ".pxd", ".pyi", ".js", ".css", ".html", ".toml"}
    found = [
        f"{path.relative_to(ROOT)}:{line}: {phrase!r}; write: {better}"
        for path in sources
        for line, phrase, better in style.retired(path.read_text())
    ]
    assert found == []


def test_a_bad_page_is_found(style: ModuleType) -> None:
    you, semicolons, who, long_sentence = style.complaints([BAD_PAGE])
    assert you.startswith("0.0 you/your per 1,000 words")
    assert "semicolons per 1,000 words, expected at most 1.5" in semicolons
    assert "who/what/whose per 1,000 words, expected at most 3" in who
    assert long_sentence.startswith("over 40 words: Whoever is at the desk")


def test_retired_words_are_found_across_lines(style: ModuleType) -> None:
    found = [(line, phrase) for line, phrase, _ in style.retired(BAD_PAGE)]
    assert found == [
        (1, "desk"),
        (3, "desk"),
        (3, "house"),
        (3, "is tossed"),
        (3, "of such a"),
        (3, "what it says"),
        (3, "whoever"),
    ]


def test_a_good_page_is_accepted(style: ModuleType) -> None:
    page = "# Run it\n\nCall `f(x; y)` when you need it, and read your result.\n\n- You get a number.\n"
    assert style.complaints([page]) == []
    assert style.retired(page) == []


def test_own_examples(style: ModuleType) -> None:
    assert doctest.testmod(style).failed == 0
