"""Items that arrive while questions are being asked."""

import threading
import time
from collections import Counter

import numpy as np
import pytest
from PIL import Image

from poise import Graph, knn_graph
from poise.data import image_reading
from poise.data import images as images_module
from poise.data.embeddings import photo as photo_module
from poise.data.embeddings.photo import Photo
from poise.errors import DataError
from poise.studio import opening as opening_module
from poise.studio.exchange import make_class, rows
from poise.studio.log.events import Event
from poise.studio.log.store import EventStore
from poise.studio.opening import Opening, Source
from poise.studio.project import Project
from poise.studio.source import arriving as module
from poise.studio.source.arriving import arriving, shuffled
from poise.studio.source.catalogue import Catalogue
from poise.studio.source.comparing import Compared

COMPARED = Compared("raw", "it was asked for", 5, "euclidean")
X = np.random.default_rng(0).normal(size=(400, 4)).astype(np.float32)


def catalogue(places):
    return Catalogue("points", "vector", tuple(f"p{i}" for i in places), X[places])


@pytest.fixture
def small(monkeypatch):
    """Questions begin with few items."""
    for name, value in {
        "ENOUGH_ITEMS": 100,
        "LEAST_ITEMS": 20,
        "STEP_ITEMS": 30,
        "SOON_SECONDS": 0.0,
    }.items():
        monkeypatch.setattr(module, name, value)


class Clock:
    """A clock that advances by `step` seconds with every call."""

    def __init__(self, step):
        self.now, self.step = 0.0, step

    def __call__(self):
        self.now += self.step
        return self.now


def take(m):
    return catalogue(shuffled(400)[:m].tolist())


def parts(step=1.0, take=take):
    return list(arriving(take, 400, COMPARED, lambda done, total: None, Clock(step)))


def test_parts_grow_by_half_and_never_hold_everything(small):
    sizes = [len(part.catalogue) for part in parts()]
    assert sizes == [120, 180, 270]


def test_after_some_seconds_fewer_are_enough(small):
    assert len(parts(step=15.0)[0].catalogue) == 60


def test_nothing_begins_early_if_the_rest_comes_soon(small, monkeypatch):
    monkeypatch.setattr(module, "SOON_SECONDS", 1e9)
    assert parts() == []


def test_what_an_earlier_run_embedded_does_not_make_the_rest_seem_quick(small, monkeypatch):
    """After a kill: the first half costs no time, the others do."""
    monkeypatch.setattr(module, "SOON_SECONDS", 10.0)
    now = [0.0]

    def slow_at_last(m):
        now[0] += 20.0 if m > 200 else 0.0
        return take(m)

    arrived = list(arriving(slow_at_last, 400, COMPARED, lambda *done: None, lambda: now[0]))
    assert arrived
    assert len(arrived[0].catalogue) < 300


def test_items_keep_their_nodes_and_the_graph_is_that_of_the_items(small):
    *_, before, last = parts()
    n = len(before.catalogue)
    assert last.catalogue.ids[:n] == before.catalogue.ids
    assert np.array_equal(last.features, last.catalogue.items)
    assert last.graph.fingerprint == knn_graph(last.features, k=5).fingerprint


def test_arriving_stops_if_files_change_meanwhile(small):
    def shifting(m):
        return catalogue(np.roll(shuffled(400), m).tolist()[:m])

    assert parts(take=shifting) == []


def test_every_start_has_the_same_order():
    assert np.array_equal(shuffled(400), shuffled(400))
    assert not np.array_equal(shuffled(400), np.arange(400))


# A project that grows -----------------------------------------------------------------------------


def grown_project(tmp_path):
    first = catalogue(list(range(200)))
    graph = knn_graph(X[:200], k=5, keep_neighbours=True)
    project = Project(first, X[:200], graph, EventStore(tmp_path / "events.db"))
    return project, graph


def answer(project, label):
    question = project.wait("", 30)
    assert question is not None
    item = project.catalogue.ids[question.node]
    make_class(project, label)
    project.record(Event("label", {"items": [item], "label": label}))
    return item


def test_answers_and_the_open_question_stay(tmp_path):
    project, graph = grown_project(tmp_path)
    try:
        answers = {answer(project, label): label for label in "abab"}
        held = project.wait("", 30)
        everything = catalogue(list(range(400)))
        project.predictions().result(30)
        project.grow(everything, X, graph.extend(X[200:]))
        assert project.wait("", 30).node == held.node
        assert {item: given.label for item, given in project.state.labels.items()} == answers
        assert len(project.predictions().result(30)) == 400
        assert len(rows(project, project.predictions().result(30))) == 400
        asked = [answer(project, "a") for _ in range(60)]
        assert any(int(item[1:]) >= 200 for item in asked)  # the new ones are asked about too
    finally:
        project.close()


def test_it_grows_while_people_answer_and_look(tmp_path):
    """Predictions, exports and questions from other threads never fail while items come in."""
    project, graph = grown_project(tmp_path)
    failures, stop = [], threading.Event()

    def look():
        while not stop.is_set():
            try:
                rows(project, project.predictions().result(30))
                project.duplicates(project.catalogue.ids[0])
            except Exception as error:
                failures.append(error)

    threads = [threading.Thread(target=look) for _ in range(2)]
    try:
        answer(project, "a")
        answer(project, "b")
        for thread in threads:
            thread.start()
        for size in (250, 300, 350, 400):
            graph = graph.extend(X[graph.n_nodes : size])
            project.grow(catalogue(list(range(size))), X[:size], graph)
            answer(project, "a")
    finally:
        stop.set()
        for thread in threads:
            thread.join()
        project.close()
    assert failures == []


# From a folder ------------------------------------------------------------------------------------


@pytest.fixture
def photos(tmp_path):
    """240 small photographs in three colours; the last one is damaged."""
    folder = tmp_path / "photos"
    folder.mkdir()
    rng = np.random.default_rng(0)
    for i in range(240):
        shade = np.zeros((70, 70, 3))
        shade[..., i % 3] = 200
        pixels = np.clip(shade + rng.normal(0, 40, shade.shape), 0, 255).astype(np.uint8)
        Image.fromarray(pixels).save(folder / f"{i:03d}.png")
    (folder / "239.png").write_bytes(b"\x89PNG broken")
    return folder


def opened(source):
    opening = Opening(source)
    opening.start()
    return opening


def until(wanted, seconds=60.0):
    end = time.monotonic() + seconds
    while not wanted():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_the_first_question_does_not_wait_for_the_last_photo(small, photos, tmp_path, monkeypatch):
    gate, real = threading.Event(), opening_module.prepare

    def prepare(*given, **named):  # what comes after the parts
        gate.wait(60)
        return real(*given, **named)

    monkeypatch.setattr(opening_module, "prepare", prepare)
    opening = opened(Source(str(photos), tmp_path / "p.poise"))
    try:
        until(lambda: opening.project is not None or opening.error)
        project = opening.project
        item = answer(project, "red")
        assert len(project.catalogue) < 239
        assert opening.coming()["total"] == 240
        gate.set()
        until(lambda: opening.ended)
        assert opening.trouble == ""
        assert opening.coming() is None
        assert len(project.catalogue) == 239
        assert [name for name, _ in project.catalogue.unreadable] == ["239.png"]
        assert project.state.labels[item].label == "red"
        exported = [row[1] for row in rows(project, project.predictions().result(30))]
        assert exported == [f"{i:03d}.png" for i in range(239)]  # in the order of the folder
    finally:
        gate.set()
        opening.close()
    # The next start finds everything, and the same as if nothing had arrived early.
    again = Opening(Source(str(photos), tmp_path / "p.poise")).open()
    whole = Opening(Source(str(photos), tmp_path / "whole.poise")).open()
    assert again.state.labels[item].label == "red"
    assert again.graph.fingerprint == whole.graph.fingerprint
    assert isinstance(again.graph, Graph)
    again.close()
    whole.close()


@pytest.fixture
def decoded(monkeypatch):
    """Counts how often each file is decoded."""
    counts = Counter()
    real = images_module.square

    def counted(content, *given, **named):
        counts[content] += 1
        return real(content, *given, **named)

    for module_with_it in (image_reading, photo_module):
        monkeypatch.setattr(module_with_it, "square", counted)
    return counts


@pytest.mark.parametrize("kind", ["folder", "table"])
def test_each_photo_is_decoded_once(small, photos, tmp_path, monkeypatch, decoded, kind):
    monkeypatch.setenv("POISE_CACHE", str(tmp_path / "cache"))
    source = photos
    if kind == "table":
        source = tmp_path / "table.csv"
        source.write_text("image\n" + "".join(f"photos/{i:03d}.png\n" for i in range(240)))
    opening = opened(Source(str(source), tmp_path / "p.poise"))
    until(lambda: opening.ended)
    opening.close()
    assert opening.trouble == ""
    broken = decoded.pop((photos / "239.png").read_bytes())
    assert len(decoded) == 239
    assert set(decoded.values()) == {1}
    assert broken >= 1
    decoded.clear()
    Opening(Source(str(source), tmp_path / "p.poise")).open().close()
    assert len(decoded) == 1, "only what could not be read is tried again"


def test_old_items_are_asked_about_before_new_ones_are_read(small, photos, tmp_path, monkeypatch):
    """A project that is started again beside many new files; a few of the old ones are gone."""
    monkeypatch.setenv("POISE_CACHE", str(tmp_path / "cache"))
    later = tmp_path / "later"
    later.mkdir()
    for path in sorted(photos.iterdir())[100:]:
        path.rename(later / path.name)
    first = Opening(Source(str(photos), tmp_path / "p.poise")).open()
    answers = {answer(first, label): label for label in "abab"}
    before, centre = dict(zip(first.catalogue.ids, first.features, strict=True)), first.centre
    first.close()
    for path in later.iterdir():
        path.rename(photos / path.name)
    gone = [name for name in ("003.png", "050.png", "077.png") if name_id(before, first, name)]
    gone = [name for name in gone if name_id(before, first, name) not in answers]
    for name in gone:
        (photos / name).unlink()
    gate, real = threading.Event(), Photo.reader

    def reader(self, kept):
        encode = real(self, kept)

        def waiting(contents):
            assert gate.wait(60)
            return encode(contents)

        return waiting

    monkeypatch.setattr(Photo, "reader", reader)
    opening = opened(Source(str(photos), tmp_path / "p.poise"))
    try:
        until(lambda: opening.project is not None or opening.error)
        project = opening.project
        assert len(project.catalogue) == 100 - len(gone)
        assert opening.coming()["total"] == 240 - len(gone)
        answers[answer(project, "a")] = "a"
        gate.set()
        until(lambda: opening.ended)
        assert opening.trouble == ""
        assert opening.coming() is None
        assert len(project.catalogue) == 239 - len(gone)
        assert {item: given.label for item, given in project.state.labels.items()} == answers
        now = dict(zip(project.catalogue.ids, project.features, strict=True))
        for item in set(before) & set(now):
            np.testing.assert_array_equal(now[item], before[item])
        np.testing.assert_array_equal(project.centre, centre)
        at_once = knn_graph(project.features, k=10, metric="cosine", keep_neighbours=True)
        np.testing.assert_allclose(
            project.graph.weights.toarray(), at_once.weights.toarray(), atol=1e-5
        )
    finally:
        gate.set()
        opening.close()
    again = Opening(Source(str(photos), tmp_path / "p.poise")).open()
    assert len(again.catalogue) == 239 - len(gone)
    again.close()


def name_id(before, project, name):
    return next(i for i in before if project.catalogue.sources[project.catalogue.nodes[i]] == name)


def test_a_failure_after_questions_began_is_shown_and_they_go_on(
    small, photos, tmp_path, monkeypatch
):
    def fail(*given, **named):
        raise DataError("the disk is full")

    monkeypatch.setattr(opening_module, "prepare", fail)
    opening = opened(Source(str(photos), tmp_path / "p.poise"))
    try:
        until(lambda: opening.ended)
        assert opening.error is None
        assert opening.coming()["trouble"] == "the disk is full"
        answer(opening.project, "red")
    finally:
        opening.close()


def test_labels_of_a_file_wait_for_all_items(small, photos, tmp_path):
    labels = tmp_path / "labels.csv"
    labels.write_text("source,label\n" + "".join(f"{i:03d}.png,c{i % 3}\n" for i in range(239)))
    opening = opened(Source(str(photos), tmp_path / "p.poise", labels=labels))
    try:
        until(lambda: opening.project is not None or opening.error)
        assert len(opening.project.catalogue) == 239
        assert len(opening.project.state.labels) == 239
    finally:
        opening.close()


def test_photos_read_from_a_table_arrive_too(small, photos, tmp_path):
    table = photos / "table.csv"
    table.write_text("image\n" + "".join(f"{i:03d}.png\n" for i in range(239)))
    opening = opened(Source(str(table), tmp_path / "p.poise"))
    try:
        until(lambda: opening.project is not None or opening.error)
        early = len(opening.project.catalogue)
        until(lambda: opening.ended)
        assert early < 239
        assert len(opening.project.catalogue) == 239
        assert opening.trouble == ""
    finally:
        opening.close()


def test_closing_ends_the_reading(small, photos, tmp_path):
    opening = opened(Source(str(photos), tmp_path / "p.poise"))
    until(lambda: opening.project is not None or opening.error)
    opening.close()
    until(lambda: opening.ended)


def test_texts_that_are_new_in_a_table_join_the_old_ones(small, tmp_path, monkeypatch):
    """Wherever they are in the table; removed texts leave."""
    monkeypatch.setenv("POISE_CACHE", str(tmp_path / "cache"))
    words = ["red", "green", "blue", "grey", "pink", "white", "black", "brown", "orange", "purple"]
    texts = [f"a {a} thing, {b} walls, {c}" for a in words for b in words for c in ("in", "out")]
    table, folder = tmp_path / "t.csv", tmp_path / "p.poise"
    table.write_text("text\n" + "".join(f'"{text}"\n' for text in texts[:80]))
    first = Opening(Source(str(table), folder)).open()
    answers = {answer(first, label): label for label in "ab"}
    first.close()
    rows = [
        *texts[120:],
        *(t for t, one in zip(texts, first.catalogue.ids, strict=False) if one in answers),
        *texts[5:120],
    ]
    rows = list(dict.fromkeys(rows))
    table.write_text("text\n" + "".join(f'"{text}"\n' for text in rows))
    seen, real = [], opening_module.Opening._add

    def add(self, source, catalogue, features, graph):
        seen.append(len(catalogue))
        return real(self, source, catalogue, features, graph)

    monkeypatch.setattr(opening_module.Opening, "_add", add)
    opening = opened(Source(str(table), folder))
    try:
        until(lambda: opening.ended)
        assert (opening.error, opening.trouble) == (None, "")
        stayed = len(set(rows) & set(texts[:80]))
        assert seen[0] == stayed
        assert seen[1] == stayed + 100
        assert seen[-1] == len(rows)
        assert {item: one.label for item, one in opening.project.state.labels.items()} == answers
    finally:
        opening.close()
    again = Opening(Source(str(table), folder)).open()
    whole = Opening(Source(str(table), tmp_path / "whole.poise")).open()
    np.testing.assert_allclose(
        again.graph.weights.toarray(), whole.graph.weights.toarray(), atol=1e-5
    )
    again.close()
    whole.close()


def test_the_time_left_does_not_count_what_was_done_before(monkeypatch):
    """9,000 of 10,000 were known; 500 more took ten seconds, so the last 500 take as long."""
    opening = Opening(Source("x"))
    now = [100.0]
    monkeypatch.setattr(opening_module.time, "monotonic", lambda: now[0])
    progress = opening.begin("embedding")
    progress(9_000, 10_000)
    assert opening.steps[-1].shown()["left"] is None
    now[0] += 10
    progress(9_500, 10_000)
    assert opening.steps[-1].shown()["left"] == pytest.approx(10.0)
