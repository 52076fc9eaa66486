"""The hooks of pre-commit run the same commands as `make check`, and download nothing."""

import re

import yaml

from fences import ROOT


def test_hooks_are_commands_of_make_check() -> None:
    (repository,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    assert repository["repo"] == "local"
    hooks = {hook["id"]: hook for hook in repository["hooks"]}
    assert {hook["language"] for hook in hooks.values()} == {"system"}

    recipe = re.search(r"^check:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.M)
    assert recipe is not None
    commands = [line.replace("$(BIN)", ".venv/bin").strip() for line in recipe[1].splitlines()]
    assert hooks.pop("whitespace")["entry"].startswith("git diff --cached --check")
    for hook in hooks.values():
        assert any(command.startswith(hook["entry"] + " ") for command in commands), hook["entry"]
