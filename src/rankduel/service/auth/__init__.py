"""Authentication: API keys with scopes, login sessions of the dashboard, and the rule for loopback without keys."""
