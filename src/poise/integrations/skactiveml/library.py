"""The parts of scikit-activeml that the bridge uses, or an error that names the extra."""

from typing import Any

from poise.extras import needed


def _part(name: str) -> Any:
    return needed(f"skactiveml.{name}", "skactiveml", "the bridge to scikit-activeml")


base, utils = _part("base"), _part("utils")
pool, classifiers = _part("pool"), _part("classifier")
