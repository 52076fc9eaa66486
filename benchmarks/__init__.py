"""What the kernels cost: `python -m benchmarks`. Results are asserted, times are only reported."""
