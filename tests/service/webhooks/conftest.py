"""A receiver for each test, and the secret in the environment."""

from collections.abc import Iterator

import pytest

from service.webhooks.receiver import SECRET, Receiver, receiving


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    monkeypatch.setenv("HOOK_SECRET", SECRET)
    with receiving() as receiver:
        yield receiver
