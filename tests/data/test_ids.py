"""Ids of items: by content, and distinct for copies."""

import numpy as np

from poise.data.ids import content_id, distinct_ids, row_ids, text_id
from poise.progress import no_progress


def test_texts_and_rows_are_known_by_their_bytes():
    assert text_id("cat") == content_id(b"cat")
    X = np.arange(6, dtype=np.int16).reshape(3, 2)
    assert row_ids(X, no_progress) == [content_id(row.tobytes()) for row in X]


def test_copies_get_the_lowest_free_numbers():
    assert distinct_ids(["a", "b", "a", "a"]) == ("a", "b", "a-2", "a-3")


def test_copies_keep_their_ids():
    assert distinct_ids(["a", "a", "b"], ["", "a", ""]) == ("a-2", "a", "b")
    assert distinct_ids(["a", "a"], ["a-2", "a-2"]) == ("a-2", "a")
    assert distinct_ids(["a", "b"], ["b", "a"]) == ("a", "b"), "ids of other contents"
