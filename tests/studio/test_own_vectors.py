"""Users' own vectors: each stays with its item, whatever is left out."""

import json

import numpy as np
import pytest
from PIL import Image

import poise
from poise.errors import DataError, InputError
from poise.studio.opening import Opening, Source
from poise.studio.source import preparing
from poise.studio.source.project_files import read_about
from poise.studio.source.reading import read_catalogue

N, D = 30, 5


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(size=(N, D)).astype(np.float32)


def texts(n=N):
    return [f"text number {i}" for i in range(n)]


def write(path, vectors, more=None):
    """Write a table of texts with a vector each, in the format of its ending."""
    columns = {"text": texts(len(vectors)), **(more or {}), "embedding": vectors}
    if path.suffix == ".parquet":
        arrow = pytest.importorskip("pyarrow", reason="needs pyarrow: install the extra parquet")
        pytest.importorskip("pyarrow.parquet").write_table(arrow.table(columns), path)
        return str(path)
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        import csv

        with path.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(columns)
            for row in rows:
                value = row["embedding"]
                row["embedding"] = value if isinstance(value, str) else json.dumps(value)
                writer.writerow(["" if one == "null" else one for one in row.values()])
    return str(path)


def photos(folder, n=6):
    folder.mkdir()
    for i in range(n):
        Image.new("L", (8, 8), 10 * i).save(folder / f"{i}.png")
    return folder


class TestColumns:
    @pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "parquet"])
    def test_of_every_kind_of_table(self, tmp_path, X, kind):
        if kind == "tsv":
            lines = [f"{text}\t{row.tolist()}" for text, row in zip(texts(), X, strict=True)]
            (tmp_path / "t.tsv").write_text("\n".join(["text\tembedding", *lines]))
            path = str(tmp_path / "t.tsv")
        else:
            path = write(tmp_path / f"t.{kind}", [row.tolist() for row in X])
        catalogue = read_catalogue(path, vectors="embedding")
        assert (catalogue.kind, list(catalogue.items)) == ("text", texts())
        np.testing.assert_array_equal(catalogue.vectors.astype(np.float32), X)

    @pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
    @pytest.mark.parametrize("fixed", [True, False])
    @pytest.mark.parametrize("groups", [N, 7])
    def test_arrow_arrays(self, tmp_path, X, dtype, fixed, groups):
        arrow = pytest.importorskip("pyarrow", reason="needs pyarrow: install the extra parquet")
        parquet = pytest.importorskip("pyarrow.parquet")
        flat = arrow.array(X.astype(dtype).ravel())
        if fixed:
            column = arrow.FixedSizeListArray.from_arrays(flat, D)
        else:
            offsets = arrow.array(np.arange(0, N * D + 1, D, dtype=np.int32))
            column = arrow.ListArray.from_arrays(offsets, flat)
        table = arrow.table({"text": texts(), "embedding": column})
        parquet.write_table(table, tmp_path / "t.parquet", row_group_size=groups)
        catalogue = read_catalogue(str(tmp_path / "t.parquet"), vectors="embedding")
        np.testing.assert_array_equal(
            catalogue.vectors.astype(np.float32), X.astype(dtype).astype(np.float32)
        )
        if groups == N:
            assert catalogue.vectors.dtype == dtype
            assert not catalogue.vectors.flags.owndata, "what Arrow holds is not copied"

    @pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
    @pytest.mark.parametrize("group", [None, 2])
    def test_rows_without_a_vector_are_left_out(self, tmp_path, kind, group, monkeypatch):
        nan = float("nan")
        vectors = [
            None,
            [1.0, 2.0],
            [nan, 1.0],
            [0.0, 0.0],
            [3.0, 4.0],
            [],
            [5.0, 1e30],
            [6.0, 7.0],
        ]
        path = write(tmp_path / f"t.{kind}", vectors, {"id": list("abcdefgh")})
        if group and kind == "parquet":
            parquet = pytest.importorskip("pyarrow.parquet")
            parquet.write_table(parquet.read_table(path), path, row_group_size=group)
        catalogue = read_catalogue(path, column="text", key="id", vectors="embedding")
        assert catalogue.ids == ("b", "e", "h")
        assert list(catalogue.items) == ["text number 1", "text number 4", "text number 7"]
        assert catalogue.vectors.tolist() == [[1, 2], [3, 4], [6, 7]]
        beyond = "its vector holds NaN, infinity or a number beyond 1e18"
        assert catalogue.unreadable == (
            ("a", "it has no vector"),
            ("c", beyond),
            ("d", "its vector is all zeros"),
            ("f", "it has no vector"),
            ("g", beyond),
        )

    def test_infinite_half_precision(self, tmp_path):
        values = np.array([[1, 2], [np.inf, 1], [3, 60000]], dtype=np.float16)
        np.save(tmp_path / "x.npy", values)
        path = write(tmp_path / "t.jsonl", [[1]] * 3)
        catalogue = read_catalogue(path, column="text", features=tmp_path / "x.npy")
        assert catalogue.sources == ("row 1", "row 3")

    @pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
    @pytest.mark.parametrize(
        ("vectors", "message"),
        [
            ([[1.0], [1.0], [1.0, 2.0]], "has 1 numbers in row 1 and 2 in row 3.*of one length"),
            (["a", "b", "c"], "expected (a list|lists) of numbers"),
            ([["a"], ["b"], ["c"]], "expected (a list|lists) of numbers"),
            ([[[1.0]], [[2.0]], [[3.0]]], "expected (a list|lists) of numbers"),
            ([[], [], []], "is empty|holds list<.*null>"),
            ([[0.0], [0.0], [0.0]], "none of the items .*all zeros"),
        ],
    )
    def test_what_cannot_be_used(self, tmp_path, kind, vectors, message):
        path = write(tmp_path / f"t.{kind}", vectors)
        with pytest.raises(InputError, match=message) as caught:
            read_catalogue(path, vectors="embedding")
        assert "\n" not in str(caught.value)

    @pytest.mark.parametrize("kind", ["csv", "parquet"])
    def test_no_such_column(self, tmp_path, kind):
        path = write(tmp_path / f"t.{kind}", [[1.0]] * 3)
        with pytest.raises(
            InputError, match=r"did you mean 'embedding'\? There are text, embedding"
        ):
            read_catalogue(path, vectors="Embeddings")
        with pytest.raises(InputError, match="holds the vectors: show another"):
            read_catalogue(path, column="embedding", vectors="embedding")
        with pytest.raises(InputError, match="is not a table"):
            read_catalogue("digits", vectors="embedding")


class TestFiles:
    def test_by_the_order_of_paths_past_a_damaged_image(self, tmp_path, X):
        folder = photos(tmp_path / "photos")
        (folder / "2.png").write_bytes(b"damaged")
        np.save(tmp_path / "x.npy", X[:6])
        catalogue = read_catalogue(str(folder), features=tmp_path / "x.npy")
        assert catalogue.sources == ("0.png", "1.png", "3.png", "4.png", "5.png")
        np.testing.assert_array_equal(catalogue.vectors, X[[0, 1, 3, 4, 5]])
        assert catalogue.pixels[:, 0, 0].tolist() == [0, 10, 30, 40, 50]

    def test_a_bad_vector_leaves_out_its_image(self, tmp_path, X):
        folder = photos(tmp_path / "photos")
        X[1] = 0
        X[4, 2] = np.nan
        np.save(tmp_path / "x.npy", X[:6])
        catalogue = read_catalogue(str(folder), features=tmp_path / "x.npy")
        assert catalogue.sources == ("0.png", "2.png", "3.png", "5.png")
        assert [path.name for path in catalogue.items.paths] == list(catalogue.sources)
        assert [file.name for file in catalogue.files] == list(catalogue.sources)
        assert catalogue.pixels[:, 0, 0].tolist() == [0, 20, 30, 50]
        np.testing.assert_array_equal(catalogue.vectors, X[[0, 2, 3, 5]])

    @pytest.mark.parametrize("header", ["", "name,note\n"])
    def test_by_name(self, tmp_path, X, header):
        folder = photos(tmp_path / "photos")
        (folder / "2.png").write_bytes(b"damaged")
        order = [5, 3, 1, 0, 4, 9]
        names = [f"{i}.png,x" for i in order]
        names[1], names[2] = str(folder.resolve() / "3.png"), "./1.png"
        (tmp_path / "names.csv").write_text(header + "\n".join(names))
        np.save(tmp_path / "x.npy", X[order])
        catalogue = read_catalogue(
            str(folder), features=tmp_path / "x.npy", feature_names=tmp_path / "names.csv"
        )
        assert catalogue.sources == ("0.png", "1.png", "3.png", "4.png", "5.png")
        np.testing.assert_array_equal(catalogue.vectors, X[[0, 1, 3, 4, 5]])

    @pytest.mark.parametrize(
        ("rows", "names", "message"),
        [
            (5, None, "has 5 rows and .*photos has 6 items: expected a row.*--feature-names"),
            (6, 5, "has 6 rows, and 5 names"),
            (5, 5, "1 of the 6 images have no row in .*x.npy, which has 5: 5.png; names are"),
            (6, [0, 1, 2, 3, 4, 0], "rows 1 and 6 of .* have the same name 0.png"),
        ],
    )
    def test_numbers_of_rows_that_differ(self, tmp_path, X, rows, names, message):
        folder = photos(tmp_path / "photos")
        np.save(tmp_path / "x.npy", X[:rows])
        given = None
        if names is not None:
            given = tmp_path / "names.csv"
            listed = names if isinstance(names, list) else range(names)
            given.write_text("\n".join(f"{i}.png" for i in listed))
        with pytest.raises(InputError, match=message):
            read_catalogue(str(folder), features=tmp_path / "x.npy", feature_names=given)

    def test_unreadable_images_are_counted(self, tmp_path, X):
        folder = photos(tmp_path / "photos")
        (folder / "2.png").write_bytes(b"damaged")
        np.save(tmp_path / "x.npy", X[:5])
        with pytest.raises(InputError, match=r"5 rows and .* 6 items, 1 of which cannot be used"):
            read_catalogue(str(folder), features=tmp_path / "x.npy")

    @pytest.mark.parametrize(
        ("values", "error", "message"),
        [
            (np.zeros((6, 2, 2)), InputError, "expected two dimensions"),
            (np.zeros(6), InputError, "expected two dimensions"),
            (np.zeros((6, 0)), (InputError, DataError), "x.npy"),
            (np.array([["a"]] * 6), InputError, "expected numbers"),
        ],
    )
    def test_arrays_that_are_no_vectors(self, tmp_path, values, error, message):
        folder = photos(tmp_path / "photos")
        np.save(tmp_path / "x.npy", values)
        with pytest.raises(error, match=message):
            read_catalogue(str(folder), features=tmp_path / "x.npy")

    def test_a_file_is_mapped_rather_than_read(self, tmp_path, X):
        path = write(tmp_path / "t.jsonl", [[1]] * N)
        np.save(tmp_path / "x.npy", X)
        catalogue = read_catalogue(path, column="text", features=tmp_path / "x.npy")
        source = read_catalogue(str(tmp_path / "x.npy")).items
        for array in (catalogue.vectors, source, preparing._float32(catalogue.vectors)):
            base = array
            while isinstance(base, np.ndarray) and base.base is not None:
                base = base.base
            assert type(base).__name__ == "mmap"


class TestProjects:
    @pytest.fixture
    def table(self, tmp_path, X):
        return write(tmp_path / "t.jsonl", [row.tolist() for row in X])

    @pytest.fixture
    def folder(self, tmp_path):
        return tmp_path / "t.poise"

    def open(self, table, folder, **options):
        project = Opening(Source(table, folder, "text", k=4, **options)).open()
        project.close()
        return project

    def test_the_graph_of_the_vectors(self, table, folder, X):
        project = self.open(table, folder, vectors="embedding")
        assert project.graph.fingerprint == poise.knn_graph(X, k=4).fingerprint
        about = read_about(folder)
        assert (about["embedding"], about["metric"]) == ("given", "euclidean")
        assert about["vectors"] == "embedding"
        assert not (folder / "features.npy").exists()

    def test_they_are_used_again_and_changes_noticed(self, table, folder, X, monkeypatch, tmp_path):
        first = self.open(table, folder, vectors="embedding")
        searched = []
        monkeypatch.setattr(
            preparing,
            "knn_graph",
            lambda *given, **options: searched.append(1) or poise.knn_graph(*given, **options),
        )
        for source in (Source(table, folder, "text"), Source.of_project(folder)):
            again = Opening(source).open()
            again.close()
            assert again.graph.fingerprint == first.graph.fingerprint
            assert not searched
        X[3] += 1
        write(tmp_path / "t.jsonl", [row.tolist() for row in X])
        changed = self.open(table, folder)
        assert searched
        np.testing.assert_array_equal(changed.features, X)
        embedded = self.open(table, folder, embedding="tfidf")
        assert embedded.features.shape[1] != D
        assert read_about(folder)["embedding"] == "tfidf"
        assert self.open(table, folder, embedding="tfidf").graph.construction.metric == "cosine"

    def test_a_file_of_features_is_used_again(self, table, folder, X, tmp_path, monkeypatch):
        np.save(tmp_path / "x.npy", -X)
        monkeypatch.chdir(tmp_path)
        self.open(table, folder, features=type(folder)("x.npy"), metric="cosine")
        monkeypatch.chdir("/")
        again = Opening(Source.of_project(folder)).open()
        again.close()
        np.testing.assert_array_equal(again.features, -X)
        assert again.graph.construction.metric == "cosine"
        (tmp_path / "x.npy").unlink()
        with pytest.raises(InputError, match=r"there is no file .*x.npy"):
            Source(table, folder).as_before().check()

    def test_answers_survive_new_vectors(self, table, folder, X, tmp_path):
        first = self.open(table, folder, vectors="embedding")
        write(tmp_path / "t.jsonl", [row.tolist() for row in X[::-1]])
        assert self.open(table, folder).catalogue.ids == first.catalogue.ids


class TestSeveralColumns:
    ROWS = (
        {"title": "One", "body": "first", "a,b": "comma", "n": 1},
        {"title": "", "body": "second", "a,b": "c2", "n": 2},
        {"title": "Three", "body": None, "a,b": "c3", "n": 3},
        {"title": " ", "body": "", "a,b": "c4", "n": None},
    )

    @pytest.fixture
    def path(self, tmp_path):
        (tmp_path / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in self.ROWS))
        return str(tmp_path / "t.jsonl")

    @pytest.mark.parametrize(
        ("column", "first"),
        [
            ("title,body", "One\n\nfirst"),
            ("body, title", "first\n\nOne"),
            ("a,b", "comma"),
            ("title,a,b", "One\n\ncomma"),
            ("a,b,body", "comma\n\nfirst"),
            ("title,n", "One\n\n1"),
            ("title,title", "One"),
        ],
    )
    def test_joined(self, path, column, first):
        catalogue = read_catalogue(path, column=column)
        assert catalogue.content(0)[1].decode() == first
        assert catalogue.column == column

    def test_empty_parts_are_left_out(self, path):
        catalogue = read_catalogue(path, column="title,body")
        assert list(catalogue.items) == ["One\n\nfirst", "second", "Three"]
        assert catalogue.unreadable == (("row 4", "it holds no text"),)

    @pytest.mark.parametrize("column", ["titel,body", "body,titel"])
    def test_one_is_missing(self, path, column):
        with pytest.raises(
            InputError, match=r"no column 'titel': did you mean 'title'\? There are"
        ):
            read_catalogue(path, column=column)

    def test_a_project_remembers_them(self, path, tmp_path):
        Opening(Source(path, tmp_path / "p", "title,body")).open().close()
        source = Source.of_project(tmp_path / "p")
        assert source.column == "title,body"


class TestAddresses:
    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("picture", "https://example.org/{}.png"),
            ("picture", "HTTP://example.org/{}.jpg?size=3#x"),
            ("image", "https://example.org/show?id={}"),
        ],
    )
    def test_nothing_is_fetched(self, tmp_path, name, value):
        lines = [name, *(value.format(i) for i in range(5))]
        (tmp_path / "t.csv").write_text("\n".join(lines))
        with pytest.raises(InputError, match="poise downloads no images: download them") as caught:
            read_catalogue(str(tmp_path / "t.csv"))
        assert "\n" not in str(caught.value)

    def test_some_among_files(self, tmp_path):
        photos(tmp_path / "p", 3)
        lines = ["image", "p/0.png", "https://example.org/a.png", "p/1.png", "p/2.png"]
        (tmp_path / "t.csv").write_text("\n".join(lines))
        catalogue = read_catalogue(str(tmp_path / "t.csv"))
        assert catalogue.sources == ("p/0.png", "p/1.png", "p/2.png")
        assert catalogue.unreadable == (
            (lines[2], "it is a web address, and poise downloads no images"),
        )

    def test_addresses_of_pages_are_texts(self, tmp_path):
        lines = ["text", *(f"https://example.org/{i}" for i in range(5))]
        (tmp_path / "t.csv").write_text("\n".join(lines))
        assert read_catalogue(str(tmp_path / "t.csv")).kind == "text"
