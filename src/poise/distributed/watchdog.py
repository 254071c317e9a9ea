"""A small process beside each rank that reports when the rank dies or hangs.

A rank that waits inside MPI or PETSc for a dead rank cannot report anything, and most launchers
kill it without a message. The watchdog is a separate process that receives signs of life from its
rank. Without them it writes an error that names the rank and what it was doing, and ends a rank
that hangs. At a port where the rank served the app, it tells the page for some seconds.
"""

import json
import os
import select
import signal
import subprocess
import sys
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import TextIO

#: For so many seconds after the death of a rank that served the app, its page is told why; it asks
#: every two seconds. For so long the port may still be taken.
LAST_WORDS_SECONDS, PORT_TAKEN_SECONDS = 8.0, 4.0
#: Minimum number of seconds between signs of life, since each wakes the other process.
BEAT_SECONDS = 0.25


class Watchdog:
    """The side of the rank: starts the process and reports to it.

    Parameters
    ----------
    name : name of the rank in messages, for example "rank 1 of 2"
    timeout : seconds without a sign of life after which the rank is ended
    """

    def __init__(self, name: str, timeout: float) -> None:
        command = [sys.executable, "-I", str(Path(__file__)), str(os.getpid()), str(timeout), name]
        # In its own session: the launcher kills the rank and its children, but not this process.
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)
        self._last = 0.0

    def beat(self) -> None:
        """Send a sign of life."""
        now = time.monotonic()
        if now - self._last >= BEAT_SECONDS:
            self._last = now
            self._send("beat")

    def doing(self, what: str) -> None:
        """Set what the rank does now, for the message."""
        self._last = time.monotonic()
        self._send(f"doing {what}")

    def safe(self, where: str) -> None:
        """Set where answers are kept, for the message."""
        self._send(f"safe {where}")

    def serving(self, port: int) -> None:
        """Set the port at which the rank serves the app to this machine."""
        self._send(f"serving {port}")

    def goodbye(self) -> None:
        """The rank ends normally, or has reported its error itself."""
        if self._process.stdin is not None and not self._process.stdin.closed:
            self._send("goodbye")
            self._process.stdin.close()
            self._process.wait()

    def _send(self, line: str) -> None:
        pipe = self._process.stdin
        if pipe is None or pipe.closed:
            return
        try:
            os.write(pipe.fileno(), (" ".join(line.split()) + "\n").encode())
        except OSError:  # the watchdog was ended: the rank continues without it
            pipe.close()


def watch(pipe: int, pid: int, timeout: float, name: str, out: TextIO) -> int:
    """Listen until the rank says goodbye, dies or hangs; 0 if it said goodbye."""
    doing, safe, port, rest = "starting", "", 0, b""
    while True:
        ready, _, _ = select.select([pipe], [], [], timeout)
        received = os.read(pipe, 65536) if ready else b""
        *lines, rest = (rest + received).split(b"\n")
        for line in lines:
            word, _, text = line.decode(errors="replace").partition(" ")
            if word == "goodbye":
                return 0
            if word == "doing":
                doing = text
            elif word == "safe":
                safe = f" Answers given so far are safe in {text}."
            elif word == "serving":
                port = int(text)
        if received:
            continue
        if ready:
            what = (
                f"it was ended from outside while {doing}: it or another rank died, or the "
                "launcher was stopped"
            )
        else:
            what = (
                f"no sign of life for {timeout:g} s while {doing}: another rank may have died or "
                "hang, or the time-out is too short. This rank is ended"
            )
        words = f"RankLostError: {name}: {what}."
        out.write(f"{words}{safe}\n")
        out.flush()
        if not ready:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if port:
            tell_page(port, words)
        return 1


def tell_page(port: int, words: str) -> None:
    """Answer every request to the app, which is gone, with the reason."""

    class LastWords(BaseHTTPRequestHandler):
        """Answers with the reason, but nothing to a page that reached it by a name of its own."""

        timeout = 2.0  # for a client that connects and sends nothing

        def do_GET(self) -> None:
            if self.headers.get("Host") not in (f"127.0.0.1:{port}", f"localhost:{port}"):
                self.send_error(421)
                return
            body = json.dumps({"error": words, "ended": True}).encode()
            self.send_response(503)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET

        def log_message(self, format: str, *_: object) -> None:
            """Nothing: the reason is on the terminal already."""

    until = time.monotonic() + PORT_TAKEN_SECONDS
    while True:
        try:
            server = HTTPServer(("127.0.0.1", port), LastWords)
            break
        except OSError:  # the rank is not quite gone, or another program has the port
            if time.monotonic() > until:
                return
            time.sleep(0.1)
    until = time.monotonic() + LAST_WORDS_SECONDS
    with server:
        while (left := until - time.monotonic()) > 0:
            server.timeout = left
            server.handle_request()


if __name__ == "__main__":
    sys.exit(watch(0, int(sys.argv[1]), float(sys.argv[2]), sys.argv[3], sys.stderr))
