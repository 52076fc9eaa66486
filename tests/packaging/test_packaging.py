"""From a clean checkout: an sdist, a wheel made from it, and that wheel where there is no compiler and only NumPy.

Nothing is fetched: the build uses this environment's Cython, NumPy and setuptools.
"""

import fcntl
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from fences import ROOT, only

SITE = Path(sysconfig.get_path("purelib"))


def run(*command: str | Path, cwd: Path, **environment: str) -> str:
    """What a command prints; if it fails, all of it."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "PYTHON", "COV_"))}
    done = subprocess.run(
        list(map(str, command)), cwd=cwd, env=inherited | environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
    return done.stdout


@dataclass(frozen=True)
class Built:
    """What was built from a copy of the sources: nothing is built among them."""

    checkout: Path
    dist: Path

    @property
    def sdist(self) -> Path:
        (sdist,) = self.dist.glob("*.tar.gz")
        return sdist

    @property
    def wheel(self) -> Path:
        (wheel,) = self.dist.glob("*.whl")
        return wheel

    def sources(self, suffix: str) -> set[str]:
        """The files of that suffix, as paths below src/."""
        src = self.checkout / "src"
        return {path.relative_to(src).as_posix() for path in src.rglob(f"*{suffix}")}


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Built once, whichever of the workers that share the tests comes first."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    built = Built(folder / "packaging" / "checkout", folder / "packaging" / "dist")
    with (folder / "packaging.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not list(built.dist.glob("*.whl")):
            shutil.rmtree(built.checkout, ignore_errors=True)
            unwanted = shutil.ignore_patterns("*.so", "*.c", "*.egg-info", "__pycache__")
            shutil.copytree(ROOT / "src", built.checkout / "src", ignore=unwanted)
            for name in ["pyproject.toml", "setup.py", "README.md", "LICENSE"]:
                shutil.copy(ROOT / name, built.checkout)
            quick = built.checkout / "quick-cc"  # the last -O counts: what is tested here need not be fast
            quick.write_text(f'#!/bin/sh\nexec {sysconfig.get_config_var("CC")} "$@" -O0\n')
            quick.chmod(0o755)
            # An sdist, and a wheel from it.
            build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(built.dist)]
            run(*build, cwd=built.checkout, CC=str(quick))
    return built


@pytest.fixture(scope="session")
def python(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment with the wheel and NumPy, installed where the compiler is /bin/false."""
    fresh = tmp_path_factory.mktemp("fresh")
    venv.create(fresh, with_pip=False, symlinks=True)
    interpreter = fresh / "bin" / "python"
    site = Path(run(interpreter, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=fresh).strip())
    for part in ["numpy", "numpy.libs"]:
        (site / part).symlink_to(SITE / part)
    pip = [sys.executable, "-m", "pip", "--python", str(interpreter), "install", "--no-index", "--no-deps", "--quiet"]
    run(*pip, built.wheel, cwd=fresh, CC="/bin/false", CXX="/bin/false")
    return interpreter


def test_sdist_has_the_sources(built: Built) -> None:
    with tarfile.open(built.sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    kernels = built.sources(".pyx") | built.sources(".pxd")
    assert len(kernels) > 20
    assert {f"src/{kernel}" for kernel in kernels} <= names
    assert {"LICENSE", "README.md", "pyproject.toml", "setup.py"} <= names


def test_wheel_has_what_users_need_and_no_more(built: Built) -> None:
    with zipfile.ZipFile(built.wheel) as archive:
        names = archive.namelist()
        (metadata,) = [name for name in names if name.endswith(".dist-info/METADATA")]
        described = archive.read(metadata).decode()
    for suffix in [".pyi", ".pxd", ".pyx", ".py", ".toml"]:
        assert built.sources(suffix) == {name for name in names if name.endswith(suffix)}
    kernels = {name.removesuffix(".pyx") for name in names if name.endswith(".pyx")}
    shared = {"rankduel/_shared"}  # what Cython adds to each kernel
    assert kernels | shared == {name.partition(".")[0] for name in names if name.endswith(".so")}
    assert "rankduel/py.typed" in names
    own = "rankduel/dashboard/static/"
    assert [name for name in names if name.endswith((".c", ".cpp", ".o", ".html")) and not name.startswith(own)] == []
    assert {"index.html", "style.css"} <= {name.removeprefix(own) for name in names if name.startswith(own)}
    assert [name for name in names if not name.startswith(("rankduel/", "rankduel-"))] == []
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert "License-Expression: Apache-2.0" in described
    assert [line for line in described.splitlines() if line.startswith("Requires-Dist") and "extra" not in line] == [
        "Requires-Dist: numpy>=2.0"
    ]


def test_wheel_works_with_numpy_alone(python: Path, tmp_path: Path) -> None:
    code = """
import sys, rankduel as rd
assert rd.__file__.startswith(sys.prefix), rd.__file__
problem = rd.problems.cycle2()
for name in rd.REGISTRY:
    run = rd.simulate(rd.REGISTRY[name](problem.n_arms, seed=1), problem, horizon=2_000)
    assert run.regret[-1] > 0
run = rd.simulate(rd.MergeDTS(problem.n_arms, seed=1), problem, horizon=1_000_000)
print(run.winner, sorted(set(sys.modules) & {"Cython", "scipy", "matplotlib", "rich", "pytest"}))
"""
    assert run(python, "-c", code, cwd=tmp_path, CC="/bin/false", PATH="") == "0 []\n"


def test_installed_version_is_the_package_version(python: Path, tmp_path: Path) -> None:
    code = "import importlib.metadata, rankduel; print(importlib.metadata.version('rankduel') == rankduel.__version__)"
    assert run(python, "-c", code, cwd=tmp_path) == "True\n"


def test_the_guides_cython_bandit_compiles_against_the_wheel(python: Path, tmp_path: Path) -> None:
    guide = ROOT / "CONTRIBUTING.md"
    (tmp_path / "challenge.pyx").write_text(only(guide, "cython").text)
    (tmp_path / "setup.py").write_text(only(guide, "python setup.py").text)
    run(python, "setup.py", "--quiet", "build_ext", "--inplace", cwd=tmp_path, PYTHONPATH=str(SITE))
    code = """
import rankduel as rd, rankduel.testing
from challenge import Challenge
problem = rd.problems.cycle2()
bandit = Challenge(problem.n_arms, exploration=0.2, seed=1)
run = rd.simulate(bandit, problem, horizon=20_000)
uniform = rd.simulate(rd.Uniform(problem.n_arms, seed=1), problem, horizon=20_000)
assert run.champion == problem.condorcet_winner and run.regret[-1] < uniform.regret[-1]
rankduel.testing.check_bandit(Challenge)
print(bandit)
"""
    assert run(python, "-c", code, cwd=tmp_path) == "Challenge(20, exploration=0.2, seed=1)\n"


def test_a_users_code_is_type_checked(python: Path, tmp_path: Path) -> None:
    (tmp_path / "user.py").write_text(
        "import rankduel as rd\n"
        "bandit = rd.MergeDTS(4, seed=1)\n"
        "bandit.tell(bandit.ask(), rd.Outcome.FIRST)\n"
        "reveal_type(rd.simulate(bandit, rd.problems.cycle2(), horizon=10).winner)\n"
        "rd.MergeDTS(4, alfa=0.5)\n"
    )
    mypy = [sys.executable, "-m", "mypy", "--strict", "--python-executable", python, "--cache-dir", tmp_path / "cache"]
    done = subprocess.run([*map(str, mypy), "user.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert 'user.py:4: note: Revealed type is "int | None"' in done.stdout, done.stdout + done.stderr
    assert 'user.py:5: error: Unexpected keyword argument "alfa" for "MergeDTS"' in done.stdout, done.stdout
    assert "Found 1 error" in done.stdout, done.stdout


def test_numpy_is_the_one_we_test_with() -> None:
    # The wheel's NumPy is a link to this environment's: otherwise the tests above would show nothing.
    assert Path(np.__file__).is_relative_to(SITE)
