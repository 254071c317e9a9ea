import pytest

from poise.experiments.demo import Demo, Settings, run_demo


@pytest.fixture(scope="session")
def demo() -> Demo:
    """A small run of the demonstration: every part of it, in a second or two."""
    return run_demo(Settings(trials=3, budget=25))
