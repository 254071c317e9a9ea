"""The app in a real browser: how long a person waits, and whether any answer is ever lost.

    POISE_DATA=folder python benchmarks/studio.py latency

Parts: latency, many-classes, million, start, folder, digits, kills, server-kills, cuts, or all of
them. Each prints what was measured, its goal and the load of the machine, because other work
distorts times. Needs chromium and playwright; latency, many-classes and folder read mnist from
POISE_DATA. Figures are in docs/decisions/studio.md.
"""

import argparse
import json
import os
import random
import shutil
import statistics
import string
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw
from playwright.sync_api import Error as PlaywrightError
from sklearn.cluster import MiniBatchKMeans
from studio_disk import cut, killed
from studio_page import GIVE_KEYS, UNSAVED, Person, Studio, browser, studio

import poise
from poise.studio.log.store import EventStore
from poise.studio.source.reading import read_catalogue

DIGITS = "1234567890"
#: Keys for many classes: the digits, which classes get first, and what the page does not use.
KEYS = DIGITS + "".join(
    key for key in string.ascii_letters + string.punctuation if key not in "usxngamve/?+"
)
#: Classes of the part with many, and the goal for 95 of 100 answers in seconds.
MANY, GOAL = 77, 0.050
#: Of the cloud of a million points.
NUMBERS, CLUSTERS = 32, 20
#: Seconds from an answer to the death of the server, at most: while the answer is on its way.
SHORTLY = 0.004
#: Answers given as fast as the page shows the next item, after those at a steady pace.
BURST = 3


@dataclass(frozen=True)
class Figure:
    """Something measured, beside what it must reach; without a goal for what is good to know."""

    what: str
    measured: str
    goal: str = ""
    met: bool | None = None


def under(what: str, seconds: float, goal: float, unit: str = "s") -> Figure:
    scale = 1e3 if unit == "ms" else 1.0
    digits = 0 if unit == "ms" else 1
    return Figure(
        what,
        f"{scale * seconds:.{digits}f} {unit}",
        f"< {scale * goal:g} {unit}",
        seconds < goal,
    )


def tell(line: str) -> None:
    """Progress, on one line where that is looked at."""
    end = "\r" if sys.stderr.isatty() else "\n"
    print(f"{line:<78}", end=end, file=sys.stderr, flush=True)


def named_digits(classes: np.ndarray) -> list[str]:
    return [str(int(one) % 10) for one in classes]


def truth_of(name: str) -> dict[str, str]:
    """Item -> class, of a data set of digits."""
    classes = named_digits(poise.load_dataset(name).clusters)
    return dict(zip(read_catalogue(name).ids, classes, strict=True))


def answered_at(person: Person, n: int, pause: float) -> None:
    for number in range(n):
        last = person.answer(pause)
        if number % 10 == 9 or last.seconds > 1:
            tell(f"{number + 1} of {n} answers, the last after {1e3 * last.seconds:.0f} ms")
    person.saved()


def waits(person: Person, goal: float, first: int = 0) -> Iterator[Figure]:
    """How long the page took after each answer."""
    answered = person.answered[first:]
    seconds = np.array([one.seconds for one in answered])
    middle, last = np.percentile(seconds, [50, 95])
    yield under(f"key to next item painted, 95% of {len(answered)}", last, goal, "ms")
    yield Figure("median", f"{1e3 * middle:.0f} ms")
    yield Figure("longest", f"{1e3 * seconds.max():.0f} ms")
    foreseen = sum(one.foreseen for one in answered)
    yield Figure("next item known when the key was pressed", f"{foreseen} of {len(answered)}")
    flickers = sum(one.changes > 1 for one in answered)
    yield Figure("another item shown after it", f"{flickers} times", "0 times", flickers == 0)


def latency(folder: Path, asked: argparse.Namespace) -> Iterator[Figure]:
    """70,000 images, an answer a second."""
    tell("reading mnist")
    truth = truth_of("mnist")
    arguments = ["mnist", "--classes", ",".join(DIGITS)]
    if asked.embed:
        arguments += ["--embed", asked.embed]
    with browser() as context, studio(*arguments, folder=folder) as server:
        person = Person(context.new_page(), truth, {digit: digit for digit in DIGITS})
        first = person.open(server.address) - server.began
        answered_at(person, asked.answers or 200, 1.0 if asked.pause is None else asked.pause)
        about = (folder / "mnist.poise" / "project.toml").read_text()
        embedding = next(line for line in about.splitlines() if line.startswith("embedding"))
        yield Figure(f"mnist, {len(truth):,} images, {embedding}", "")
        yield from waits(person, GOAL)
        yield Figure("start to first question", f"{first:.1f} s")
        yield Figure("most memory of the server", f"{server.most_memory:.1f} GB")
    yield recorded(folder / "mnist.poise", len(person.answered))


def many_classes(folder: Path, asked: argparse.Namespace) -> Iterator[Figure]:
    """70,000 vectors in 77 clusters, an answer a second."""
    tell("reading and clustering mnist_vae")
    with np.load(Path(os.environ["POISE_DATA"]) / "mnist_vae.npz") as stored:
        X = stored["X"].astype(np.float32)
    clusters = MiniBatchKMeans(MANY, n_init=1, random_state=0).fit_predict(X)
    np.save(folder / "points.npy", X)
    names = [f"class {number}" for number in range(MANY)]
    ids = read_catalogue(str(folder / "points.npy")).ids
    truth = dict(zip(ids, (names[number] for number in clusters), strict=True))
    keys = dict(zip(names, KEYS, strict=False))
    arguments = ["points.npy", "--classes", ",".join(names)]
    with browser() as context, studio(*arguments, folder=folder) as server:
        page = context.new_page()
        person = Person(page, truth, keys)
        first = person.open(server.address) - server.began
        page.evaluate(GIVE_KEYS, keys)
        page.reload()
        person.open(page.url)
        answered_at(person, asked.answers or 200, 1.0 if asked.pause is None else asked.pause)
        yield Figure(f"{len(truth):,} vectors, {MANY} classes", "")
        yield from waits(person, GOAL)
        yield Figure("start to first question", f"{first:.1f} s")
        yield Figure("most memory of the server", f"{server.most_memory:.1f} GB")
    yield recorded(folder / "points.npy.poise", len(person.answered))


def recorded(project: Path, answers: int) -> Figure:
    """Whether the log holds as many answers as were given, about no item twice."""
    store = EventStore(project / "events.db")
    given = [event.items for event in store.events() if event.kind == "label"]
    store.close()
    items = [item for one in given for item in one]  # near-duplicates share an answer
    good = len(items) == len(set(items)) and len(given) == answers
    return Figure("answers in the log", f"{len(given)}", f"{answers}", good)


def million(folder: Path, asked: argparse.Namespace) -> Iterator[Figure]:
    """1,000,000 vectors, an answer every five seconds, and a few quick ones."""
    n = asked.points
    tell(f"making {n:,} points")
    rng = np.random.default_rng(0)
    clusters = rng.integers(CLUSTERS, size=n)
    centres = 3 * rng.standard_normal((CLUSTERS, NUMBERS), dtype=np.float32)
    X = centres[clusters] + rng.standard_normal((n, NUMBERS), dtype=np.float32)
    np.save(folder / "points.npy", X)
    del X
    tell("naming them")
    ids = read_catalogue(str(folder / "points.npy")).ids
    truth = dict(zip(ids, named_digits(clusters), strict=True))
    tell("starting")
    arguments = ["points.npy", "--classes", ",".join(DIGITS)]
    with browser() as context, studio(*arguments, folder=folder) as server:
        person = Person(context.new_page(), truth, {digit: digit for digit in DIGITS})
        first = person.open(server.address) - server.began
        tell(f"first question after {first:.0f} s")
        answered_at(person, asked.answers or 60, 5.0 if asked.pause is None else asked.pause)
        yield from waits(person, 0.300)
        slowest = max(one.seconds for one in person.answered[:10])
        yield under("longest of the first ten", slowest, 1.5)
        steady = len(person.answered)
        time.sleep(15)
        answered_at(person, BURST, 0.0)
        burst = [f"{1e3 * one.seconds:.0f}" for one in person.answered[steady:]]
        yield Figure(f"{BURST} answers at once, after a rest", f"{', '.join(burst)} ms")
        yield Figure("start to first question", f"{first:.0f} s")
        yield Figure("most memory of the server", f"{server.most_memory:.1f} GB")
    tell("starting again")
    with browser() as context, studio(*arguments, folder=folder) as server:
        again = Person(context.new_page(), truth, {}).open(server.address) - server.began
    yield under("started again, to the open question", again, 10.0)
    yield recorded(folder / "points.npy.poise", len(person.answered))


def start(folder: Path, asked: argparse.Namespace) -> Iterator[Figure]:
    """``poise label digits`` to the first question."""
    times = []
    for turn in range(5):
        place = folder / f"{turn}"
        place.mkdir()
        with browser() as context, studio("digits", folder=place) as server:
            times.append(Person(context.new_page(), {}, {}).open(server.address) - server.began)
        tell(f"start {turn + 1}: {times[-1]:.1f} s")
    yield under("digits to first question, median of 5", statistics.median(times), 10.0)
    place, compiled = folder / "new", folder / "compiled"
    place.mkdir()
    truth = truth_of("digits")
    settings = {"NUMBA_CACHE_DIR": str(compiled)}
    with browser() as context, studio("digits", folder=place, settings=settings) as server:
        person = Person(context.new_page(), truth, {})
        first = person.open(server.address) - server.began
        tell(f"nothing compiled: {first:.1f} s")
        waited = [person.answer(3.0).seconds for _ in range(10)]
    yield under("nothing compiled yet, as after an installation", first, 10.0)
    shown = ", ".join(f"{seconds:.1f}" for seconds in waited)
    yield Figure("then, after each of 10 answers, one in 3 s", f"{shown} s")


def photograph(rng: np.random.Generator) -> Image.Image:
    """Something that is as hard to decode as a photograph of 640 by 480."""
    coarse = rng.integers(0, 256, (24, 32, 3), dtype=np.uint8)
    picture = Image.fromarray(coarse).resize((640, 480), Image.Resampling.BICUBIC)
    draw = ImageDraw.Draw(picture)
    for _ in range(6):
        x, y, width, height = rng.integers(20, 400, 4).tolist()
        draw.ellipse((x, y, x + width, y + height), fill=tuple(rng.integers(0, 256, 3).tolist()))
    grain = rng.normal(0, 8, (480, 640, 1))
    return Image.fromarray(np.clip(np.asarray(picture) + grain, 0, 255).astype(np.uint8))


def folder_of_images(folder: Path, asked: argparse.Namespace) -> Iterator[Figure]:
    """10,000 image files to the first question."""
    n = asked.files
    small, large = folder / "small", folder / "large"
    small.mkdir()
    large.mkdir()
    rng = np.random.default_rng(0)
    for number, pixels in enumerate(poise.load_dataset("mnist").X[:n]):
        Image.fromarray(pixels.reshape(28, 28).astype(np.uint8)).save(small / f"{number:05d}.png")
        if number % 1000 == 999:
            tell(f"{number + 1:,} small files written")
    for number in range(n):
        photograph(rng).save(large / f"{number:05d}.jpg", quality=85)
        if number % 1000 == 999:
            tell(f"{number + 1:,} large files written")
    for place, kind in ((small, "28 x 28 PNG"), (large, "640 x 480 JPEG")):
        for turn in ("first start", "second start"):
            with (
                browser() as context,
                studio(place.name, "--embed", "pca", folder=folder) as server,
            ):
                seconds = Person(context.new_page(), {}, {}).open(server.address) - server.began
            tell(f"{kind}, {turn}: {seconds:.1f} s")
            what = f"{n:,} files, {kind}, to first question, {turn}"
            yield under(what, seconds, 60.0)


def digits(folder: Path, asked: argparse.Namespace) -> Iterator[Figure]:
    """From nothing to 90% right."""
    truth = truth_of("digits")
    right: dict[int, float] = {}
    with browser() as context, studio("digits", folder=folder) as server:
        page = context.new_page()
        person = Person(page, truth, {})
        person.open(server.address)
        for number in range(1, 61):
            person.answer()
            if number % 5 == 0:
                person.saved()
                found = page.request.get(
                    f"http://127.0.0.1:{server.port}/api/export?format=jsonl&include=all"
                )
                rows = [json.loads(line) for line in found.text().splitlines()]
                rest = [row for row in rows if row["by"] == "model"]
                right[number] = statistics.mean(truth[row["id"]] == row["label"] for row in rest)
                tell(f"{number} answers: {right[number]:.1%} of the other {len(rest):,} right")
    enough = next((number for number, share in right.items() if share >= 0.9), None)
    yield Figure(
        "digits, rest right after 60 answers", f"{right[60]:.1%}", ">= 90%", right[60] >= 0.9
    )
    yield Figure("answers to 90%, looked at after every fifth", f"{enough}")
    yield recorded(folder / "digits.poise", 60)


def kills(folder: Path, asked: argparse.Namespace) -> Iterator[Figure]:
    """``kill -9`` of a process that writes answers."""
    acknowledged = unheard = 0
    problems: list[str] = []
    for number, (answers, more, problem) in enumerate(killed(folder, asked.kills, asked.seed), 1):
        acknowledged, unheard = acknowledged + answers, unheard + more
        problems += [problem] if problem else []
        if number % 100 == 0:
            tell(f"{number} kills, {acknowledged:,} answers acknowledged, {len(problems)} problems")
    for problem in problems[:10]:
        print(problem, file=sys.stderr)
    what = f"kills after which an answer was missing, doubled or torn, of {asked.kills:,}"
    yield Figure(what, f"{len(problems)}", "0", not problems)
    yield Figure("answers acknowledged", f"{acknowledged:,}")
    yield Figure("kills between writing and acknowledging", f"{unheard:,}")


def cuts(folder: Path, asked: argparse.Namespace) -> Iterator[Figure]:
    """Write-ahead logs cut at random offsets."""
    problems, shorter = [], 0
    for number, (whole, left, problem) in enumerate(cut(folder, asked.cuts, asked.seed), 1):
        problems += [problem] if problem else []
        shorter += left < whole
        if number % 50 == 0:
            tell(f"{number} cuts, {len(problems)} problems")
    for problem in problems[:10]:
        print(problem, file=sys.stderr)
    what = f"cuts after which the log was no prefix of the answers, of {asked.cuts}"
    yield Figure(what, f"{len(problems)}", "0", not problems)
    yield Figure("cuts that cost answers", f"{shorter}")


def server_kills(folder: Path, asked: argparse.Namespace) -> Iterator[Figure]:
    """``kill -9`` of the whole server under somebody who answers."""
    rng = random.Random(asked.seed)
    truth = truth_of("digits")
    claimed: dict[str, str] = {}  # client id -> item, of the answers that were shown as saved
    refused = resent = open_ones = same = known = 0
    problems: list[str] = []
    arguments = ["digits", "--classes", ",".join(DIGITS), "--project", "killed.poise"]
    keys = {digit: digit for digit in DIGITS}
    port = 0
    with browser() as context:
        page = context.new_page()
        waiting_before: set[str] = set()
        on_screen = None
        for kill in range(asked.server_kills + 1):
            server = Studio(*arguments, "--port", str(port), folder=folder)
            port = server.port
            try:
                person = Person(page, truth, keys)
                person.open(server.address)
                if on_screen is not None:
                    known += 1
                    same += on_screen == page.evaluate("notes.items.at(-1).item")
                if kill == asked.server_kills:  # the last start only looks
                    person.saved()
                    sent = page.evaluate("notes.sent")
                    resent += len(waiting_before & sent.keys())
                    claimed |= {c: one["items"][0] for c, one in sent.items() if one["claimed"]}
                    break
                answer_until(person, time.perf_counter() + rng.uniform(0.1, 4.0))
                time.sleep(rng.uniform(0, SHORTLY))
            finally:
                server.kill()
            page.wait_for_timeout(100)  # what had arrived is shown
            sent = {
                c: one for c, one in page.evaluate("notes.sent").items() if one["kind"] == "label"
            }
            resent += len(waiting_before & sent.keys())
            refused += sum(one.get("status", 200) != 200 for one in sent.values())
            claimed |= {c: one["items"][0] for c, one in sent.items() if one["claimed"]}
            waiting_before = set(page.evaluate(UNSAVED))
            open_ones += len(waiting_before)
            # An item that was answered stands there until the next question is known.
            on_screen = page.evaluate("notes.items.at(-1).item")
            if waiting_before or on_screen in claimed.values():
                on_screen = None
            problems += missing(folder / "killed.poise", claimed, kill)
            tell(
                f"{kill + 1} kills, {len(claimed)} answers shown as saved, {len(problems)} problems"
            )
        problems += missing(folder / "killed.poise", claimed, asked.server_kills)
    for problem in problems[:10]:
        print(problem, file=sys.stderr)
    what = f"answers shown as saved that were missing or doubled, {asked.server_kills} kills"
    yield Figure(what, f"{len(problems)}", "0", not problems)
    yield Figure("answers shown as saved", f"{len(claimed)}")
    yield Figure("on their way when the server died, sent again", f"{resent} of {open_ones}")
    yield Figure("the same question after the restart", f"{same} of {known}", "all", same == known)
    yield Figure("answers refused", f"{refused}", "0", refused == 0)


def answer_until(person: Person, moment: float) -> None:
    """Answer as fast as the page shows items; leave with the first answer after that moment."""
    page = person.page
    while True:
        left = moment - time.perf_counter()
        shown = page.evaluate("[notes.items.length, notes.items.at(-1).item]")
        page.keyboard.press(person.keys[person.truth[shown[1]]])
        if left <= 0:
            return
        try:
            page.wait_for_function(
                "(n) => notes.items.length > n", arg=shown[0], timeout=1e3 * left + 1e3
            )
        except PlaywrightError:
            return
        time.sleep(0.1)


def missing(project: Path, claimed: dict[str, str], kill: int) -> list[str]:
    """What is wrong with the log, looked at in a copy so that it stays as it was left."""
    with tempfile.TemporaryDirectory() as place:
        for file in project.glob("events.db*"):
            if not file.name.endswith("-shm"):
                shutil.copy(file, place)
        store = EventStore(Path(place) / "events.db")
        labels = [event for event in store.events() if event.kind == "label"]
        store.close()
    there = {event.client: event.items[0] for event in labels}
    doubled = [item for item, n in Counter(e.items[0] for e in labels).items() if n > 1]
    lost = [client for client, item in claimed.items() if there.get(client) != item]
    return [f"kill {kill}: {client} is lost" for client in lost] + [
        f"kill {kill}: {item} is there twice" for item in doubled
    ]


PARTS: dict[str, Callable[[Path, argparse.Namespace], Iterator[Figure]]] = {
    "latency": latency,
    "many-classes": many_classes,
    "million": million,
    "start": start,
    "folder": folder_of_images,
    "digits": digits,
    "kills": kills,
    "server-kills": server_kills,
    "cuts": cuts,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="+", choices=[*PARTS, "all"], metavar="PART")
    parser.add_argument("--answers", type=int, help="60 for million, else 200, if not given")
    parser.add_argument(
        "--pause", type=float, help="seconds between answers; 5 for million, else 1"
    )
    parser.add_argument("--embed", help="embedding for latency; the command's own if not given")
    parser.add_argument("--points", type=int, default=1_000_000, help="for million")
    parser.add_argument("--files", type=int, default=10_000, help="for folder")
    parser.add_argument("--kills", type=int, default=1_000)
    parser.add_argument("--server-kills", type=int, default=20)
    parser.add_argument("--cuts", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    reading = {"latency", "many-classes", "folder", "all"}
    if "POISE_DATA" not in os.environ and reading & set(asked.parts):
        parser.error("latency, many-classes and folder read mnist: let POISE_DATA name its folder")
    missed = 0
    for name in PARTS if "all" in asked.parts else asked.parts:
        before, began = os.getloadavg()[0], time.perf_counter()
        with tempfile.TemporaryDirectory(prefix="poise-bench-") as folder:
            figures = list(PARTS[name](Path(folder), asked))
        load = f"load {before:.1f} before, {os.getloadavg()[0]:.1f} after"
        print(f"\n## {name}: {time.perf_counter() - began:.0f} s, {load}\n")
        print("| | measured | goal | met |\n|---|--:|--:|---|")
        for one in figures:
            met = "" if one.met is None else "yes" if one.met else "NO"
            print(f"| {one.what} | {one.measured} | {one.goal} | {met} |", flush=True)
            missed += one.met is False
    sys.exit(min(missed, 1))


if __name__ == "__main__":
    main()
