"""A folder of photographs in the app with default settings, and unusual sources.

    python benchmarks/many_photos.py photos --files 10000
    python benchmarks/many_photos.py edges

`photos` writes files of 640 x 480 pixels and opens them as a project. It kills that process with
signal 9 halfway, starts it again, and finally adds new files. It prints photos per second, those of
the network alone, memory over time, seconds to the first question, and how much work was lost.
`edges` opens unusual sources and prints the outcome, the time and the memory. --folder keeps the
files for the next run.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageChops, ImageOps

from studio import photograph

#: Seconds between two looks at a run.
PACE = 0.5
#: Files that are added at the end.
MORE = 1_500
#: Photographs that are drawn; the others are these, moved.
DRAWN = 250
#: Identical images, and what a long text has in bytes.
SAME, LONG = 100_000, 10_000_000


def write_photos(folder: Path, numbers: range) -> None:
    for number in numbers:
        path = folder / f"{number:06}.jpg"
        if path.exists():
            continue
        rng = np.random.default_rng(number)
        if number < DRAWN:
            picture = photograph(rng)
        else:  # as hard to decode, and another one to the network
            with Image.open(folder / f"{number % DRAWN:06}.jpg") as drawn:
                across, down = rng.integers(1, 480, 2).tolist()
                picture = ImageChops.offset(drawn, across, down)
        picture.save(path, quality=85)


def opened(source: str, project: str) -> None:
    """In a process of its own: a line for each look, and one for what happened."""
    from poise.studio.opening import Opening, Source

    began = time.perf_counter()
    opening = Opening(Source(source, Path(project)))
    opening.start()
    first = 0.0
    while not opening.ended:
        if not first and opening.project is not None and opening.project.question() is not None:
            first = time.perf_counter() - began
            told("first", began, of=len(opening.project.catalogue))
        done = [step.done for step in list(opening.steps) if step.name == "embedding"]
        told("look", began, done=max(done, default=0))
        time.sleep(PACE)
    error = "" if opening.error is None else str(opening.error)
    items, left_out = 0, []
    if opening.project is not None:
        items = len(opening.project.catalogue)
        left_out = [f"{name}: {why}" for name, why in opening.project.catalogue.unreadable]
        told("ready", began, done=items)
        if not first and opening.project.wait("", 60) is not None:
            told("first", began, of=items)
    told("end", began, items=items, error=error or opening.trouble, left_out=left_out)
    opening.close()


def told(what: str, began: float, **more: Any) -> None:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    status = dict(line.split(":", 1) for line in lines)
    memory, most = (int(status[name].split()[0]) / 1024 for name in ("VmRSS", "VmHWM"))
    seconds = time.perf_counter() - began
    print(json.dumps({"what": what, "seconds": seconds, "mb": memory, "most": most} | more))
    sys.stdout.flush()


def run(source: Path, project: Path, stop_at: int | None = None) -> list[dict[str, Any]]:
    """What a process tells; it is killed once so many items are done."""
    command = [sys.executable, __file__, "opened", str(source), str(project)]
    lines = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(json.loads(line))
            if stop_at is not None and lines[-1].get("done", 0) >= stop_at:
                process.send_signal(signal.SIGKILL)
                break
    return lines


def kept() -> int:
    from poise.data.embeddings.photo import Photo
    from poise.data.embeddings.registry import kept_rows

    return len(kept_rows("photo", Photo()))


def alone(batches: int = 100) -> float:
    """Photos a second of the network on random input, a thread to a core."""
    from poise.data.embeddings.photo import BATCH_IMAGES, session
    from poise.machine import cores

    network = session()
    noise = np.random.default_rng(0).integers(0, 256, (BATCH_IMAGES, 224, 224, 3), dtype=np.uint8)
    with ThreadPoolExecutor(cores()) as pool:
        began = time.perf_counter()
        list(pool.map(lambda _: network(noise), range(batches)))
    return BATCH_IMAGES * batches / (time.perf_counter() - began)


def photos(place: Path, files: int) -> Iterator[str]:
    folder = place / "photos"
    folder.mkdir(exist_ok=True)
    with ProcessPoolExecutor() as pool:
        for begin, end in ((0, min(DRAWN, files)), (DRAWN, files)):
            parts = [range(start, min(start + 50, end)) for start in range(begin, end, 50)]
            list(pool.map(write_photos, [folder] * len(parts), parts))
    with tempfile.TemporaryDirectory() as temporary:
        os.environ["POISE_CACHE"] = str(Path(temporary) / "cache")
        project = Path(temporary) / "p.poise"
        limit = alone()
        killed = run(folder, project, files // 2)
        there = kept()
        said = killed[-1]["done"]
        yield f"killed when {said:,} of {files:,} were said to be done: {there:,} kept"
        yield from described("until then", killed, 0)
        again = run(folder, project)
        yield from described("started again", again, there)
        yield f"the network alone: {(limit + alone()) / 2:.0f} a second (before and after)"
        yield from described("a third start", run(folder, project), files)
        try:
            for number in range(files, files + MORE):
                (later := folder / "later").mkdir(exist_ok=True)
                with Image.open(folder / f"{number % DRAWN:06}.jpg") as drawn:
                    ImageOps.mirror(drawn).rotate(number).save(later / f"{number}.jpg", quality=85)
            grown = run(folder, project)
            yield from described(f"beside {MORE:,} new files", grown, files)
        finally:
            shutil.rmtree(folder / "later", ignore_errors=True)


def described(what: str, lines: list[dict[str, Any]], before: int) -> Iterator[str]:
    for line in lines:
        if line["what"] == "first":
            yield f"{what}: first question after {line['seconds']:.1f} s, {line['of']:,} are in"
    looks = [line for line in lines if line["what"] == "look" and line["done"] > before]
    if len(looks) > 2:
        start, end = looks[0], looks[-1]
        speed = (end["done"] - start["done"]) / (end["seconds"] - start["seconds"])
        quarters = [looks[i * (len(looks) - 1) // 4] for i in range(5)]
        memory = ", ".join(f"{one['done']:,}: {one['mb']:.0f}" for one in quarters)
        yield f"{what}: {speed:.0f} photos a second; MB when so many were done: {memory}"
    if lines[-1]["what"] == "end":
        last = lines[-1]
        yield (
            f"{what}: all {last['items']:,} in after {last['seconds']:.1f} s, "
            f"{last['most']:.0f} MB at most{', ' + last['error'] if last['error'] else ''}"
        )


def edges(place: Path) -> Iterator[str]:
    """Sources that hardly make sense."""
    makers: dict[str, Callable[[Path], Path]] = {
        "1 image": lambda at: images(at, [(40, 30)]),
        f"{SAME:,} identical images": lambda at: copies(at, SAME),
        "12 images of 1 x 1": lambda at: images(at, [(1, 1)] * 12),
        "12 images, 3 more of 20,000 x 20,000 (PNG, JPEG, progressive)": huge,
        "12 texts of one word": lambda at: table(at, ["cat", "dog", "cow"] * 4),
        "12 texts, one more of 10 MB": lambda at: table(at, ["cat", "dog", "cow"] * 4 + [long()]),
        "12 texts, 4 of them empty": lambda at: table(at, ["cat", "", "dog"] * 4),
        "12 texts, 8 of them emoji": lambda at: table(at, ["cat", "😀", "👩‍👩‍👧 🇺🇳"] * 4),
    }
    for name, make in makers.items():
        with tempfile.TemporaryDirectory(dir=place) as temporary:
            os.environ["POISE_CACHE"] = str(Path(temporary) / "cache")
            lines = run(make(Path(temporary)), Path(temporary) / "p.poise")
            end = lines[-1]
            first = next((line for line in lines if line["what"] == "first"), None)
            asked = "" if first is None else f", first question after {first['seconds']:.1f} s"
            told = "; ".join(filter(None, [end.get("error"), *end.get("left_out", [])[:3]]))
            yield (
                f"{name}: {end.get('items', 0):,} items in after {end['seconds']:.1f} s{asked}, "
                f"{end['most']:.0f} MB at most{'. ' + told if told else ''}"
            )


def images(at: Path, sizes: list[tuple[int, int]]) -> Path:
    folder = at / "images"
    folder.mkdir()
    for number, size in enumerate(sizes):
        colour = tuple(np.random.default_rng(number).integers(0, 256, 3).tolist())
        Image.new("RGB", size, colour).save(folder / f"{number}.png")
    return folder


def copies(at: Path, count: int) -> Path:
    folder = images(at, [(40, 30)])
    content = (folder / "0.png").read_bytes()
    for number in range(1, count):
        (folder / f"{number}.png").write_bytes(content)
    return folder


def huge(at: Path) -> Path:
    folder = images(at, [(40, 30)] * 12)
    vast = Image.new("L", (20_000, 20_000), 200)
    vast.save(folder / "huge.png")
    vast.save(folder / "huge.jpg")
    vast.save(folder / "slow.jpg", progressive=True)
    return folder


def table(at: Path, texts: list[str]) -> Path:
    import csv

    with (at / "t.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["text", "number"])
        writer.writerows((text, number) for number, text in enumerate(texts))
    return at / "t.csv"


def long() -> str:
    words = " ".join(np.random.default_rng(0).permutation(1_000).astype(str))
    return (words + " ") * (LONG // len(words))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["photos", "edges", "opened"])
    parser.add_argument("places", nargs="*", help=argparse.SUPPRESS)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    if options.what == "opened":
        opened(*options.places)
        return
    with tempfile.TemporaryDirectory() as temporary:
        place = options.folder or Path(temporary)
        place.mkdir(parents=True, exist_ok=True)
        found = edges(place) if options.what == "edges" else photos(place, options.files)
        for line in found:
            print(line, flush=True)


if __name__ == "__main__":
    main()
