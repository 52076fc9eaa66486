"""A storage cannot make this process import code: a bandit `module:Class` in it must be known or allowed here."""

import sys
from pathlib import Path

import pytest

from rankduel.bandits.plugins import ALLOWED
from rankduel.errors import StorageError
from rankduel.live import Tournament
from rankduel.types import Outcome

OWN = """
from pathlib import Path
import rankduel as rd

Path(__file__).with_name("imported").touch()

class Greedy(rd.Bandit):
    def __init__(self, n_arms, *, seed=None):
        super().__init__(n_arms, seed=seed)
        self.wins = self.keep("wins", [0] * n_arms)
    def pick(self):
        return int(self.wins.argmax()), int(self.random.integers(self.n_arms))
    def update(self, first, second, outcome):
        self.wins[first if outcome is rd.Outcome.FIRST else second] += 1
    @property
    def champion(self):
        return int(self.wins.argmax())
"""


@pytest.fixture
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A storage with a tournament of an own bandit, whose module is not imported any more."""
    (tmp_path / "their_bandits.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delenv(ALLOWED, raising=False)
    monkeypatch.delitem(sys.modules, "their_bandits", raising=False)
    url = f"sqlite:///{tmp_path}/duels.db"
    with Tournament.create("site", rankers=["a", "b"], storage=url, bandit="their_bandits:Greedy", seed=1) as t:
        for number in range(5):
            t.tell(t.ask(f"q{number}"), Outcome.FIRST)
    (tmp_path / "imported").unlink()
    del sys.modules["their_bandits"]
    return url


def test_opening_a_storage_imports_nothing(stored: str, tmp_path: Path) -> None:
    """Without the operator's word, a class that a storage names is an error that says what to do; no code has run."""
    with pytest.raises(
        StorageError,
        match=r"names the bandit their_bandits:Greedy.*import their_bandits before you open the storage, or set",
    ):
        Tournament.open("site", storage=stored)
    assert "their_bandits" not in sys.modules
    assert not (tmp_path / "imported").exists()


def test_an_allowed_class_is_imported(stored: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """RANKDUEL_BANDITS names the classes that a storage may use."""
    monkeypatch.setenv(ALLOWED, "another:One, their_bandits:Greedy")
    with Tournament.open("site", storage=stored) as t:
        assert t.counts.resolved == 5


def test_another_class_of_an_allowed_module_is_not(stored: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The variable allows a class, not all of its module."""
    monkeypatch.setenv(ALLOWED, "their_bandits:Other")
    with pytest.raises(StorageError, match="their_bandits:Greedy"):
        Tournament.open("site", storage=stored)


def test_a_class_that_is_imported_already_is_used(stored: str) -> None:
    """A program that has imported the class opens its tournaments as before, from the snapshot too."""
    __import__("their_bandits")
    with Tournament.open("site", storage=stored) as t:
        assert t.counts.resolved == 5


def test_what_is_no_bandit_is_not_called(stored: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the modules that are there, a storage can name nothing but bandits."""
    __import__("their_bandits")
    monkeypatch.setattr(sys.modules["their_bandits"], "Greedy", Path)
    with pytest.raises(StorageError, match="their_bandits:Greedy"):
        Tournament.open("site", storage=stored)
