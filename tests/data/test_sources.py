"""Sources: arrays, tables, folders of images, and what is wrong with some of them."""

import csv
import json
import sys
import zipfile

import numpy as np
import pytest
from PIL import Image

import poise
from poise.data import array_files
from poise.data.embeddings import Images
from poise.data.sources import read_items
from poise.errors import DataError, InputError, MissingExtraError, UnknownNameError


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("POISE_CACHE", str(tmp_path / "cache"))


def npy_header(shape):
    """A .npy file whose header announces an array that is not there."""
    text = repr({"descr": "<f8", "fortran_order": False, "shape": shape}).encode() + b"\n"
    return b"\x93NUMPY\x02\x00" + len(text).to_bytes(4, "little") + text


class TestSources:
    def test_arrays(self, tmp_path):
        X = np.arange(6.0).reshape(3, 2)
        np.save(tmp_path / "x.npy", X)
        np.savez(tmp_path / "x.npz", X=X)
        for name in ("x.npy", "x.npz"):
            np.testing.assert_array_equal(read_items(str(tmp_path / name)), X)
        assert len(read_items("digits")) == 1797

    def test_an_archive_that_memory_has_no_room_for(self, tmp_path, monkeypatch):
        path = tmp_path / "x.npz"
        np.savez_compressed(path, X=np.zeros((3_000, 1_000)))
        assert path.stat().st_size < 100_000
        monkeypatch.setattr(array_files, "available_memory", lambda: 30_000_000)
        with pytest.raises(DataError, match=r"unpacks to 0\.0 GB, and 0\.0 GB .* save .* \.npy"):
            read_items(str(path))
        monkeypatch.setattr(array_files, "available_memory", lambda: None)
        assert read_items(str(path)).shape == (3_000, 1_000)

    def test_an_archive_that_promises_more_than_it_holds(self, tmp_path):
        path = tmp_path / "x.npz"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("X.npy", npy_header((10**5, 10**5)))
        with pytest.raises(DataError, match="cannot be read"):
            read_items(str(path))

    def test_dates_out_of_range(self, tmp_path):
        arrow = pytest.importorskip("pyarrow")
        parquet = pytest.importorskip("pyarrow.parquet")
        path = tmp_path / "t.parquet"
        when = arrow.array([2**31 - 1], type=arrow.date32())
        parquet.write_table(arrow.table({"text": ["a"], "when": when}), path)
        with pytest.raises(DataError, match="dates out of range"):
            read_items(str(path), "when")

    @pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl"])
    def test_tables(self, tmp_path, kind):
        path = tmp_path / f"t.{kind}"
        texts = ['one, "two"', "zwölf\tdrei", "line\nbreak"]
        if kind == "jsonl":
            path.write_text("".join(json.dumps({"id": 1, "text": t}) + "\n" for t in texts))
        else:
            with path.open("w", newline="", encoding="utf-8-sig") as file:
                writer = csv.writer(file, delimiter="," if kind == "csv" else "\t")
                writer.writerows([["id", "text"], *([1, t] for t in texts)])
        assert read_items(str(path), "text") == texts
        assert read_items(str(path)) == texts, "a common name is found, as in the app"
        with pytest.raises(InputError, match="has no column 'body': there are id, text"):
            read_items(str(path), "body")

    def test_an_ambiguous_column_has_to_be_named(self, tmp_path):
        path = tmp_path / "t.csv"
        path.write_text("one,two,label\na,b,c\n")
        with pytest.raises(InputError, match="say which holds the texts"):
            read_items(str(path))
        assert read_items(str(path), "one,two") == ["a\n\nb"]

    def test_a_table_of_images(self, tmp_path):
        """They are read as images, as in the app: their paths say nothing of what they show."""
        (tmp_path / "few").mkdir()
        for name in ("b.png", "a.png"):
            Image.new("RGB", (9, 9)).save(tmp_path / "few" / name)
        path = tmp_path / "t.csv"
        path.write_text("path,label\nfew/b.png,x\nfew/a.png,y\n")
        items = read_items(str(path), size=8)
        assert isinstance(items, Images)
        assert [one.name for one in items.paths] == ["b.png", "a.png"]
        assert items.array().shape == (2, 8, 8)
        path.write_text("path\nfew/b.png\nfew/c.png\n")
        with pytest.raises(DataError, match=r"row 2 of .* names 'few/c.png': there is no such"):
            read_items(str(path))
        path.write_text("image\nhttps://example.org/b\n")
        with pytest.raises(InputError, match="poise downloads no images"):
            read_items(str(path))

    def test_a_data_set_of_texts_is_its_texts(self, poise_data):
        items = read_items("banking77")
        assert items[0] == "I am still waiting on my card?"

    @pytest.mark.parametrize(
        ("name", "content", "error", "message"),
        [
            ("x.npy", b"nothing", DataError, "cannot be read"),
            ("x.npz", b"nothing", DataError, "cannot be read"),
            ("x.npz", b"PK\x03\x04" + bytes(50), DataError, "cannot be read"),
            ("t.csv", b"text\n", DataError, "holds no rows"),
            ("t.csv", b"\xff\xfe\xfa", DataError, "cannot be read"),
            ("t.jsonl", b"{", DataError, "cannot be read"),
            ("t.jsonl", b"[1]\n", DataError, "not an object"),
            ("t.jsonl", b'{"text": ' + b"9" * 5000 + b"}", DataError, "thousands of digits"),
            ("t.jsonl", b'{"text": ' + b"[" * 100_000, DataError, "nested too deeply"),
            ("x.npy", npy_header((10**30,)), DataError, "cannot be read"),
            ("x.npy", npy_header((10**6, 10**6)), DataError, "cannot be read"),
            ("x.npy", npy_header((1,) * 100_000), DataError, "cannot be read"),
            ("t.jsonl", b'{"text": 3}\n', InputError, "row 1 .* no text"),
            ("t.doc", b"", InputError, "unknown kind"),
        ],
    )
    def test_broken(self, tmp_path, name, content, error, message):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(error, match=message) as caught:
            read_items(str(tmp_path / name))
        assert "\n" not in str(caught.value)

    def test_missing(self, tmp_path):
        with pytest.raises(InputError, match="there is no file"):
            read_items(str(tmp_path / "none.csv"))
        with pytest.raises(UnknownNameError, match="did you mean digits"):
            read_items("digit")


class TestImages:
    @pytest.fixture
    def pillow(self):
        return pytest.importorskip("PIL.Image", reason="needs Pillow: install the extra image")

    @pytest.fixture
    def folder(self, tmp_path, pillow):
        folder = tmp_path / "pictures"
        (folder / "b").mkdir(parents=True)
        kinds = ["png", "jpg", "jpeg", "webp", "bmp", "gif", "tif", "PNG"]
        for i, kind in enumerate(kinds):
            place = folder / ("b" if i % 2 else "") / f"{i}.{kind}"
            pillow.new("RGB", (20 + i, 30), (255 - 30 * i, 10, 0)).save(place)
        (folder / "notes.txt").write_text("no image")
        (folder / ".hidden.png").write_bytes(b"")
        return folder

    def test_every_kind_in_the_order_of_the_paths(self, folder):
        items = read_items(str(folder))
        assert isinstance(items, Images)
        names = [path.relative_to(folder).as_posix() for path in items.paths]
        assert names == sorted(names)
        assert len(items) == 8
        assert items.array().shape == (8, 64, 64)
        coloured = read_items(str(folder), size=5, colour=True)
        assert coloured.array().shape == (8, 5, 5, 3)
        reds = [255 - 30 * int(path.stem) for path in items.paths]
        np.testing.assert_allclose(coloured.array()[:, 2, 2, 0], reds, atol=4)

    @pytest.mark.parametrize("name", ["raw", "pca", "hog", "vae"])
    def test_embedded(self, folder, name):
        if name == "hog":
            pytest.importorskip("skimage", reason="needs scikit-image: install the extra image")
        if name == "vae":
            pytest.importorskip("torch", reason="needs torch: install the extra vae")
        options = {"epochs": 1} if name == "vae" else {}
        items = read_items(str(folder), size=16)
        X = poise.embed(items, name, **options)
        np.testing.assert_array_equal(X, poise.embed(items.array(), name, cached=False, **options))

    def test_kept_by_content(self, folder, tmp_path):
        poise.embed(read_items(str(folder), size=8), "raw")
        moved = folder.rename(tmp_path / "elsewhere")
        poise.embed(read_items(str(moved), size=8), "raw")
        kept = tmp_path / "cache" / "embeddings"
        assert len(list(kept.iterdir())) == 1
        poise.embed(read_items(str(moved), size=9), "raw")
        (moved / "0.png").unlink()
        poise.embed(read_items(str(moved), size=8), "raw")
        assert len(list(kept.iterdir())) == 3

    def test_sixteen_bits_palettes_transparency_and_rotation(self, tmp_path, pillow):
        wide = np.full((4, 6), 0x8000, dtype=np.uint16)
        pillow.fromarray(wide).save(tmp_path / "a.png")
        pillow.new("P", (4, 4), 3).save(tmp_path / "b.png")
        pillow.new("RGBA", (4, 4), (9, 9, 9, 100)).save(tmp_path / "c.png")
        turned = pillow.new("L", (6, 3), 0)
        turned.paste(255, (0, 0, 3, 3))
        exif = pillow.Exif()
        exif[0x0112] = 6  # a camera held upright: to be turned by 90 degrees
        turned.save(tmp_path / "d.png", exif=exif)
        X = read_items(str(tmp_path), size=4).array()
        assert (X[0] == 0x80).all()
        assert X[3, 0].min() > X[3, 3].max()
        pictures = list(read_items(str(tmp_path)).pictures())
        assert [picture.mode for picture in pictures] == ["RGB"] * 4
        assert pictures[3].size == (3, 6)

    @pytest.mark.parametrize("name", ["x.png", "x.jpg", "x.gif", "x.tif", "x.webp", "x.bmp"])
    @pytest.mark.parametrize("damage", ["empty", "noise", "half"])
    def test_a_damaged_image_is_named(self, tmp_path, pillow, name, damage):
        noise = np.random.default_rng(0).integers(0, 255, (40, 40, 3), dtype=np.uint8)
        pillow.fromarray(noise).save(tmp_path / name)
        content = (tmp_path / name).read_bytes()
        damaged = {"empty": b"", "noise": b"\x07" * 500, "half": content[: len(content) // 2]}
        (tmp_path / name).write_bytes(damaged[damage])
        with pytest.raises(DataError, match=f"{name} cannot be read") as caught:
            poise.embed(read_items(str(tmp_path)), "raw")
        assert "\n" not in str(caught.value)

    def test_a_picture_that_would_unpack_to_terabytes(self, tmp_path, pillow, monkeypatch):
        pillow.new("1", (9, 9)).save(tmp_path / "bomb.png")
        content = bytearray((tmp_path / "bomb.png").read_bytes())
        import struct
        import zlib

        content[16:24] = struct.pack(">II", 1 << 20, 1 << 20)
        content[29:33] = struct.pack(">I", zlib.crc32(content[12:29]))
        (tmp_path / "bomb.png").write_bytes(content)
        with pytest.raises(DataError, match=r"bomb\.png cannot be read \(it has too many pixels\)"):
            poise.embed(read_items(str(tmp_path)), "raw")

    def test_nothing_missing_and_vanished(self, tmp_path, pillow, monkeypatch):
        with pytest.raises(DataError, match="holds no images"):
            read_items(str(tmp_path))
        pillow.new("L", (4, 4)).save(tmp_path / "x.png")
        for size in (0, 1, 5000, 2.5):
            with pytest.raises(InputError, match="size is"):
                read_items(str(tmp_path), size=size)
        items = read_items(str(tmp_path))
        monkeypatch.setitem(sys.modules, "PIL", None)
        monkeypatch.setitem(sys.modules, "PIL.Image", None)
        with pytest.raises(MissingExtraError, match=r"needs PIL.*poise\[image\]"):
            poise.embed(items, "raw")
        (tmp_path / "x.png").unlink()
        with pytest.raises(DataError, match=r"x.png cannot be read"):
            poise.embed(items, "raw")

    def test_texts_are_no_images(self, folder):
        for name in ("tfidf", "text-encoder"):
            with pytest.raises(InputError, match="is for texts"):
                poise.embed(read_items(str(folder)), name)


class TestParquet:
    def test_a_column_of_texts(self, tmp_path):
        arrow = pytest.importorskip("pyarrow", reason="needs pyarrow: install the extra parquet")
        parquet = pytest.importorskip("pyarrow.parquet")
        path = tmp_path / "t.parquet"
        texts = ["one", "zwölf", ""]
        parquet.write_table(arrow.table({"id": [1, 2, 3], "text": texts}), path)
        assert read_items(str(path), "text") == texts
        assert read_items(str(path)) == texts, "a common name is found, as in the app"
        with pytest.raises(InputError, match="has no column 'body': there are id, text"):
            read_items(str(path), "body")
        with pytest.raises(InputError, match=r"row 1 .* has no text in the column 'id'"):
            read_items(str(path), "id")
        content = path.read_bytes()
        for damaged in (b"", b"nothing", content[:-9], content[: len(content) // 2]):
            path.write_bytes(damaged)
            with pytest.raises(DataError, match="cannot be read") as caught:
                read_items(str(path), "text")
            assert "\n" not in str(caught.value)
        parquet.write_table(arrow.table({"text": arrow.array([], arrow.string())}), path)
        with pytest.raises(DataError, match="holds no rows"):
            read_items(str(path))

    def test_without_the_library(self, tmp_path, monkeypatch):
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
        (tmp_path / "t.parquet").write_bytes(b"")
        with pytest.raises(MissingExtraError, match=r"needs pyarrow.*poise\[parquet\]"):
            read_items(str(tmp_path / "t.parquet"))
