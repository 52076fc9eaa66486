"""The HTTP service: the tournaments of a storage, for applications in any language."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from rankduel.service.auth.keys import SCOPES, KeyRing, new_key
from rankduel.service.settings import ServiceSettings

if TYPE_CHECKING:
    from rankduel.service.app import make_app
    from rankduel.service.server import serve

__all__ = ["SCOPES", "KeyRing", "ServiceSettings", "make_app", "new_key", "serve"]

_LATER = {"make_app": "rankduel.service.app", "serve": "rankduel.service.server"}


def __getattr__(name: str) -> Any:
    """What needs the extra `server` is imported when it is first asked for: keys and settings need nothing."""
    if name not in _LATER:
        raise AttributeError(f"module 'rankduel.service' has no attribute {name!r}")
    globals()[name] = getattr(import_module(_LATER[name]), name)
    return globals()[name]
