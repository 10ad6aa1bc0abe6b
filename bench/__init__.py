"""The benchmarks of fastrank: `python -m bench` for commands, `pytest bench` for kernels."""
