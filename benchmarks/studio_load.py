"""The app with several people at once: answers per second, and how long each person waits.

    POISE_DATA=folder python benchmarks/studio_load.py [--people 1 4 20] [--pace 2] [--minutes 3]
    POISE_DATA=folder python benchmarks/studio_load.py --pace 0          # everybody answers at once
    POISE_DATA=folder python benchmarks/studio_load.py --soak            # 30 minutes, 5 a second

Uses the 70,000 points of mnist_vae, a real server in its own process, and simulated people who
answer truthfully over HTTP on loopback, as the page does. A wait lasts from sending an answer until
the next question is there. Other work on the machine distorts the figures, so the load is printed.
Figures are in docs/decisions/studio.md.
"""

import argparse
import http.client
import json
import os
import re
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from uuid import uuid4

import numpy as np
from studio_page import Studio, studio

import poise
from poise.studio.source.reading import read_catalogue

CLASSES = "0123456789"
#: Goal for 95 of 100 waits, with 20 people who answer once in two seconds.
GOAL = 0.5
#: Of the soak: people, seconds between a person's answers, minutes. Growth of the memory from the
#: tenth minute on that still counts as flat, in MB: answers themselves are kept.
SOAK_PEOPLE, SOAK_PACE, SOAK_MINUTES, FLAT = 10, 2.0, 30.0, 100.0
#: Seconds until a question that does not come counts as broken.
PATIENCE = 300.0


@dataclass
class Person(threading.Thread):
    """Somebody who answers what is asked until a moment, once in `pace` seconds."""

    name_: str
    server: Studio
    cookie: str
    truth: Mapping[str, str]
    pace: float
    until: float
    waits: list[float] = field(default_factory=list)
    problem: str = ""

    def __post_init__(self) -> None:
        super().__init__(daemon=True)
        self.connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60)

    def __hash__(self) -> int:
        return id(self)

    def run(self) -> None:
        try:
            asked = self.question(None)
            while time.perf_counter() < self.until:
                sent = time.perf_counter()
                found = self.call("POST", "/api/events", self.answer(asked))["question"]
                new = found is not None and found["item"] != asked["item"]
                asked = found if new else self.question(asked["item"])
                self.waits.append(time.perf_counter() - sent)
                time.sleep(max(0.0, sent + self.pace - time.perf_counter()))
        except (OSError, http.client.HTTPException, RuntimeError) as error:
            self.problem = f"{self.name_}: {error}"

    def question(self, last: str | None) -> dict[str, Any]:
        """The next question, which waits to be known."""
        place = f"/api/question?{urlencode({'annotator': self.name_})}"
        until = time.perf_counter() + PATIENCE
        while time.perf_counter() < until:
            found = self.call("GET", place)["question"]
            if found is not None and found["item"] != last:
                return found
        raise RuntimeError(f"no question after {PATIENCE:.0f} s")

    def answer(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        item = asked["item"]
        return {
            "kind": "label",
            "data": {"items": [item], "label": self.truth[item], "via": "question"},
            "versions": {item: asked["version"]},
            "client": uuid4().hex,
            "annotator": self.name_,
        }

    def call(self, method: str, place: str, body: Mapping[str, Any] | None = None) -> Any:
        host = f"127.0.0.1:{self.server.port}"
        headers = {"Cookie": self.cookie, "Host": host, "Origin": f"http://{host}"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        self.connection.request(method, place, json.dumps(body) if body else None, headers)
        response = self.connection.getresponse()
        found = json.loads(response.read())
        if response.status != 200:
            raise RuntimeError(f"{method} {place} gave {response.status}: {found.get('error')}")
        return found


def let_in(server: Studio) -> str:
    """The cookie that the server gives for its address."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request("GET", server.address.partition(f":{server.port}")[2])
    response = connection.getresponse()
    response.read()
    return str(response.getheader("Set-Cookie")).partition(";")[0]


def prepared(server: Studio, cookie: str) -> None:
    """Wait until questions can be asked."""
    while True:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        connection.request("GET", "/api/state?annotator=nobody", headers={"Cookie": cookie})
        if "preparing" not in json.loads(connection.getresponse().read()):
            return
        time.sleep(0.5)


def memory(server: Studio) -> float:
    """Memory that the server has now, in MB."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status).group(1)) / 1e3  # type: ignore[union-attr]


def points(folder: Path, n: int) -> dict[str, str]:
    """The points as a file in the folder; item -> class."""
    data = poise.load_dataset("mnist", embedding="vae")
    np.save(folder / "points.npy", np.asarray(data.X[:n], dtype=np.float32))
    ids = read_catalogue(str(folder / "points.npy")).ids
    return dict(zip(ids, (str(int(one)) for one in data.clusters[:n]), strict=True))


def session(
    folder: Path, truth: Mapping[str, str], people: int, pace: float, minutes: float
) -> Iterator[tuple[float, float, list[Person]]]:
    """Minutes, memory and people, once a minute and at the end, of a project made anew."""
    arguments = ["points.npy", "--classes", ",".join(CLASSES), "--annotators"]
    arguments += ["--project", f"people-{people}.poise"]
    with studio(*arguments, folder=folder) as server:
        cookie = let_in(server)
        prepared(server, cookie)
        began = time.perf_counter()
        until = began + 60 * minutes
        crowd = [
            Person(f"person {number}", server, cookie, truth, pace, until)
            for number in range(people)
        ]
        for number, person in enumerate(crowd):
            person.start()
            time.sleep(pace / people if number + 1 < people else 0)  # not all in step
        while any(person.is_alive() for person in crowd):
            minute = began + 60 * (1 + (time.perf_counter() - began) // 60)
            for person in crowd:
                person.join(max(0.0, min(minute, until + PATIENCE) - time.perf_counter()))
            yield (time.perf_counter() - began) / 60, memory(server), crowd


def figures(crowd: list[Person], minutes: float) -> tuple[int, float, np.ndarray]:
    waits = np.array([wait for person in crowd for wait in person.waits])
    return len(waits), len(waits) / (60 * minutes), np.percentile(waits, [50, 95, 100])


def load(folder: Path, truth: Mapping[str, str], asked: argparse.Namespace) -> bool:
    """A row for each number of people; whether the goal is met."""
    met = True
    print("| people | a person's pace | answers | a second | median wait | 95% | longest | load |")
    print("|--:|--:|--:|--:|--:|--:|--:|--:|")
    for people in asked.people:
        *_, (minutes, _, crowd) = session(folder, truth, people, asked.pace, asked.minutes)
        n, rate, (middle, most, longest) = figures(crowd, minutes)
        pace = f"{asked.pace:g} s" if asked.pace else "at once"
        print(
            f"| {people} | {pace} | {n} | {rate:.1f} | {middle:.2f} s | {most:.2f} s | "
            f"{longest:.2f} s | {os.getloadavg()[0]:.1f} |",
            flush=True,
        )
        met &= told(crowd) and (asked.pace < 2 or most < GOAL)
    return met


def soak(folder: Path, truth: Mapping[str, str], asked: argparse.Namespace) -> bool:
    """A line a minute; whether the memory is flat from the tenth minute on."""
    sizes: dict[float, float] = {}
    print("| minute | MB | answers | a second | 95% of the waits | longest |")
    print("|--:|--:|--:|--:|--:|--:|")
    for minutes, size, crowd in session(folder, truth, SOAK_PEOPLE, SOAK_PACE, asked.minutes):
        n, rate, (_, most, longest) = figures(crowd, minutes)
        print(
            f"| {minutes:.0f} | {size:.0f} | {n} | {rate:.1f} | {most:.2f} s | {longest:.2f} s |",
            flush=True,
        )
        sizes[minutes] = size
    settled = [size for minute, size in sizes.items() if minute >= min(10, asked.minutes / 3)]
    growth = settled[-1] - settled[0]
    print(f"\nmemory grew by {growth:.0f} MB in the last {len(settled)} minutes")
    return told(crowd) and growth < FLAT


def told(crowd: list[Person]) -> bool:
    """Say what went wrong; whether nothing did."""
    problems = [person.problem for person in crowd if person.problem]
    for problem in problems:
        print(problem)
    return not problems


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--people", type=int, nargs="+", default=[1, 4, 20])
    parser.add_argument("--pace", type=float, default=2.0, help="seconds between answers; 0: none")
    parser.add_argument("--minutes", type=float, help="3 if not given, 30 for --soak")
    parser.add_argument("--points", type=int, default=70_000)
    parser.add_argument("--soak", action="store_true")
    asked = parser.parse_args()
    if "POISE_DATA" not in os.environ:
        parser.error("the points are those of mnist_vae: let POISE_DATA name its folder")
    asked.minutes = asked.minutes or (SOAK_MINUTES if asked.soak else 3.0)
    with tempfile.TemporaryDirectory(prefix="poise-load-") as place:
        folder = Path(place)
        truth = points(folder, asked.points)
        met = (soak if asked.soak else load)(folder, truth, asked)
    raise SystemExit(0 if met else 1)


if __name__ == "__main__":
    main()
