"""docs/generate.py: the generated pages are up to date, and stale pages are found."""

import doctest
import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

import rankduel as rd
from fences import ROOT


@pytest.fixture(scope="module")
def generate() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_pages_are_up_to_date(generate: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert generate.main(["--check"]) == 0, capsys.readouterr().err


def test_every_bandit_is_in_the_readme() -> None:
    table = (ROOT / "README.md").read_text()
    assert [name for name in (*rd.REGISTRY, *rd.MULTI_REGISTRY) if f"| [{name}](docs/bandits/" not in table] == []


def test_stale_missing_and_foreign_pages_are_noticed(
    generate: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pages = tmp_path / "docs" / "bandits"
    pages.parent.mkdir()
    monkeypatch.setattr(generate, "PAGES", pages)
    assert generate.main([]) == 0
    assert generate.main(["--check"]) == 0
    assert sorted(path.name for path in pages.iterdir()) == sorted(
        path.name for path in (ROOT / "docs" / "bandits").iterdir()
    )

    (pages / "dts.md").write_text((pages / "dts.md").read_text().replace("0.51", "0.5"))
    (pages / "rucb.md").unlink()
    (pages / "old.md").write_text("a bandit of the past")
    assert generate.main(["--check"]) == 1
    told = capsys.readouterr().err
    assert "docs/bandits/dts.md is stale" in told
    assert "0.51" in told
    assert "docs/bandits/rucb.md is missing" in told
    assert "docs/bandits/old.md belongs to no bandit" in told
    assert "run: make docs" in told

    assert generate.main([]) == 0
    assert generate.main(["--check"]) == 0
    assert not (pages / "old.md").exists()


def test_an_option_listed_twice_is_noticed(
    generate: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pages = tmp_path / "docs" / "bandits"
    pages.parent.mkdir()
    monkeypatch.setattr(generate, "PAGES", pages)
    assert generate.main([]) == 0
    page = (ROOT / "docs" / "cli.md").read_text()
    (pages.parent / "cli.md").write_text(page)
    assert generate.main(["--check"]) == 0

    row = "| `--seed S` | same seed, same numbers | 0 |\n"
    assert row in page
    (pages.parent / "cli.md").write_text(page.replace(row, row + "| `--engine E` | again | |\n", 1))
    assert generate.main(["--check"]) == 1
    assert capsys.readouterr().err == "docs/cli.md: simulate: --engine is listed twice\n"


GOOD = """Play.

    Idea
        None.

    Parameters
        n_arms: K.
        alpha: exploration, > 0,
            or 1.
        seed: of its streams.

    Cost
        O(1).

    Guarantee
        None.

    References
        None.

    Deviations
        None.

    Examples
        >>> 1
        1
    """


class Documented(rd.Bandit):
    """Set by the tests."""

    def __init__(self, n_arms: int, *, alpha: float = 1.0, seed: int | None = None) -> None:
        super().__init__(n_arms, alpha=alpha, seed=seed)


@pytest.mark.parametrize(
    ("docstring", "complaint"),
    [
        (GOOD, None),
        ("", "the docstring has no Idea, Parameters"),
        (GOOD.replace("        O(1).\n", ""), "Documented: the docstring has no Cost"),
        (GOOD.replace("Cost", "Costs"), "Documented: the docstring has no Cost"),
        (
            GOOD.replace("Cost", "xxx").replace("Idea", "Cost").replace("xxx", "Idea"),
            "sections must be Idea, Parameters, Cost, .* got Cost, Parameters, Idea",
        ),
        (GOOD.replace("alpha:", "beta:"), "Documented: parameter alpha is not documented"),
        (
            GOOD.replace("n_arms: K.", "n_arms: K.\n        beta: B."),
            "the docstring has beta, which is not a parameter",
        ),
    ],
)
def test_docstrings_are_checked(
    generate: ModuleType, monkeypatch: pytest.MonkeyPatch, docstring: str, complaint: str | None
) -> None:
    monkeypatch.setattr(Documented, "__doc__", docstring)
    if complaint is None:
        generate.check(Documented)
        assert "- `alpha`: exploration, > 0, or 1." in generate.page(Documented)
    else:
        with pytest.raises(generate.DocstringError, match=complaint.replace("(", r"\(")):
            generate.check(Documented)


def test_a_bad_docstring_fails_the_command(
    generate: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(rd.REGISTRY, "Documented", Documented)
    monkeypatch.setattr(Documented, "__doc__", "Play.")
    assert generate.main(["--check"]) == 1
    assert "Documented: the docstring has no Idea" in capsys.readouterr().err


def test_markdown_is_escaped(generate: ModuleType) -> None:
    page = generate.page(rd.RMED1)
    assert r"I_i - I\* \<= log t" in page
    assert "`n_arms`: K, at least 1." in page


def test_own_examples(generate: ModuleType) -> None:
    assert doctest.testmod(generate).failed == 0
