"""Webhooks: tell other systems about decisions, pauses and failures of tournaments.

`settings` reads `[[webhooks]]` of rankduel.toml. `messages` turns events of a journal into messages, `health` turns
changes of the health light into messages, and `bodies` writes both as JSON or for Slack. `delivery` sends them, in one
thread for each hook, with `sender`. `webhooks` starts and stops all of that.
"""
