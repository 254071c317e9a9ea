"""A program as an assistant: started without a shell, a line of JSON in, a line of JSON out."""

import json
import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import IO, Any

from poise.errors import InputError
from poise.integrations.assistant.protocol import MAX_ANSWER_BYTES, Failure, shown

#: Bytes read or written at once, and the longest line of stderr that is kept.
CHUNK_BYTES, MAX_LINE_BYTES = 65_536, 10_000
#: How long to wait for the last words of a program that has ended.
LAST_WORDS_SECONDS = 1.0


class Program:
    """A program that answers. It is started at the first question, and again if it has died.

    Parameters
    ----------
    command : the program and its arguments
    seconds : how long it may take for an answer
    """

    def __init__(self, command: Sequence[str], seconds: float) -> None:
        self.command, self.seconds = list(command), seconds
        self._running: _Running | None = None

    def ask(self, question: dict[str, Any]) -> bytes:
        """The line that the program answers with."""
        if self._running is None:
            self._running = _Running(self.command)
        try:
            return self._running.exchange(json.dumps(question).encode() + b"\n", self.seconds)
        except BaseException:
            self.reset()
            raise

    def reset(self) -> None:
        """End the program and all that it started; the next question starts it again."""
        running, self._running = self._running, None
        if running is not None:
            running.end()

    def close(self) -> None:
        """End the program."""
        self.reset()


class _Running:
    """One process of the program."""

    def __init__(self, command: list[str]) -> None:
        try:
            # A session of its own: it can be ended with all that it started, and Ctrl-C is ours.
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                bufsize=0,
            )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise InputError(
                f"{command[0]} cannot be started ({reason}): give an executable file and its "
                "arguments"
            ) from None
        self.stdin, self.stdout = _pipe(self.process.stdin), _pipe(self.process.stdout)
        for pipe in (self.stdin, self.stdout):
            os.set_blocking(pipe.fileno(), False)
        self.last_line, self._rest = b"", b""
        self._listener = threading.Thread(
            target=self._listen, args=(_pipe(self.process.stderr),), daemon=True
        )
        self._listener.start()

    def exchange(self, line: bytes, seconds: float) -> bytes:
        """Send a line, and return the line that comes back."""
        end, unsent, answer = time.monotonic() + seconds, memoryview(line), self._rest
        with selectors.DefaultSelector() as selector:
            selector.register(self.stdin, selectors.EVENT_WRITE)
            selector.register(self.stdout, selectors.EVENT_READ)
            while b"\n" not in answer:
                left = end - time.monotonic()
                if left <= 0:
                    raise Failure(f"gave no answer within {seconds:g} s{self._last_words}")
                for key, _ in selector.select(left):
                    if key.fileobj is self.stdin:
                        unsent = unsent[self._write(unsent) :]
                        if not unsent:
                            selector.unregister(self.stdin)
                        continue
                    received = os.read(self.stdout.fileno(), CHUNK_BYTES)
                    if not received:
                        raise Failure(self._how_it_ended())
                    answer += received
                if len(answer) > MAX_ANSWER_BYTES:
                    raise Failure(f"wrote more than {MAX_ANSWER_BYTES:,} bytes for one answer")
        answer, _, self._rest = answer.partition(b"\n")
        return answer

    def end(self) -> None:
        """Kill it with all that it started."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self._listener.join(LAST_WORDS_SECONDS)
        for pipe in (self.stdin, self.stdout):
            with suppress(OSError):
                pipe.close()

    def _write(self, unsent: memoryview) -> int:
        try:
            return os.write(self.stdin.fileno(), unsent[:CHUNK_BYTES])
        except BlockingIOError:
            return 0
        except BrokenPipeError:
            return len(unsent)  # it reads no more; what it wrote before is still read

    def _listen(self, stderr: IO[bytes]) -> None:
        with stderr:
            while line := stderr.readline(MAX_LINE_BYTES):
                self.last_line = line.strip() or self.last_line

    def _how_it_ended(self) -> str:
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(LAST_WORDS_SECONDS)
        self._listener.join(LAST_WORDS_SECONDS)
        code = self.process.poll()
        if code is None:
            how = "closed its output"
        else:
            how = f"ended with exit code {code}" if code >= 0 else f"was ended by signal {-code}"
        return f"{how}{self._last_words}"

    @property
    def _last_words(self) -> str:
        return f"; its last line on stderr: {shown(self.last_line)}" if self.last_line else ""


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None
    return pipe
