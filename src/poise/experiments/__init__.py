"""Experiments: simulated labelling, its summaries, its figures and its pages."""
