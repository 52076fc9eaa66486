"""The kernels' cimports obey the contract that import-linter holds for Python: it cannot read them."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "rankduel"


def layers() -> list[set[str]]:
    """From the top down; a room imports only from the layers below its own."""
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"][0]
    return [{room.strip() for room in re.split(r"[|:]", layer)} for layer in contract["layers"]]


def level(room: str) -> int:
    return next(depth for depth, rooms in enumerate(layers()) if room in rooms)


def imports(text: str) -> list[str]:
    """The rooms of rankduel that a kernel imports or cimports, docstrings aside."""
    code = re.sub(r'""".*?"""', "", text, flags=re.DOTALL)
    return re.findall(r"^\s*(?:from|cimport|import) rankduel\.(\w+)", code, flags=re.MULTILINE)


def test_kernels_import_only_from_below() -> None:
    kernels = [path for suffix in ("pyx", "pxd") for path in sorted(PACKAGE.rglob(f"*.{suffix}"))]
    assert len(kernels) > 20
    edges = 0
    for path in kernels:
        if (own := path.relative_to(PACKAGE).parts[0]) == path.name:
            continue  # the package's own empty marker
        for room in imports(path.read_text()):
            edges += room != own
            assert room == own or level(room) > level(own), f"{path} imports {room}, which is not below {own}"
    assert edges > 20


def test_an_import_from_above_would_be_seen() -> None:
    assert imports("from rankduel.simulation.worlds cimport World\n") == ["simulation"]
    assert level("simulation") < level("bandits") < level("randomness")
