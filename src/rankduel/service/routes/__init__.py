"""Handlers of all HTTP routes, grouped by caller. Each module exports its `ROUTES`."""
