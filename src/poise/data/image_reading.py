"""Image files read once each: a bad one is left out, with the reason."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from poise.data.ids import content_id
from poise.data.image_cache import SIDE, File, ImageCache
from poise.data.image_files import load_below
from poise.data.images import Pixels, UnreadableError, pillow, quiet, square
from poise.machine import cores
from poise.progress import Progress, paced

#: Gets the bytes of every image file that is read, from any thread.
Seen = Callable[[bytes], None]
#: Embeds a few image files from their bytes; says of each why it cannot be read, or nothing.
Encode = Callable[[Sequence[bytes]], list[str]]

#: Image files that are embedded together: a batch of the encoder's.
ENCODER_BATCH = 8
#: Image files that are handed to the threads at a time, so that a million files are not a million
#: tasks and an interruption takes effect soon.
THREAD_BATCH = 512
MOST_THREADS = 8


def read_images(
    root: Path,
    names: Sequence[str],
    cache: ImageCache,
    progress: Progress,
    seen: Seen,
    encode: Encode | None = None,
) -> tuple[list[File], Pixels | None, list[tuple[str, str]]]:
    """Every file once: its hash and a small grey copy.

    With `encode` only that decodes the files, and there are no grey copies.

    Returns
    -------
    files : those that are images, in the order of `names`
    pixels : (n, SIDE, SIDE) of these, or None
    refused : names of the others, and why
    """
    pillow("reading images", "app")
    advance = paced(progress, len(names))
    has_all = encode is not None or len(cache.pixels) == len(cache.files)
    outcomes: list[File | str | None] = [
        cache.unchanged(root, name) if has_all else None for name in names
    ]
    if cache.files and tuple(outcomes) == cache.files:
        advance(len(names))
        return list(cache.files), cache.pixels if encode is None else None, []
    pixels = np.empty((len(names) if encode is None else 0, SIDE, SIDE), dtype=np.uint8)
    unknown = []
    for i, file in enumerate(outcomes):
        if not isinstance(file, File):
            unknown.append(i)
        elif encode is None:
            pixels[i] = cache.pixels[cache.rows[file.name]]

    def read(batch: Sequence[int]) -> list[File | str]:
        """A few files, or why they cannot be read."""
        read: list[File | str] = []
        contents = []
        for i in batch:
            try:
                content, changed = load_below(root, names[i])
                if encode is None:
                    pixels[i] = square(content, SIDE)
            except UnreadableError as error:
                read.append(str(error))
                continue
            digest = content_id(content)
            before = cache.id_of(names[i], digest)
            read.append(File(names[i], len(content), changed, digest, before))
            contents.append(content)
        reasons = encode(contents) if encode is not None and contents else [""] * len(contents)
        positions = [i for i, file in enumerate(read) if isinstance(file, File)]
        for i, content, why in zip(positions, contents, reasons, strict=True):
            if why:
                read[i] = why
            else:
                seen(content)
        return read

    done = len(names) - len(unknown)
    advance(done)
    size, threads = (1, cores() + 1) if encode is None else (ENCODER_BATCH, cores())
    with quiet, ThreadPoolExecutor(min(MOST_THREADS, threads)) as pool:
        for start in range(0, len(unknown), THREAD_BATCH):
            part = unknown[start : start + THREAD_BATCH]
            batches = [part[i : i + size] for i in range(0, len(part), size)]
            for batch, results in zip(batches, pool.map(read, batches), strict=True):
                for i, result in zip(batch, results, strict=True):
                    outcomes[i] = result
                done += len(batch)
                advance(done)
    files = [file for file in outcomes if isinstance(file, File)]
    refused = [(names[i], why) for i, why in enumerate(outcomes) if isinstance(why, str)]
    if encode is not None:
        return files, None, refused
    if refused:
        pixels = pixels[[isinstance(file, File) for file in outcomes]]
    return files, pixels, refused
