"""Ports that are free."""

import os
import socket
from contextlib import ExitStack, suppress

import pytest


@pytest.fixture
def unused_ports() -> range:
    """Two ports in a row that are free now."""
    for first in range(20_000 + os.getpid() % 10_000, 32_000, 2):
        with ExitStack() as held, suppress(OSError):
            for port in (first, first + 1):
                held.enter_context(socket.create_server(("127.0.0.1", port)))
            return range(first, first + 2)
    raise AssertionError("no free ports")
