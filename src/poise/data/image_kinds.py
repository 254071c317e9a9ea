"""Kinds of image files: those that are read, and what to do about the others."""

from importlib import import_module
from importlib.util import find_spec

#: Endings of image files that Pillow always reads, and of those that need a package of their own.
PICTURES = (".png", ".jpg", ".jpeg", ".webp", ".bmp", ".gif", ".tif", ".tiff")
HEIF = (".heic", ".heif", ".hif")
#: Packages that read HEIC, and the marks of such files, which follow a length and "ftyp".
HEIF_PACKAGES = ("pi_heif", "pillow_heif")
HEIF_MARKS = (b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1")
#: pi-heif decodes and no more: 2 MB under the LGPL; pillow-heif is 26 MB and under the GPL.
HEIF_NEEDED = "HEIC needs pi-heif: pip install pi-heif, then start poise again"
#: Endings -> what the files are, and what to do with them.
NOT_READ = {
    HEIF: HEIF_NEEDED,
    (".avif", ".jxl", ".jp2"): "this kind of image is not read: convert it to JPEG or PNG",
    (".cr2", ".cr3", ".nef", ".arw", ".dng", ".orf", ".raf", ".rw2"): (
        "camera raw files are not read: export it as JPEG"
    ),
    (".svg", ".eps", ".psd", ".xcf", ".pdf"): "this is not a bitmap image: export it as PNG",
    (".mp4", ".mov", ".avi", ".mkv", ".webm"): "videos are not read: export its frames as JPEG",
}


def heif_package() -> str | None:
    """The installed package that reads HEIC, if there is one."""
    return next((name for name in HEIF_PACKAGES if find_spec(name) is not None), None)


def read_heif() -> bool:
    """Let Pillow read HEIC if a package for it is installed; return whether it can."""
    if (package := heif_package()) is None:
        return False
    import_module(package).register_heif_opener()
    return True


def is_heif(content: bytes) -> bool:
    """Whether a file is HEIC by its content, whatever it is called."""
    return content[4:8] == b"ftyp" and content[8:12] in HEIF_MARKS


def picture_endings() -> tuple[str, ...]:
    """Endings of the image files that can be read now."""
    return (*PICTURES, *HEIF) if heif_package() else PICTURES


def why_not_read(ending: str) -> str:
    """What to do about an image file that is not read; empty if it is not an image at all."""
    return next((why for endings, why in NOT_READ.items() if ending in endings), "")
