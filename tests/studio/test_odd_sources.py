"""Extreme sources: a defined result, or one line that says why not."""

import resource

import numpy as np
import pytest
from PIL import Image

from poise.errors import DataError, InputError
from poise.studio.log.events import Event
from poise.studio.opening import Opening, Source
from poise.studio.source.preparing import prepare
from poise.studio.source.reading import read_catalogue


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("POISE_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def ask(tmp_path):
    """Open a source, answer twice, and return the project with its third question."""
    opened = []

    def begin(source, **options):
        source = Source(str(source), tmp_path / "x.poise", classes=("a", "b"), **options)
        project = Opening(source).open()
        opened.append(project)
        for label in "ab":
            item = project.catalogue.ids[project.wait("", 60).node]
            project.record(Event("label", {"items": [item], "label": label}))
        assert project.wait("", 60) is not None
        return project

    yield begin
    for project in opened:
        project.close()


def grey(folder, count, size=(20, 20)):
    folder.mkdir()
    for i in range(count):
        Image.new("L", size, 10 * i).save(folder / f"{i}.png")
    return folder


class TestImages:
    def test_one(self, tmp_path):
        with pytest.raises(InputError, match=r"has 1 item: three or more are needed"):
            Opening(Source(str(grey(tmp_path / "p", 1)), tmp_path / "x.poise")).open()
        assert not (tmp_path / "x.poise" / "events.db").exists()

    def test_one_pixel_each(self, tmp_path, ask):
        project = ask(grey(tmp_path / "p", 12, (1, 1)))
        assert sorted(project.catalogue.pixels[:, 0, 0].tolist()) == list(range(0, 120, 10))

    def test_too_many_pixels(self, tmp_path, ask):
        folder = grey(tmp_path / "p", 8)
        Image.new("1", (20_000, 20_000)).save(folder / "huge.png")
        project = ask(folder)
        assert len(project.catalogue) == 8
        assert project.catalogue.unreadable == (("huge.png", "it has too many pixels"),)

    def test_all_the_same(self, tmp_path, ask):
        grey(tmp_path / "p", 1)
        (tmp_path / "t.csv").write_text("image\n" + "p/0.png\n" * 3_000)
        project = ask(tmp_path / "t.csv")
        assert len(set(project.catalogue.ids)) == 3_000


class TestTexts:
    def test_one_word_each(self, tmp_path, ask):
        (tmp_path / "t.csv").write_text("text\n" + "cat\ndog\ncow\n" * 4)
        assert len(ask(tmp_path / "t.csv").catalogue) == 12

    def test_ten_megabytes(self, tmp_path, ask):
        words = " ".join(np.random.default_rng(0).permutation(1_000).astype(str))
        long = (words + " ") * (10_000_000 // len(words))
        (tmp_path / "t.csv").write_text(f"text\n{long}\n" + "cat\ndog\ncow\n" * 4)
        catalogue = ask(tmp_path / "t.csv").catalogue
        assert len(catalogue) == 13
        assert catalogue.content(0)[1].decode() == long

    def test_an_empty_column(self, tmp_path):
        (tmp_path / "t.csv").write_text("text,other\n" + ",x\n" * 5)
        with pytest.raises(InputError, match=r"none of the rows .*'text', can be used: 5 left out"):
            read_catalogue(str(tmp_path / "t.csv"), column="text")

    @pytest.mark.parametrize(
        ("given", "nearest"), [("titel", "Title"), ("TITLE", "Title"), ("bodi", "body")]
    )
    def test_a_missing_column(self, tmp_path, given, nearest):
        (tmp_path / "t.csv").write_text("Title,body\na,b\n")
        message = rf"no column '{given}': did you mean '{nearest}'\? There are Title, body"
        for option in ("column", "key", "label_column"):
            with pytest.raises(InputError, match=message):
                read_catalogue(str(tmp_path / "t.csv"), **{option: given})


class TestFullDisk:
    """Files may not grow beyond a limit, which the system enforces: a write fails midway."""

    def made(self, photos, place):
        catalogue = read_catalogue(str(photos), remembered=place / "items.npz")
        return prepare(
            catalogue, place, embedding="pca", k=4, begin=lambda name: lambda done, total: None
        )

    @pytest.mark.parametrize("name", ["items.npz", "features.npy", "graph.npz", "project.toml"])
    def test_nothing_is_half_written(self, tmp_path, name):
        photos = grey(tmp_path / "p", 20)
        features, graph = self.made(photos, tmp_path / "fresh")
        sizes = {file.name: file.stat().st_size for file in (tmp_path / "fresh").iterdir()}
        place = tmp_path / "full"
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (sizes[name] - 1, before[1]))
        try:
            with pytest.raises(DataError, match=r"Could not write .*Free some space"):
                self.made(photos, place)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        for file in place.iterdir():
            assert file.stat().st_size == sizes[file.name], f"{file.name} is whole"
        again = self.made(photos, place)
        np.testing.assert_array_equal(again[0], features)
        assert again[1].fingerprint == graph.fingerprint


def test_a_data_set_of_texts_is_shown_as_texts(tmp_path, monkeypatch):
    rows = "".join(f"where is my card {i},intent{i % 3},test\n" for i in range(9))
    (tmp_path / "banking77.csv").write_text("text,intent,split\n" + rows)
    monkeypatch.setenv("POISE_DATA", str(tmp_path))
    found = read_catalogue("banking77")
    assert found.kind == "text"
    assert list(found.items) == [f"where is my card {i}" for i in range(9)]
    assert found.content(7)[1] == b"where is my card 7"
