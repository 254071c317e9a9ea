"""Images as a browser shows them: PNG or JPEG of a limited size, made from the decoded pixels."""

import io
from typing import Any

import numpy.typing as npt

from poise.data.images import decode, pillow, stretched

#: Images with shorter sides are shown in their own size.
SMALL_SIDE = 64
#: Images with longer sides and nothing transparent are taken for photographs: sent as JPEG.
PHOTOGRAPH_SIDE = 256


def shown_file(content: bytes, size: int) -> tuple[str, bytes]:
    """Media type and bytes of a picture of an image file, at most `size` pixels a side."""
    return decode(content, ("RGB", size), lambda picture, side: _encoded(picture, side, size))


def shown_numbers(values: npt.NDArray[Any], size: int) -> tuple[str, bytes]:
    """The same for numbers: (height, width), (height, width, 1) or (height, width, 3)."""
    values = values[..., 0] if values.ndim == 3 and values.shape[2] == 1 else values
    picture = pillow("showing images", "app").fromarray(stretched(values))
    return _encoded(picture, max(values.shape[:2]), size)


def shown_picture(picture: Any, size: int) -> tuple[str, bytes]:
    """The same for a PIL image, which is not changed."""
    mode = "RGBA" if picture.has_transparency_data else "RGB"
    return _encoded(picture.convert(mode), max(picture.size), size)


def _encoded(picture: Any, side: int, size: int) -> tuple[str, bytes]:
    """Encode an image whose longest side was `side` before it was decoded."""
    if side >= SMALL_SIDE:
        picture.thumbnail((size, size))
    if picture.mode == "RGBA" and picture.getextrema()[3] == (255, 255):
        picture = picture.convert("RGB")
    buffer = io.BytesIO()
    if picture.mode == "RGBA" or side <= PHOTOGRAPH_SIDE:
        picture.save(buffer, format="PNG", compress_level=1)
        return "image/png", buffer.getvalue()
    picture.save(buffer, format="JPEG", quality=90)
    return "image/jpeg", buffer.getvalue()
