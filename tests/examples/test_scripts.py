"""Each script in examples/ runs as a reader would run it, and ends well."""

import importlib
import re
from pathlib import Path

import pytest

import rankduel as rd
from examples.running import EXAMPLES, needs_service, run, service
from fences import ROOT


def only(pattern: str, printed: str) -> re.Match[str]:
    """The one place of a pattern in what was printed."""
    (found,) = re.finditer(pattern, printed, re.MULTILINE)
    return found


def check_search_app(printed: str) -> None:
    # Threads race, so that no two runs are the same: what is certain is that the champion is far above the mean.
    passages, queries, rankers = only(r"^([\d,]+) passages .*, (\d+) queries, (\d+) rankers$", printed).groups()
    assert int(passages.replace(",", "")) > 1000
    assert (queries, rankers) == ("400", "50")
    champion, rate = only(r"^In truth, (.+) has a mean reciprocal rank of (0\.\d+)\.$", printed).groups()
    best, highest, mean = only(r"^The best of all is (.+) with (0\.\d+)\. The average is (0\.\d+)\.$", printed).groups()
    assert float(mean) + 0.05 < float(rate) <= float(highest)
    assert ("The champion is the best ranker." in printed) is (champion == best)


def test_search_app(tmp_path: Path) -> None:
    printed = run("search_app", "--storage", "sqlite:///duels.db", cwd=tmp_path)
    check_search_app(printed)
    assert "No decision yet" not in printed
    with rd.Tournament.open("python-docs", storage=f"sqlite:///{tmp_path / 'duels.db'}") as t:
        assert str(t.decision()) in printed


@needs_service
def test_search_app_over_http(tmp_path: Path) -> None:
    with service(tmp_path) as url:
        printed = run("search_app", "--service", url, "--searches", "3000", cwd=tmp_path)
    check_search_app(printed)


def test_lightgbm_rankers(tmp_path: Path) -> None:
    pytest.importorskip("lightgbm")
    printed = run("lightgbm_rankers.py", cwd=tmp_path)
    lines = re.findall(r"^NDCG@10 (0\.\d+)  (left|out) +(.+)$", printed, re.MULTILINE)
    assert len(lines) == 12
    assert [float(ndcg) for ndcg, _, _ in lines] == sorted((float(ndcg) for ndcg, _, _ in lines), reverse=True)
    assert lines[0][1] == "left"
    assert lines[-1][1] == "out"
    assert f"The best by NDCG, {lines[0][2]}, is among those left." in printed


def test_prompts(tmp_path: Path) -> None:
    printed = run("prompts.py", cwd=tmp_path)
    calls, tokens, dollars = only(r"^([\d,]+) calls, ([\d,]+) tokens, \$([\d.]+)$", printed).groups()
    left = only(r"^Left: (.+)$", printed)[1].split(", ")
    best = only(r"^In truth, the best are (.+)\.$", printed)[1].split(", ")
    assert int(calls.replace(",", "")) % 2 == 0  # both orders, always
    assert int(tokens.replace(",", "")) > 400 * int(calls.replace(",", ""))
    assert float(dollars) < 10
    assert "tied" in printed
    assert best[0] in left
    assert len(left) < 10


def test_prompts_stop_when_the_money_is_spent(tmp_path: Path) -> None:
    printed = run("prompts.py", "--budget", "0.1", cwd=tmp_path)
    assert "No decision yet: " in printed
    assert 0.1 <= float(only(r"tokens, \$([\d.]+)$", printed)[1]) < 0.11


@pytest.mark.parametrize(
    ("favoured", "outcome"),
    [("first", rd.Outcome.TIE), ("second", rd.Outcome.TIE), ("a", rd.Outcome.FIRST), ("b", rd.Outcome.SECOND)],
)
def test_the_place_is_worth_nothing(favoured: str, outcome: rd.Outcome, monkeypatch: pytest.MonkeyPatch) -> None:
    # A judge who looks at the place alone decides nothing; one who looks at the answer decides.
    monkeypatch.syspath_prepend(EXAMPLES)
    prompts = importlib.import_module("prompts")

    def judge(question: str, read_first: str, read_second: str, bill: object) -> str:
        if favoured in ("first", "second"):
            return favoured
        return "first" if read_first == favoured else "second"

    monkeypatch.setattr(prompts, "judge", judge)
    assert prompts.compare("?", "a", "b", prompts.Bill()) is outcome


def test_own_bandit(tmp_path: Path) -> None:
    printed = run("own_bandit.py", "--runs", "4", cwd=tmp_path)
    assert printed.startswith("Halving passes the conformance suite.\n")
    ours, theirs = (re.findall(rf"^{bandit} +([\d,]+) ", printed, re.MULTILINE) for bandit in ("Halving", "MergeDTS"))
    assert len(ours) == len(theirs) == 2
    assert int(ours[0].replace(",", "")) < int(theirs[0].replace(",", ""))  # on cycle2, by far


def test_every_example_is_listed() -> None:
    page = (EXAMPLES / "README.md").read_text()
    names = {path.name for path in EXAMPLES.iterdir() if not path.name.startswith((".", "_"))} - {"README.md"}
    assert {name for name in names if f"({name})" not in page and f"({name}/" not in page} == set()
    for place in ("README.md", "docs/README.md"):
        assert "examples/README.md" in (ROOT / place).read_text()
