"""Specs: the paper's are sound, a user's own are short, and a mistake is named with its file and key."""

from pathlib import Path

import pytest

import rankduel as rd
from rankduel.lab import Spec, load_spec, paper_specs
from rankduel.lab.sources import Sources, data_folder
from rankduel.lab.specs import SCALES


@pytest.fixture(scope="module")
def sources() -> Sources:
    return Sources(None)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", paper_specs())
def test_the_papers_specs_name_bandits_and_problems_that_exist(name: str, scale: str, sources: Sources) -> None:
    spec = paper_specs()[name]
    assert spec.name == name
    assert spec.title
    assert spec.question.endswith("?")
    assert spec.where.startswith("Section ")
    experiments = spec.experiments(scale, sources)
    assert len({each.name for each in experiments}) == len(experiments)
    for each in experiments:
        assert len(set(each.labels)) == len(each.labels) == len(each.experiment.bandits)


def test_the_paper_scale_is_the_papers(sources: Sources) -> None:
    wanted = {"rq1": (10**8, 50), "rq3": (10**8, 50), "rq4": (10**7, 100), "rq5": (10**7, 100), "rq6": (2 * 10**6, 5)}
    for name, (horizon, runs) in (wanted | {"rq7": (10**7, 100)}).items():
        scale = paper_specs()[name].scales["paper"]
        assert (scale.horizon, scale.runs) == (horizon, runs)
    swept = {each.part: each.labels for each in paper_specs()["rq7"].experiments("paper", sources)}
    assert swept["alpha"] + swept["alpha-low"] == tuple(f"alpha=0.8**{power}" for power in range(10))
    assert swept["batch"] == ("M=2", "M=4", "M=8", "M=16")
    assert swept["c"] == ("C=400", "C=4000", "C=40000", "C=400000", "C=4000000", "C=4726908")


def test_stand_ins_have_the_size_of_what_they_stand_for(sources: Sources) -> None:
    sizes = {"mslr": 136, "yahoo": 700, "istella": 220}
    for dataset, n_arms in sizes.items():
        for kind in ("perfect", "navigational", "informational", "search"):
            found = sources.find(f"{dataset}_{kind}")
            assert found.problem.n_arms == n_arms
            assert found.origin == "stand-in"
            assert found.description.startswith("stand-in: ")
    useless = sources.find("yahoo_navigational").problem
    assert isinstance(useless, rd.PreferenceMatrix)
    assert (useless.probabilities.max(axis=1) == 0.5).sum() == 181  # beat nobody
    assert sources.find("mslr_non_condorcet").problem.n_arms == 32


def test_a_matrix_of_the_users_drops_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rd.problems.web_search(seed=5).save(tmp_path / "mslr_navigational.npz")
    (tmp_path / "matrices").mkdir()
    rd.problems.web_search(n_arms=135, seed=6).save(tmp_path / "matrices" / "mslr_informational.csv.gz")
    monkeypatch.setenv("RANKDUEL_DATA", str(tmp_path))
    assert data_folder(None) == tmp_path
    mine = Sources(data_folder(None))
    found = mine.find("mslr_navigational")
    assert (found.origin, found.description, found.title) == (
        "data",
        "data: mslr_navigational.npz",
        "MSLR-Navigational",
    )
    assert found.problem == rd.problems.web_search(seed=5)
    assert mine.find("mslr_informational").origin == mine.find("mslr_non_condorcet").origin == "data"
    assert mine.find("mslr_non_condorcet").problem.n_arms == 32
    assert mine.find("yahoo_navigational").origin == "stand-in"
    rd.problems.cycle2().save(tmp_path / "mslr_perfect.npz")
    with pytest.raises(ValueError, match=r"mslr_perfect\.npz has 20 arms, but MSLR-Perfect has 136"):
        mine.find("mslr_perfect")
    monkeypatch.setenv("RANKDUEL_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(ValueError, match=r"RANKDUEL_DATA must be an existing folder, got .*nowhere"):
        data_folder(None)


def written(folder: Path, text: str) -> Path:
    path = folder / "mine.toml"
    path.write_text(text)
    return path


SHORT = 'problems = ["cycle2", "cycle"]\nbandits = ["MergeDTS", "RMED1"]\nhorizon = 1e4\nruns = 3\n'


def test_a_spec_in_four_lines(tmp_path: Path, sources: Sources) -> None:
    experiments = load_spec(written(tmp_path, SHORT)).experiments(None, sources, seed=7)
    assert [(each.name, each.labels) for each in experiments] == [
        ("cycle2", ("MergeDTS", "RMED1")),
        ("cycle", ("MergeDTS", "RMED1")),
    ]
    assert {(c.experiment.horizon, c.experiment.runs, c.experiment.seed) for c in experiments} == {(10_000, 3, 7)}


def test_sweeps_over_problems_and_bandits(tmp_path: Path, sources: Sources) -> None:
    spec = load_spec(
        written(
            tmp_path,
            """
            runs = 2
            [[part]]
            name = "grid"
            problem = "bradley_terry(n_arms={n})"
            bandits = ["MergeDTS(alpha={alpha})", "Uniform"]
            sweep = { n = [5, 6], alpha = ["0.8**2", 0.5] }
            horizon = 100
            """,
        )
    )
    five, six = spec.experiments(None, sources)
    assert (five.name, six.name, six.experiment.problem.n_arms) == ("grid-5", "grid-6", 6)
    assert five.labels == ("MergeDTS, alpha=0.8**2", "MergeDTS, alpha=0.5", "Uniform")
    assert five.experiment.bandits == ("MergeDTS(alpha=0.8**2)", "MergeDTS(alpha=0.5)", "Uniform")


def test_a_file_beside_the_spec_is_a_problem(tmp_path: Path, sources: Sources) -> None:
    rd.problems.cycle2().save(tmp_path / "mine.csv")
    spec = load_spec(written(tmp_path, 'problems = ["mine.csv"]\nbandits = ["Uniform"]'))
    (each,) = spec.experiments(None, sources)
    assert each.experiment.problem == rd.problems.cycle2()


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        ("problems = [", "invalid TOML"),
        (SHORT + "horizont = 5", r"unknown key horizont; did you mean horizon\?"),
        (SHORT + "speed = 5", "unknown key speed; expected one of name, title"),
        (SHORT.replace("1e4", "0"), "horizon must be a whole number of at least 1, got 0"),
        (SHORT.replace("1e4", '"long"'), "horizon must be a number, got 'long'"),
        (SHORT.replace("runs = 3", "runs = true"), "runs must be a number, got True"),
        ('bandits = ["MergeDTS"]', r"no problems; add problems = \[\.\.\.\] or a \[\[part\]\]"),
        ('problems = ["cycle2"]', "part 'cycle2' has no bandits"),
        ("regret = 'some'\n" + SHORT, "regret must be one of average, weak, strong, copeland, got 'some'"),
        (SHORT + "[[part]]\nname = 'x'", "part 1: problem is missing"),
        (
            SHORT + "[[part]]\nproblem = 'cycle'\nsmall = { hours = 3 }",
            "part 1: unknown key small.hours; expected one of horizon, runs",
        ),
        (SHORT + "[[part]]\nproblem = 'cycle'", "2 parts have the name 'cycle'; names must be unique"),
        (
            SHORT + "[[part]]\nname = 'x'\nproblem = 'cycle'\nsweep = { a = [1] }",
            r"part 'x' sweeps a, but its problem, bandits and delay do not contain {a}",
        ),
        (
            SHORT + "[[part]]\nname = 'x'\nproblem = 'cycle'\nsweep = { a = 1 }",
            r"sweep\.a must be a non-empty list, got 1",
        ),
        (SHORT + "[[figure]]\npart = 'x'\nacross = 'a'", "no part 'x' that sweeps a"),
        (SHORT + "[[figure]]\npart = 'x'\nacross = 'a'\nquantity = 'q'", "quantity must be regret or cpu, got 'q'"),
    ],
)
def test_a_mistake_is_named_with_its_file(tmp_path: Path, text: str, warning: str) -> None:
    with pytest.raises(ValueError, match=rf"mine\.toml: .*{warning}"):
        load_spec(written(tmp_path, text))


@pytest.mark.parametrize(
    ("old", "new", "warning"),
    [
        ("RMED1", "RMED7", "part 'cycle2': unknown bandit 'RMED7'"),
        ('"RMED1"', '"MergeDTS(alfa=1)"', "MergeDTS has no option 'alfa'"),
        ('"RMED1"', '"RMED1.theoretical"', "RMED1 has no theoretical parameters"),
        ('"RMED1"', '"MergeDTS(alpha={alpha})"', "the sweep has no values for alpha"),
        ('"cycle2"', '"cycle3"', "part 'cycle3': unknown problem 'cycle3'"),
    ],
)
def test_what_does_not_exist_is_named_with_its_part(
    tmp_path: Path, old: str, new: str, warning: str, sources: Sources
) -> None:
    spec = load_spec(written(tmp_path, SHORT.replace(old, new)))
    with pytest.raises(ValueError, match=rf"mine\.toml: .*{warning}"):
        spec.experiments(None, sources)


def test_an_unknown_scale(sources: Sources) -> None:
    spec: Spec = paper_specs()["rq4"]
    with pytest.raises(ValueError, match=r"rq4\.toml: unknown scale 'huge', expected one of smoke, small, paper"):
        spec.experiments("huge", sources)


def test_a_delay_may_be_swept(tmp_path: Path, sources: Sources) -> None:
    path = tmp_path / "late.toml"
    part = 'problem = "cycle2"\ndelay = "Fixed(duels={late})"\nsweep = { late = [0, 100] }\n'
    path.write_text(f'bandits = ["MergeDTS"]\n[[part]]\n{part}')
    experiments = load_spec(path).experiments(None, sources)
    assert [(each.name, each.experiment.delay) for each in experiments] == [
        ("cycle2-0", rd.delays.Fixed(0)),
        ("cycle2-100", rd.delays.Fixed(100)),
    ]
    path.write_text(path.read_text().replace("Fixed(duels", "Fixed(days"))
    with pytest.raises(ValueError, match=r"late\.toml: part 'cycle2': Fixed\(days=0\): .*options of Fixed: duels"):
        load_spec(path).experiments(None, sources)


def test_the_spec_of_the_page_on_certified_bandits(tmp_path: Path) -> None:
    spec = load_spec(Path(__file__).parents[2] / "docs" / "noisy_clicks.toml")
    for matrix in spec.parts[0].sweep["matrix"]:
        rd.problems.cycle2().save(tmp_path / f"{matrix}.npz")
    experiments = spec.experiments(None, Sources(tmp_path))
    assert [each.source.origin for each in experiments] == ["data"] * 6


def test_the_spec_of_the_page_on_late_feedback(sources: Sources) -> None:
    experiments = load_spec(Path(__file__).parents[2] / "docs" / "late.toml").experiments(None, sources)
    assert len(experiments) == 21
    assert all(each.experiment.delay is not None for each in experiments)
