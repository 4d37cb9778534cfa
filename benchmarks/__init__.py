"""Measures a real gitring on this machine against what the same machine does without it: `python -m benchmarks`."""
