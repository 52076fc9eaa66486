from pathlib import Path

import pytest

from cli.processes import run


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("", "the following arguments are required: COMMAND"),
        ("simulat", "invalid choice: 'simulat'"),
        ("simulate", "the following arguments are required: PROBLEM"),
        (
            "simulate nowhere.npz",
            "unknown problem 'nowhere.npz': expected a matrix file or one of cycle, cycle2",
        ),
        ("simulate bad.csv", "P[0, 1] + P[1, 0] = 1.2, expected 1"),
        ("simulate text.txt", "cannot read text.txt: line 1: expected a number, got 'once'"),
        ("simulate bradley_terry", "bradley_terry needs the option n_arms; its options: n_arms, spread, winner, seed"),
        ("simulate bradley_terry(n_arms=0)", "n_arms must be a whole number of at least 1, got 0"),
        ("simulate random_tournament(n_arms=10**7)", "Unable to allocate"),
        ("simulate cycle2 --bandit Nobody", "unknown bandit 'Nobody', expected one of CertifiedSparring, MergeDTS"),
        ("simulate cycle2 --bandit MergeDTS(alpha=-1)", "alpha must be > 0, got -1"),
        (
            "simulate cycle2 --bandit MergeDTS(beta=1)",
            "MergeDTS has no option 'beta'; its options: alpha, batch_size, c",
        ),
        ("simulate cycle2 --bandit MergeDTS(", "'(' was never closed"),
        ("simulate cycle2 --bandit RUCB --bandit RUCB(alpha=0.51)", "RUCB is given 2 times, as RUCB(alpha=0.51)"),
        ("simulate cycle2 --horizon 0", "argument --horizon: expected a whole number of at least 1, got '0'"),
        ("simulate cycle2 --horizon 1.5", "argument --horizon: expected a whole number of at least 1, got '1.5'"),
        ("simulate cycle2 --horizon inf", "argument --horizon: expected a whole number of at least 1, got 'inf'"),
        ("simulate cycle2 --horizon many", "argument --horizon: expected a whole number of at least 1, got 'many'"),
        ("simulate cycle2 --horizon 1e16", "--horizon must be a whole number from 1 to 1e+15, got 10000000000000000"),
        ("simulate cycle2 --runs 1e9", "--runs must be a whole number from 1 to 1e+06, got 1000000000"),
        ("simulate cycle2 --jobs 0", "argument --jobs: expected a whole number of at least 1, got '0'"),
        ("simulate cycle2 --seed -1", "argument --seed: expected a whole number of at least 0, got '-1'"),
        ("simulate cycle2 --format xml", "argument --format: invalid choice: 'xml'"),
        ("simulate cycle2 --regret none", "argument --regret: invalid choice: 'none'"),
        ("simulate cycle2 --delay Fixed(duels=-1)", "duels must be a whole number of duels from 0 to 1e+15, got -1"),
        ("simulate cycle2 --delay Late", "unknown delay 'Late', expected one of Fixed, Geometric, Empirical"),
        ("plan", "no rankers given; pass --rankers K or --problem PROBLEM"),
        ("plan --rankers 1", "argument --rankers: expected a whole number of at least 2, got '1'"),
        ("plan --rankers 9999", "--rankers must be a whole number from 2 to 5000, got 9999"),
        ("plan --rankers 9 --delta 1.5", "--delta must be above 0 and below 1, got 1.5"),
        ("plan --rankers 9 --deadline 0", "--deadline must be above 0 days, got 0.0"),
        ("plan --rankers 9 --bandit Nobody", "unknown bandit 'Nobody'"),
        ("plan --rankers 9 --problem cycle2", "cycle2 has 20 rankers, got --rankers 9"),
        ("plan --problem two_winners", "two_winners has no Condorcet winner"),
        ("simulate cycle2 --speed 3", "unrecognized arguments: --speed 3"),
        ("simulate cycle2 --out text.txt", "Not a directory: 'text.txt/runs'"),
        ("demo --seed x", "argument --seed: expected a whole number of at least 0, got 'x'"),
        ("demo --port 70000", "the service ended with exit code 2: --port must be a whole number from 0 to 65535, got"),
    ],
)
def test_one_clear_line_and_nothing_written(tmp_path: Path, arguments: str, message: str) -> None:
    (tmp_path / "bad.csv").write_text("0.5,0.6\n0.6,0.5\n")
    (tmp_path / "text.txt").write_text("once upon a time\n")
    ran = run(*arguments.replace("--", " --").split(), cwd=tmp_path)
    assert ran.returncode == 2
    assert ran.stdout == ""
    assert ran.stderr.startswith("rankduel")
    assert ran.stderr.count("\n") == 1
    assert message in ran.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.csv", "text.txt"]
