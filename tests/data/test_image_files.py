"""Image files in a folder: which are found, and which may be loaded."""

import os

import pytest

from poise.data.image_files import find_images, load_below, load_file
from poise.data.images import UnreadableError


@pytest.fixture
def folder(tmp_path):
    """Images in order, hidden ones, another kind of file, and a link that leads out."""
    root = tmp_path / "photos"
    for name in ("b/1.png", "a.png", "b/.hidden.png", ".thumbnails/2.png", "notes.txt", "x.cr2"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(name.encode())
    (tmp_path / "outside.png").write_bytes(b"outside")
    (root / "link.png").symlink_to(tmp_path / "outside.png")
    return root.resolve()


def test_links_that_lead_out_are_refused(folder):
    names, refused = find_images(folder)
    assert names == ["a.png", "b/1.png"]
    assert refused == [
        ("link.png", "it leads out of the folder"),
        ("x.cr2", "camera raw files are not read: export it as JPEG"),
    ]
    with pytest.raises(UnreadableError, match="it leads out of the folder"):
        load_below(folder, "link.png")


def test_links_that_lead_out_are_found_on_request(folder):
    names, refused = find_images(folder, allow_outside=True)
    assert names == ["a.png", "b/1.png", "link.png"]
    assert [name for name, _ in refused] == ["x.cr2"]
    assert load_file(folder / "link.png")[0] == b"outside"


def test_what_cannot_be_loaded_says_why(folder):
    with pytest.raises(UnreadableError, match="there is no such file"):
        load_file(folder / "missing.png")
    os.mkfifo(folder / "pipe.png")
    with pytest.raises(UnreadableError, match="it is not a file"):
        load_file(folder / "pipe.png")


def test_loading_tells_when_the_file_was_written(folder):
    os.utime(folder / "a.png", ns=(0, 1_700_000_000_123_456_789))
    assert load_below(folder, "a.png") == (b"a.png", (folder / "a.png").stat().st_mtime_ns)
