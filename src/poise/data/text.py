"""Text from files and fields, made fit to be shown and stored."""

import json
import math
from typing import Any


def clean(text: str) -> str:
    """Text that can be written as UTF-8: a file's name need not be."""
    return text.encode("utf-8", "replace").decode() if not text.isascii() else text


def plain(value: object) -> str:
    """A field as text; empty if it holds nothing."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))  # whole numbers beside empty fields are read as 1.0
    return str(value)


def parse_json(text: str | bytes) -> Any:
    """The value of a JSON text; whatever is wrong with it, the error is a `ValueError` in words."""
    try:
        return json.loads(text)
    except (json.JSONDecodeError, UnicodeDecodeError):
        raise
    except RecursionError:
        raise ValueError("its brackets are nested too deeply") from None
    except ValueError:
        raise ValueError("it holds a number with thousands of digits") from None
