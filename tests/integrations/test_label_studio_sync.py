"""Rounds with Label Studio: what is read, what is sent, and what changes while people label."""

import io
import json
import math

import numpy as np
import pytest
from fake_label_studio import (
    LEGACY_TOKEN,
    FakeLabelStudio,
    choices_config,
    dropped,
    page,
    passing,
    status,
)
from PIL import Image

from poise.errors import DataError, InputError
from poise.integrations.label_studio import sync as module
from poise.integrations.label_studio.api import Api
from poise.integrations.label_studio.client import Client, RefusedError, UnreachableError
from poise.integrations.label_studio.planning import QUESTIONS, QUESTIONS_BELOW
from poise.integrations.label_studio.sync import Sync, keep_current

WORDS = {
    "sport": ["goal", "match", "team", "score", "league", "player", "coach", "win", "season"],
    "food": ["bread", "butter", "soup", "oven", "salt", "recipe", "cheese", "bake", "plate"],
}


def texts(n: int) -> list[tuple[str, str]]:
    """Texts about two topics, with their topics."""
    rng = np.random.default_rng(0)
    topics = list(WORDS) * (n // 2)
    return [(" ".join(rng.choice(WORDS[topic], 5)), topic) for topic in topics]


@pytest.fixture
def truth():
    """Topic of each task."""
    return {}


@pytest.fixture
def studio(truth):
    fake = FakeLabelStudio(choices_config(list(WORDS)))
    for text, topic in texts(60):
        truth[fake.add(text=text)] = topic
    with fake.serving():
        yield fake


@pytest.fixture
def begin_sync(studio):
    def begin(**options):
        client = Client(studio.address, LEGACY_TOKEN, sleep=lambda _: None)
        return Sync(Api(client, 1), embedding="tfidf", **options)

    return begin


@pytest.fixture
def sync(begin_sync):
    return begin_sync()


def sent(studio, method):
    """Paths of the requests with a method so far."""
    return [path for verb, path, _ in studio.requests if verb == method]


def label(studio, truth, n):
    """A person labels the first tasks of the list, sorted by the score."""
    tasks = studio.in_order()[:n]
    return [studio.annotate(task, truth[task]) for task in tasks]


def chosen(studio, task):
    """Class and score of the only prediction of poise."""
    (one,) = studio.own(task)
    results = one["result"]
    return (results[0]["value"]["choices"][0] if results else None), one["score"]


def test_without_labels_the_questions_come_first_and_nothing_is_predicted(sync, studio):
    done = sync.round()
    assert (done.tasks, done.labelled, done.sent, done.waiting) == (60, 0, QUESTIONS, 0)
    assert studio.in_order()[:QUESTIONS] == list(done.next)
    assert {chosen(studio, task)[0] for task in done.next} == {None}
    assert sum(bool(studio.own(task)) for task in studio.tasks) == QUESTIONS


def test_labels_become_predictions_for_every_task(sync, studio, truth):
    sync.round()
    label(studio, truth, 6)
    done = sync.round()
    assert done.labelled == 6
    assert studio.in_order()[:QUESTIONS] == list(done.next)
    right = [chosen(studio, task)[0] == topic for task, topic in truth.items()]
    assert np.mean(right) > 0.9
    for task in truth:
        score = chosen(studio, task)[1]
        assert (score < QUESTIONS_BELOW) == (task in done.next)
        assert 0 <= score <= 1
    (one,) = studio.own(next(iter(truth)))
    (result,) = one["result"]
    assert one["model_version"] == "poise"
    assert (result["from_name"], result["to_name"], result["type"]) == ("topic", "item", "choices")
    labelled = [one["task"] for one in studio.annotations.values()]
    assert {chosen(studio, task) for task in labelled} == {(t, 1.0) for t in WORDS}


def test_the_probability_stands_beside_the_class_once_labels_support_it(sync, studio, truth):
    for task, topic in list(truth.items())[:40]:
        studio.annotate(task, topic)
    done = sync.round()
    for task in studio.in_order():
        (one,) = studio.own(task)
        assert 0.5 <= one["result"][0]["score"] <= 1
        if task not in done.next:
            expected = QUESTIONS_BELOW + (1 - QUESTIONS_BELOW) * one["result"][0]["score"]
            assert math.isclose(one["score"], expected, abs_tol=2e-4)


def test_a_round_without_changes_reads_a_page_and_sends_nothing(sync, studio, truth):
    sync.round()
    label(studio, truth, 4)
    for _ in range(3):
        sync.round()
    studio.requests.clear()
    done = sync.round()
    assert (done.sent, done.waiting) == (0, 0)
    assert [path.partition("?")[0] for _, path, _ in studio.requests] == [
        "/api/projects/1/",
        "/api/tasks/",
    ]
    assert "updated_at" in studio.requests[1][1]


def test_only_changed_predictions_are_sent(sync, studio, truth):
    sync.round()
    label(studio, truth, 10)
    for _ in range(2):
        sync.round()
    label(studio, truth, 1)
    studio.requests.clear()
    done = sync.round()
    assert 0 < done.sent < 60
    assert len(sent(studio, "PATCH")) == done.sent
    assert sent(studio, "POST") == []


def test_a_new_session_continues_where_the_last_one_stopped(sync, begin_sync, studio, truth):
    sync.round()
    label(studio, truth, 8)
    sync.round()
    predictions = dict(studio.predictions)
    again = begin_sync().round()
    assert (again.labelled, again.sent, again.waiting) == (8, 0, 0)
    assert studio.predictions == predictions


def test_an_interrupted_round_is_completed_by_the_next_session(sync, begin_sync, studio, truth):
    sync.round()
    label(studio, truth, 8)
    calls = []

    def interrupt(done, total):
        calls.append(done)
        if len(calls) == 10:
            raise KeyboardInterrupt

    def begin(step):
        return interrupt if step == "sending predictions" else lambda done, total: None

    with pytest.raises(KeyboardInterrupt):
        sync.round(begin)
    begin_sync().round()
    assert all(len(studio.own(task)) == 1 for task in truth)
    assert begin_sync().round().sent == 0


def test_changed_and_deleted_annotations_are_followed(sync, studio, truth):
    sync.round()
    first, second, *_ = label(studio, truth, 6)
    sync.round()
    task = studio.annotations[first]["task"]
    other = {"sport": "food", "food": "sport"}[truth[task]]
    studio.change(first, other)
    sync.round()
    assert sync.tasks[task].label == other
    assert chosen(studio, task) == (other, 1.0)
    gone = studio.annotations[second]["task"]
    studio.withdraw(second)
    done = sync.round()
    assert done.labelled == 5
    assert sync.tasks[gone].label is None
    for number in list(studio.annotations):
        studio.withdraw(number)
    done = sync.round()
    assert done.labelled == 0
    assert {chosen(studio, task)[0] for task in done.next} == {None}
    assert not any(studio.own(task) for task in truth if task not in done.next)


def test_skipped_tasks_are_asked_last(sync, studio, truth):
    sync.round()
    skipped = studio.in_order()[:5]
    for task in skipped:
        studio.annotate(task, None)
    done = sync.round()
    assert (done.labelled, done.skipped) == (0, 5)
    assert not set(skipped) & set(done.next)
    studio.annotate(skipped[0], truth[skipped[0]], by=2)
    done = sync.round()
    assert (done.labelled, done.skipped) == (1, 4)


def test_tasks_come_and_go(sync, studio, truth):
    sync.round()
    label(studio, truth, 6)
    sync.round()
    new = studio.add(text="goal team league season player")
    done = sync.round()
    assert done.tasks == 61
    assert chosen(studio, new)[0] == "sport"
    gone = next(
        task for task in truth if task not in {a["task"] for a in studio.annotations.values()}
    )
    studio.remove(gone)
    assert sync.round().tasks == 60
    assert gone not in sync.tasks
    changed = studio.add(text="bread soup oven")
    studio.remove(new)  # as many tasks as before
    sync.round()
    sync.forget()
    assert sync.round().tasks == 60
    assert set(sync.tasks) == set(studio.tasks)
    assert chosen(studio, changed)[0] == "food"


def test_all_tasks_are_read_again_from_time_to_time(begin_sync, studio):
    now = [0.0]
    sync = begin_sync(clock=lambda: now[0])
    sync.round()
    sync.round()
    silent = next(iter(studio.tasks))
    time = studio.tasks[silent]["updated_at"]
    studio.annotate(silent, "food")
    studio.tasks[silent]["updated_at"] = time.replace("2026", "2025")  # a change not reported
    assert sync.round().labelled == 0
    now[0] += module.FULL_READ_SECONDS
    assert sync.round().labelled == 1


def test_a_changed_configuration_is_read(sync, studio, truth):
    sync.round()
    label(studio, truth, 4)
    assert sync.round().labelled == 4
    studio.config = choices_config(["sport", "cooking"])
    done = sync.round()
    assert done.labelled == sum(
        one["result"][0]["value"]["choices"] == ["sport"] for one in studio.annotations.values()
    )
    studio.config = "<View/>"
    with pytest.raises(InputError, match="has no Choices"):
        sync.round()


def test_pages_are_read_to_their_end_also_while_tasks_come_and_go(sync, studio):
    for number in range(250):
        studio.add(text=f"goal match team {number}")
    assert sync.round().tasks == 310

    def remove_one(handler):
        studio.remove(min(studio.tasks))  # every later page begins one task later
        return False

    sync.forget()
    studio.faults += [passing, passing, remove_one]
    assert sync.round().tasks == 309
    assert set(sync.tasks) == set(studio.tasks)


def test_a_list_without_end_is_left(sync, studio):
    first = list(studio.tasks)[:3]
    endless = [{"id": task, "data": {"text": "goal"}} for task in first]
    answer = page(json.dumps({"tasks": endless, "total": 10**12}).encode())
    studio.faults += [passing] + [answer] * 6
    assert sync.round().tasks == 3


def test_a_project_of_texts_can_become_one_of_images(studio, truth, tmp_path, monkeypatch):
    monkeypatch.setenv("POISE_CACHE", str(tmp_path))
    sync = Sync(Api(Client(studio.address, LEGACY_TOKEN), 1))
    sync.round()
    assert sync.pool.compared.embedding in ("sentence", "tfidf")
    for number, task in enumerate(studio.tasks.values()):
        file = io.BytesIO()
        Image.fromarray(np.full((8, 8), 4 * number, dtype=np.uint8)).save(file, "PNG")
        studio.files[f"/data/{number}.png"] = file.getvalue()
        task["data"]["image"] = f"/data/{number}.png"
    studio.config = choices_config(list(WORDS), "Image", "image")
    assert sync.round().left_out == 0
    assert sync.pool.compared.embedding == "pca"


def test_a_server_with_smaller_pages_is_read_to_the_end(sync, studio):
    studio.most_page_size = 7
    assert sync.round().tasks == 60


def test_urgent_changes_come_first_and_the_others_wait(sync, studio, truth):
    sync.round()
    label(studio, truth, 8)
    sync.round()
    sync.round()
    label(studio, truth, 3)
    # The questions and what was a question, then the others.
    done = sync.round(most_updates=2 * QUESTIONS)
    assert studio.in_order()[: len(done.next)] == list(done.next)
    while done.waiting:
        before = done.waiting
        done = sync.round(most_updates=5)
        assert done.waiting < before


def test_one_prediction_per_task_is_kept(sync, studio, truth):
    sync.round()
    label(studio, truth, 6)
    sync.round()
    task = studio.in_order()[30]
    studio.foresee(task, 0.9, "poise")
    assert len(studio.own(task)) == 2
    sync.forget()
    sync.round()
    assert len(studio.own(task)) == 1
    assert sync.round().sent == 0


def test_predictions_of_other_models_are_left_alone(sync, studio, truth):
    task = next(iter(truth))
    other = studio.foresee(task, 0.9, "yolo")
    sync.round()
    label(studio, truth, 6)
    sync.round()
    assert studio.predictions[other]["score"] == 0.9
    assert sync.tasks[task].others
    assert not any(one.others for number, one in sync.tasks.items() if number != task)


def test_deleted_predictions_are_made_again(sync, studio, truth):
    sync.round()
    label(studio, truth, 6)
    sync.round()
    sync.round()
    studio.predictions.clear()
    label(studio, truth, 1)
    sync.round()  # its updates find nothing, so the tasks are read again
    sync.round()
    sync.round()
    assert all(len(studio.own(task)) == 1 for task in truth)


def test_a_lost_answer_to_a_creation_makes_no_second_prediction(sync, studio, truth):
    sync.round()
    label(studio, truth, 6)

    def arrived_then_dropped(handler):
        handler.reply = lambda status, value: dropped(handler)  # after it was done
        return False

    sync.round()
    sync.round()
    studio.predictions.clear()
    sync.forget()
    studio.faults += [passing, passing, arrived_then_dropped]
    with pytest.raises(UnreachableError):
        sync.round()
    assert len(studio.predictions) == 60
    sync.round()
    assert len(studio.predictions) == 60


def test_a_task_that_is_deleted_while_predictions_are_sent(sync, studio):
    def remove_one(handler):
        studio.remove(max(studio.tasks))
        return False

    tasks = list(studio.tasks)
    studio.faults += [passing, passing, remove_one]
    done = sync.round()
    if max(tasks) in done.next:
        assert done.waiting == QUESTIONS
    done = sync.round()
    assert (done.tasks, done.waiting) == (59, 0)


def test_a_refusal_that_repeats_is_an_error(sync, studio):
    refused = page(b'{"detail": "no such label"}', 400, "application/json")
    studio.faults += [passing, passing, refused]
    assert sync.round().waiting == QUESTIONS
    studio.faults += [passing, passing, refused]
    with pytest.raises(RefusedError, match="no such label"):
        sync.round()


def test_predictions_that_never_appear_are_an_error(sync, studio, monkeypatch):
    monkeypatch.setattr(studio, "_import", lambda body: (201, {"created": len(body)}))
    for _ in range(3):
        sync.round()
    with pytest.raises(DataError, match="took 20 predictions but does not show them"):
        sync.round()
    assert len(sent(studio, "POST")) == 1


def test_few_tasks_wait_for_more(studio, sync):
    for task in list(studio.tasks)[2:]:
        studio.remove(task)
    done = sync.round()
    assert (done.tasks, done.sent, done.next) == (2, 0, ())
    studio.add(text="bread butter soup")
    assert sync.round().sent == 3
    for task in list(studio.tasks):
        studio.remove(task)
    assert sync.round().tasks == 0


def test_everything_labelled_leaves_no_question(sync, studio, truth):
    for task, topic in truth.items():
        studio.annotate(task, topic)
    done = sync.round()
    assert (done.labelled, done.next) == (60, ())
    assert {chosen(studio, task) for task in truth} == {(topic, 1.0) for topic in WORDS}


def test_images_are_fetched_once_and_bad_ones_are_left_out(tmp_path, monkeypatch):
    monkeypatch.setenv("POISE_CACHE", str(tmp_path))
    fake = FakeLabelStudio(choices_config(["dark", "light"], "Image", "image"))
    rng = np.random.default_rng(0)
    for number in range(12):
        pixels = rng.integers(0, 100, (8, 8)) + 150 * (number % 2)
        file = io.BytesIO()
        Image.fromarray(pixels.astype(np.uint8)).save(file, "PNG")
        fake.files[f"/data/{number}.png"] = file.getvalue()
        fake.add(image=f"/data/{number}.png")
    fake.files["/data/page.png"] = b"<html>no image</html>"
    bad = [
        fake.add(image=address)
        for address in (
            "/data/page.png",
            "/data/missing.png",
            "https://elsewhere.example/a.png",
            "s3://bucket/a.png",
        )
    ]
    bad.append(fake.add(text="no image"))
    with fake.serving():
        client = Client(fake.address, LEGACY_TOKEN, sleep=lambda _: None)
        sync = Sync(Api(client, 1), embedding="pca")
        done = sync.round()
        assert (done.tasks, done.left_out) == (17, 5)
        assert list(sync.pool.left_out) == sorted(bad, key=lambda task: task != bad[-1])
        assert all("\n" not in why for why in sync.pool.left_out.values())
        fetched = [path for path in sent(fake, "GET") if path.startswith("/data/")]
        assert len(fetched) == len(set(fetched)) == 14
        fake.annotate(1, "dark")
        fake.annotate(2, "light")
        assert sync.round().labelled == 2
        Sync(Api(client, 1), embedding="pca").round()
        again = [path for path in sent(fake, "GET") if path.startswith("/data/")]
        assert sorted(again[14:]) == ["/data/missing.png", "/data/page.png"]
    predicted = [chosen(fake, task)[0] for task in range(1, 13)]
    assert predicted == ["dark", "light"] * 6


def test_an_image_at_which_the_server_fails_is_left_out(tmp_path, monkeypatch):
    monkeypatch.setenv("POISE_CACHE", str(tmp_path))
    fake = FakeLabelStudio(choices_config(["dark", "light"], "Image", "image"))
    fake.add(image="/data/1.png")
    with fake.serving():
        sync = Sync(Api(Client(fake.address, LEGACY_TOKEN, sleep=lambda _: None), 1))
        fake.faults += [passing, passing] + [status(500)] * 5
        assert sync.round().left_out == 1
        sync.forget()
        sync.round()
        assert sent(fake, "GET").count("/data/1.png") == 5


# Rounds without end ----------------------------------------------------------------------------


class Stopped(Exception):
    """Ends a loop that has no end."""


def test_rounds_follow_each_other_and_failures_pause_longer(sync, studio, truth):
    pauses, said = [], []

    def sleep(seconds):
        pauses.append(seconds)
        if len(pauses) == 2:
            studio.faults += [page(b"<html>maintenance</html>")] * 2
        if len(pauses) == 6:
            raise Stopped
        label(studio, truth, 2)

    with pytest.raises(Stopped):
        keep_current(sync.round, sync.forget, said.append, 200, sleep)
    assert pauses == [200, 200, 200, 300, 200, 200]
    assert len(said) == 2
    assert "not JSON" in said[0]
    assert "trying again in 200 s" in said[0]
    assert sync.round().labelled == 10


def test_what_fails_from_the_start_is_not_tried_again(sync, studio):
    studio.faults.append(page(b"<html>hello</html>"))
    with pytest.raises(UnreachableError):
        keep_current(sync.round, sync.forget, lambda _: None, 1, pytest.fail)


def test_a_backlog_is_sent_without_a_pause(sync, studio, truth):
    sync.round()
    label(studio, truth, 8)
    rounds = []

    def step():
        rounds.append(sync.round(most_updates=7))
        return rounds[-1]

    def sleep(seconds):
        raise Stopped

    with pytest.raises(Stopped):
        keep_current(step, sync.forget, lambda _: None, 1, sleep)
    assert len(rounds) > 2
    assert rounds[-1].waiting == 0


def test_a_mistake_of_the_user_ends_it(sync, studio):
    def sleep(seconds):
        studio.faults.append(status(403))

    with pytest.raises(InputError, match="forbids"):
        keep_current(sync.round, sync.forget, lambda _: None, 1, sleep)
