"""Items that are the lines of a file."""

from pathlib import Path

import pytest

from poise.distributed.app import lines
from poise.distributed.app.lines import Lines, Nodes, numbered_items
from poise.errors import InputError
from poise.studio.source.catalogue import GoneError


@pytest.mark.parametrize("end", ["", "\n"])
@pytest.mark.parametrize("n", [1, 2, 63, 64, 65, 128, 129, 1000])
def test_lines_are_found_by_their_numbers(
    tmp_path: Path, n: int, end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "BLOCK_BYTES", 50)
    texts = [f"line {i} ä" + "x" * (i % 7) for i in range(n)]
    texts[-1] = "the last"
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(texts) + end, encoding="utf-8")
    found = Lines(path)
    assert len(found) == n
    assert list(found) == texts
    assert found[-1] == texts[-1]
    assert found[1:3] == texts[1:3]
    with pytest.raises(IndexError):
        found[n]
    found.close()


def test_empty_lines_and_ends_of_windows_count(tmp_path: Path) -> None:
    path = tmp_path / "texts.txt"
    path.write_bytes(b"\r\na\r\n\nb \xff\r\n")
    found = Lines(path)
    assert list(found) == ["", "a", "", "b \ufffd"]
    found.close()
    path.write_bytes(b"")
    found = Lines(path)
    assert list(found) == []
    found.close()


def test_a_file_that_changes_is_not_read_on(tmp_path: Path) -> None:
    path = tmp_path / "texts.txt"
    path.write_text("a\nb\n")
    items = numbered_items("small", path, 2)
    media_type, content = items.content(1)
    assert (media_type, content) == ("text/plain; charset=utf-8", b"b")
    assert items.sources[1] == "texts.txt, line 2"
    assert items.tag(0) != items.tag(1)
    path.write_text("a\n")
    with pytest.raises(GoneError, match=r"texts.txt has changed since poise was started"):
        items.content(1)


def test_a_file_with_another_number_of_lines_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "texts.txt"
    path.write_text("a\nb\n")
    with pytest.raises(InputError, match=r"texts.txt has 2 lines and the graph 3 items"):
        numbered_items("small", path, 3)
    with pytest.raises(InputError, match="cannot be read"):
        Lines(tmp_path / "none.txt")


def test_items_without_texts_show_their_numbers() -> None:
    items = numbered_items("large", None, 10**9)
    assert items.content(10**9 - 1)[1] == b"item 999999999"
    assert items.ids[7] == "7"
    assert items.ids[5:7] == ["5", "6"]
    assert items.sources[7] == "node 7"
    assert items.nodes["999999999"] == 10**9 - 1
    for name in ("1000000000", "-1", "01", "a", "", "１"):
        assert name not in items.nodes
    assert list(Nodes(3)) == ["0", "1", "2"]
    assert dict(Nodes(2)) == {"0": 0, "1": 1}
