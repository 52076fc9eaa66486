"""Handlers of all HTTP routes, by the people and programs that call them. Each module has its `ROUTES`."""
