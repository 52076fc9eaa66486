import json
import re
from pathlib import Path
from xml.etree import ElementTree

from cli.processes import on_terminal, plain, run


def test_ten_lines_a_winner_and_a_plot(tmp_path: Path) -> None:
    ran = run("demo", cwd=tmp_path)
    assert ran.returncode == 0
    assert ran.stderr == ""
    scenes, ending = ran.stdout.split("\n\n")
    assert 8 <= len(scenes.splitlines()) <= 12
    left = [int(number) for number in re.findall(r"(\d+) left", scenes)]
    assert left == sorted(left, reverse=True)
    assert left[-1] == 1
    assert re.search(r"winner: +ranker 105, truly the best: it beats every other\n", ending)
    assert re.search(r"CPU time: +[\d.]+ s, [\d.]+ us per duel\n", ending)
    assert ending.endswith("regret plot:  results/demo/regret.png and results/demo/regret.svg\n")
    assert (tmp_path / "results/demo/regret.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    assert ElementTree.parse(tmp_path / "results/demo/regret.svg").getroot().tag.endswith("svg")
    # It is an honest run: simulate gives the same numbers.
    two = ("--bandit", "MergeDTS", "--bandit", "Uniform")
    duels = re.search(r"found after: +([\d,]+) duels", ending)
    assert duels
    horizon = duels[1].replace(",", "")
    same = run("simulate", "web_search", *two, "--horizon", horizon, "--runs", "1", "--format", "json", cwd=tmp_path)
    merge, uniform = json.loads(same.stdout)["bandits"]
    assert merge["converged_at"] == int(horizon)
    costs = f"{merge['regret']:,.0f}; uniform play over the same duels cost {uniform['regret']:,.0f},"
    assert re.search(rf"regret: +{re.escape(costs)}", ending)


def test_without_matplotlib_and_with_another_seed_and_place(tmp_path: Path) -> None:
    zero = run("demo", cwd=tmp_path, without="matplotlib")
    assert zero.returncode == 0
    assert "pip install 'rankduel[lab]'" in zero.stderr
    one = run("demo", "--seed", "1", "--out", "here", cwd=tmp_path)
    assert one.stdout.splitlines()[0] != zero.stdout.splitlines()[0]
    assert one.stdout.endswith("regret plot:  here/regret.png and here/regret.svg\n")
    assert (tmp_path / "here/regret.svg").exists()


def test_live_on_a_terminal(tmp_path: Path) -> None:
    code, _, received = on_terminal("demo", cwd=tmp_path)
    assert code == 0
    shown = plain(received)
    assert shown.count("MergeDTS finds the best of 136 rankers") > 100  # frames
    assert re.search(r"batch 9 +\d+ ■+", shown)
    assert "0 of 136 are out" in shown
    assert "135 of 136 are out" in shown
    assert "\x1b[?25h" in received  # the cursor is back
    assert "winner:" in shown


def test_without_rich(tmp_path: Path) -> None:
    code, _, received = on_terminal("demo", cwd=tmp_path, without="rich")
    assert code == 0
    assert "\x1b" not in received
    assert "1 left" in received
