import pytest
from crowds import make_project

from poise.studio.events import Event


@pytest.fixture
def project(tmp_path):
    opened = make_project(tmp_path)
    for name, key in (("left", "1"), ("right", "2")):
        opened.record(Event("class", {"name": name, "key": key}))
    yield opened
    opened.close()
