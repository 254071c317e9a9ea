"""Items by the words of their names and texts: a full-text index in memory.

SQLite's FTS5 over folded words. Looking through the folded strings themselves needs no index, but
takes 0.2 to 0.9 s with 100,000 posts of 2,000 letters; the index answers in a tenth of that
(``benchmarks/studio_search.py``).
"""

import re
import sqlite3
import threading
import unicodedata
from collections.abc import Iterable

import numpy as np

from poise.arrays import Ints
from poise.errors import PoiseError

#: Words of a query that count, and letters of each: more would only take time.
MOST_WORDS, LONGEST_WORD = 30, 100
#: Letters of languages that put no space between words: each is a word here. Thai to Myanmar and
#: Khmer, kana, ideographs.
UNSPACED = ((0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x2E80, 0x9FFF))
UNSPACED_BEYOND = ((0xF900, 0xFAFF), (0x20000, 0x3FFFF))
#: Prefixes of up to three letters, which many words share, have indexes of their own. Where a word
#: stands in its text is not kept.
SCHEMA = """
CREATE VIRTUAL TABLE items USING fts5(
  words, content='', detail=none, columnsize=0, prefix='1 2 3',
  tokenize="unicode61 remove_diacritics 0 categories 'L* N* M* So'"
)
"""


class _Folding(dict[int, str]):
    """What a character becomes: without accents; a space, unless words are made of it."""

    def __missing__(self, code: int) -> str:
        kept = ""
        for part in unicodedata.normalize("NFKD", chr(code)).casefold():
            kind = unicodedata.category(part)
            if unicodedata.combining(part):
                continue  # an accent
            # Letters, numbers, vowel signs and emoji make words.
            kept += part if kind[0] in "LNM" or kind == "So" else " "
        if any(low <= code <= high for low, high in UNSPACED + UNSPACED_BEYOND):
            kept = f" {kept} "
        self[code] = kept
        return kept


_FOLDING = _Folding()


def folded(text: str) -> str:
    """A text as it is compared: words in lower case and without accents, spaces between them."""
    return text.casefold().translate(_FOLDING)


def folded_name(name: str) -> str:
    """A name, with its numbers as words too: IMG0042 is found by 0042."""
    return f"{folded(name)} {folded(' '.join(re.findall(r'[0-9]+', name)))}"


class TextIndex:
    """Words of items, to be searched by any thread.

    Parameters
    ----------
    names, texts : of the items, in their order; texts may be empty
    """

    def __init__(self, names: Iterable[str], texts: Iterable[str]) -> None:
        self._lock = threading.Lock()
        self._connection = sqlite3.connect(":memory:", check_same_thread=False)
        rows = (
            (number, f"{folded_name(name)} {folded(text)}")
            for number, (name, text) in enumerate(zip(names, texts, strict=True))
        )
        try:
            self._connection.execute(SCHEMA)
            self._connection.executemany("INSERT INTO items(rowid, words) VALUES (?, ?)", rows)
            self._connection.commit()
        except sqlite3.OperationalError as error:
            raise PoiseError(
                f"the texts cannot be searched ({error}): a Python whose SQLite has FTS5 is needed"
            ) from None

    def find(self, query: str) -> Ints:
        """Numbers of the items in which each word of a query begins some word.

        Those that have all the words whole come first; among equals, the order of the source. A
        query without words finds nothing.
        """
        words = list(dict.fromkeys(folded(query).split()))[:MOST_WORDS]
        words = [word[:LONGEST_WORD] for word in words]
        if not words:
            return np.zeros(0, dtype=np.int64)
        begun = self._matching(" ".join(f'"{word}" *' for word in words))
        whole = self._matching(" ".join(f'"{word}"' for word in words)) if begun.size else begun
        return np.concatenate([whole, np.setdiff1d(begun, whole, assume_unique=True)])

    def close(self) -> None:
        """Let go of the memory."""
        with self._lock:
            self._connection.close()

    def _matching(self, match: str) -> Ints:
        with self._lock:
            found = self._connection.execute(
                "SELECT rowid FROM items WHERE items MATCH ?", (match,)
            )
            return np.fromiter((row for (row,) in found), dtype=np.int64)
