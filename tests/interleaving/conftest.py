"""The kernels, called as the simulation calls them: in a compiled loop, which is built here."""

from pathlib import Path
from typing import Any

import pytest

from kernels import compiled


@pytest.fixture(scope="session")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return compiled(Path(__file__).with_name("kernel.pyx"), tmp_path_factory)
