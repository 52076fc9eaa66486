"""Read trained models and score documents: a program of its own, which `models.py` starts.

LightGBM and XGBoost trust the files that they read: a damaged one can end the process, or keep it busy for good. So
models are read here, and never in the user's process. Requests come by stdin and answers go by stdout, each as a line
of JSON, and bytes behind it: {"library", "path"} reads the next model, {"model", "shape"} scores what is behind it.
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
    """Answer until stdin ends."""
    requests = sys.stdin.buffer
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what the libraries print is no answer
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
        raise ValueError("the file breaks off, with no 'end of trees' in it")
    booster = library.Booster(model_str=content)
    return lambda features: booster.predict(features, raw_score=True), booster.num_feature()


def _xgboost(library: Any, path: Path) -> tuple[Predict, int]:
    booster = library.Booster(model_file=bytearray(path.read_bytes()))
    booster.feature_names = None  # columns count by number
    return lambda features: booster.inplace_predict(features, predict_type="margin"), booster.num_features()


if __name__ == "__main__":
    main()
