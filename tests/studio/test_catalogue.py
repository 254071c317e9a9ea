"""Items keep their ids whatever happens around them, and a bad one never stops the rest."""

import io
import json
import os
import struct
import threading
import zlib

import numpy as np
import pytest
from PIL import Image

from poise.data import image_kinds, image_reading
from poise.data.embeddings import Images
from poise.data.image_cache import FORMAT, ImageCache
from poise.errors import DataError, InputError
from poise.studio.source.catalogue import Catalogue, GoneError
from poise.studio.source.names import source_name
from poise.studio.source.reading import read_catalogue

HOSTILE = "<img src=x onerror=alert(1)>.png"


def picture(path, grey, size=(30, 20), **options):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", size, (grey, grey, grey)).save(path, **options)


def noise(path, side=80, seed=0, **options):
    path.parent.mkdir(parents=True, exist_ok=True)
    values = np.random.default_rng(seed).integers(0, 255, (side, side, 3), dtype=np.uint8)
    Image.fromarray(values).save(path, **options)


def opened(catalogue, index, size=1200):
    return Image.open(io.BytesIO(catalogue.content(index, size)[1]))


def shade(catalogue, index):
    return opened(catalogue, index).getpixel((0, 0))[0]


def table(path, rows):
    """Write rows to a file, in the format of its ending."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    elif path.suffix == ".parquet":
        arrow = pytest.importorskip("pyarrow", reason="needs pyarrow: install the extra parquet")
        parquet = pytest.importorskip("pyarrow.parquet")
        columns = {name: [row.get(name) for row in rows] for name in names}
        parquet.write_table(arrow.table(columns), path)
    else:
        mark = "," if path.suffix == ".csv" else "\t"
        lines = [names, *([str(row.get(name) or "") for name in names] for row in rows)]
        path.write_text("".join(mark.join(line) + "\n" for line in lines))
    return str(path)


class TestFolders:
    @pytest.fixture
    def photos(self, tmp_path):
        folder = tmp_path / "photos"
        for name, grey in (("cat/a.png", 10), ("cat/b.png", 20), ("dog/c.png", 30), ("d.png", 40)):
            picture(folder / name, grey)
        return folder

    def test_ids_are_hashes_of_contents(self, photos):
        before = read_catalogue(str(photos))
        shades = {item: shade(before, index) for index, item in enumerate(before.ids)}
        (photos / "cat/a.png").rename(photos / "zebra.png")
        (photos / "dog/c.png").unlink()
        picture(photos / "0-new.png", 50)
        after = read_catalogue(str(photos))
        assert len(set(before.ids) & set(after.ids)) == 3
        for index, item in enumerate(after.ids):
            assert shade(after, index) == shades.get(item, 50)

    def test_sources_are_paths(self, photos):
        catalogue = read_catalogue(str(photos))
        assert catalogue.name == "photos"
        assert catalogue.sources == ("cat/a.png", "cat/b.png", "d.png", "dog/c.png")
        assert catalogue.unreadable == ()
        assert isinstance(catalogue.items, Images)
        assert [path.name for path in catalogue.items.paths] == ["a.png", "b.png", "d.png", "c.png"]

    def test_folders_are_labels_if_they_are_classes(self, photos):
        for name in ("Unsorted", "todo", "unlabelled", "UNLABELED", "unknown"):
            picture(photos / name / "x.png", 60 + len(name))
        catalogue = read_catalogue(str(photos))
        named = dict(zip(catalogue.ids, catalogue.sources, strict=True))
        assert {named[item]: label for item, label in catalogue.known.items()} == {
            "cat/a.png": "cat",
            "cat/b.png": "cat",
            "dog/c.png": "dog",
        }
        assert read_catalogue(str(photos), use_labels=False).known == {}

    def test_one_folder_around_everything_is_no_class(self, tmp_path):
        for i in range(3):
            picture(tmp_path / "DCIM" / f"{i}.png", 10 * i)
        assert read_catalogue(str(tmp_path)).known == {}

    def test_every_kind_of_file(self, tmp_path):
        kinds = ["jpg", "JPEG", "png", "webp", "tif", "tiff", "gif", "bmp"]
        for i, kind in enumerate(kinds):
            picture(tmp_path / f"{i}.{kind}", 20 * i)
        (tmp_path / "notes.txt").write_text("no image")
        picture(tmp_path / ".hidden.png", 1)
        picture(tmp_path / ".hidden" / "x.png", 2)
        catalogue = read_catalogue(str(tmp_path))
        assert len(catalogue) == len(kinds)
        assert catalogue.unreadable == ()
        for i in range(len(kinds)):
            assert abs(int(catalogue.pixels[i].mean()) - 20 * i) <= 2
            assert opened(catalogue, i).size == (30, 20)

    def test_the_first_frame_of_a_film(self, tmp_path):
        frames = [Image.new("L", (9, 9), grey) for grey in (200, 10)]
        frames[0].save(tmp_path / "x.gif", save_all=True, append_images=frames[1:])
        catalogue = read_catalogue(str(tmp_path))
        assert catalogue.pixels.min() == 200

    def test_the_small_copies_are_those_of_an_embedding(self, tmp_path):
        for i in range(4):
            noise(tmp_path / f"{i}.png", 50 + 40 * i, seed=i)
        noise(tmp_path / "5.jpg", 300)
        catalogue = read_catalogue(str(tmp_path))
        expected = catalogue.items.array().astype(int)
        assert catalogue.pixels.shape == (5, 64, 64)
        assert np.abs(catalogue.pixels - expected).max() <= 3

    def test_one_bad_file_is_left_out_and_reported(self, photos, tmp_path):
        (photos / "empty.png").write_bytes(b"")
        (photos / "text.jpg").write_text("this is no picture at all")
        noise(photos / "half.png")
        content = (photos / "half.png").read_bytes()
        (photos / "half.png").write_bytes(content[: len(content) // 2])
        Image.new("1", (9, 9)).save(photos / "bomb.png")
        bomb = bytearray((photos / "bomb.png").read_bytes())
        bomb[16:24] = struct.pack(">II", 1 << 20, 1 << 20)
        bomb[29:33] = struct.pack(">I", zlib.crc32(bomb[12:29]))
        (photos / "bomb.png").write_bytes(bomb)
        picture(tmp_path / "elsewhere" / "secret.png", 1)
        (photos / "out.png").symlink_to(tmp_path / "elsewhere" / "secret.png")
        (photos / "linked").symlink_to(tmp_path / "elsewhere")
        (photos / "nowhere.png").symlink_to(photos / "not-there.png")
        (photos / "circle.png").symlink_to(photos / "circle.png")
        os.mkfifo(photos / "pipe.png")
        catalogue = read_catalogue(str(photos))
        assert catalogue.sources == ("cat/a.png", "cat/b.png", "d.png", "dog/c.png")
        assert catalogue.pixels.shape == (4, 64, 64)
        assert catalogue.pixels[:, 0, 0].tolist() == [10, 20, 40, 30]
        assert dict(catalogue.unreadable) == {
            "empty.png": "it is empty (0 bytes)",
            "text.jpg": "it is not an image, or its beginning is damaged",
            "half.png": "it is damaged or cut short",
            "bomb.png": "it has too many pixels",
            "out.png": "it leads out of the folder",
            "linked": "it leads out of the folder",
            "nowhere.png": "there is no such file",
            "circle.png": "there is no such file",
            "pipe.png": "it is not a file",
        }

    @pytest.mark.parametrize("kind", ["jpg", "png", "webp", "tif", "gif", "bmp"])
    @pytest.mark.parametrize("share", [0.02, 0.3, 0.7, 0.97])
    def test_a_file_cut_anywhere_stops_nothing(self, tmp_path, kind, share):
        noise(tmp_path / f"cut.{kind}", 200)
        picture(tmp_path / "good.png", 9)
        content = (tmp_path / f"cut.{kind}").read_bytes()
        (tmp_path / f"cut.{kind}").write_bytes(content[: int(share * len(content))])
        catalogue = read_catalogue(str(tmp_path))
        assert "good.png" in catalogue.sources
        assert len(catalogue) + len(catalogue.unreadable) == 2

    def test_a_link_within_the_folder_is_a_copy(self, photos):
        (photos / "again.png").symlink_to(photos / "d.png")
        (photos / "more").symlink_to(photos / "cat")
        catalogue = read_catalogue(str(photos))
        assert catalogue.unreadable == ()
        item = dict(zip(catalogue.sources, catalogue.ids, strict=True))
        assert item["d.png"] == f"{item['again.png']}-2"

    def test_photographs_of_other_formats_are_named(self, photos, monkeypatch):
        monkeypatch.setattr(image_kinds, "find_spec", lambda name: None)
        before = len(read_catalogue(str(photos)))
        (photos / "cat" / "IMG_1.HEIC").write_bytes(b"photo")
        (photos / ".hidden.heic").write_bytes(b"photo")
        catalogue = read_catalogue(str(photos))
        assert (len(catalogue), catalogue.total) == (before, before)
        ((name, why),) = catalogue.unreadable
        assert name == "cat/IMG_1.HEIC"
        assert "pip install pi-heif" in why

    def test_nothing_but_bad_files(self, tmp_path):
        with pytest.raises(DataError, match="holds no images"):
            read_catalogue(str(tmp_path))
        for i in range(3):
            (tmp_path / f"{i}.png").write_bytes(b"")
        with pytest.raises(InputError, match=r"none of the images .* 3 left out.*0.png: it is emp"):
            read_catalogue(str(tmp_path))

    def test_hostile_names(self, tmp_path):
        names = [HOSTILE, "two\nlines.png", "‮txt.png", "a'\";--.png", " .png"]
        for i, name in enumerate(names):
            picture(tmp_path / name, 10 * i)
        strange = os.fsdecode(b"\xff\xfe.png")
        try:
            picture(tmp_path / strange, 100)
            picture(tmp_path / os.fsdecode(b"\xe9l\xe8ve\n") / "x.png", 110)
        except OSError:
            pytest.skip("this file system takes UTF-8 names only")
        kept = tmp_path / ".kept" / "items.npz"
        for _ in range(2):  # the second time from the cache
            catalogue = read_catalogue(str(tmp_path), remembered=kept)
            assert HOSTILE in catalogue.sources
            assert len(catalogue) == 7
            json.dumps([catalogue.sources, catalogue.known], ensure_ascii=False).encode()
            (label,) = catalogue.known.values()
            assert label.isprintable()
            assert all(catalogue.content(i)[0] == "image/png" for i in range(7))

    def test_progress_to_the_end_and_not_too_often(self, photos, monkeypatch):
        for i in range(40):
            picture(photos / f"more{i}.png", i)
        calls = []
        read_catalogue(str(photos), progress=lambda done, total: calls.append((done, total)))
        assert calls[-1] == (44, 44)
        assert calls == sorted(calls)
        assert len(calls) < 20
        monkeypatch.setattr("poise.progress.PACE_SECONDS", 0)
        calls.clear()
        read_catalogue(str(photos), progress=lambda done, total: calls.append((done, total)))
        assert len(calls) >= 44


class TestCopies:
    @pytest.fixture
    def copies(self, tmp_path):
        for name in "abcd":
            picture(tmp_path / f"{name}.png", 7)
        picture(tmp_path / "other.png", 8)
        return tmp_path

    def ids(self, folder, **options):
        catalogue = read_catalogue(str(folder), **options)
        return dict(zip(catalogue.sources, catalogue.ids, strict=True))

    def test_are_told_apart(self, copies):
        ids = self.ids(copies)
        plain = ids["a.png"]
        assert [ids[f"{name}.png"] for name in "bcd"] == [f"{plain}-{i}" for i in (2, 3, 4)]

    @pytest.mark.parametrize("gone", "abcd")
    def test_keep_their_ids_when_another_goes_and_comes_back(self, copies, tmp_path, gone):
        kept = tmp_path / "photos.poise" / "items.npz"
        before = self.ids(copies, remembered=kept)
        content = (copies / f"{gone}.png").read_bytes()
        (copies / f"{gone}.png").unlink()
        after = self.ids(copies, remembered=kept)
        assert after == {name: item for name, item in before.items() if name != f"{gone}.png"}
        (copies / f"{gone}.png").write_bytes(content)
        assert self.ids(copies, remembered=kept) == before

    def test_one_that_is_renamed_or_touched_keeps_its_id(self, copies, tmp_path):
        kept = tmp_path / "photos.poise" / "items.npz"
        before = self.ids(copies, remembered=kept)
        (copies / "c.png").rename(copies / "0.png")
        os.utime(copies / "b.png")
        after = self.ids(copies, remembered=kept)
        assert after.pop("0.png") == before.pop("c.png")
        assert after == before

    def test_equal_rows(self, tmp_path):
        path = table(tmp_path / "t.jsonl", [{"text": text} for text in ("a", "b", "a", "a")])
        catalogue = read_catalogue(path)
        assert catalogue.ids[2:] == (f"{catalogue.ids[0]}-2", f"{catalogue.ids[0]}-3")
        assert catalogue.content(1) == ("text/plain; charset=utf-8", b"b")


class TestImageCache:
    @pytest.fixture
    def decoded(self, monkeypatch):
        """Bytes of the files that are decoded."""
        sizes = []
        decode = image_reading.square

        def counted(content, *arguments):
            sizes.append(len(content))
            return decode(content, *arguments)

        monkeypatch.setattr(image_reading, "square", counted)
        return sizes

    @pytest.fixture
    def photos(self, tmp_path):
        for i in range(5):
            noise(tmp_path / "photos" / f"{i}.png", seed=i)
        return tmp_path / "photos"

    def test_what_did_not_change_is_not_read_again(self, photos, tmp_path, decoded):
        kept = tmp_path / "photos.poise" / "items.npz"
        first = read_catalogue(str(photos), remembered=kept)
        assert len(decoded) == 5
        decoded.clear()
        stamp = kept.stat().st_mtime_ns
        again = read_catalogue(str(photos), remembered=kept)
        assert decoded == []
        assert kept.stat().st_mtime_ns == stamp
        assert again.ids == first.ids
        np.testing.assert_array_equal(again.pixels, first.pixels)
        noise(photos / "3.png", seed=30)
        os.utime(photos / "3.png", ns=(0, stamp + 10**9))
        noise(photos / "a.png", seed=31)
        (photos / "0.png").unlink()
        changed = read_catalogue(str(photos), remembered=kept)
        assert len(decoded) == 2
        fresh = read_catalogue(str(photos))
        assert changed.ids == fresh.ids
        assert changed.ids[:2] == first.ids[1:3]
        np.testing.assert_array_equal(changed.pixels, fresh.pixels)

    def test_a_damaged_cache_is_made_again(self, photos, tmp_path, decoded):
        kept = tmp_path / "items.npz"
        whole = read_catalogue(str(photos), remembered=kept)
        content = kept.read_bytes()
        middle = len(content) // 2
        flipped = content[:middle] + bytes([content[middle] ^ 255]) + content[middle + 1 :]
        rows = np.frombuffer(b'[["x.png", 1, 2, "h"]]', dtype=np.uint8)
        foreign, short = io.BytesIO(), io.BytesIO()
        np.savez(foreign, X=np.zeros(3))
        pixels = np.zeros((1, 64, 64), dtype=np.uint8)
        np.savez(short, format=np.array(FORMAT), files=rows, pixels=pixels)
        damages = [b"", b"nothing", content[:middle], flipped, foreign.getvalue(), short.getvalue()]
        for damage in damages:
            kept.write_bytes(damage)
            decoded.clear()
            again = read_catalogue(str(photos), remembered=kept)
            assert len(decoded) == 5
            assert again.ids == whole.ids
            assert len(ImageCache.load(kept).files) == 5

    def test_no_pickle_is_loaded(self, photos, tmp_path):
        kept = tmp_path / "items.npz"
        trap = np.array([_Trap()], dtype=object)
        np.savez(kept, format=np.array(FORMAT), files=trap, pixels=trap, allow_pickle=True)
        read_catalogue(str(photos), remembered=kept)
        assert not _Trap.sprung

    def test_a_folder_that_cannot_be_written(self, photos, tmp_path):
        (tmp_path / "file").write_text("")
        with pytest.raises(DataError, match=r"Could not write .*items.npz.*--project"):
            read_catalogue(str(photos), remembered=tmp_path / "file" / "items.npz")


class _Trap:
    sprung = False

    def __reduce__(self):
        return setattr, (_Trap, "sprung", True)


class TestContent:
    def test_sizes(self, tmp_path):
        noise(tmp_path / "a.png", 28)
        noise(tmp_path / "b.png", 200)
        Image.new("RGB", (3000, 1500)).save(tmp_path / "c.jpg")
        catalogue = read_catalogue(str(tmp_path))
        assert [opened(catalogue, i).size for i in range(3)] == [(28, 28), (200, 200), (1200, 600)]
        sizes = [opened(catalogue, i, size=160).size for i in range(3)]
        assert sizes == [(28, 28), (160, 160), (160, 80)]
        assert opened(catalogue, 0, size=16).size == (28, 28)

    def test_photographs_are_jpeg_and_the_rest_is_png(self, tmp_path):
        noise(tmp_path / "a.png", 256)
        noise(tmp_path / "b.png", 300)
        glass = np.full((400, 400, 4), 90, dtype=np.uint8)
        Image.fromarray(glass, "RGBA").save(tmp_path / "c.png")
        glass[..., 3] = 255
        Image.fromarray(glass, "RGBA").save(tmp_path / "d.png")
        catalogue = read_catalogue(str(tmp_path))
        kinds = [catalogue.content(i)[0] for i in range(4)]
        assert kinds == ["image/png", "image/jpeg", "image/png", "image/jpeg"]
        assert [catalogue.content(i, 160)[0] for i in range(4)] == kinds
        assert opened(catalogue, 2).getpixel((5, 5)) == (90, 90, 90, 90)

    def test_no_file_is_passed_on_as_it_is(self, tmp_path):
        exif = Image.Exif()
        exif[0x010E] = "where I live"
        noise(tmp_path / "a.jpg", 300, exif=exif)
        with (tmp_path / "a.jpg").open("ab") as file:
            file.write(b"<script>alert(1)</script>")
        catalogue = read_catalogue(str(tmp_path))
        content = catalogue.content(0)[1]
        assert b"where I live" not in content
        assert b"script" not in content

    def test_upright_transparent_and_deep(self, tmp_path):
        turned = Image.new("L", (90, 60), 0)
        turned.paste(255, (0, 0, 45, 60))
        exif = Image.Exif()
        exif[0x0112] = 6  # a camera held upright
        turned.save(tmp_path / "a.jpg", exif=exif)
        Image.new("RGBA", (70, 70), (0, 0, 0, 0)).save(tmp_path / "b.png")
        deep = np.linspace(0, 4095, 70 * 70).reshape(70, 70)
        Image.fromarray(deep.astype(np.uint16)).save(tmp_path / "c.png")
        Image.fromarray((deep / 1e6).astype(np.float32)).save(tmp_path / "d.tif")
        Image.new("CMYK", (70, 70), (0, 0, 0, 255)).save(tmp_path / "e.jpg")
        Image.new("1", (70, 70), 1).save(tmp_path / "f.png")
        catalogue = read_catalogue(str(tmp_path))
        assert opened(catalogue, 0).size == (60, 90)
        assert catalogue.pixels[0, :20].min() > catalogue.pixels[0, 44:].max()
        assert (catalogue.pixels[1] == 255).all()  # on paper
        assert opened(catalogue, 1).getpixel((0, 0))[3] == 0
        for index in (2, 3):
            shown = np.asarray(opened(catalogue, index))
            assert (shown.min(), shown.max()) == (0, 255)
        assert catalogue.pixels[4].max() < 60
        assert catalogue.pixels[5].min() == 255

    def test_a_missing_file_is_reported(self, tmp_path):
        folder, outside = tmp_path / "photos", tmp_path / "secret.png"
        for name in ("gone", "empty", "cut", "other", "link", "touched"):
            noise(folder / f"{name}.png", seed=len(name))
        picture(outside, 1)
        catalogue = read_catalogue(str(folder))
        place = {source: i for i, source in enumerate(catalogue.sources)}
        (folder / "gone.png").unlink()
        (folder / "empty.png").write_bytes(b"")
        (folder / "cut.png").write_bytes((folder / "cut.png").read_bytes()[:2000])
        noise(folder / "other.png", seed=99)
        (folder / "link.png").unlink()
        (folder / "link.png").symlink_to(outside)
        os.utime(folder / "touched.png", (1, 1))
        for name, why in (
            ("gone", "there is no such file"),
            ("empty", "holds something else now"),
            ("cut", "holds something else now"),
            ("other", "holds something else now"),
            ("link", "leads out of the folder"),
        ):
            with pytest.raises(GoneError, match=rf"Could not show {name}.png: .*{why}\. Put"):
                catalogue.content(place[f"{name}.png"])
        assert catalogue.content(place["touched.png"])[0] == "image/png"

    def test_a_folder_that_becomes_a_link(self, tmp_path):
        picture(tmp_path / "photos" / "x" / "a.png", 3)
        picture(tmp_path / "photos" / "b.png", 4)
        picture(tmp_path / "elsewhere" / "a.png", 3)
        catalogue = read_catalogue(str(tmp_path / "photos"))
        (tmp_path / "photos" / "x").rename(tmp_path / "old")
        (tmp_path / "photos" / "x").symlink_to(tmp_path / "elsewhere")
        with pytest.raises(GoneError, match="leads out"):
            catalogue.content(catalogue.sources.index("x/a.png"))

    def test_many_threads_and_no_warnings(self, tmp_path, recwarn):
        noise(tmp_path / "a.png", 300)
        strange = Image.new("P", (90, 90))
        strange.save(tmp_path / "b.png", transparency=b"\x10\x20")
        catalogue = read_catalogue(str(tmp_path))
        shown = []
        work = [
            threading.Thread(target=lambda: shown.append(catalogue.content(1))) for _ in range(16)
        ]
        for thread in work:
            thread.start()
        for thread in work:
            thread.join()
        assert len(shown) == 16
        assert len(set(shown)) == 1
        assert len(recwarn) == 0

    def test_texts_stay_texts(self, tmp_path):
        text = "<script>alert(1)</script> \ud800 zwölf"
        catalogue = read_catalogue(table(tmp_path / "t.jsonl", [{"text": text}, {"text": "b"}]))
        kind, content = catalogue.content(0)
        assert kind == "text/plain; charset=utf-8"
        assert content.decode() == text.replace("\ud800", "?")


class TestTables:
    @pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "parquet"])
    def test_key_label_and_text(self, tmp_path, kind):
        rows = [
            {"nr": "x1", "text": "one", "Class": "good", "note": "1"},
            {"nr": "x2", "text": "two", "Class": None, "note": "2"},
            {"nr": "x3", "text": "three", "Class": "bad", "note": "3"},
        ]
        path = table(tmp_path / f"t.{kind}", rows)
        catalogue = read_catalogue(path)
        assert (catalogue.kind, list(catalogue.items)) == ("text", ["one", "two", "three"])
        assert catalogue.sources == ("row 1", "row 2", "row 3")
        assert catalogue.known == {catalogue.ids[0]: "good", catalogue.ids[2]: "bad"}
        assert read_catalogue(path, use_labels=False).known == {}
        keyed = read_catalogue(path, column="text", key="nr", label_column="note")
        assert keyed.ids == keyed.sources == ("x1", "x2", "x3")
        assert keyed.known == {"x1": "1", "x2": "2", "x3": "3"}
        assert keyed.column == "text"

    def test_rows_that_move_keep_their_ids(self, tmp_path):
        rows = [{"text": text, "nr": nr} for nr, text in enumerate("abcd")]
        before = read_catalogue(table(tmp_path / "t.jsonl", rows))
        after = read_catalogue(table(tmp_path / "t.jsonl", rows[::-1][1:]))
        assert after.ids == before.ids[:3][::-1]
        keyed = read_catalogue(table(tmp_path / "t.jsonl", rows[::-1][1:]), key="nr")
        assert keyed.ids == ("2", "1", "0")

    def test_contents_behind_the_same_keys_are_told_apart(self, tmp_path):
        first = read_catalogue(table(tmp_path / "a.csv", [{"id": 1, "text": "a"}]), key="id")
        second = read_catalogue(table(tmp_path / "b.csv", [{"id": 1, "text": "b"}]), key="id")
        assert first.ids == second.ids
        assert first.contents != second.contents

    @pytest.mark.parametrize(
        ("names", "expected"),
        [
            (["body"], "body"),
            (["label"], "label"),
            (["id", "Review", "n"], "Review"),
            (["message", "label"], "message"),
            (["id", "text", "path"], None),
            (["a", "b"], None),
        ],
    )
    def test_which_column(self, tmp_path, names, expected):
        path = table(tmp_path / "t.csv", [{name: f"{name} {i}" for name in names} for i in "123"])
        if expected is None:
            with pytest.raises(InputError, match=r"has the columns .*: say which .*--column"):
                read_catalogue(path)
        else:
            catalogue = read_catalogue(path)
            assert catalogue.column == expected
            assert list(catalogue.items) == [f"{expected} {i}" for i in "123"]

    @pytest.mark.parametrize("option", ["column", "key", "label_column"])
    def test_a_missing_column(self, tmp_path, option):
        path = table(tmp_path / "t.csv", [{"text": "a", "b": "c"}])
        with pytest.raises(InputError, match="has no column 'x': there are text, b"):
            read_catalogue(path, **{option: "x"})
        np.save(tmp_path / "x.npy", np.zeros((3, 3)))
        for source in (str(tmp_path / "x.npy"), str(tmp_path), "digits"):
            with pytest.raises(InputError, match="is not a table, so it has no column 'x'"):
                read_catalogue(source, **{option: "x"})

    @pytest.mark.parametrize(
        ("keys", "message"),
        [
            (["a", "b", "a"], "rows 1 and 3 of .* have the same key 'a'"),
            (["a", "", "c"], "row 2 of .* has '' in the column 'id'"),
            (["a", "  ", "c"], "row 2"),
            (["a", "b", "two\nlines"], "row 3"),
            (["a", "x" * 201, "c"], "row 2 .* 1 to 200 printable characters"),
            (["a", "b", "\ud800"], "row 3"),
            (["a", None, "c"], "row 2"),
        ],
    )
    def test_invalid_keys(self, tmp_path, keys, message):
        rows = [{"id": key, "text": f"text {i}"} for i, key in enumerate(keys)]
        with pytest.raises(InputError, match=message) as caught:
            read_catalogue(table(tmp_path / "t.jsonl", rows), key="id")
        assert "\n" not in str(caught.value)

    def test_rows_without_text_are_left_out(self, tmp_path):
        rows = [{"text": text, "id": i} for i, text in enumerate(["a", "", None, " \n", 7, "b"])]
        catalogue = read_catalogue(table(tmp_path / "t.jsonl", rows), key="id")
        assert catalogue.ids == ("0", "5")
        assert [name for name, _ in catalogue.unreadable] == ["row 2", "row 3", "row 4", "row 5"]
        with pytest.raises(InputError, match=r"none of the rows .* row 1: it holds no text"):
            read_catalogue(table(tmp_path / "t.jsonl", rows[1:3] * 2), column="id")

    def test_a_row_with_too_many_fields_is_left_out(self, tmp_path):
        path = tmp_path / "t.csv"
        path.write_text("id,text\n1,a\n2,b, not in quotes\n3,c,\n4\n")
        catalogue = read_catalogue(str(path))
        assert list(catalogue.items) == ["a", "c"]
        assert [name for name, _ in catalogue.unreadable] == ["row 2", "row 4"]

    def test_whole_numbers_as_labels(self, tmp_path):
        labels = [1.0, None, float("nan"), 2.5, True, "  x\ty "]
        rows = [{"text": f"t{i}", "label": label} for i, label in enumerate(labels)]
        catalogue = read_catalogue(table(tmp_path / "t.jsonl", rows))
        assert list(catalogue.known.values()) == ["1", "2.5", "True", "x\ufffdy"]

    def test_long_texts(self, tmp_path):
        path = tmp_path / "t.csv"
        path.write_text("text\n" + "\n".join("word " * 50_000 for _ in range(2)))
        assert len(read_catalogue(str(path)).items[0]) == 250_000

    def test_a_nested_line(self, tmp_path):
        (tmp_path / "t.jsonl").write_text("[" * 200_000)
        with pytest.raises(DataError, match="cannot be read"):
            read_catalogue(str(tmp_path / "t.jsonl"))


class TestImageColumns:
    @pytest.fixture
    def listed(self, tmp_path):
        for i in range(4):
            picture(tmp_path / "set" / "pictures" / f"{i}.png", 10 * i)
        rows = [
            {"nr": f"n{i}", "image": f"pictures/{i}.png", "label": "odd" if i % 2 else ""}
            for i in (2, 0, 1, 3)
        ]
        return tmp_path / "set" / "t.csv", rows

    def test_paths_are_relative_to_the_table(self, listed):
        path, rows = listed
        catalogue = read_catalogue(table(path, rows))
        assert catalogue.kind == "image"
        assert catalogue.sources == tuple(row["image"] for row in rows)
        assert [shade(catalogue, i) for i in range(4)] == [20, 0, 10, 30]
        assert catalogue.pixels[:, 0, 0].tolist() == [20, 0, 10, 30]
        assert catalogue.known == {catalogue.ids[2]: "odd", catalogue.ids[3]: "odd"}
        keyed = read_catalogue(str(path), key="nr")
        assert keyed.ids == keyed.sources == ("n2", "n0", "n1", "n3")
        (path.parent / "pictures" / "2.png").unlink()
        with pytest.raises(GoneError, match="Could not show n2: there is no such file"):
            keyed.content(0)

    def test_what_is_missing_or_leads_out_is_left_out(self, listed, tmp_path):
        path, rows = listed
        picture(tmp_path / "secret.png", 1)
        (path.parent / "link.png").symlink_to(tmp_path / "secret.png")
        inside = path.parent / "pictures" / "3.png"
        values = [
            "missing.png",
            "../secret.png",
            str(tmp_path / "secret.png"),
            "link.png",
            "nul\0.png",
        ]
        more = [{"image": value, "nr": value} for value in (*values, "", str(inside), "notes.txt")]
        (path.parent / "notes.txt").write_text("no image")
        catalogue = read_catalogue(table(path.with_suffix(".jsonl"), rows + more), column="image")
        assert len(catalogue) == 5
        assert catalogue.ids[4] == f"{catalogue.ids[3]}-2"
        out = "it leads out of the folder"
        assert dict(catalogue.unreadable) == {
            "row 10": "it names no file",
            "missing.png": "there is no such file",
            "nul\0.png": "there is no such file",
            "../secret.png": out,
            str(tmp_path / "secret.png"): out,
            "link.png": out,
            "notes.txt": "it is not an image, or its beginning is damaged",
        }

    def test_one_file_in_several_rows(self, listed, tmp_path):
        path, rows = listed
        kept = tmp_path / "items.npz"
        source = table(path, [*rows, rows[0], rows[1]])
        for _ in range(2):
            catalogue = read_catalogue(source, remembered=kept)
            assert len(set(catalogue.ids)) == 6
            assert catalogue.ids[4:] == (f"{catalogue.ids[0]}-2", f"{catalogue.ids[1]}-2")
            assert catalogue.pixels[:, 0, 0].tolist() == [20, 0, 10, 30, 20, 0]
        assert len(ImageCache.load(kept).files) == 4

    def test_texts_that_mention_a_picture_are_texts(self, tmp_path):
        texts = ["see a.png", "nothing", "more\nlines.png", "b", "c"]
        catalogue = read_catalogue(table(tmp_path / "t.jsonl", [{"text": text} for text in texts]))
        assert catalogue.kind == "text"

    def test_no_listed_file_exists(self, tmp_path):
        rows = [{"image": f"{i}.png"} for i in range(3)]
        with pytest.raises(InputError, match=r"none of the images .*relative.*0.png: there is no"):
            read_catalogue(table(tmp_path / "t.csv", rows))


class TestArrays:
    def test_a_data_set_by_name(self):
        calls = []
        catalogue = read_catalogue(
            "digits", progress=lambda done, total: calls.append((done, total))
        )
        assert (catalogue.kind, len(catalogue), len(set(catalogue.ids))) == ("image", 1797, 1797)
        assert catalogue.ids == read_catalogue("digits").ids
        assert catalogue.sources[16] == "row 17"
        assert calls[-1] == (1797, 1797)
        kind, content = catalogue.content(0, 160)
        assert kind == "image/png"
        assert Image.open(io.BytesIO(content)).size == (8, 8)

    @pytest.mark.parametrize(
        ("shape", "kind"),
        [
            ((5, 7), "vector"),
            ((5, 49), "vector"),  # a square, and too small to be seen
            ((5, 64), "image"),
            ((5, 65), "vector"),
            ((5, 12, 9), "image"),
            ((5, 12, 9, 3), "image"),
            ((5, 12, 9, 1), "image"),
            ((5, 2, 2, 2, 2), "vector"),
        ],
    )
    @pytest.mark.parametrize("dtype", ["u1", "?", "<i4", "<f4", ">f8", "<f2"])
    def test_shapes(self, tmp_path, shape, kind, dtype):
        X = np.random.default_rng(0).integers(0, 200, shape).astype(dtype)
        np.save(tmp_path / "x.npy", X)
        catalogue = read_catalogue(str(tmp_path / "x.npy"))
        assert catalogue.kind == kind
        assert len(set(catalogue.ids)) == 5
        media, content = catalogue.content(3)
        if kind == "image":
            side = (8, 8) if len(shape) == 2 else (9, 12)
            assert (media, opened(catalogue, 3).size) == ("image/png", side)
        else:
            assert media == "application/json"
            assert json.loads(content) == X[3].astype(float).ravel().tolist()

    def test_negative_numbers_are_no_picture(self, tmp_path):
        np.save(tmp_path / "x.npy", np.random.default_rng(0).normal(size=(5, 64)))
        assert read_catalogue(str(tmp_path / "x.npy")).kind == "vector"

    def test_ids_do_not_depend_on_the_order_in_memory(self, tmp_path):
        X = np.random.default_rng(0).normal(size=(6, 4))
        np.save(tmp_path / "a.npy", X)
        np.save(tmp_path / "b.npy", np.asfortranarray(X))
        np.savez(tmp_path / "c.npz", X=X[::-1])
        a, b, c = (read_catalogue(str(tmp_path / name)) for name in ("a.npy", "b.npy", "c.npz"))
        assert a.ids == b.ids == c.ids[::-1]

    def test_rows_that_are_not_finite_are_left_out(self, tmp_path):
        X = np.ones((5, 64), dtype=np.float32) * np.arange(5)[:, None]
        X[1, 3], X[4, 0] = np.nan, np.inf
        np.save(tmp_path / "x.npy", X)
        catalogue = read_catalogue(str(tmp_path / "x.npy"))
        assert catalogue.sources == ("row 1", "row 3", "row 4")
        assert [name for name, _ in catalogue.unreadable] == ["row 2", "row 5"]
        assert catalogue.kind == "image"
        np.testing.assert_array_equal(catalogue.items, X[[0, 2, 3]])
        np.save(tmp_path / "x.npy", X[[1, 4]])
        with pytest.raises(InputError, match="none of the rows"):
            read_catalogue(str(tmp_path / "x.npy"))

    def test_numbers_that_json_cannot_hold(self):
        X = np.array([[1.0, np.nan, np.inf, -np.inf, 0.1]])
        catalogue = Catalogue("x", "vector", ("a",), X)
        assert json.loads(catalogue.content(0)[1]) == [1.0, None, None, None, 0.1]
        assert catalogue.sources == ("row 1",)

    @pytest.mark.parametrize(
        ("values", "expected"),
        [
            (np.array([[0, 200], [100, 255]], dtype=np.uint8), [0, 200, 100, 255]),
            (np.array([[0, 1], [1, 0]], dtype=np.uint8), [0, 255, 255, 0]),
            (np.array([[0, 16], [8, 4]], dtype=np.float32), [0, 255, 128, 64]),
            (np.array([[0, 0x8000], [0xFFFF, 0xFF]], dtype=np.uint16), [0, 128, 255, 0]),
            (np.array([[np.nan, 1], [3, 2]]), [255, 0, 255, 128]),
            (np.array([[-1.7e308, 1.7e308], [0, 0]]), [0, 255, 128, 128]),
            (np.zeros((2, 2)), [0, 0, 0, 0]),
        ],
    )
    def test_numbers_as_a_picture(self, values, expected):
        catalogue = Catalogue("x", "image", ("a",), values[None])
        assert np.asarray(opened(catalogue, 0)).ravel().tolist() == expected

    def test_arrays_that_hold_no_numbers(self, tmp_path):
        np.save(tmp_path / "a.npy", np.array([["a", "b"], ["c", "d"]]))
        np.save(tmp_path / "b.npy", np.empty((0, 4)))
        np.save(tmp_path / "c.npy", np.empty((4, 0)))
        np.save(tmp_path / "d.npy", np.array([[_Trap()]], dtype=object))
        for name, error in (
            ("a", InputError),
            ("b", DataError),
            ("c", DataError),
            ("d", DataError),
        ):
            with pytest.raises(error):
                read_catalogue(str(tmp_path / f"{name}.npy"))
        assert not _Trap.sprung


def test_no_such_source():
    for source in ("nothing/of/the/kind.csv", "nothing"):
        with pytest.raises(InputError, match=r"no file|no data set|unknown|did you mean"):
            read_catalogue(source)


def test_names_of_sources(tmp_path, monkeypatch):
    (tmp_path / "photos").mkdir()
    monkeypatch.chdir(tmp_path / "photos")
    assert [source_name(source) for source in (".", "../photos/", "digits")] == [
        "photos",
        "photos",
        "digits",
    ]
