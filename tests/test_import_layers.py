"""The kernels' cimports obey the contracts that import-linter checks for Python modules: it cannot read Cython."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "rankduel"
# Inside `bandits`, from the top down; every other Cython module is an algorithm, above all of these.
BANDITS = (
    {"families"},
    {"base", "multi_bandit"},
    {"stateful"},
    {"kernels"},
    {"elimination", "snapshot_checks", "parameters"},
)


def layers() -> list[set[str]]:
    """The packages from the top down; a package imports only from the layers below its own."""
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"][0]
    return [{package.strip() for package in re.split(r"[|:]", layer)} for layer in contract["layers"]]


def level(package: str) -> int:
    return next(depth for depth, packages in enumerate(layers()) if package in packages)


def level_in_bandits(module: str) -> int:
    return next((depth for depth, modules in enumerate(BANDITS) if module in modules), -1)


def imports(text: str, below: str = "rankduel") -> list[str]:
    """The packages or modules below a package that a kernel imports or cimports, docstrings aside."""
    code = re.sub(r'""".*?"""', "", text, flags=re.DOTALL)
    return re.findall(rf"^\s*(?:from|cimport|import) {re.escape(below)}\.(\w+)", code, flags=re.MULTILINE)


def kernels(folder: Path) -> list[Path]:
    return [path for suffix in ("pyx", "pxd") for path in sorted(folder.rglob(f"*.{suffix}"))]


def test_kernels_import_only_from_lower_packages() -> None:
    assert len(kernels(PACKAGE)) > 20
    edges = 0
    for path in kernels(PACKAGE):
        if (own := path.relative_to(PACKAGE).parts[0]) == path.name:
            continue  # the package's own empty marker
        for package in imports(path.read_text()):
            edges += package != own
            assert package == own or level(package) > level(own), f"{path} imports {package}, which is not below {own}"
    assert edges > 20


def test_bandit_kernels_are_below_families_and_families_below_algorithms() -> None:
    folder = PACKAGE / "bandits"
    edges = 0
    for path in kernels(folder):
        own = path.relative_to(folder).parts[0].partition(".")[0]
        for module in imports(path.read_text(), "rankduel.bandits"):
            edges += module != own
            below = level_in_bandits(module) > level_in_bandits(own)
            assert module == own or below, f"{path} imports bandits.{module}, which is not below bandits.{own}"
    assert edges > 40


def test_an_import_from_above_would_be_seen() -> None:
    assert imports("from rankduel.simulation.worlds cimport World\n") == ["simulation"]
    assert level("simulation") < level("bandits") < level("randomness")
    assert imports("from rankduel.bandits.families.merging cimport Merging\n", "rankduel.bandits") == ["families"]
    assert level_in_bandits("dts") < level_in_bandits("families") < level_in_bandits("kernels")
