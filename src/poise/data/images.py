"""The one way of decoding an image: what is embedded is what is shown."""

import io
import threading
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from importlib import import_module
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from poise.data.image_kinds import HEIF_NEEDED, is_heif, read_heif
from poise.errors import PoiseError
from poise.extras import needed

#: Most bytes of an image file.
MOST_FILE_BYTES = 1 << 30
#: Images with more pixels are decoded one after another.
LARGE_IMAGE_PIXELS = 25_000_000
#: Most pixels that are decoded: half a gigabyte in Pillow. A decoder in a thread cannot be
#: stopped, so what the header says is the only limit to the seconds that a file takes.
MOST_PIXELS = 120_000_000
#: Most pixels of a JPEG file that can be decoded smaller than it is.
MOST_JPEG_PIXELS = 250_000_000
#: Most pixels times scans of a JPEG file: every scan visits every block, and a small file can
#: hold thousands of them.
MOST_JPEG_VISITS = 2_000_000_000
#: Formats that are read, by Pillow's names. Pillow goes by a file's content, whatever its name, and
#: would run Ghostscript for EPS. "JPEG" includes MPO.
FORMATS = ("BMP", "GIF", "JPEG", "PNG", "TIFF", "WEBP")
#: Images of whole numbers up to this would look black beside 255: they are stretched.
DARK_MAXIMUM = 31

Pixels = npt.NDArray[np.uint8]
T = TypeVar("T")


class UnreadableError(PoiseError):
    """Why a file cannot be used, as the end of a sentence: "it is empty"."""


class _Quiet:
    """Silences Pillow's warnings while any thread is inside: poise reports bad files itself.

    `warnings.catch_warnings` alone is not safe with threads: the first one to leave would restore
    the warnings for all.
    """

    def __init__(self) -> None:
        self._lock, self._inside = threading.Lock(), 0

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside:
                self._before = warnings.catch_warnings()
                self._before.__enter__()
                warnings.simplefilter("ignore")
            self._inside += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                self._before.__exit__(None, None, None)


quiet = _Quiet()
_alone = threading.Lock()


def pillow(purpose: str = "reading images", extra: str = "image") -> Any:
    """The module `PIL.Image`, or the one line that says how to install it."""
    return needed("PIL.Image", extra, purpose)


def decode(content: bytes, draft: tuple[str, int], use: Callable[[Any, int], T]) -> T:
    """Decode an image file and return what `use` makes of it: upright, its first frame, eight bits.

    Parameters
    ----------
    content : bytes
        The image file.
    draft : (str, int)
        A JPEG is decoded in this mode ("L" or "RGB"), and to no less than this many pixels a side
        where decoding it smaller is quicker.
    use : callable
        Gets the Pillow image, in L, RGB or, if some of it may be transparent, RGBA, and the
        longest side of the image in the file. Large images are used one after another.

    Raises
    ------
    UnreadableError
        If the file is damaged, is no image of a known format or has too many pixels.
    """
    library = pillow()
    operations = import_module("PIL.ImageOps")
    if not content:
        raise UnreadableError("it is empty (0 bytes)")
    mode, least = draft
    try:
        with quiet, _opened(content) as picture:
            side = max(picture.size)
            least = _checked(picture, content, least)
            picture.draft(mode, (least, least))
            with _turn(picture):
                picture.load()
                with suppress(Exception):  # damaged notes of the camera: it stays as it lies
                    operations.exif_transpose(picture, in_place=True)
                return use(_eight_bits(picture), side)
    except UnreadableError:
        raise
    except (library.DecompressionBombError, MemoryError):
        raise UnreadableError("it has too many pixels") from None
    except library.UnidentifiedImageError:
        raise UnreadableError("it is not an image, or its beginning is damaged") from None
    except Exception:  # whatever a decoder makes of damaged bytes, the remedy is the same
        raise UnreadableError("it is damaged or cut short") from None


def square(
    content: bytes, side: int, mode: str = "L", least: int | None = None, way: str = "BICUBIC"
) -> Pixels:
    """An image in side x side pixels, whatever its proportions; what is transparent is white.

    Parameters
    ----------
    content : bytes
        The image file.
    side : int
    mode : str
        "L", grey, or "RGB".
    least : int, optional
        A JPEG is decoded to at least this many pixels a side; default: twice `side`.
    way : str
        Method of resizing, as Pillow calls it.

    Returns
    -------
    (side, side) or (side, side, 3) uint8
    """
    draft = (mode, 2 * side if least is None else least)
    return decode(content, draft, lambda picture, _: squared(picture, side, mode, way))


def squared(picture: Any, side: int, mode: str, way: str = "BICUBIC") -> Pixels:
    """The same for a picture that is decoded already."""
    resample = pillow().Resampling[way]
    if picture.mode == "RGBA":
        # Pillow weights colours by opacity when it resizes, so nothing invisible shines through.
        return np.asarray(on_white(picture.resize((side, side), resample)).convert(mode))
    return np.asarray(picture.convert(mode).resize((side, side), resample, reducing_gap=3.0))


def on_white(picture: Any) -> Any:
    """A picture in L or RGB; what is transparent is white, as on paper."""
    if picture.mode != "RGBA":
        return picture
    library = pillow()
    paper = library.new("RGBA", picture.size, "white")
    return library.alpha_composite(paper, picture).convert("RGB")


def size_of(content: bytes) -> tuple[int, int]:
    """Width and height of an image file, from its header."""
    try:
        with quiet, _opened(content) as picture:
            width, height = picture.size
    except Exception:  # as in `decode`
        raise UnreadableError("it is damaged or cut short") from None
    return int(width), int(height)


def _opened(content: bytes) -> Any:
    """A Pillow image of which only the header is read."""
    library = pillow()
    try:
        formats = ("HEIF",) if is_heif(content) else FORMATS
        if "HEIF" in formats and not read_heif():
            raise UnreadableError(HEIF_NEEDED)
        return library.open(io.BytesIO(content), formats=formats)
    except library.DecompressionBombError:
        # Raised by the size in the header; a JPEG file may still be decoded smaller than that.
        if not content.startswith(b"\xff\xd8\xff"):
            raise
        return import_module("PIL.JpegImagePlugin").JpegImageFile(io.BytesIO(content))


def _checked(picture: Any, content: bytes, least: int) -> int:
    """The side of the draft, less if that makes the image small enough; or an `UnreadableError`."""
    pixels, most = picture.width * picture.height, MOST_PIXELS
    if picture.mode == "F" or picture.mode.startswith("I"):
        most //= 4  # they are stretched in double precision
    if isinstance(picture, import_module("PIL.JpegImagePlugin").JpegImageFile):
        scans = content.count(b"\xff\xda")
        if pixels * scans > MOST_JPEG_VISITS:
            raise UnreadableError(f"it has too many pixels in too many scans ({scans:,})")
        # A progressive file is unpacked whole before it is made smaller.
        if pixels > most and not picture.info.get("progressive"):
            most, least = MOST_JPEG_PIXELS, min(least, picture.width // 2, picture.height // 2)
    if pixels > most:
        raise UnreadableError(
            f"it has too many pixels: {pixels / 1e6:,.0f} million, at most {most / 1e6:,.0f}"
        )
    return least


def _turn(picture: Any) -> AbstractContextManager[Any]:
    """Large images one after another: several at once need more memory than many machines have."""
    return _alone if picture.width * picture.height > LARGE_IMAGE_PIXELS else nullcontext()


def _eight_bits(picture: Any) -> Any:
    """In L, RGB or, if some of it is transparent, RGBA."""
    if picture.mode == "F" or picture.mode.startswith("I"):
        return pillow().fromarray(stretched(np.asarray(picture)))
    if picture.has_transparency_data:
        return picture.convert("RGBA")
    if picture.mode in ("L", "RGB"):
        return picture
    return picture.convert("L" if picture.mode == "1" else "RGB")


def stretched(values: npt.NDArray[Any]) -> Pixels:
    """Numbers as bytes.

    Whole numbers lose their lowest bits, as few as need be: cameras count to 255, 4,095 or 65,535.
    Others are stretched, the least to black and the largest to white; what is no number is white.
    """
    if values.dtype.kind in "ui" and values.size and values.min() >= 0:
        top = int(values.max())
        shift = next(bits for bits in (0, 4, 8, 16, 24, 32, 48, 56) if top >> bits <= 255)
        if top > DARK_MAXIMUM:
            return np.ascontiguousarray(values >> shift).astype(np.uint8)
    numbers = values.astype(np.float64) / 2  # halves: the largest less the least stays finite
    good = np.isfinite(numbers)
    low, high = (numbers[good].min(), numbers[good].max()) if good.any() else (0.0, 0.0)
    share = (np.where(good, numbers, high) - low) / (high - low or 1.0)
    return np.asarray(np.rint(255 * share), dtype=np.uint8)
