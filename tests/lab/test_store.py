import dataclasses
import os
import threading
from pathlib import Path

import pytest

import rankduel as rd
from rankduel.lab import Store, Unit
from rankduel.lab.store import write_whole

UNIT = Unit(rd.problems.cycle2(), "MergeDTS()", 100_000, (1, 10, 100_000), "average", 3, 0)


def same(one: rd.Run | None, other: rd.Run) -> bool:
    return one is not None and repr(one) == repr(other) and one.regret.tolist() == other.regret.tolist()


@pytest.mark.parametrize("bandit", ["MergeDTS()", "Uniform()"])  # one has a winner and the other has not
def test_what_is_written_is_read(tmp_path: Path, bandit: str) -> None:
    unit = dataclasses.replace(UNIT, bandit=bandit)
    store = Store(tmp_path / "new" / "folder")
    assert store.read(unit) is None
    run = unit.play()
    store.write(unit, run)
    read = store.read(unit)
    assert same(read, run)
    assert read
    assert read.checkpoints.tolist() == [1, 10, 100_000]
    assert read.checkpoints.dtype == run.checkpoints.dtype
    assert os.listdir(store.folder / "runs") == [f"{unit.key}.json"]


def test_any_damage_is_noticed(tmp_path: Path) -> None:
    store = Store(tmp_path)
    run = UNIT.play()
    store.write(UNIT, run)
    content = store.path(UNIT).read_bytes()
    for place in range(0, len(content), 2):
        store.path(UNIT).write_bytes(content[:place])
        assert store.read(UNIT) is None
        for bit in (1, 128):
            store.path(UNIT).write_bytes(content[:place] + bytes([content[place] ^ bit]) + content[place + 1 :])
            read = store.read(UNIT)
            assert read is None or same(read, run)


@pytest.mark.parametrize("content", [b"[]", b"3", b"null", b'{"record": 1}', b"[" * 100_000, b"\xff\xfe", b"9" * 5000])
def test_something_else_in_its_place_is_no_run(tmp_path: Path, content: bytes) -> None:
    store = Store(tmp_path)
    store.prepare()
    store.path(UNIT).write_bytes(content)
    assert store.read(UNIT) is None


def test_a_run_under_another_units_name_is_not_taken_for_it(tmp_path: Path) -> None:
    store = Store(tmp_path)
    other = dataclasses.replace(UNIT, seed=4)
    store.write(UNIT, UNIT.play())
    store.path(UNIT).rename(store.path(other))
    assert store.read(other) is None


def test_many_writers_leave_one_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    contents = [bytes([letter]) * 100_000 for letter in b"abcdefgh"]
    seen = set()

    def write(content: bytes) -> None:
        for _ in range(20):
            write_whole(path, content)
            seen.add(path.read_bytes())

    threads = [threading.Thread(target=write, args=(content,)) for content in contents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen <= set(contents)
    assert os.listdir(tmp_path) == ["file"]


def test_a_failed_write_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").mkdir()
    with pytest.raises(OSError, match="file"):
        write_whole(tmp_path / "file", b"content")
    assert os.listdir(tmp_path) == ["file"]
