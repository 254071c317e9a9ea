"""Files of every format that poise ever wrote can be opened; newer ones are refused."""

import shutil
import sqlite3
from pathlib import Path

import pytest

import poise
from poise.cli.main import main
from poise.studio.log import store as store_module
from poise.studio.log.events import Event
from poise.studio.log.state import fold
from poise.studio.log.store import EventStore, StoreError

FIXTURES = Path(__file__).parents[1] / "fixtures"
NEW = Event("rename", {"name": "cat", "to": "feline"})


@pytest.fixture
def old(tmp_path):
    """A log of format 1."""
    return Path(shutil.copy(FIXTURES / "log-1.db", tmp_path / "events.db"))


def version(path):
    connection = sqlite3.connect(path)
    (found,) = connection.execute("PRAGMA user_version").fetchone()
    connection.close()
    return found


def test_a_log_of_format_1_opens_with_everything_in_it(old):
    store = EventStore(old)
    state = fold(store.events())
    store.close()
    assert state.classes == {"cat": "1", "dog": "2", "bird": "b"}
    assert {item: given.label for item, given in state.labels.items()} == {
        "i0": "cat",
        "i1": "dog",
        "i2": "dog",
        "i3": "bird",
        "i5": "dog",
    }
    assert (set(state.skipped), set(state.unsure)) == ({"i6"}, {"i7"})
    assert state.settings["only"] == ["i0", "i9"]
    assert state.undoable("") == 15


def test_reading_an_old_log_changes_nothing(old):
    before = old.read_bytes()
    store = EventStore.copy_of(old)
    store.append(NEW)  # in memory alone
    store.close()
    assert old.read_bytes() == before
    assert [path.name for path in old.parent.iterdir()] == ["events.db"]


def test_an_old_log_keeps_its_format_until_a_new_kind_of_event(old):
    store = EventStore(old)
    store.append(Event("label", {"items": ["i9"], "label": "cat"}))
    assert version(old) == 1
    count = len(store.events())
    store.append(NEW)
    assert len(store.events()) == count + 1
    store.close()
    assert version(old) == 2, "the event's own format, not the newest"
    copy = old.with_name("events-format-1.db")
    assert version(copy) == 1
    kept = EventStore.copy_of(copy)
    assert len(kept.events()) == count
    kept.close()


def test_a_log_in_another_journal_mode_opens(old):
    connection = sqlite3.connect(old)
    connection.execute("PRAGMA journal_mode=DELETE")
    connection.close()
    store = EventStore(old)
    store.append(NEW)
    store.close()
    assert version(old) == 2


def test_no_earlier_copy_is_overwritten(old):
    taken = old.with_name("events-format-1.db")
    taken.write_text("something else")
    store = EventStore(old)
    store.append(NEW)
    store.close()
    assert taken.read_text() == "something else"
    assert version(old.with_name("events-format-1-2.db")) == 1


def test_without_room_for_the_copy_nothing_is_written(old, monkeypatch):
    store = EventStore(old)
    count = len(store.events())

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(store_module, "write_bytes", full)
    with pytest.raises(StoreError, match="could not be written"):
        store.append(NEW)
    assert len(store.events()) == count
    store.close()
    assert version(old) == 1


def test_an_older_poise_refuses_a_newer_log_in_one_line(tmp_path, monkeypatch, capsys):
    folder = tmp_path / "photos.poise"
    store = EventStore(folder / "events.db")
    store.append(Event("class", {"name": "cat"}), NEW)
    store.close()
    monkeypatch.setattr(store_module, "VERSION", 1)
    for open_log in (EventStore, EventStore.copy_of):
        with pytest.raises(StoreError, match="newer poise") as refused:
            open_log(folder / "events.db")
        assert "\n" not in str(refused.value)
    with pytest.raises(SystemExit) as ended:
        main(["backup", str(folder), "-o", str(tmp_path / "copy.db")])
    (line,) = capsys.readouterr().err.splitlines()
    assert ended.value.code != 0
    assert line.endswith("newer poise (format 3, this one reads 1): upgrade poise")


def test_a_graph_and_a_session_of_version_1_open():
    graph = poise.Graph.load(FIXTURES / "graph-1.npz")
    assert (graph.n_nodes, graph.weights.shape) == (20, (20, 20))
    learner = poise.Learner.from_json(graph, (FIXTURES / "session-1.json").read_text())
    assert learner.labels == {0: "left", 19: "right", 13: "right"}
    assert list(learner.pending) == [12]
    (node,) = learner.ask()
    assert node not in (0, 4, 12, 13, 15, 19)
