"""Search by words: folded, by prefix, safe."""

import numpy as np
import pytest

from poise.studio.asking.search import TextIndex, folded

TEXTS = [
    "My card has not arrived",
    "Cardholder verification",
    "Café crème, s'il vous plaît",
    "Top up my CARD with cash",
    "東京の天気",
    "Straße nach Zürich 😀",
    "",
]
NAMES = [f"posts/IMG{number:04d}_left.txt" for number in range(len(TEXTS))]


@pytest.fixture(scope="module")
def index():
    made = TextIndex(NAMES, TEXTS)
    yield made
    made.close()


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("card", [0, 3, 1]),  # the whole word before the longer one
        ("CARD top", [3]),
        ("to ca my", [3]),
        ("ard", []),
        ("cafe creme", [2]),
        ("CAFÉ", [2]),
        ("cafe\N{COMBINING ACUTE ACCENT}", [2]),
        ("strasse", [5]),
        ("zur", [5]),
        ("😀", [5]),
        ("天気", [4]),
        ("東京", [4]),
        ("0003", [3]),
        ("img0003", [3]),
        ("left", list(range(7))),
        ("posts/IMG0001_left.txt", [1]),
        ("card nothing", []),
    ],
)
def test_words_find_items(index, query, found):
    assert index.find(query).tolist() == found


@pytest.mark.parametrize(
    "query",
    [
        "",
        " ",
        "!?*",
        '"',
        '" OR "card',
        "card AND",
        "card* NEAR(",
        "words:card",
        "-card",
        ".*[(",
        "\0",
        "card\0",
        "\ud800",
        "card \udfff",
        "x" * 10_000,
        "card " * 2_000,
        " ".join(f"w{number}" for number in range(5_000)),
        "'; DROP TABLE items; --",
        "\N{COMBINING ACUTE ACCENT}" * 100,
    ],
)
def test_hostile_queries_are_plain_words(index, query):
    words = set(folded(query).split())
    whole = {0, 3, 1} if words == {"card"} else set()
    assert set(index.find(query).tolist()) == whole
    assert index.find("card").tolist() == [0, 3, 1]


def test_results_equal_a_plain_search():
    rng = np.random.default_rng(0)
    letters = np.array(list("ab "))
    texts = ["".join(rng.choice(letters, 30)) for _ in range(300)]
    index = TextIndex([""] * 300, texts)
    for query in ("a", "ab", "b aa", "aba bab", "bbbbbb", "aa a"):
        parts = query.split()
        words = [text.split() for text in texts]
        begun = [
            i
            for i, given in enumerate(words)
            if all(any(word.startswith(part) for word in given) for part in parts)
        ]
        whole = [i for i in begun if set(parts) <= set(words[i])]
        expected = whole + [i for i in begun if i not in whole]
        assert index.find(query).tolist() == expected, query
    index.close()
