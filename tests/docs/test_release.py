"""The version is the same wherever it is written."""

import re
import tomllib

import rankduel as rd
from fences import ROOT


def test_versions_agree() -> None:
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] == rd.__version__
    assert f"\nversion: {rd.__version__}\n" in (ROOT / "CITATION.cff").read_text()


def test_the_version_has_an_entry_in_the_changelog() -> None:
    entries = re.findall(r"^## \[(.*?)\] - (unreleased|\d{4}-\d\d-\d\d)$", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert entries[0][0] == rd.__version__


def test_the_licence_is_the_one_we_name() -> None:
    licence = (ROOT / "LICENSE").read_text()
    assert "Apache License" in licence
    assert "Version 2.0, January 2004" in licence
    assert "license: Apache-2.0" in (ROOT / "CITATION.cff").read_text()
