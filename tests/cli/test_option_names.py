"""Errors on the command line name options and environment variables, not the arguments of Python functions."""

from pathlib import Path

import pytest

from rankduel.cli import main


def error(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The only line on stderr of a command that fails."""
    capsys.readouterr()
    try:
        code: object = main(arguments)
    except SystemExit as ended:
        code = ended.code
    captured = capsys.readouterr()
    assert (code, captured.out, captured.err.count("\n")) == (2, "", 1)
    return captured.err


def create(folder: Path, *options: str) -> list[str]:
    return ["tournaments", "create", "home", "--ranker", "a", "--ranker", "b", *options, *storage(folder)]


def storage(folder: Path) -> list[str]:
    return ["--storage", f"sqlite:///{folder}/duels.db"]


def test_flags(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(create(tmp_path)) == 0
    told = error(capsys, *create(tmp_path))
    assert "--exist-ok" in told
    assert "exist_ok" not in told
    assert main(create(tmp_path, "--exist-ok")) == 0
    told = error(capsys, *create(tmp_path, "--exist-ok", "--expires-after", "60"))
    assert "--expires-after 86400" in told
    assert "expires_after" not in told


@pytest.mark.parametrize(
    ("option", "value", "shown"),
    [
        ("--share", "2", "2.0"),
        ("--expires-after", "-1", "-1.0"),
        ("--delta", "2", "2.0"),
        ("--tolerance", "2", "2.0"),
        ("--storage", "somewhere", "'somewhere'"),
    ],
)
def test_values(tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str, value: str, shown: str) -> None:
    arguments = [*create(tmp_path), option, value]
    told = error(capsys, *arguments)
    assert f"error: {option} must be " in told
    assert f", got {shown}" in told


def test_delta_of_a_bandit_that_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = error(capsys, *create(tmp_path, "--bandit", "MergeDTS", "--delta", "0.1"))
    assert "--delta and --tolerance are for the default bandit; pass them as options of --bandit 'MergeDTS'" in told


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["plan", "--rankers", "9999"], "--rankers must be a whole number from 2 to 5000, got 9999"),
        (["plan", "--rankers", "9999"], "pass --problem 'utilities(n_arms=100_000)'"),
        (["plan", "--rankers", "9", "--problem", "cycle2"], "got --rankers 9"),
        (["plan", "--rankers", "9", "--deadline", "0"], "--deadline must be "),
        (["simulate", "cycle2", "--horizon", "1e16"], "--horizon must be "),
        (["serve", "--storage", "sqlite:///duels.db", "--port", "70000"], "--port must be "),
        (["serve", "--storage", "sqlite:///duels.db", "--processes", "4"], "--processes must be 1, got 4"),
    ],
)
def test_commands(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    told = error(capsys, *arguments)
    assert message in told
    assert "n_rankers" not in told


@pytest.mark.parametrize("others", [[], ["--delta", "0.1"]])
def test_parameters_of_a_bandit_are_no_options(capsys: pytest.CaptureFixture[str], others: list[str]) -> None:
    told = error(capsys, "plan", "--rankers", "9", "--bandit", "CertifiedSparring(delta=2)", *others)
    assert "error: delta must be " in told
    assert "--delta" not in told


def test_settings_of_a_file_are_no_options(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rankduel.toml").write_text("storage = 'sqlite:///duels.db'\n[service]\nport = 70000\n")
    told = error(capsys, "serve", "--port", "8080")
    assert "rankduel.toml: port must be " in told
    assert "--port" not in told
