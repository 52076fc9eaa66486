"""A `Service` without a storage, for direct tests of the gateway and endpoints, and keys without a storage."""

import hashlib
from typing import Any

from rankduel.live.storage.contract import KeyRow
from rankduel.service.auth.authentication import Authentication
from rankduel.service.auth.keys import ApiKeys
from rankduel.service.auth.sessions import Sessions
from rankduel.service.service import Service
from rankduel.service.settings import ServiceSettings


def offline_service(api_keys: ApiKeys | None = None, **settings: Any) -> Service:
    """A service that is not started: no storage is opened."""
    service = Service("sqlite:///never-opened.db", ServiceSettings(**settings))
    service.authentication = Authentication(api_keys or ApiKeys(()), Sessions(b"secret", 60))
    return service


def key_row(id: str, *scopes: str, revoked: float | None = None) -> KeyRow:
    """A stored key whose full text is `rd_<id>_secret`."""
    digest = hashlib.sha256(b"secret").hexdigest()
    return KeyRow(id, f"the {id} key", " ".join(scopes), digest, 0.0, revoked)
