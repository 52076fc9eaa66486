"""Simulated users: grades of a list in, clicks out."""
