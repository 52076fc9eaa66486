"""HTTP: ASGI gateway, endpoints, limits on requests and connections, schemas and the OpenAPI document."""
