import shutil

import pytest
from browser import Command, Inside, Visits, make_photos, opened
from crowds import make_project

from poise.active.warm_up import warm_up
from poise.studio.log.events import Event


@pytest.fixture
def project(tmp_path):
    made = make_project(tmp_path)
    for name, key in (("left", "1"), ("right", "2")):
        made.record(Event("class", {"name": name, "key": key}))
    yield made
    made.close()


@pytest.fixture
def visits(browser, start, command):
    """Pages to open. They are closed before what serves them ends."""
    made = Visits(browser)
    yield made
    made.close()


@pytest.fixture(scope="session")
def photos(tmp_path_factory):
    """A folder of sixty pictures that no test changes."""
    return make_photos(tmp_path_factory.mktemp("pictures") / "photos")


@pytest.fixture
def start():
    """Start an app in this process; it ends with the test."""
    started = []

    def begin(opening, **options):
        started.append(Inside(opening, **options))
        return started[-1]

    yield begin
    for one in started:
        one.end()


@pytest.fixture(scope="session")
def prepared(photos, tmp_path_factory):
    """A project's folder in which the pictures are read and compared, and nothing else happened."""
    warm_up()
    folder = tmp_path_factory.mktemp("prepared") / "photos.poise"
    opened(photos, folder, classes=()).open().close()
    for file in folder.glob("events.db*"):
        file.unlink()
    return folder


@pytest.fixture
def folder(prepared, tmp_path):
    """A copy of it for one test."""
    return shutil.copytree(prepared, tmp_path / "photos.poise")


@pytest.fixture
def studio(start, photos, folder):
    """The app with sixty pictures, three classes and no label."""
    return start(opened(photos, folder))


@pytest.fixture
def page(visits, studio):
    """Its page."""
    return visits.open(studio.address)


@pytest.fixture
def command():
    """Start ``poise label`` as a process; it ends with the test."""
    started = []

    def begin(*arguments, **options):
        started.append(Command(*arguments, **options))
        return started[-1]

    yield begin
    for one in started:
        one.end(9)
