"""A damaged file of a trained model is a DatasetError that names the file, and never the end of the process."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankduel.datasets import load_letor, models
from rankduel.errors import DatasetError

lightgbm: Any = pytest.importorskip("lightgbm")
xgboost: Any = pytest.importorskip("xgboost")

MUTATIONS = int(os.environ.get("RANKDUEL_EXAMPLES", "3"))  # of each library; `make soak` tries more
DRAW = np.random.default_rng(1)
FEATURES = DRAW.normal(size=(60, 3)).round(3)
GRADES = (FEATURES[:, 0] > 0).astype(int)
VALUES = ("-1", "2147483647", "-2147483648", "99", "nan", "1e999", "", "0")


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("letor") / "data.txt"
    lines = (f"{grade} qid:1 1:{a} 2:{b} 3:{c}\n" for grade, (a, b, c) in zip(GRADES, FEATURES.tolist(), strict=True))
    path.write_text("".join(lines))
    return path


@pytest.fixture(scope="module")
def trained() -> dict[str, str]:
    """Small models of both libraries, as text."""
    settings = {"objective": "regression", "verbose": -1, "num_threads": 1, "min_data_in_leaf": 2, "num_leaves": 6}
    light = lightgbm.train(settings, lightgbm.Dataset(FEATURES, GRADES), 3)
    data = xgboost.DMatrix(FEATURES, GRADES)
    extreme = xgboost.train({"verbosity": 0, "nthread": 1, "max_depth": 3}, data, 3)
    return {"lightgbm": light.model_to_string(), "xgboost": extreme.save_raw("json").decode()}


def mutated(model: str, number: int) -> str:
    """A model with one of its numbers changed to an extreme one."""
    draw = np.random.default_rng(number)
    places = list(re.finditer(r"(?<=[=, \[:\"])-?\d+(\.\d+)?", model))
    place = places[draw.integers(len(places))]
    return model[: place.start()] + VALUES[draw.integers(len(VALUES))] + model[place.end() :]


def loaded(text: Path, path: Path, model: str) -> str | None:
    """What is wrong with a model, if anything is."""
    path.write_text(model)
    try:
        load_letor(text, models=[path], cache=False)
    except DatasetError as error:
        return str(error)
    return None


@pytest.mark.parametrize(
    ("library", "change", "message"),
    [
        ("lightgbm", (r"\nleft_child=\S+", "\nleft_child=2147483647"), "damaged model: .* ended with exit code -6"),
        ("lightgbm", (r"\nnum_leaves=\d+", "\nnum_leaves=-5"), "damaged model: .* ended with exit code -6"),
        ("xgboost", (r'"left_children":\[\d+', '"left_children":[2147483647'), "damaged model: .* ended with .* -11"),
        ("xgboost", (r'"num_feature":"\d+"', '"num_feature":"2147483647"'), "the model has 2147483647 features"),
    ],
)
@pytest.mark.skipif(sys.platform != "linux", reason="signals and versions differ elsewhere")
def test_a_model_that_points_nowhere(
    *, text: Path, tmp_path: Path, trained: dict[str, str], library: str, change: tuple[str, str], message: str
) -> None:
    """Indices and sizes beyond a model's own arrays end the process that reads it, which is not this one."""
    model, n_changed = re.subn(*change, trained[library])
    assert n_changed
    wrong = loaded(text, tmp_path / "model.json", model)
    assert wrong is not None
    assert re.search(f"model.json: {message}", wrong)


@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_mutated_models(text: Path, tmp_path: Path, trained: dict[str, str], library: str) -> None:
    """Whatever number of a model is changed, it is refused with a DatasetError or read."""
    for number in range(MUTATIONS):
        wrong = loaded(text, tmp_path / "model.json", mutated(trained[library], number))
        assert wrong is None or "model" in wrong


def test_a_model_that_keeps_a_process_busy_is_given_up(
    text: Path, tmp_path: Path, trained: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tree that leads back to itself is given up after a time."""
    program = tmp_path / "loops.py"
    program.write_text("while True: pass\n")
    monkeypatch.setattr(models, "PROGRAM", program)
    monkeypatch.setattr(models, "TIMEOUT_SECONDS", 0.5)
    wrong = loaded(text, tmp_path / "endless.txt", trained["lightgbm"])
    assert wrong is not None
    assert "endless.txt" in wrong
    assert "did not answer within 0.5 s" in wrong


def test_the_libraries_are_not_loaded_here(text: Path, tmp_path: Path, trained: dict[str, str]) -> None:
    """Models are read and scored, and neither library is in the process that asked."""
    (tmp_path / "light.txt").write_text(trained["lightgbm"])
    (tmp_path / "extreme.json").write_text(trained["xgboost"])
    code = (
        "import sys; from rankduel.datasets import load_letor;"
        f"c = load_letor({str(text)!r}, models=[{str(tmp_path / 'light.txt')!r}, {str(tmp_path / 'extreme.json')!r}],"
        "cache=False); print(c.rankers, sorted({'lightgbm', 'xgboost'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "('light', 'extreme') []\n"
