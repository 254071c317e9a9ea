"""Items keep their names whatever happens around them."""

import io
import json

import numpy as np
import pytest
from PIL import Image

from poise.errors import InputError
from poise.studio.catalogue import read_catalogue


def picture(path, grey):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.full((20, 30, 3), grey, dtype=np.uint8)).save(path)


def shade(found, index):
    return Image.open(io.BytesIO(found.content(index)[1])).getpixel((0, 0))


def test_a_data_set_by_name():
    found = read_catalogue("digits")
    assert (found.kind, len(found), len(set(found.ids))) == ("image", 1797, 1797)
    assert found.ids == read_catalogue("digits").ids
    kind, content = found.content(0)
    assert kind == "image/png"
    assert Image.open(io.BytesIO(content)).size == (8, 8)


def test_images_are_known_by_what_they_show(tmp_path):
    for name, grey in (("cat/a.png", 10), ("cat/b.png", 20), ("dog/c.png", 30), ("d.png", 40)):
        picture(tmp_path / name, grey)
    before = read_catalogue(str(tmp_path))
    shades = {item: shade(before, index) for index, item in enumerate(before.ids)}
    assert sorted(before.known.values()) == ["cat", "cat", "dog"]
    (tmp_path / "cat/a.png").rename(tmp_path / "zebra.png")
    (tmp_path / "dog/c.png").unlink()
    picture(tmp_path / "0-new.png", 50)
    after = read_catalogue(str(tmp_path))
    assert len(set(before.ids) & set(after.ids)) == 3
    for index, item in enumerate(after.ids):
        assert shade(after, index) == shades.get(item, (50, 50, 50))


def test_copies_are_told_apart(tmp_path):
    path = tmp_path / "texts.jsonl"
    path.write_text("".join(json.dumps({"text": t}) + "\n" for t in ("a", "b", "a", "a")))
    found = read_catalogue(str(path))
    assert len(set(found.ids)) == 4
    assert found.ids[2] == f"{found.ids[0]}-2"
    assert found.content(1) == ("text/plain; charset=utf-8", b"b")


def test_vectors_and_square_pictures(tmp_path):
    rng = np.random.default_rng(0)
    np.save(tmp_path / "vectors.npy", rng.normal(size=(5, 7)))
    np.save(tmp_path / "pictures.npy", rng.integers(0, 255, (5, 12, 12)).astype(np.uint8))
    vectors = read_catalogue(str(tmp_path / "vectors.npy"))
    kind, content = vectors.content(3)
    assert (vectors.kind, kind, len(json.loads(content))) == ("vector", "application/json", 7)
    pictures = read_catalogue(str(tmp_path / "pictures.npy"))
    assert pictures.kind == "image"
    assert Image.open(io.BytesIO(pictures.content(0)[1])).size == (12, 12)


def test_a_large_image_is_shown_smaller(tmp_path):
    Image.fromarray(np.zeros((1500, 3000, 3), dtype=np.uint8)).save(tmp_path / "large.png")
    found = read_catalogue(str(tmp_path))
    assert Image.open(io.BytesIO(found.content(0)[1])).size == (1200, 600)


def test_no_such_source():
    with pytest.raises(InputError, match="no file"):
        read_catalogue("nothing/of/the/kind.csv")
