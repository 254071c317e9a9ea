"""Pretrained networks for texts and for images, downloaded once."""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from poise.checks import whole_number
from poise.data import folders
from poise.data.embeddings.items import Images, Items, are_texts, as_images
from poise.data.embeddings.registry import embeddings
from poise.data.images import pillow
from poise.errors import DataError, InputError
from poise.extras import needed
from poise.progress import NotedProgress

#: What a model consists of besides its weights.
SETTINGS = (
    "config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "preprocessor_config.json",
)


@dataclass(frozen=True)
class _Encoder:
    """What both kinds share: a model by name, downloaded once, or from a folder."""

    model: str = ""
    folder: str | None = None
    batch: int = 64

    def __post_init__(self) -> None:
        whole_number(self.batch, "batch", 1)
        for name in ("model", "folder"):
            value = getattr(self, name)
            if not (isinstance(value, str) and value) and (name, value) != ("folder", None):
                raise InputError(f"{name} is {value!r}: it must be a text")
        if self.folder is not None and not Path(self.folder).is_dir():
            raise InputError(f"there is no folder {self.folder}: it should hold the model's files")

    def fingerprint(self) -> str:
        """Hash of the model's files, where they are the user's own."""
        if self.folder is None:
            return ""
        digest = hashlib.sha256()
        for path in sorted(Path(self.folder).rglob("*")):
            if path.is_file():
                with path.open("rb") as file:
                    digest.update(path.relative_to(self.folder).as_posix().encode() + b"\0")
                    digest.update(hashlib.file_digest(file, "sha256").digest())
        return digest.hexdigest()

    def encode(
        self, kind: str, name: str, items: Iterable[Any], n: int, progress: NotedProgress | None
    ) -> npt.NDArray[np.float32]:
        library = getattr(needed("fastembed", "encoders", f"the embedding {name}"), kind)
        encoder = self._load(library, name)
        parts: list[npt.NDArray[np.float32]] = []
        done = 0
        for group in _groups(items, self.batch):
            parts.append(np.stack(list(encoder.embed(group, batch_size=self.batch))))
            done += len(group)
            if progress:
                progress(done, n, "")
        return np.concatenate(parts).astype(np.float32)

    def _load(self, library: Any, name: str) -> Any:
        """The network, from the folder, from the cache, or downloaded."""
        known = {about["model"].lower(): about for about in library.list_supported_models()}
        about = known.get(self.model.lower())
        if about is None:
            names = sorted(entry["model"] for entry in known.values())
            near = get_close_matches(self.model, names, n=3, cutoff=0.4) or names
            raise InputError(
                f"{name} knows no model {self.model!r}: there are, for example, {', '.join(near)}"
            )
        path = Path(self.folder) if self.folder is not None else _fetched(about)
        if not (path / about["model_file"]).is_file():
            raise DataError(
                f"{path} holds no {about['model_file']}: it is not the model {self.model}"
            )
        try:
            return library(model_name=about["model"], specific_model_path=str(path))
        except Exception as error:  # the libraries' errors have no common base
            reason = str(error).strip().splitlines() or [type(error).__name__]
            raise DataError(
                f"the model {self.model} cannot be read ({reason[0][:100]}): delete {path} and "
                "try again"
            ) from None


@embeddings.register("text-encoder")
@dataclass(frozen=True)
class TextEncoder(_Encoder):
    """Texts by their meaning, by a pretrained network, downloaded once (needs fastembed).

    Parameters
    ----------
    model : str
        One that fastembed knows; the default is English and 67 MB. For other languages
        ``"sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2"``, 220 MB.
    folder : str, optional
        Where the model's files are, on a machine without a network.
    batch : int
    """

    model: str = "BAAI/bge-small-en-v1.5"

    def __call__(
        self, items: Items, progress: NotedProgress | None = None
    ) -> npt.NDArray[np.float32]:
        if not are_texts(items):
            raise InputError("text-encoder is for texts: use image-encoder for images, or pca")
        # The tokeniser refuses lone surrogates, which broken files have.
        texts = (text.encode("utf-8", "replace").decode() for text in items)
        return self.encode("TextEmbedding", "text-encoder", texts, len(items), progress)


@embeddings.register("image-encoder")
@dataclass(frozen=True)
class ImageEncoder(_Encoder):
    """Images by what they show, by a pretrained network, downloaded once (needs fastembed).

    Parameters
    ----------
    model : str
        One that fastembed knows; the default is CLIP's image side, 340 MB.
    folder : str, optional
        Where the model's files are, on a machine without a network.
    batch : int
    height, width : int, optional
        Of an image, where items are rows of numbers that are not square.
    """

    model: str = "Qdrant/clip-ViT-B-32-vision"
    batch: int = 16
    height: int | None = None
    width: int | None = None

    def __call__(
        self, items: Items, progress: NotedProgress | None = None
    ) -> npt.NDArray[np.float32]:
        if are_texts(items):
            raise InputError("image-encoder is for images: use text-encoder for texts")
        needed("fastembed", "encoders", "the embedding image-encoder")  # it brings Pillow
        return self.encode(
            "ImageEmbedding", "image-encoder", self._pictures(items), len(items), progress
        )

    def _pictures(self, items: Items) -> Iterator[Any]:
        if isinstance(items, Images):
            yield from items.pictures()
            return
        library = pillow("the embedding image-encoder")
        for image in as_images(items, "image-encoder", self.height, self.width):
            yield library.fromarray(np.round(image * 255).astype(np.uint8)).convert("RGB")


def _fetched(about: dict[str, Any]) -> Path:
    """The folder of a model's files, downloaded unless they are in the cache."""
    hub = needed("huggingface_hub", "encoders", "fetching a model")
    files = [about["model_file"], *about["additional_files"]]
    where = folders.cache() / "models"
    wanted = {
        "repo_id": about["sources"]["hf"],
        "cache_dir": str(where),
        "allow_patterns": [*SETTINGS, *files],
    }
    for offline in (True, False):
        try:
            path = Path(hub.snapshot_download(**wanted, local_files_only=offline))
        except Exception as error:  # without a network, the error depends on the versions
            if offline:
                continue
            is_full = isinstance(error, OSError) and error.errno == 28
            reason = "the disk is full" if is_full else "the network or its host was not reached"
            raise DataError(
                f"the model {about['model']} ({about['size_in_GB']} GB) is not in {where} and "
                f"cannot be fetched ({reason}): connect to a network once, or give folder=, where "
                "its files are"
            ) from None
        if all((path / file).is_file() for file in files):
            return path
    raise DataError(f"the model {about['model']} came without {' or '.join(files)}: try another")


def _groups(items: Iterable[Any], size: int) -> Iterator[list[Any]]:
    iterator = iter(items)
    while group := list(islice(iterator, size)):
        yield group
