"""Full-text search of items by the words of their names and texts, in memory.

SQLite's FTS5 over folded words. Scanning the folded strings needs no index, but takes 0.2 to 0.9 s
with 100,000 posts of 2,000 letters; the index takes a tenth (``benchmarks/studio_search.py``).
"""

import re
import sqlite3
import threading
import unicodedata
from collections.abc import Iterable

import numpy as np

from poise.arrays import Ints
from poise.errors import PoiseError

#: Words of a query that count, and characters of each: more would only take time.
MAX_WORDS, MAX_WORD_CHARACTERS = 30, 100
#: Letters of languages without spaces between words: each one counts as a word. Thai to Myanmar and
#: Khmer, kana, ideographs.
UNSPACED = ((0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x2E80, 0x9FFF))
UNSPACED_BEYOND = ((0xF900, 0xFAFF), (0x20000, 0x3FFFF))
#: Prefixes of up to three letters, which many words share, have indexes of their own. Positions of
#: words in their texts are not stored.
SCHEMA = """
CREATE VIRTUAL TABLE items USING fts5(
  words, content='', detail=none, columnsize=0, prefix='1 2 3',
  tokenize="unicode61 remove_diacritics 0 categories 'L* N* M* So'"
)
"""


class _Folding(dict[int, str]):
    """Character -> its folded form: without accents; a space if words do not contain it."""

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
    """A text for comparison: words in lower case and without accents, separated by spaces."""
    return text.casefold().translate(_FOLDING)


def folded_name(name: str) -> str:
    """A name with its numbers as separate words too, so that 0042 finds IMG0042."""
    return f"{folded(name)} {folded(' '.join(re.findall(r'[0-9]+', name)))}"


class TextIndex:
    """The words of items. Any thread may search them.

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
                f"the texts cannot be searched ({error}): use a Python whose SQLite has FTS5"
            ) from None

    def find(self, query: str) -> Ints:
        """Nodes of the items that, for each word of a query, contain a word beginning with it.

        Items with all the whole words come first; otherwise the order is that of the source. A
        query without words finds nothing.
        """
        words = list(dict.fromkeys(folded(query).split()))[:MAX_WORDS]
        words = [word[:MAX_WORD_CHARACTERS] for word in words]
        if not words:
            return np.zeros(0, dtype=np.int64)
        begun = self._matching(" ".join(f'"{word}" *' for word in words))
        whole = self._matching(" ".join(f'"{word}"' for word in words)) if begun.size else begun
        return np.concatenate([whole, np.setdiff1d(begun, whole, assume_unique=True)])

    def close(self) -> None:
        """Release the memory."""
        with self._lock:
            self._connection.close()

    def _matching(self, match: str) -> Ints:
        with self._lock:
            rows = self._connection.execute("SELECT rowid FROM items WHERE items MATCH ?", (match,))
            return np.fromiter((node for (node,) in rows), dtype=np.int64)
