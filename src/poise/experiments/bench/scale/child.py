"""A child process that does one step at a time and reports its figures."""

import json
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Self

from poise.errors import PoiseError

#: What a step returns: figures by name.
Figures = dict[str, Any]


class Child:
    """``python -m MODULE ARGUMENTS``: reads a step per line and answers with a line of JSON.

    It starts with the first step.
    """

    def __init__(self, module: str, *arguments: str) -> None:
        self.module, self._arguments = module, arguments
        self._process: subprocess.Popen[str] | None = None

    def do(self, step: str) -> Figures:
        """Do a step and wait for its figures."""
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", self.module, *self._arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        line = ""
        with suppress(BrokenPipeError):
            self._process.stdin.write(step + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        if not line:
            code = self._process.wait()
            raise PoiseError(
                f"the process for {self.module.rsplit('.', 1)[-1]} ended at the step {step!r} "
                f"(code {code}{', killed, perhaps for lack of memory' if code == -9 else ''})"
            )
        figures: Figures = json.loads(line)
        if "error" in figures:
            raise PoiseError(f"{step}: {figures['error']}")
        return figures

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._process is None:
            return
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
        if kind is not None:
            self._process.kill()
        self._process.wait()


def answer_steps(do: Callable[[str], Figures]) -> None:
    """In the child: do the steps that arrive as lines on stdin until there are no more."""
    answers = sys.stdout
    sys.stdout = sys.stderr  # keeps output of libraries out of the answers
    for line in sys.stdin:
        try:
            figures = do(line.strip())
        except Exception as error:
            figures = {"error": f"{type(error).__name__}: {error}"}
        answers.write(json.dumps(figures) + "\n")
        answers.flush()
