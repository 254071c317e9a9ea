"""Benchmarks that compare poise with other libraries, side by side in one run."""
