"""poise.files: files appear whole or not at all, and errors name them."""

import errno

import pytest

from poise.files import write_bytes, write_folder, write_together, write_whole


def fail_with(error):
    def write(_file):
        raise error

    return write


def test_a_file_appears_with_its_folder_and_is_replaced(tmp_path):
    path = tmp_path / "new" / "file"
    for content in (b"first", b"second"):
        write_bytes(path, content)
        assert path.read_bytes() == content
    assert list(path.parent.iterdir()) == [path]


def test_a_failed_write_leaves_the_old_file_alone(tmp_path):
    path = tmp_path / "file"
    write_bytes(path, b"old")
    with pytest.raises(ValueError, match="broken"):
        write_whole(path, fail_with(ValueError("broken")))
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_the_error_of_a_full_disk_names_the_file(tmp_path):
    path = tmp_path / "file"
    with pytest.raises(OSError, match="No space") as caught:
        write_whole(path, fail_with(OSError(errno.ENOSPC, "No space left on device")))
    assert caught.value.filename == str(path)
    assert str(caught.value).endswith(f"{str(path)!r}")


def test_an_error_with_a_message_alone_keeps_it(tmp_path):
    with pytest.raises(OSError, match=r"^the encoder failed$"):
        write_whole(tmp_path / "file", fail_with(OSError("the encoder failed")))


def test_several_texts_appear_together(tmp_path):
    write_together(tmp_path, {"parts/a.txt": "a", "page.html": "b"})
    assert (tmp_path / "parts" / "a.txt").read_text() == "a"
    (tmp_path / "taken").mkdir()
    with pytest.raises(OSError, match="taken"):
        write_together(tmp_path, {"taken": "x"})
    assert (tmp_path / "page.html").read_text() == "b"


def fill(*names):
    def write(folder):
        for name in names:
            (folder / name).write_text(name)

    return write


def names_in(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


def test_a_folder_appears_as_a_whole_and_replaces_another(tmp_path):
    folder = tmp_path / "new" / "folder"
    write_folder(folder, fill("a", "b"))
    assert names_in(tmp_path / "new") == ["folder", "folder/a", "folder/b"]
    write_folder(folder, fill("c"))
    assert names_in(tmp_path / "new") == ["folder", "folder/c"]


def test_a_folder_that_fails_leaves_the_old_one_alone(tmp_path):
    folder = tmp_path / "folder"
    write_folder(folder, fill("a"))

    def half(new):
        fill("b")(new)
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        write_folder(folder, half)
    assert names_in(tmp_path) == ["folder", "folder/a"]


def test_a_folder_that_cannot_take_its_place_brings_the_old_one_back(tmp_path, monkeypatch):
    folder = tmp_path / "folder"
    write_folder(folder, fill("a"))
    replace = type(folder).replace

    def refuse(path, target):
        if target == folder and not (path / "a").exists():
            raise OSError(errno.EACCES, "Permission denied")
        return replace(path, target)

    monkeypatch.setattr(type(folder), "replace", refuse)
    with pytest.raises(OSError, match="Permission denied"):
        write_folder(folder, fill("b"))
    assert names_in(tmp_path) == ["folder", "folder/a"]
