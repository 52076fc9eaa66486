"""Bandits of other packages, named module:Class: found, refused with a reason, and known by their code."""

import sys
from pathlib import Path

import pytest

import rankduel as rd
from rankduel.bandits.plugins import code_of, own_class, plays_in_python, split, stored_class

SOURCE = """
import rankduel as rd
from helper_of_{name} import first

class First(rd.Bandit):
    def pick(self): return first(), 0
    def update(self, first, second, outcome): pass

thing = 7
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    """A module with a bandit, and a helper next to it, which nobody has imported yet."""
    name = f"plugin_{abs(hash(request.node.name))}"
    (tmp_path / f"{name}.py").write_text(SOURCE.format(name=name))
    (tmp_path / f"helper_of_{name}.py").write_text("def first(): return 0\n")
    monkeypatch.syspath_prepend(tmp_path)
    return name


@pytest.mark.parametrize("spec", ["a b:C", ":C", "1a:C", "a.:C"])
def test_a_module_has_a_name_that_python_can_import(spec: str) -> None:
    with pytest.raises(ValueError, match=r"invalid bandit .*, expected module:Class"):
        split(spec)


def test_the_class_of_a_spec(module: str) -> None:
    found = own_class(module, "First")
    assert issubclass(found, rd.Bandit)
    assert plays_in_python(f"{module}:First(alpha=1)")
    assert not plays_in_python("MergeDTS")
    with pytest.raises(ValueError, match="has no class 'Second'"):
        own_class(module, "Second")
    with pytest.raises(ValueError, match=r"must be a subclass of rankduel\.Bandit, got 7"):
        own_class(module, "thing")
    with pytest.raises(ValueError, match=f"no module '{module}x'"):
        own_class(f"{module}x", "First")


def test_a_storage_does_not_import_a_module(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(rd.StorageError, match=f"set RANKDUEL_BANDITS={module}:First"):
        stored_class(module, "First")
    assert module not in sys.modules
    monkeypatch.setenv("RANKDUEL_BANDITS", f"other:Class, {module}:First")
    assert stored_class(module, "First") is own_class(module, "First")
    monkeypatch.delenv("RANKDUEL_BANDITS")
    assert stored_class(module, "First") is own_class(module, "First"), "it is imported now"


def test_the_code_of_a_bandit_is_its_file_and_its_neighbours(module: str, tmp_path: Path) -> None:
    from rankduel.bandits import plugins  # noqa: PLC0415 - its cache is emptied below

    assert code_of("MergeDTS(alpha=0.5)") is None
    before = code_of(f"{module}:First")
    assert before == code_of(f"{module}:First(x=1)")
    (tmp_path / f"helper_of_{module}.py").write_text("def first(): return 1\n")
    plugins._digest.cache_clear()
    assert code_of(f"{module}:First") != before
