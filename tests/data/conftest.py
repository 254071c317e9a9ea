"""Folders for each test: no data, an empty cache, no network."""

import pytest
import sklearn.datasets

from poise.data.datasets import photos, public, texts
from poise.errors import DataError


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """An empty cache and no folder of data; every download is refused."""
    monkeypatch.setenv("POISE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("POISE_DATA", raising=False)

    def refuse(*_: object, **__: object) -> None:
        raise DataError("no network in tests")

    for module in (photos, public, texts):
        monkeypatch.setattr(module, "fetch", refuse)
    monkeypatch.setattr(public, "_openml", refuse)
    monkeypatch.setattr(sklearn.datasets, "fetch_20newsgroups", refuse)
    return tmp_path


@pytest.fixture
def own_files(elsewhere, monkeypatch):
    """An empty folder named by POISE_DATA."""
    folder = elsewhere / "own"
    folder.mkdir()
    monkeypatch.setenv("POISE_DATA", str(folder))
    return folder
