"""The one decoder: every kind of file, upright and in eight bits, or one clear reason."""

import io
import struct
import threading
import warnings
import zlib

import numpy as np
import pytest

from poise.data import images
from poise.data.embeddings.items import Images
from poise.data.image_cache import SIDE, ImageCache
from poise.data.image_reading import read_images
from poise.data.images import UnreadableError, decode, square
from poise.errors import DataError

Image = pytest.importorskip("PIL.Image", reason="needs Pillow: install the extra image")


def saved(picture, kind="PNG", **options):
    file = io.BytesIO()
    picture.save(file, kind, **options)
    return file.getvalue()


def corners(side=64):
    """Red, green, blue and white quarters, so that every turn shows."""
    array = np.zeros((side, side, 3), np.uint8)
    half = side // 2
    array[:half, :half, 0] = array[:half, half:, 1] = array[half:, :half, 2] = 255
    array[half:, half:] = 255
    return Image.fromarray(array)


def turned(orientation, kind="JPEG"):
    """A photograph with an orientation tag, stored so that it is upright once turned."""
    undo = {
        1: None,
        2: Image.Transpose.FLIP_LEFT_RIGHT,
        3: Image.Transpose.ROTATE_180,
        4: Image.Transpose.FLIP_TOP_BOTTOM,
        5: Image.Transpose.TRANSPOSE,
        6: Image.Transpose.ROTATE_90,
        7: Image.Transpose.TRANSVERSE,
        8: Image.Transpose.ROTATE_270,
    }[orientation]
    picture = corners() if undo is None else corners().transpose(undo)
    notes = Image.Exif()
    notes[0x0112] = orientation
    return saved(picture, kind, exif=notes, **({"quality": 95} if kind == "JPEG" else {}))


def rgb(content, side=64):
    return square(content, side, "RGB").astype(int)


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "TIFF", "WEBP"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_every_orientation(orientation, kind):
    shown = rgb(turned(orientation, kind))
    for place in [(5, 5), (5, 58), (58, 5), (58, 58)]:
        np.testing.assert_allclose(shown[place], np.asarray(corners())[place], atol=25)


def test_sixteen_bits():
    """Of 4,095 and of 65,535 grey levels, the highest eight bits; convert() would clip them."""
    ramp = np.arange(64, dtype=np.uint16)[None, :].repeat(64, axis=0)
    for top, shift in ((65_535, 8), (4_095, 4)):
        values = ramp * np.uint16(top // 63)
        shown = square(saved(Image.fromarray(values)), 64)
        np.testing.assert_array_equal(shown, values >> shift)


def test_numbers_of_any_range():
    values = np.linspace(-3, 5, 64 * 64, dtype=np.float32).reshape(64, 64)
    shown = square(saved(Image.fromarray(values), "TIFF"), 64)
    assert (shown.min(), shown.max()) == (0, 255)
    assert (np.diff(shown.astype(int).ravel()) >= 0).all()


def test_cmyk_and_palette_and_one_bit():
    red = Image.new("RGB", (64, 64), "red")
    cmyk = saved(red.convert("CMYK"), "JPEG", quality=95)
    np.testing.assert_allclose(rgb(cmyk)[30, 30], [255, 0, 0], atol=6)
    np.testing.assert_array_equal(rgb(saved(red.convert("P")))[30, 30], [255, 0, 0])
    np.testing.assert_array_equal(rgb(saved(Image.new("1", (64, 64), 1)))[30, 30], [255] * 3)


@pytest.mark.parametrize("mode", ["RGBA", "LA", "P"])
def test_what_is_transparent_is_white(mode):
    """Even if the hidden colour is black, or a palette says what is transparent."""
    clear = Image.new("RGBA", (64, 64), (0, 0, 0, 0))
    clear.paste((0, 0, 0, 255), (0, 0, 32, 64))
    if mode == "P":
        picture = Image.new("P", (64, 64), 1)
        picture.putpalette([0, 0, 0, 9, 9, 9])
        picture.paste(0, (0, 0, 32, 64))
        content = saved(picture, "GIF", transparency=1)
    else:
        content = saved(clear.convert(mode))
    shown = rgb(content)
    np.testing.assert_array_equal(shown[30, 10], [0, 0, 0])
    np.testing.assert_array_equal(shown[30, 50], [255, 255, 255])
    np.testing.assert_array_equal(square(content, 64), shown[..., 0])


def test_the_first_frame():
    frames = [Image.new("RGB", (64, 64), colour) for colour in ("red", "blue")]
    for kind in ("GIF", "TIFF", "WEBP"):
        options = {"lossless": True} if kind == "WEBP" else {}
        content = saved(frames[0], kind, save_all=True, append_images=frames[1:], **options)
        np.testing.assert_allclose(rgb(content)[30, 30], [255, 0, 0], atol=3)


def test_a_jpeg_is_decoded_no_larger_than_needed():
    content = saved(Image.new("RGB", (1600, 1200), "teal"), "JPEG")
    assert decode(content, ("RGB", 224), lambda picture, side: (picture.size, side)) == (
        (400, 300),
        1600,
    )
    whole = decode(content, ("RGB", 9999), lambda picture, side: picture.size)
    assert whole == (1600, 1200)


def test_a_photo_larger_than_the_limit_is_decoded_smaller(monkeypatch):
    """Pillow itself would refuse it by its header."""
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 20_000)
    monkeypatch.setattr(images, "MOST_PIXELS", 30_000)
    photo = Image.new("RGB", (250, 200), "teal")
    size = decode(saved(photo, "JPEG"), ("RGB", 9999), lambda picture, side: (picture.size, side))
    assert size == ((125, 100), 250)
    for content in (saved(photo, "JPEG", progressive=True), saved(photo)):
        with pytest.raises(UnreadableError, match="it has too many pixels"):
            square(content, 64)


@pytest.mark.parametrize("size", [(1, 1), (1, 500), (500, 1)])
def test_extreme_shapes(size):
    np.testing.assert_array_equal(rgb(saved(Image.new("RGB", size, "red")))[3, 3], [255, 0, 0])


def declared(width, height):
    """A PNG file whose header says that it is larger than it is."""
    content = bytearray(saved(Image.new("1", (9, 9))))
    content[16:24] = struct.pack(">II", width, height)
    content[29:33] = struct.pack(">I", zlib.crc32(content[12:29]))
    return bytes(content)


def many_scans(side, scans):
    """A JPEG file whose last scan is repeated: small, and slow to decode."""
    content = saved(Image.new("L", (side, side)), "JPEG", progressive=True)
    last = content.rindex(b"\xff\xda")
    return content[:last] + content[last:-2] * scans + content[-2:]


POSTSCRIPT = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\n showpage\n%%EOF\n"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "it is empty"),
        (POSTSCRIPT, "it is not an image"),
        (declared(13_000, 10_000), "it has too many pixels: 130 million, at most 120"),
        (many_scans(2_000, 600), "it has too many pixels in too many scans"),
        (
            saved(Image.new("F", (6_200, 5_000)), "TIFF", compression="tiff_lzw"),
            "it has too many pixels: 31 million, at most 30",
        ),
        (b"text", "it is not an image"),
        (declared(1 << 20, 1 << 20), "it has too many pixels"),
        (saved(corners())[:-60], "it is damaged or cut short"),
        (saved(corners(), "JPEG")[:700], "it is damaged or cut short"),
    ],
)
def test_unusable_files(content, reason, tmp_path):
    with pytest.raises(UnreadableError, match=reason):
        square(content, 64)
    path = tmp_path / "bad.png"
    path.write_bytes(content)
    for read in (Images((path,)).array, lambda: list(Images((path,)).pictures())):
        with pytest.raises(DataError, match=r"bad\.png cannot be read \(" + reason) as caught:
            read()
        assert "\n" not in str(caught.value)


def test_any_cut_and_any_damage_is_an_image_or_a_reason():
    rng = np.random.default_rng(0)
    picture = Image.fromarray(rng.integers(0, 256, (24, 24, 3), dtype=np.uint8))
    for kind in ("PNG", "JPEG", "GIF", "TIFF", "WEBP", "BMP"):
        whole = saved(picture, kind)
        for _ in range(40):
            changed = bytearray(whole[: rng.integers(1, len(whole) + 1)])
            changed[rng.integers(len(changed))] ^= 1 << rng.integers(8)
            try:
                assert square(bytes(changed), 16).shape == (16, 16)
            except UnreadableError:
                continue


def test_a_large_image_is_read_alone(monkeypatch):
    """Four threads, and never two large images in memory."""
    monkeypatch.setattr(images, "LARGE_IMAGE_PIXELS", 100)
    inside, most = 0, 0

    def use(picture, side):
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        threading.Event().wait(0.01)
        inside -= 1

    content = saved(corners())
    work = [threading.Thread(target=decode, args=(content, ("L", 8), use)) for _ in range(4)]
    for thread in work:
        thread.start()
    for thread in work:
        thread.join()
    assert most == 1


def test_warnings_are_restored():
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        square(saved(corners()), 8)
        warnings.warn("heard", stacklevel=1)
    assert [str(one.message) for one in seen] == ["heard"]


def test_the_app_and_embed_see_the_same_pixels(tmp_path):
    clear = corners().convert("RGBA")
    clear.putalpha(100)
    files = {
        "a.jpg": turned(6),
        "b.png": saved(clear),
        "c.gif": saved(corners().convert("P"), "GIF"),
        "d.jpg": saved(corners(700), "JPEG"),
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    _, pixels, refused = read_images(
        tmp_path, list(files), ImageCache(), lambda done, total: None, lambda content: None
    )
    assert refused == []
    embedded = Images(tuple(tmp_path / name for name in files), size=SIDE).array()
    np.testing.assert_array_equal(pixels, embedded)
