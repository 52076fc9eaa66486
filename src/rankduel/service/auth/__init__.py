"""Authentication: API keys with scopes, login sessions of the dashboard, and loopback access without keys."""
