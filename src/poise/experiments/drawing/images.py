"""Small grey images as data URIs, so that a page can contain them."""

import base64
import struct
import zlib

import numpy as np
from numpy.typing import ArrayLike

from poise.errors import InputError


def ink_uri(ink: ArrayLike) -> str:
    """A PNG of black ink on a transparent background, as a ``data:`` URI.

    Parameters
    ----------
    ink : (height, width), from 0 (background) to 1 (full ink)

    Notes ----- Ink on a transparent background suits any page: a dark page inverts it to white. The
    format is the PNG specification's colour type 4 (grey and alpha, 8 bits each), every row with
    filter type 0.
    """
    strength = np.asarray(ink, dtype=np.float64)
    if strength.ndim != 2 or strength.size == 0:
        raise InputError(f"expected an image of shape (height, width), got {strength.shape}")
    height, width = strength.shape
    rows = np.zeros((height, 1 + 2 * width), dtype=np.uint8)
    rows[:, 2::2] = np.rint(255 * np.clip(strength, 0, 1))
    header = struct.pack(">IIBBBBB", width, height, 8, 4, 0, 0, 0)
    png = b"".join(
        [
            b"\x89PNG\r\n\x1a\n",
            _chunk(b"IHDR", header),
            _chunk(b"IDAT", zlib.compress(rows.tobytes(), 9)),
            _chunk(b"IEND", b""),
        ]
    )
    return "data:image/png;base64," + base64.b64encode(png).decode("ascii")


def _chunk(kind: bytes, content: bytes) -> bytes:
    checksum = zlib.crc32(kind + content)
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", checksum)
