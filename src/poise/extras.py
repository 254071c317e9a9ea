"""Optional libraries: imported where they are used, or an error that says what to install."""

from importlib import import_module
from typing import Any

from poise.errors import MissingExtraError


def needed(module: str, extra: str, purpose: str) -> Any:
    """Import an optional module, or raise an error that says how to install it.

    Parameters
    ----------
    module : str
        For example "PIL.Image".
    extra : str
        The extra of poise that installs it.
    purpose : str
        What needs it: the start of the message.
    """
    try:
        return import_module(module)
    except ImportError:
        raise missing(module.split(".")[0], extra, purpose) from None


def missing(package: str, extra: str, purpose: str, instead: str = "") -> MissingExtraError:
    """The error for a package that is not installed; `instead` says what to do without it."""
    rest = f", or {instead}" if instead else ""
    return MissingExtraError(
        f"{purpose} needs {package}, which is not installed: {install(extra)}{rest}"
    )


def bridge(name: str) -> Any:
    """A module of `poise.integrations`, for a method that only hands its object over.

    This is the one way in which a layer reaches a higher one: when such a method is called, never
    when a module is imported. tests/test_import_directions.py lists who may do so.
    """
    return import_module(f"poise.integrations.{name}")


def install(extra: str) -> str:
    """The command that installs an extra of poise."""
    return f"pip install 'poise[{extra}]'"
