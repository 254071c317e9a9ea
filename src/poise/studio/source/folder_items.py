"""Items from a folder of images."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from poise.data.embeddings.items import Images
from poise.data.ids import distinct_ids
from poise.data.image_cache import File, ImageCache
from poise.data.image_files import find_images
from poise.data.image_reading import Encode, Seen, read_images
from poise.data.images import Pixels
from poise.data.sources import no_images
from poise.data.text import clean
from poise.progress import Progress
from poise.studio.source.catalogue import Catalogue
from poise.studio.source.names import class_name, left_out, none_usable, source_name
from poise.studio.source.project_files import writing

#: Folders whose names are no classes.
NO_CLASS = frozenset({"unlabelled", "unlabeled", "unknown", "unsorted", "todo"})


@dataclass(frozen=True)
class ImageReader:
    """How image files are read.

    Attributes
    ----------
    remembered : file that keeps what is known of image files, so that each is read once
    progress : called with (done, total) now and then
    seen : called with the bytes of every image file that is read, from any thread
    encode : embeds image files as they are read, if that is wanted; it makes no grey copies
    """

    remembered: Path | None
    progress: Progress
    seen: Seen
    encode: Encode | None

    def read(
        self, root: Path, names: Sequence[str]
    ) -> tuple[list[File], Pixels | None, list[tuple[str, str]]]:
        """Image files with their ids, grey copies, and names of the other files, with reasons."""
        cache = ImageCache.load(self.remembered)
        files, pixels, refused = read_images(
            root, names, cache, self.progress, self.seen, self.encode
        )
        ids = distinct_ids([file.hash for file in files], [file.id for file in files])
        files = [replace(file, id=item) for file, item in zip(files, ids, strict=True)]
        if self.remembered is not None:
            with writing(self.remembered):
                cache.save(self.remembered, files, pixels)
        return files, pixels, refused


def folder_catalogue(
    path: Path, reader: ImageReader, use_labels: bool, wanted: Sequence[str] | None
) -> Catalogue:
    """The images in a folder, or those of them that are `wanted`.

    Parameters
    ----------
    use_labels : whether the names of folders in it are classes
    """
    root = path.resolve()
    names, refused = find_images(root) if wanted is None else (list(wanted), [])
    if not names and not refused:
        raise no_images(path)
    files, pixels, damaged = reader.read(root, names)
    unreadable = left_out(refused + damaged)
    if not files:
        raise none_usable(f"the images in {path}", unreadable)
    row_of = {name: row for row, name in enumerate(names)}
    known = {}
    for file in files:
        folder, below, _ = file.name.partition("/")
        if use_labels and below and folder.lower() not in NO_CLASS:
            known[file.id] = class_name(folder)
    if len(known) == len(files) and len(set(known.values())) == 1:
        known = {}  # all in one folder: that tells nothing apart
    return Catalogue(
        source_name(str(path)),
        "image",
        tuple(file.id for file in files),
        Images(tuple(root / file.name for file in files)),
        known,
        tuple(clean(file.name) for file in files),
        unreadable,
        pixels,
        clean(str(root)),
        root=root,
        files=tuple(files),
        rows=tuple(row_of[file.name] for file in files),
        total=len(names),
    )
