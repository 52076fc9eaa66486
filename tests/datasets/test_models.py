"""Trained models as rankers, against the libraries' own predictions."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from naive.rankings import ranked
from rankduel.datasets import load_letor
from rankduel.errors import DatasetError

lightgbm: Any = pytest.importorskip("lightgbm")
xgboost: Any = pytest.importorskip("xgboost")

Floats = npt.NDArray[np.float64]

N_QUERIES, N_DOCUMENTS, N_FEATURES = 30, 20, 4
_draw = np.random.default_rng(1)
FEATURES = _draw.normal(size=(N_QUERIES * N_DOCUMENTS, N_FEATURES)).round(3)
GRADES = np.clip(np.round(FEATURES @ [0.2, 0, 1.0, 0.5] + 1), 0, 4).astype(int)
GROUPS = [N_DOCUMENTS] * N_QUERIES


def trained_lightgbm(features: Floats) -> Any:
    settings = {"objective": "lambdarank", "verbose": -1, "num_threads": 1, "min_data_in_leaf": 5}
    return lightgbm.train(settings, lightgbm.Dataset(features, GRADES, group=GROUPS), 8)


def trained_xgboost(features: Floats, names: list[str] | None = None) -> Any:
    whose = np.repeat(np.arange(N_QUERIES), N_DOCUMENTS)
    data = xgboost.DMatrix(features, GRADES, qid=whose, feature_names=names)
    return xgboost.train({"objective": "rank:ndcg", "verbosity": 0, "nthread": 1}, data, 8)


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "data.txt"
    with path.open("w") as file:
        for number, (grade, row) in enumerate(zip(GRADES, FEATURES.tolist(), strict=True)):
            values = " ".join(f"{feature + 1}:{value!r}" for feature, value in enumerate(row))
            file.write(f"{grade} qid:{number // N_DOCUMENTS} {values}\n")
    return path


@pytest.mark.slow
def test_models_order_as_they_predict(text: Path, tmp_path: Path) -> None:
    light, extreme = trained_lightgbm(FEATURES), trained_xgboost(FEATURES, ["a", "b", "c", "d"])
    light.save_model(tmp_path / "light.txt")
    extreme.save_model(tmp_path / "extreme.json")
    extreme.save_model(tmp_path / "binary.ubj")
    collection = load_letor(text, models=[tmp_path / name for name in ("light.txt", "extreme.json", "binary.ubj")])
    assert collection.rankers == ("light", "extreme", "binary")
    assert collection.grades.tolist() == GRADES.tolist()
    expected = [
        light.predict(FEATURES),
        extreme.predict(xgboost.DMatrix(FEATURES, feature_names=["a", "b", "c", "d"])),
    ]
    for ranker, scores in enumerate([*expected, expected[1]]):
        assert len(set(scores.tolist())) > 20
        for query in range(N_QUERIES):
            mine = scores[query * N_DOCUMENTS : (query + 1) * N_DOCUMENTS].tolist()
            assert collection.ranking(query, ranker).tolist() == ranked(mine)[0]
            assert collection.starts(query, ranker).tolist() == ranked(mine)[1]


@pytest.mark.slow
@pytest.mark.parametrize("train", [trained_lightgbm, trained_xgboost])
def test_a_model_with_an_empty_first_column(text: Path, tmp_path: Path, train: Callable[[Floats], Any]) -> None:
    # As LightGBM's and XGBoost's readers of SVMlight text make it of features that count from 1.
    model, shifted = tmp_path / "model", tmp_path / "shifted"
    train(FEATURES).save_model(f"{model}.json")
    train(np.pad(FEATURES, [(0, 0), (1, 0)])).save_model(f"{shifted}.json")
    plain = load_letor(text, models=[f"{model}.json"])
    assert load_letor(text, models=[f"{shifted}.json"], first_feature=0).order.tolist() == plain.order.tolist()
    assert load_letor(text, models=[f"{shifted}.json"]).order.tolist() != plain.order.tolist()


def test_lightgbm_reads_svmlight_from_column_0(tmp_path: Path) -> None:
    # The reason for first_feature.
    path = tmp_path / "plain.svm"
    rows = zip(GRADES, FEATURES.tolist(), strict=True)
    path.write_text(
        "".join(f"{grade} " + " ".join(f"{i + 1}:{v}" for i, v in enumerate(row)) + "\n" for grade, row in rows)
    )
    data = lightgbm.Dataset(str(path), params={"verbose": -1})
    assert (
        lightgbm.train({"objective": "regression", "verbose": -1, "num_threads": 1}, data, 1).num_feature()
        == N_FEATURES + 1
    )


@pytest.mark.slow
def test_documents_with_more_or_fewer_features_than_the_model(tmp_path: Path) -> None:
    trained_lightgbm(FEATURES).save_model(tmp_path / "light.txt")
    trained_xgboost(FEATURES).save_model(tmp_path / "extreme.json")
    models = [tmp_path / "light.txt", tmp_path / "extreme.json"]
    fewer, more = tmp_path / "fewer.txt", tmp_path / "more.txt"
    fewer.write_text("0 qid:1 3:-1\n1 qid:1 3:2\n")
    more.write_text("0 qid:1 3:-1 9:5\n1 qid:1 3:2 9:1\n")
    for path in (fewer, more):
        assert load_letor(path, models=models).order.tolist() == [1, 0, 1, 0]


@pytest.mark.slow
def test_the_cache_knows_the_model(text: Path, tmp_path: Path) -> None:
    path, cache = tmp_path / "model.txt", tmp_path / "cache"
    trained_lightgbm(FEATURES).save_model(path)
    first = load_letor(text, models=[path], cache=cache)
    trained_lightgbm(-FEATURES).save_model(path)
    assert load_letor(text, models=[path], cache=cache) != first
    assert load_letor(text, cache=cache).n_rankers == N_FEATURES


@pytest.mark.slow
@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "expected a LightGBM text model or an XGBoost JSON model, got b''"),
        ("pickle", "expected a LightGBM text model or an XGBoost JSON model, got b'pickle'"),
        ("{broken", "not a valid XGBoost model: "),
        ('{"learner": 1}', "not a valid XGBoost model: "),
        ("tree\nversion=v4\n", "not a valid LightGBM model: truncated file: no line 'end of trees'"),
        ("tree\nversion=v4\n\nend of trees\n", "not a valid LightGBM model: "),
    ],
)
def test_a_file_that_is_no_model_is_named(text: Path, tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "model.txt"
    path.write_text(content)
    with pytest.raises(DatasetError, match=f"model.txt: {message}"):
        load_letor(text, models=[path])


@pytest.mark.slow
def test_several_scores_per_document_are_no_order(text: Path, tmp_path: Path) -> None:
    data = lightgbm.Dataset(FEATURES, GRADES % 3)
    settings = {"objective": "multiclass", "num_class": 3, "verbose": -1, "num_threads": 1}
    lightgbm.train(settings, data, 2).save_model(tmp_path / "classes.txt")
    with pytest.raises(DatasetError, match=r"model classes: expected one score per document, got shape \(600, 3\)"):
        load_letor(text, models=[tmp_path / "classes.txt"])


def test_bad_arguments(text: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="models must name at least one file, got an empty list"):
        load_letor(text, models=[])
    with pytest.raises(ValueError, match="first_feature must be 0 or 1, got 2"):
        load_letor(text, models=["x"], first_feature=2)
    with pytest.raises(FileNotFoundError, match="nowhere"):
        load_letor(text, models=[tmp_path / "nowhere.txt"])


@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_a_missing_extra_says_how_to_get_it(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, library: str
) -> None:
    path = tmp_path / "model"
    train = trained_lightgbm if library == "lightgbm" else trained_xgboost
    train(FEATURES).save_model(f"{path}.json")
    monkeypatch.setitem(sys.modules, library, None)
    message = rf"models as rankers need {library}, which is not installed: pip install 'rankduel\[models\]'"
    with pytest.raises(ImportError, match=message):
        load_letor(text, models=[f"{path}.json"])


def test_the_libraries_are_not_imported_before() -> None:
    code = "import sys, rankduel; print(sorted({'lightgbm', 'xgboost', 'scipy'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
