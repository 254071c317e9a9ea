"""Photographs of phones: read where a package for them is installed, else named with what to do.

`fixtures/rotated.heic` was saved by pillow-heif 1.8: 96 x 64 pixels, blue, the first 32 x 32 red,
with the camera's note that it is to be turned by a quarter.
"""

import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from poise.data import image_kinds
from poise.data.images import UnreadableError, decode, size_of, square
from poise.data.showing import shown_file
from poise.data.sources import read_items
from poise.errors import InputError
from poise.studio.source.reading import read_catalogue

Image = pytest.importorskip("PIL.Image", reason="needs Pillow: install the extra image")

PHOTO = Path(__file__).parents[1] / "fixtures" / "rotated.heic"
CONTENT = PHOTO.read_bytes()

needs_reader = pytest.mark.skipif(
    not any(find_spec(name) for name in image_kinds.HEIF_PACKAGES),
    reason="needs pi-heif: install the extra heic",
)


@pytest.fixture
def without_reader(monkeypatch):
    monkeypatch.setattr(image_kinds, "find_spec", lambda name: None)


@pytest.fixture
def photos(tmp_path):
    """A folder with a photograph, the same under another ending and cut short, and a drawing."""
    folder = tmp_path / "photos"
    folder.mkdir()
    Image.new("RGB", (80, 80), "green").save(folder / "drawing.png")
    (folder / "phone.HEIC").write_bytes(CONTENT)
    (folder / "renamed.jpg").write_bytes(CONTENT + b"\0\0\0\x08free")
    (folder / "short.heif").write_bytes(CONTENT[: len(CONTENT) - 60])
    return folder


def picture(content):
    return np.asarray(decode(content, ("RGB", 96), lambda catalogue, _: catalogue.convert("RGB")))


@needs_reader
class TestRead:
    def test_upright_in_its_colours(self):
        catalogue = picture(CONTENT).astype(int)
        assert catalogue.shape == (96, 64, 3)
        for place, colour in (((15, 48), (255, 0, 0)), ((15, 15), (0, 0, 255))):
            assert np.abs(catalogue[place] - colour).max() < 25
        assert size_of(CONTENT) == (64, 96)

    def test_shown_and_kept(self):
        kind, shown = shown_file(CONTENT, 64)
        assert kind == "image/png"
        assert max(size_of(shown)) == 64
        assert square(CONTENT, 8).shape == (8, 8)

    def test_folder(self, photos):
        catalogue = read_catalogue(str(photos))
        assert set(catalogue.sources) == {"drawing.png", "phone.HEIC", "renamed.jpg"}
        assert [name for name, _ in catalogue.unreadable] == ["short.heif"]

    def test_embed_reads_what_the_app_reads(self, photos):
        (photos / "short.heif").unlink()
        assert len(read_items(str(photos))) == 3

    def test_too_many_pixels_by_the_header(self):
        place = CONTENT.index(b"ispe") + 8
        sides = b"".join(side.to_bytes(4, "big") for side in (12_000, 11_000))
        bomb = CONTENT[:place] + sides + CONTENT[place + 8 :]
        with pytest.raises(UnreadableError):
            picture(bomb)


class TestNotInstalled:
    pytestmark = pytest.mark.usefixtures("without_reader")

    def test_folder_says_what_to_install(self, photos):
        catalogue = read_catalogue(str(photos))
        assert catalogue.sources == ("drawing.png",)
        reasons = dict(catalogue.unreadable)
        assert reasons.keys() == {"phone.HEIC", "renamed.jpg", "short.heif"}
        assert all("pip install pi-heif" in why for why in reasons.values())

    def test_table_of_paths(self, photos):
        table = photos.parent / "photos.csv"
        table.write_text("image\nphotos/drawing.png\nphotos/phone.HEIC\nphotos/short.heif\n")
        catalogue = read_catalogue(str(table))
        assert len(catalogue) == 1
        assert ["pip install pi-heif" in why for _, why in catalogue.unreadable] == [True, True]

    def test_nothing_else_in_the_folder(self, tmp_path):
        (tmp_path / "phone.heic").write_bytes(CONTENT)
        with pytest.raises(InputError, match="pip install pi-heif"):
            read_catalogue(str(tmp_path))


@pytest.mark.parametrize("name", image_kinds.HEIF_PACKAGES)
def test_either_package_serves(monkeypatch, name):
    """A stand-in that registers nothing: it is asked once the content is HEIC, and only then."""
    asked = []
    package = ModuleType(name)
    package.register_heif_opener = lambda: asked.append(name)
    monkeypatch.setitem(sys.modules, name, package)
    monkeypatch.setattr(image_kinds, "find_spec", lambda one: one == name or None)
    assert image_kinds.picture_endings()[-3:] == (".heic", ".heif", ".hif")
    with pytest.raises(UnreadableError):
        picture(b"\0\0\0\x18ftypjp2 " + CONTENT[12:])
    assert not asked
    with pytest.raises(UnreadableError):
        picture(CONTENT[:40])
    assert asked
