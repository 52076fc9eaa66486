"""Trained models as rankers: LightGBM's text files, XGBoost's JSON. The libraries are an extra."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rankduel.errors import DatasetError

__all__ = ["Model", "load_models"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Model:
    """A model's name, how many features it knows, which feature is its first, and how it scores documents."""

    name: str
    n_features: int
    first_feature: int
    predict: Callable[[Floats], npt.NDArray[Any]]

    def scores(self, features: Floats) -> Floats:
        """A score for each document, from the features 1, 2, ...: those that the model does not know are left out,
        those that the documents do not have are 0.
        """
        known = np.zeros((len(features), self.n_features))
        unused = 1 - self.first_feature
        shared = min(features.shape[1], self.n_features - unused)
        known[:, unused : unused + shared] = features[:, :shared]
        scores = np.asarray(self.predict(known), np.float64)
        if scores.shape != (len(features),):
            raise DatasetError(f"model {self.name}: expected one score per document, got shape {scores.shape}")
        if np.isnan(scores).any():
            raise DatasetError(f"model {self.name}: its score of a document is NaN")
        return scores


def load_models(paths: Sequence[str | PathLike[str]], first_feature: int) -> list[Model]:
    """Read models; the content tells which library made them. Named after their files."""
    files = [Path(path) for path in paths]
    if not files:
        raise ValueError("no models: give at least one file, or None for features as rankers")
    names = [file.stem for file in files]
    if len(set(names)) < len(names):
        names = [str(file) for file in files]
    return [_load(file, name, first_feature) for file, name in zip(files, names, strict=True)]


def _load(path: Path, name: str, first_feature: int) -> Model:
    if not path.exists():
        raise FileNotFoundError(f"no such file: {path}")
    content = path.read_bytes()
    if content.startswith((b"tree\n", b"tree\r\n")):
        if b"\nend of trees" not in content:  # LightGBM would end the process
            raise DatasetError(f"{path}: a LightGBM model that breaks off, with no 'end of trees' in it")
        return _lightgbm(path, content.decode(), name, first_feature)
    if content.startswith(b"{"):
        return _xgboost(path, bytearray(content), name, first_feature)
    raise DatasetError(f"{path}: expected a LightGBM text model or an XGBoost JSON model, got {content[:20]!r}")


def _lightgbm(path: Path, content: str, name: str, first_feature: int) -> Model:
    lightgbm = _library("lightgbm")
    try:
        booster = lightgbm.Booster(model_str=content)
    except lightgbm.basic.LightGBMError as error:
        raise DatasetError(f"{path}: no LightGBM model: {error}") from error
    return Model(name, booster.num_feature(), first_feature, lambda X: np.asarray(booster.predict(X, raw_score=True)))


def _xgboost(path: Path, content: bytearray, name: str, first_feature: int) -> Model:
    xgboost = _library("xgboost")
    try:
        booster = xgboost.Booster(model_file=content)
    except xgboost.core.XGBoostError as error:
        raise DatasetError(f"{path}: no XGBoost model: {str(error).splitlines()[0]}") from error
    booster.feature_names = None  # columns count by number
    return Model(
        name, booster.num_features(), first_feature, lambda X: booster.inplace_predict(X, predict_type="margin")
    )


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise ImportError(f"models as rankers need {name}: pip install 'rankduel[models]'") from error
