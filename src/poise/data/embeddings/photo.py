"""Photographs by what they show, by a network that comes with the installation."""

import hashlib
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from poise.data.embeddings import efficientnet
from poise.data.embeddings.efficientnet import LITE0, Source
from poise.data.embeddings.items import (
    Images,
    Items,
    are_images,
    are_texts,
    as_images,
    file_content,
    named,
)
from poise.data.embeddings.kept import Kept
from poise.data.embeddings.registry import embeddings
from poise.data.image_reading import Encode
from poise.data.images import Pixels, UnreadableError, pillow, square, squared
from poise.errors import DataError, InputError, PoiseError
from poise.extras import needed
from poise.machine import cores
from poise.progress import NotedProgress

#: Changes when the input of the network, or the use of its output, does.
FORMAT = 2
#: Images that the network sees at once: larger batches leave the processor's cache.
BATCH_IMAGES = 8

#: Smooth where small images are enlarged: sharper methods show the network false edges.
RESIZING = "BILINEAR"

Rows = npt.NDArray[np.float32]
#: Indices of items, and their rows.
Batch = tuple[npt.NDArray[np.int64], Rows]
#: Index of an item -> the bytes that identify it, and a function that returns its pixels.
Load = Callable[[int], tuple[bytes, Callable[[], Pixels]]]


@embeddings.register("photo")
@dataclass(frozen=True)
class Photo:
    """Photographs by what they show, by EfficientNet-Lite0, offline (comes with poise[app]).

    The square roots of the 1,280 numbers before the classifier; compare them by cosine. Each image
    is computed by itself and kept at once: an interrupted run goes on where it stopped.

    Parameters
    ----------
    centred : bool
        Subtract the mean of all items: what they have in common does not distinguish them.
    height, width : int, optional
        Of an image, where items are rows of numbers that are not square.
    """

    centred: bool = True
    height: int | None = None
    width: int | None = None

    #: The weights, and the size of image that they were trained on.
    source: ClassVar[Source] = LITE0
    #: Whether each item is computed by itself.
    itemwise: ClassVar[bool] = True
    #: Numbers in a row.
    dimensions: ClassVar[int] = 1280

    def fingerprint(self) -> str:
        """Identifies everything besides the image that a row depends on."""
        source = self.source
        way = f"{RESIZING} {source.side}"
        return f"photo {FORMAT} {efficientnet.FORMAT} {way} {source.sha256}"

    def __call__(
        self, items: Items, kept: Kept | None = None, progress: NotedProgress | None = None
    ) -> Rows:
        rows = np.empty((len(items), self.dimensions), dtype=np.float32)
        done = 0
        for indices, features in self.batches(items, kept):
            rows[indices] = features
            done += len(indices)
            if progress:
                progress(done, len(items), "")
        return rows - rows.mean(axis=0) if self.centred else rows

    def batches(self, items: Items, kept: Kept | None = None) -> Iterator[Batch]:
        """Rows as they are computed, not centred, in order: (indices, rows) of a few at a time.

        Parameters
        ----------
        items : Images, or (n, ...) array
        kept : Kept, optional
            Rows in it are not computed again, and new ones are added.
        """
        if are_texts(items):
            raise InputError("photo is for images: use sentence or tfidf for texts")
        load = self._files(items) if isinstance(items, Images) else self._arrays(items)
        run = session(self.source)

        def encode(start: int) -> Batch:
            """All steps of a batch in one thread: no core waits for another."""
            indices = np.arange(start, min(start + BATCH_IMAGES, len(items)))
            loaded = [load(int(i)) for i in indices]
            if kept is None:
                return indices, run(np.stack([pixels() for _, pixels in loaded]))
            keys = [hashlib.sha256(content).digest() for content, _ in loaded]
            known, rows = kept.get(keys)
            new = np.flatnonzero(~known)
            if len(new):
                rows[new] = run(np.stack([loaded[i][1]() for i in new]))
                kept.add([keys[i] for i in new], rows[new])
            return indices, rows

        return _in_turn(encode, range(0, len(items), BATCH_IMAGES))

    def reader(self, kept: Kept) -> Encode:
        """A function that embeds image files while they are read, so that each is decoded once.

        Any thread may call it. Rows are not centred; those that are kept already are not computed
        again, nor are their files decoded.
        """
        run, side = session(self.source), self.source.side

        def encode(contents: Sequence[bytes]) -> list[str]:
            keys = [hashlib.sha256(content).digest() for content in contents]
            reasons = [""] * len(keys)
            pixels: dict[bytes, Pixels] = {}
            for i, (key, content) in enumerate(zip(keys, contents, strict=True)):
                if key not in kept and key not in pixels:
                    try:
                        pixels[key] = square(content, side, "RGB", side, RESIZING)
                    except UnreadableError as error:
                        reasons[i] = str(error)
            if pixels:
                kept.add(list(pixels), run(np.stack(list(pixels.values()))))
            return reasons

        return encode

    def _arrays(self, items: Items) -> Load:
        array = np.asarray(items)
        asked = self.height is not None or self.width is not None
        # Bytes stay as they are, perhaps mapped from a file: shares would need four times the room.
        ready = array.dtype == np.uint8 and are_images(array) and array.size and not asked
        images = array if ready else as_images(items, "photo", self.height, self.width)
        library = pillow()
        side = self.source.side

        def load(i: int) -> tuple[bytes, Callable[[], Pixels]]:
            image = images[i] if ready else np.round(images[i] * 255).astype(np.uint8)
            image = image[..., 0] if image.ndim == 3 and image.shape[2] == 1 else image
            content = f"{image.shape}".encode() + image.tobytes()
            return content, lambda: squared(library.fromarray(image), side, "RGB", RESIZING)

        return load

    def _files(self, items: Images) -> Load:
        side = self.source.side

        def load(i: int) -> tuple[bytes, Callable[[], Pixels]]:
            content = file_content(items.paths[i])

            def pixels() -> Pixels:
                with named(items.paths[i]):
                    return square(content, side, "RGB", side, RESIZING)

            return content, pixels

        return load


def session(source: Source = LITE0) -> Callable[[Pixels], Rows]:
    """A function from pixels, (n, 224, 224, 3), to rows, (n, 1280), for the calling thread."""
    runtime = needed("onnxruntime", "photo", "the embedding photo")
    options = runtime.SessionOptions()
    # Poise runs a thread per core, each with its own batch: the library's threads wait for each
    # other at every layer, and for whatever else the machine does.
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    try:
        session = runtime.InferenceSession(
            efficientnet.network(source), options, providers=["CPUExecutionProvider"]
        )
    except PoiseError:
        raise
    except Exception as error:  # the library's errors have no common base
        reason = (str(error).splitlines() or [type(error).__name__])[0][:100]
        raise DataError(
            f"onnxruntime cannot run the network of photo ({reason}): {efficientnet.INSTEAD}"
        ) from None

    def run(pixels: Pixels) -> Rows:
        # Square roots, because a few strong features would dominate the angle.
        features: Rows = session.run(None, {"pixels": pixels})[0]
        return np.sqrt(features)

    return run


def _in_turn(work: Callable[[int], Batch], starts: Sequence[int]) -> Iterator[Batch]:
    """Results of `work` in order, computed by a thread per core, and only a little ahead.

    If the caller stops taking batches, or one fails, nothing new is begun.
    """
    count = cores()
    waiting: deque[Future[Batch]] = deque()
    pool = ThreadPoolExecutor(count)
    try:
        for start in starts:
            waiting.append(pool.submit(work, start))
            if len(waiting) > 2 * count:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)
