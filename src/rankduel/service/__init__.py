"""The HTTP service: the tournaments of a storage, for applications in any language."""

from rankduel.service.app import make_app
from rankduel.service.keys import SCOPES, KeyRing, new_key
from rankduel.service.serve import serve
from rankduel.service.settings import ServiceSettings

__all__ = ["SCOPES", "KeyRing", "ServiceSettings", "make_app", "new_key", "serve"]
