"""Data sets of texts: embedded by default, from the user's own file or from the publisher."""

from types import SimpleNamespace

import numpy as np
import pytest
import sklearn.datasets
from click.testing import CliRunner

import poise
from poise.cli.dataset import dataset
from poise.data.datasets import texts
from poise.data.embeddings import embeddings
from poise.errors import DataError, InputError

QUESTIONS = """text,intent,split
Where is my card?,card_arrival,train
" My card has not arrived
",card_arrival,train
How do I top up by cheque?,top_up,train
"Can I top up, today?",top_up,test
What age must I have?,age_limit,test
"""


@pytest.fixture
def questions(own_files):
    path = own_files / "banking77.csv"
    path.write_text(QUESTIONS, encoding="utf-8")
    return path


def test_texts_come_embedded(questions):
    dataset = poise.load_dataset("banking77")
    assert dataset.texts is not None
    assert dataset.texts[1] == "My card has not arrived"
    assert dataset.clusters.tolist() == [1, 1, 2, 2, 0]
    np.testing.assert_array_equal(dataset.X, poise.embed(dataset.texts, "tfidf"))
    assert "embedded with tfidf" in dataset.note
    assert "5 of the 13,083 questions" in dataset.note
    again = poise.load_dataset("banking77-mod2", embedding="tfidf")
    np.testing.assert_array_equal(again.X, dataset.X)
    assert again.classes.tolist() == [1, 1, 0, 0, 0]
    assert again.texts == dataset.texts


def test_a_description_shows_a_text(questions):
    shown = CliRunner().invoke(dataset, ["banking77-mod2"], catch_exceptions=False).stdout
    lines = dict(line.split(maxsplit=1) for line in shown.splitlines())
    assert lines["text"] == "Where is my card?"
    assert lines["sizes"] == "2 to 3 points per class"
    assert "image" not in lines
    embedded = CliRunner().invoke(dataset, ["banking77", "--embedding", "use"])
    assert "banking77_use.npz" in str(embedded.exception)


def test_texts_are_chosen_with_their_points(questions):
    dataset = poise.load_dataset("banking77").only("two", np.array([4, 0]))
    assert dataset.texts == ("What age must I have?", "Where is my card?")


def test_an_embedding_from_a_file(own_files):
    X = np.ones((3_080, 2), np.float16)
    np.savez(own_files / "banking77_use.npz", X=X, y=np.arange(3_080) % 77)
    dataset = poise.load_dataset("banking77-mod7", embedding="use")
    assert dataset.X.dtype == np.float32
    assert dataset.texts is None
    assert dataset.n_classes == 7
    assert dataset.note == "embedded with use; the 3,080 questions of the test split"


@pytest.mark.parametrize("embedding", texts.NUMBER_EMBEDDINGS)
def test_embeddings_of_numbers_are_refused(questions, embedding):
    with pytest.raises(InputError, match=f"{embedding} is for numbers: use tfidf"):
        poise.load_dataset("banking77", embedding=embedding)


def test_every_embedding_of_numbers_is_listed():
    own = {name for name in embeddings if embeddings.factory(name).__module__.startswith("poise.")}
    assert set(texts.NUMBER_EMBEDDINGS) == own - {"raw", "sentence", "text-encoder", "tfidf"}


@pytest.mark.parametrize("damage", ["columns", "row", "empty", "encoding"])
def test_broken_tables(questions, damage):
    if damage == "columns":
        questions.write_text("text,label\na,b\n")
    elif damage == "row":
        questions.write_text("text,intent\nWhere is my card?\n")
    elif damage == "empty":
        questions.write_text("")
    else:
        questions.write_bytes(b"text,intent\n\xff\xfe,b\n")
    with pytest.raises(DataError, match=r"banking77\.csv") as caught:
        poise.load_dataset("banking77")
    assert "\n" not in str(caught.value)


def test_the_publishers_questions(elsewhere, monkeypatch):
    parts = {
        "train.csv": "text,category\r\nMy card?,card\r\nMy pin is blocked,pin\r\n",
        "test.csv": 'text,category\r\n"Is my pin blocked, or not?\n",pin\r\n',
    }

    def fetch(address, path, md5, progress):
        assert md5 == texts.BANKING_FILES[path.name]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(parts[address.rpartition("/")[2]].encode())
        return path

    monkeypatch.setattr(texts, "fetch", fetch)
    dataset = poise.load_dataset("banking77")
    assert dataset.texts == ("My card?", "My pin is blocked", "Is my pin blocked, or not?")
    assert dataset.clusters.tolist() == [0, 1, 1]


def test_posts_of_scikit_learn_in_order(elsewhere, monkeypatch):
    splits = {
        "train": (["sci.med/20", "sci.med/10", "alt.atheism/30"], [1, 1, 0]),
        "test": (["sci.med/5", "alt.atheism/40"], [1, 0]),
    }

    def fetch(subset, shuffle, data_home):
        names, target = splits[subset]
        return SimpleNamespace(
            filenames=[f"home/{subset}/{name}" for name in names],
            data=[f"a post called {name}" for name in names],
            target=np.array(target),
            target_names=["alt.atheism", "sci.med"],
        )

    monkeypatch.setattr(sklearn.datasets, "fetch_20newsgroups", fetch)
    dataset = poise.load_dataset("20news")
    assert dataset.texts is not None
    order = ["alt.atheism/30", "sci.med/10", "sci.med/20", "alt.atheism/40", "sci.med/5"]
    assert [text.split()[-1] for text in dataset.texts] == order
    assert dataset.clusters.tolist() == [0, 1, 1, 0, 1]
    assert "headers" in dataset.note


def test_posts_without_a_network(elsewhere, monkeypatch):
    def fetch(**_: object) -> None:
        raise OSError("The checksum is wrong")

    monkeypatch.setattr(sklearn.datasets, "fetch_20newsgroups", fetch)
    with pytest.raises(DataError, match=r"The checksum is wrong.*holds 20news\.parquet"):
        poise.load_dataset("20news")


def test_posts_of_a_table(own_files):
    pyarrow = pytest.importorskip("pyarrow", reason="needs pyarrow: install the extra parquet")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = {"text": ["on hockey", "on medicine"], "newsgroup": ["sport", "med"], "key": ["a", "b"]}
    parquet.write_table(pyarrow.table(table), own_files / "20news.parquet")
    dataset = poise.load_dataset("20news")
    assert dataset.texts == ("on hockey", "on medicine")
    assert dataset.clusters.tolist() == [1, 0]
    assert "2 posts instead of scikit-learn's 18,846" in dataset.note


@pytest.mark.data
def test_the_real_questions(poise_data):
    dataset = poise.load_dataset("banking77")
    assert dataset.X.shape == (13_083, 100)
    assert dataset.n_classes == 77
    by_meaning = poise.load_dataset("banking77", embedding="use")
    assert by_meaning.X.shape == (3_080, 512)
    np.testing.assert_array_equal(by_meaning.clusters, dataset.clusters[-3_080:])


@pytest.mark.data
@pytest.mark.slow
def test_the_real_posts(poise_data):
    dataset = poise.load_dataset("20news-mod2")
    assert dataset.X.shape == (18_847, 100)
    assert dataset.n_clusters == 20
    assert dataset.n_classes == 2
