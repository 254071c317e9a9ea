"""Python files of a user's own that add acquisitions, policies and other parts by name."""

import hashlib
import sys
from collections.abc import Iterable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from traceback import walk_tb

from poise.errors import InputError, PoiseError

#: The files that this process has run, in that order.
_loaded: list[Path] = []


def loaded_files() -> tuple[Path, ...]:
    """The files that `load_files` has run; a worker process must run them before it starts."""
    return tuple(_loaded)


def load_files(paths: Iterable[Path]) -> None:
    """Run Python files, so that their decorators register what they define.

    A file that was run before is left out. Modules beside a file can be imported, as in a script.

    Raises
    ------
    InputError
        If there is no such file, or it fails: the message names the line.
    """
    for path in paths:
        whole = path.resolve()
        if whole not in _loaded:
            _load(path, whole)
            _loaded.append(whole)


def _load(path: Path, whole: Path) -> None:
    if not path.is_file():
        raise InputError(f"there is no file {path}: expected a Python file with your own parts")
    # Only the path determines the name, so that another process that runs the file can unpickle
    # its objects; and no module has it already.
    name = f"poise_own_{whole.stem}_{hashlib.sha256(str(whole).encode()).hexdigest()[:8]}"
    spec = spec_from_file_location(name, whole)
    if spec is None or spec.loader is None:
        raise InputError(f"{path} is not a Python file: its name must end in .py")
    module = module_from_spec(spec)
    sys.modules[name] = module
    if str(whole.parent) not in sys.path:
        sys.path.append(str(whole.parent))
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise InputError(f"{path}{_reason(error, str(whole))}") from error


def _reason(error: BaseException, path: str) -> str:
    """The last line of the file that ran, and the error."""
    if isinstance(error, SyntaxError) and error.filename == path:
        return f", line {error.lineno}: {type(error).__name__}: {error.msg}"
    lines = [
        line for frame, line in walk_tb(error.__traceback__) if frame.f_code.co_filename == path
    ]
    kind = "" if isinstance(error, PoiseError) else f"{type(error).__name__}: "
    return "".join(f", line {line}" for line in lines[-1:]) + f": {kind}{error}"
