"""Benchmarks: `python -m benchmarks`. They check results, and report times without judging them."""
