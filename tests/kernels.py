"""Kernels that only tests need: compiled against the package, as anybody's would be."""

import fcntl
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fences import ROOT

BUILD = """
import sys
from pathlib import Path

import numpy as np
from Cython.Build import cythonize
from setuptools import Extension, setup

numpy = Path(np.__file__).parent
kernel = Extension(
    "kernel",
    ["kernel.pyx"],
    include_dirs=[np.get_include()],
    library_dirs=[str(numpy / "random" / "lib"), str(numpy / "_core" / "lib")],
    libraries=["npyrandom", "npymath", "m"],
)
setup(ext_modules=cythonize([kernel], include_path=[sys.argv.pop()], quiet=True))
"""


def compiled(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The module of a `kernel.pyx`, built once, whichever of the workers that share the tests comes first."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    folder /= f"{source.parent.name}-kernel"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not list(folder.glob("kernel*.so")):
            shutil.copy(source, folder)
            (folder / "build.py").write_text(BUILD)
            command = [sys.executable, "build.py", "-q", "build_ext", "--inplace", str(ROOT / "src")]
            done = subprocess.run(
                command, cwd=folder, env=os.environ | {"CFLAGS": "-O1"}, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stdout + done.stderr
    (built,) = folder.glob("kernel*.so")
    spec = importlib.util.spec_from_file_location("kernel", built)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
