"""Tables of items: which columns are read as what."""

import pytest

from poise.data.item_tables import ItemTable
from poise.errors import InputError


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('nr,text,class,vector\n1,one,a,"[1, 0]"\n2,two,b,"[0, 1]"\n')
    return path


def test_common_names_are_recognised(path):
    table = ItemTable(path, key="nr", vectors="vector")
    assert (table.column, table.shows_images) == ("text", False)
    assert table.contents == ["one", "two"]
    assert table.keys == ["1", "2"]
    assert table.labels == ["a", "b"]
    assert table.vectors.values.tolist() == [[1, 0], [0, 1]]


def test_labels_are_left_out_on_request(path):
    assert ItemTable(path, use_labels=False).labels is None


def test_columns_are_joined(path):
    table = ItemTable(path, "text,class")
    assert table.contents == ["one\n\na", "two\n\nb"]
    assert table.column == "text,class"
    assert table.labels is None, "the column of labels is shown"


def test_the_column_of_vectors_shows_nothing(path):
    with pytest.raises(InputError, match="'vector' holds the vectors: show another"):
        ItemTable(path, "vector", vectors="vector")


def test_images_that_each_row_names_once(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("image\na.png\nb.png\n")
    assert ItemTable(path).shows_images
    assert ItemTable(path).image_names() == ["a.png", "b.png"]
    path.write_text("image\na.png\na.png\n")
    assert ItemTable(path).image_names() == []
