"""Simulated experiments and their records, the paper's experiments, figures and benchmarks."""

from poise.experiments.experiment import Experiment, Method, read_experiment
from poise.experiments.records import Records, read_records
from poise.experiments.runner import run

__all__ = ["Experiment", "Method", "Records", "read_experiment", "read_records", "run"]
