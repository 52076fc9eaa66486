"""HTTP service: tournaments over JSON, for applications in any language.

`server` runs `app`. The app passes each request through `http` (gateway, endpoint, limits) and `auth` to a handler in
`routes`. All handlers share one `service.Service`: open tournaments, thread pools, API keys and metrics.
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
    """Import `make_app` and `serve` on first use: keys and settings work without the extra `server`."""
    if name not in _LAZY:
        raise AttributeError(f"module 'rankduel.service' has no attribute {name!r}")
    globals()[name] = getattr(import_module(_LAZY[name]), name)
    return globals()[name]
