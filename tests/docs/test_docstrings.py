"""Every example in a docstring runs, those of the compiled classes too, and everything public is documented."""

import doctest
import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from types import ModuleType

import pytest

import rankduel as rd

FLAGS = doctest.NORMALIZE_WHITESPACE


def modules() -> list[str]:
    """Every module written in Python. Importing `__main__` would run it."""
    found = pkgutil.walk_packages(rd.__path__, "rankduel.")
    return ["rankduel", *(info.name for info in found if not info.name.endswith("__main__"))]


def compiled(module: ModuleType) -> bool:
    return not (module.__file__ or "").endswith(".py")


def examples(module: ModuleType) -> Iterator[doctest.DocTest]:
    """The doctests of a module: as doctest finds them, or from the docstrings of what is compiled, and its members."""
    if not compiled(module):
        yield from doctest.DocTestFinder().find(module)
        return
    parser = doctest.DocTestParser()
    for name, value in vars(module).items():
        if callable(value) and getattr(value, "__module__", None) == module.__name__:
            members = {f"{name}.{member}": thing for member, thing in vars(value).items()}
            for place, thing in {name: value, **members}.items():
                text = getattr(thing, "__doc__", None) or ""
                yield parser.get_doctest(text, dict(vars(module)), f"{module.__name__}.{place}", module.__file__, None)


@pytest.mark.parametrize("name", modules())
def test_examples_run(name: str) -> None:
    failures = []
    for test in examples(importlib.import_module(name)):
        if test.examples:
            runner = doctest.DocTestRunner(verbose=False, optionflags=FLAGS)
            report: list[str] = []
            runner.run(test, out=report.append, clear_globs=False)
            failures += report
    assert not failures, "".join(failures)


@pytest.mark.parametrize("name", list(rd.REGISTRY))
def test_every_bandit_has_an_example(name: str) -> None:
    cls = rd.REGISTRY[name]
    found = [test for test in examples(importlib.import_module(cls.__module__)) if test.name.endswith(f".{name}")]
    assert any(test.examples for test in found)


def test_all_is_sorted() -> None:
    # CONSTANTS, then Classes, then functions, each in order.
    def rank(name: str) -> tuple[int, str]:
        return (0 if name.isupper() else 1 if name[0].isupper() else 2), name

    assert sorted(rd.__all__, key=rank) == rd.__all__
    assert len(set(rd.__all__)) == len(rd.__all__)


@pytest.mark.parametrize("name", rd.__all__)
def test_public_names_are_documented(name: str) -> None:
    thing = getattr(rd, name)
    if not isinstance(thing, dict):
        assert (inspect.getdoc(thing) or "").strip()


def public_members() -> Iterator[str]:
    for name in rd.__all__:
        thing = getattr(rd, name)
        if inspect.isclass(thing) and thing.__module__.startswith("rankduel"):
            for member, value in vars(thing).items():
                if not member.startswith("_") and (callable(value) or isinstance(value, property | classmethod)):
                    yield f"{name}.{member}"


@pytest.mark.parametrize("name", list(public_members()))
def test_public_members_are_documented(name: str) -> None:
    owner, _, member = name.partition(".")
    assert (inspect.getdoc(getattr(getattr(rd, owner), member)) or "").strip()
