"""Child process of `models.py` that reads trained models and scores documents.

LightGBM and XGBoost trust the files that they read. A damaged file can crash the process or make it hang, so models are
read in a child process. It reads requests from stdin and writes answers to stdout. Each is a line of JSON, followed by
bytes: {"library", "path"} reads the next model, {"model", "shape"} scores the feature rows in the bytes.
"""

import json
import os
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Predict = Callable[[npt.NDArray[np.float64]], Any]


def main() -> None:
    """Answer requests until stdin ends."""
    requests = sys.stdin.buffer
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # output of the libraries must not mix with answers
    models: list[Predict] = []
    while line := requests.readline():
        answer, scores = _answer(json.loads(line), models, requests)
        answers.write(json.dumps(answer).encode() + b"\n" + scores)
        answers.flush()


def _answer(request: dict[str, Any], models: list[Predict], requests: Any) -> tuple[dict[str, Any], bytes]:
    try:
        if "library" in request:
            load = _lightgbm if request["library"] == "lightgbm" else _xgboost
            predict, n_features = load(import_module(request["library"]), Path(request["path"]))
            models.append(predict)
            return {"n_features": n_features}, b""
        n_rows, n_columns = request["shape"]
        features = np.frombuffer(requests.read(8 * n_rows * n_columns)).reshape(n_rows, n_columns)
        scores = np.ascontiguousarray(models[request["model"]](features), np.float64)
        return {"shape": scores.shape}, scores.tobytes()
    except ImportError as error:
        return {"missing": str(error)}, b""
    except Exception as error:
        return {"error": (str(error).splitlines() or [repr(error)])[0]}, b""


def _lightgbm(library: Any, path: Path) -> tuple[Predict, int]:
    content = path.read_bytes().decode()
    if "\nend of trees" not in content:
        raise ValueError("truncated file: no line 'end of trees'")
    booster = library.Booster(model_str=content)
    return lambda features: booster.predict(features, raw_score=True), booster.num_feature()


def _xgboost(library: Any, path: Path) -> tuple[Predict, int]:
    booster = library.Booster(model_file=bytearray(path.read_bytes()))
    booster.feature_names = None  # columns are identified by number
    return lambda features: booster.inplace_predict(features, predict_type="margin"), booster.num_features()


if __name__ == "__main__":
    main()
