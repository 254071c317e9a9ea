"""Schemathesis against the app's API: no request may cause a server error.

    python benchmarks/fuzz.py [--examples 50] [--schemathesis PATH]

Serves the data set digits on this machine and gives schemathesis the session cookie. Schemathesis
sends requests that the description at /api/openapi.json allows, and some that it does not. Only
responses of 500 and above count. Schemathesis is not a dependency: install it with pip, best in its
own environment, and name its program with --schemathesis.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--examples", type=int, default=50, help="requests of each kind")
    parser.add_argument("--schemathesis", default="schemathesis", help="the program")
    given = parser.parse_args()
    program = shutil.which(given.schemathesis)
    if program is None:
        print("schemathesis is not installed: pip install schemathesis", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        start = "from poise.cli.main import main; main()"
        project = str(Path(folder) / "digits.poise")
        app = subprocess.Popen(
            [sys.executable, "-c", start, "label", "digits", "--project", project, "--no-browser"],
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            assert app.stdout is not None
            found = filter(
                None, (re.search(r"(http://\S+:(\d+))/\?token=(\S+)", line) for line in app.stdout)
            )
            place, port, token = next(found).groups()
            return subprocess.run(
                [
                    *(program, "run", f"{place}/api/openapi.json", "--url", place),
                    *("--checks", "not_a_server_error", "--mode", "all", "--seed", "0"),
                    *("--max-examples", str(given.examples), "--request-timeout", "60"),
                    *("--header", f"Cookie: poise-{port}={token}", "--header", f"Origin: {place}"),
                    *("--continue-on-failure", "--phases", "examples,coverage,fuzzing"),
                ],
                check=False,
            ).returncode
        finally:
            app.terminate()
            app.wait()


if __name__ == "__main__":
    sys.exit(main())
