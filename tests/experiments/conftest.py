"""A small demonstration."""

import pytest

from poise.experiments.demo.run import Demo, Settings, run_demo


@pytest.fixture(scope="session")
def demo() -> Demo:
    """A small run of the demonstration with all its parts, which takes a second or two."""
    return run_demo(Settings(trials=3, budget=25))
