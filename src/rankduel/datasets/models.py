"""Trained models as rankers: LightGBM text and XGBoost JSON files, scored in a child process."""

import json
import subprocess
import sys
import threading
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from rankduel.errors import DatasetError

__all__ = ["Model", "load_models"]

Floats = npt.NDArray[np.float64]

LIBRARIES = {"lightgbm": "LightGBM", "xgboost": "XGBoost"}
PROGRAM = Path(__file__).with_name("model_scores.py")
TIMEOUT_SECONDS = 600.0  # to read a model, or to score a batch of documents
MAX_FEATURES = 1_000_000
FEATURES_PER_BATCH = 10_000_000  # of the documents that are scored in one request


class _Scorer:
    """Child process that reads models and scores documents. A damaged file can only crash the child."""

    def __init__(self) -> None:
        pipe = subprocess.PIPE
        command = [sys.executable, "-P", str(PROGRAM)]
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL)
        self.n_models = 0
        weakref.finalize(self, _close, self._process)

    def load(self, path: Path, library: str) -> int:
        """Read one more model, and return its number of features."""
        answer = self._ask(path, {"library": library, "path": str(path)})
        if "missing" in answer:
            raise ImportError(f"{_needs(library)} ({answer['missing']})")
        if "error" in answer:
            raise DatasetError(f"{path}: not a valid {LIBRARIES[library]} model: {answer['error']}")
        self.n_models += 1
        n_features: int = answer["n_features"]
        if not 0 <= n_features <= MAX_FEATURES:
            raise DatasetError(f"{path}: the model has {n_features} features, expected at most {MAX_FEATURES}")
        return n_features

    def scores(self, path: Path, model: int, features: Floats) -> Floats:
        """Score documents with a model."""
        answer = self._ask(path, {"model": model, "shape": features.shape}, features)
        if "error" in answer:
            raise DatasetError(f"{path}: the model cannot score the documents: {answer['error']}")
        shape = tuple(answer["shape"])
        return np.frombuffer(self._read(8 * int(np.prod(shape)))).reshape(shape)

    def _ask(self, path: Path, request: dict[str, Any], features: Floats | None = None) -> dict[str, Any]:
        """Send a request and return the answer. DatasetError names the file if the process ends or hangs."""
        watch = threading.Timer(TIMEOUT_SECONDS, self._process.kill)
        watch.start()
        try:
            self._stdin.write(json.dumps(request).encode() + b"\n")
            if features is not None:
                self._stdin.write(np.ascontiguousarray(features, np.float64).data)
            self._stdin.flush()
            answer: dict[str, Any] = json.loads(self._stdout.readline())
        except (OSError, ValueError) as error:
            self._process.kill()
            raise DatasetError(
                f"{path}: damaged model: the process that reads it ended with exit code {self._process.wait()}, "
                f"or did not answer within {TIMEOUT_SECONDS:g} s"
            ) from error
        finally:
            watch.cancel()
        return answer

    def _read(self, n_bytes: int) -> bytes:
        return self._stdout.read(n_bytes)

    @property
    def _stdin(self) -> IO[bytes]:
        assert self._process.stdin is not None
        return self._process.stdin

    @property
    def _stdout(self) -> IO[bytes]:
        assert self._process.stdout is not None
        return self._process.stdout


def _close(process: "subprocess.Popen[bytes]") -> None:
    process.kill()
    process.communicate()


@dataclass(frozen=True)
class Model:
    """A trained model that serves as a ranker: name, file, features, and the process that runs it."""

    name: str
    path: Path
    n_features: int
    first_feature: int
    scorer: _Scorer
    number: int  # of the model in the scorer

    def scores(self, features: Floats) -> Floats:
        """Score each document by its features 1, 2, ...

        Features that the model does not have are ignored. Features that the documents do not have are 0.
        """
        step = max(1, FEATURES_PER_BATCH // max(1, self.n_features))
        parts = [self._scores(features[start : start + step]) for start in range(0, len(features), step)]
        scores = np.concatenate(parts)
        if scores.shape != (len(features),):
            raise DatasetError(f"model {self.name}: expected one score per document, got shape {scores.shape}")
        if np.isnan(scores).any():
            raise DatasetError(f"model {self.name}: the score of a document is NaN, expected a number")
        return scores

    def _scores(self, features: Floats) -> Floats:
        known = np.zeros((len(features), self.n_features))
        unused = 1 - self.first_feature
        shared = max(0, min(features.shape[1], self.n_features - unused))
        known[:, unused : unused + shared] = features[:, :shared]
        return self.scorer.scores(self.path, self.number, known)


def load_models(paths: Sequence[str | PathLike[str]], first_feature: int) -> list[Model]:
    """Read models. The library is recognised by the content of the file. Models are named after their files."""
    files = [Path(path) for path in paths]
    if not files:
        raise ValueError("models must name at least one file, got an empty list; pass None to use features as rankers")
    names = [file.stem for file in files]
    if len(set(names)) < len(names):
        names = [str(file) for file in files]
    libraries = [_library(file) for file in files]
    scorer = _Scorer()
    return [
        Model(name, file, scorer.load(file, library), first_feature, scorer, number)
        for number, (name, file, library) in enumerate(zip(names, files, libraries, strict=True))
    ]


def _library(path: Path) -> str:
    """Recognise the library that wrote a model."""
    if not path.exists():
        raise FileNotFoundError(f"no such file: {path}")
    with path.open("rb") as file:
        content = file.read(20)
    if content.startswith((b"tree\n", b"tree\r\n")):
        library = "lightgbm"
    elif content.startswith(b"{"):
        library = "xgboost"
    else:
        raise DatasetError(f"{path}: expected a LightGBM text model or an XGBoost JSON model, got {content!r}")
    if find_spec(library) is None:
        raise ImportError(_needs(library))
    return library


def _needs(library: str) -> str:
    return f"models as rankers need {library}, which is not installed: pip install 'rankduel[models]'"
