"""The HTTP service: tournaments of a storage for applications in any language.

`server` runs `app`, which sends each request through `http` (gateway, endpoint, limits) and `auth` to a handler in
`routes`. All handlers share one `service.Service`: the open tournaments, thread pools, keys and metrics.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from rankduel.service.auth.keys import SCOPES, ApiKeys, new_key
from rankduel.service.settings import ServiceSettings

if TYPE_CHECKING:
    from rankduel.service.app import make_app
    from rankduel.service.server import serve

__all__ = ["SCOPES", "ApiKeys", "ServiceSettings", "make_app", "new_key", "serve"]

_LAZY = {"make_app": "rankduel.service.app", "serve": "rankduel.service.server"}


def __getattr__(name: str) -> Any:
    """Import names that need the extra `server` on first use: keys and settings work without it."""
    if name not in _LAZY:
        raise AttributeError(f"module 'rankduel.service' has no attribute {name!r}")
    globals()[name] = getattr(import_module(_LAZY[name]), name)
    return globals()[name]
