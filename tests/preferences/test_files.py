import gzip
import re
from pathlib import Path

import numpy as np
import pytest

from rankduel.preferences import PreferenceMatrix
from rankduel.preferences.problems import random_tournament

NAMES = ("BM25", "a,b", 'quo"te', "two\nlines", "#5", "ünï", "0.5")
WITH_NAMES = [".npz", ".csv", ".csv.gz", ".CSV", ".npz.gz"]
WITHOUT_NAMES = [".npy", ".txt", ".dat", ".txt.gz", "", ".NPY"]


@pytest.mark.parametrize("suffix", WITH_NAMES + WITHOUT_NAMES)
@pytest.mark.parametrize("names", [None, NAMES])
def test_what_is_saved_is_loaded_to_the_last_bit(tmp_path: Path, suffix: str, names: tuple[str, ...] | None) -> None:
    P = random_tournament(7, seed=4).probabilities
    problem = PreferenceMatrix(P, names)
    path = tmp_path / f"matrix{suffix}"
    problem.save(path)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    assert PreferenceMatrix.load(str(path)) == PreferenceMatrix(P, names if suffix in WITH_NAMES else None)


def test_the_suffix_decides_the_format(tmp_path: Path) -> None:
    problem = random_tournament(3)
    for name, start in {"a.npz": b"PK", "a.npy": b"\x93NUMPY", "a.txt.gz": b"\x1f\x8b", "a.txt": b"0.5 "}.items():
        problem.save(tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(start)
    problem.save(tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text().startswith("0.5,")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("m.txt", "# who beats whom\n.5\t0.75 # first\n\n  .25 5e-1"),
        ("m.txt", "0.5, 0.75\r\n0.25, 0.5\r\n"),
        ("m", "\ufeff.5 .75\n.25 .5\n"),
        ("m.csv", "0.5,0.75\n\n0.25,0.5\n"),
        ("m.csv", '\ufeff"0.5","0.75"\n0.25, 0.5'),
    ],
)
def test_text_as_people_write_it(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    assert PreferenceMatrix.load(path) == PreferenceMatrix.from_array([[0.5, 0.75], [0.25, 0.5]])


def test_a_first_row_of_names_in_csv_may_look_like_numbers(tmp_path: Path) -> None:
    path = tmp_path / "m.csv"
    path.write_text("1,2\n0.5,0.75\n0.25,0.5\n")
    assert PreferenceMatrix.load(path).names == ("1", "2")


def test_bytes_as_names_in_npz(tmp_path: Path) -> None:
    path = tmp_path / "m.npz"
    np.savez(path, P=np.full((2, 2), 0.5), names=np.array([b"a", b"b"]))
    assert PreferenceMatrix.load(path).names == ("a", "b")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("m.txt", b"", "the file has no numbers"),
        ("m.csv", b"\n", "the file has no numbers"),
        ("m.txt", b"# nothing\n", "the file has no numbers"),
        ("m.txt", b".5 .5\n\n.5", "line 3: 1 values, expected 2 as in the first row"),
        ("m.txt", b".5 .5\n.5 half", "line 2: expected a number, got 'half'"),
        ("m.csv", b"a,b\nc,d\n.5,.5\n", "line 2: expected a number, got 'c'"),
        ("m.csv", b"x" * 200_000, ": field larger than field limit"),
        ("m.txt", b"\xff\xfe\x00", ": 'utf-8' codec"),
        ("m.txt.gz", b"no gzip", ": Not a gzipped file"),
        ("m.txt.gz", gzip.compress(b".5" * 99, mtime=0)[:-9], ": "),
        ("m.npy", b"no array", ": "),
        ("m.npy", b"", ": No data left in file"),
        ("m.npz", b"PK\x03\x04 no zip", ": File is not a zip file"),
        ("m.txt", b".5 .7\n.7 .5", ": P[0, 1] + P[1, 0] = 1.4, expected 1"),
        ("m.txt", b".5 nan\n.7 .5", ": P[0, 1] is nan"),
    ],
)
def test_a_damaged_file_is_named_with_what_is_wrong(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ValueError, match=re.escape(str(path)) + ".*" + re.escape(message)):
        PreferenceMatrix.load(path)


def test_an_npz_without_p_says_what_it_holds(tmp_path: Path) -> None:
    path = tmp_path / "m.npz"
    np.savez(path, W=np.eye(2), names=np.array(["a", "b"]))
    with pytest.raises(ValueError, match=re.escape(f"cannot read {path}: the file has no array 'P', only W, names")):
        PreferenceMatrix.load(path)


def test_pickled_objects_are_never_loaded(tmp_path: Path) -> None:
    path = tmp_path / "m.npz"
    np.savez(path, P=np.array([[0.5]], dtype=object))
    with pytest.raises(ValueError, match="allow_pickle=False"):
        PreferenceMatrix.load(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "nowhere.npz"
    with pytest.raises(FileNotFoundError, match=re.escape(str(path))):
        PreferenceMatrix.load(path)


def test_load_takes_a_tolerance(tmp_path: Path) -> None:
    path = tmp_path / "m.txt"
    path.write_text(".5 .61\n.4 .5\n")
    assert PreferenceMatrix.load(path, tolerance=0.02).probabilities[0, 1] == pytest.approx(0.605)
