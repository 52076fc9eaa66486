"""Build the compiled kernels: every .pyx file in src/rankduel becomes one extension module."""

import os
import sys
from pathlib import Path

import numpy as np
from Cython.Build import cythonize
from setuptools import Extension, setup

NUMPY = Path(np.__file__).parent
PARALLEL = os.cpu_count() or 1
# Compile Cython's utility code (functions, memoryviews) once and share it between all kernels. This cuts the build time
# by two fifths.
SHARED = "rankduel._shared"
# Safe to ship: no -march=native, and no -ffast-math, because kernels rely on infinities and on the order of sums.
# -g0 omits debugging symbols, which saves a quarter of the compile time.
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
        # NumPy's distributions are linked statically. Hide their symbols: calls are direct, and nothing else sees them.
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
