"""Kinds of image files beyond those that Pillow always reads, and what to do about each."""

from importlib import import_module
from importlib.util import find_spec

#: Photographs as phones take them: read once this package is installed.
HEIF, HEIF_PACKAGE = (".heic", ".heif"), "pillow-heif"
#: Endings -> what they are, and what to do.
NOT_READ = {
    HEIF: f"HEIC needs {HEIF_PACKAGE}: pip install {HEIF_PACKAGE}, then start poise again",
    (".avif", ".jxl", ".jp2"): "this kind of image is not read: convert it to JPEG or PNG",
    (".cr2", ".cr3", ".nef", ".arw", ".dng", ".orf", ".raf", ".rw2"): (
        "camera raw files are not read: export it as JPEG"
    ),
    (".svg", ".eps", ".psd", ".xcf", ".pdf"): "this is not a bitmap image: export it as PNG",
    (".mp4", ".mov", ".avi", ".mkv", ".webm"): "videos are not read: export its frames as JPEG",
}


def read_heif() -> tuple[str, ...]:
    """Let Pillow read HEIC where that is installed; the endings that can be read now."""
    if find_spec("pillow_heif") is None:
        return ()
    import_module("pillow_heif").register_heif_opener()
    return HEIF


def why_not_read(ending: str) -> str:
    """What to do about an image file that is not read; empty if it is no image at all."""
    return next((why for endings, why in NOT_READ.items() if ending in endings), "")
