"""The second load: mapped, the same, and never half an entry."""

import gzip
import mmap
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from rankduel.datasets import Collection, letor, load_letor

TEXT = "".join(f"{n % 3} qid:{n // 5} 1:{n % 7} 2:0.{n}\n" for n in range(500))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "data.txt"
    path.write_text(TEXT)
    return path


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A number for every time that text was read."""
    found: list[int] = []
    read = letor._read

    def counted(*arguments: Any) -> Collection:
        found.append(len(found))
        return read(*arguments)

    monkeypatch.setattr(letor, "_read", counted)
    return found


def entries(cache: Path) -> list[Path]:
    return sorted(cache.iterdir()) if cache.exists() else []


def base(array: npt.NDArray[Any]) -> object:
    """What the numbers lie in."""
    owner: object = array
    while isinstance(owner, np.ndarray | memoryview):
        owner = owner.base if isinstance(owner, np.ndarray) else owner.obj
    return owner


def test_the_second_load_is_mapped_and_the_same(file: Path, tmp_path: Path, reads: list[int]) -> None:
    fresh = load_letor(file, cache=False)
    first = load_letor(file, cache=tmp_path / "cache")
    second = load_letor(file, cache=tmp_path / "cache")
    assert reads == [0, 1]
    assert fresh == first == second
    assert len(entries(tmp_path / "cache")) == 1
    for table in (second.order, second.start):
        assert isinstance(base(table), mmap.mmap)
        assert table.flags.c_contiguous
        assert table.ctypes.data % 64 == 0


def test_the_content_decides(file: Path, tmp_path: Path, reads: list[int]) -> None:
    cache = tmp_path / "cache"
    load_letor(file, cache=cache)
    copied = tmp_path / "copy.txt"
    copied.write_text(TEXT)
    load_letor(copied, cache=cache)
    assert reads == [0]
    copied.write_text(TEXT + "2 qid:more 1:1\n")
    assert load_letor(copied, cache=cache).n_queries == 101
    copied.write_bytes(gzip.compress(TEXT.encode(), mtime=0))
    assert load_letor(copied, cache=cache) == load_letor(file, cache=cache)
    assert reads == [0, 1, 2]


def test_where_it_is(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANKDUEL_CACHE", str(tmp_path / "named"))
    load_letor(file)
    assert len(entries(tmp_path / "named")) == 1
    monkeypatch.delenv("RANKDUEL_CACHE")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    load_letor(file)
    assert len(entries(tmp_path / "home" / ".cache" / "rankduel")) == 1
    load_letor(file, cache=False)
    assert len(entries(tmp_path / "named")) == 1


def test_damage_is_noticed_and_repaired(file: Path, tmp_path: Path, reads: list[int]) -> None:
    cache = tmp_path / "cache"
    whole = load_letor(file, cache=cache)
    (entry,) = entries(cache)
    content = entry.read_bytes()
    header = content.index(b"\n", content.index(b"\n") + 1)
    damages = [b"", content[:10], content[:header], content[:-1], content[: len(content) // 2]]
    places = [0, 25, header - 3, header + 70, len(content) // 2, len(content) - 1]
    damages += [content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :] for place in places]
    del whole
    for damaged in damages:
        draft = entry.with_suffix(".damaged")  # never in place: the old one may be mapped
        draft.write_bytes(damaged)
        os.replace(draft, entry)
        before = len(reads)
        assert load_letor(file, cache=cache) == load_letor(file, cache=cache)
        assert len(reads) == before + 1
        assert entry.read_bytes() == content


@pytest.mark.parametrize("kind", ["a file in its place", "a full disk", "no home"])
def test_without_a_folder_there_is_the_memory(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    cache = tmp_path / "cache"
    if kind == "a file in its place":
        cache.write_text("")
    elif kind == "a full disk":

        def full(*_: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "replace", full)
    else:
        monkeypatch.delenv("RANKDUEL_CACHE")

        def homeless() -> Path:
            raise RuntimeError("Could not determine home directory.")

        monkeypatch.setattr(Path, "home", homeless)
    collection = load_letor(file, cache=True if kind == "no home" else cache)
    assert collection.n_queries == 100
    assert not isinstance(base(collection.order), mmap.mmap)
    assert not cache.is_dir() or entries(cache) == []


def test_a_file_that_changes_while_it_is_read_is_not_kept(file: Path, tmp_path: Path) -> None:
    def change(done: int, total: int) -> None:
        if done == total:
            with file.open("a") as more:
                more.write("1 qid:new 1:1\n")

    load_letor(file, cache=tmp_path / "cache", watch=change)
    assert entries(tmp_path / "cache") == []


def test_drafts_of_the_dead_are_swept(file: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    old, young, other = (cache / name for name in (".a.collection.1f", ".b.collection.2f", "notes"))
    for path in (old, young, other):
        path.write_text("")
    for path in (old, other):
        os.utime(path, times=(time.time() - 1e6,) * 2)
    load_letor(file, cache=cache)
    assert not old.exists()
    assert young.exists()
    assert other.exists()


def test_a_killed_process_leaves_no_entry(file: Path, tmp_path: Path) -> None:
    code = """
import os, signal, sys
from rankduel.datasets import load_letor
def die(*_): os.kill(os.getpid(), signal.SIGKILL)
os.replace = die
load_letor(sys.argv[1], cache=sys.argv[2])
"""
    cache = tmp_path / "cache"
    killed = subprocess.run([sys.executable, "-c", code, file, cache], check=False)
    assert killed.returncode == -9
    assert [path.name[0] for path in entries(cache)] == ["."]
    assert load_letor(file, cache=cache) == load_letor(file, cache=False)


@pytest.mark.slow
def test_two_processes_at_once(file: Path, tmp_path: Path) -> None:
    code = """
import sys
from rankduel.datasets import load_letor
print(load_letor(sys.argv[1], cache=sys.argv[2]).fingerprint)
"""
    command = [sys.executable, "-c", code, str(file), str(tmp_path / "cache")]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    printed = {process.communicate()[0].strip() for process in running}
    assert printed == {load_letor(file, cache=False).fingerprint}
    assert len(entries(tmp_path / "cache")) == 1
