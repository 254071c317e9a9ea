"""The app in front of a graph at several ranks, with one rank in this process."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.distributed.alone import learner_alone, opened_alone

import poise
from poise.distributed.answers import Answers
from poise.distributed.app.project import OpenAtRanks
from poise.distributed.app.serving import serve_until_lost
from poise.distributed.ranks import RankLostError
from poise.errors import InputError, WrongGraphError
from poise.studio.asking.question import Question
from poise.studio.log.events import Event
from poise.studio.log.lock import only_writer
from poise.studio.log.state import StaleError, fold
from poise.studio.project import Project


@pytest.fixture(scope="module")
def graph() -> poise.Graph:
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(60, 2)) + 6.0 * c for c in range(3)])
    return poise.knn_graph(X, k=6)


@pytest.fixture
def opened(graph: poise.Graph, tmp_path: Path) -> Iterator[OpenAtRanks]:
    opened = opened_alone(graph, tmp_path / "answers")
    yield opened
    opened.close()


def project_of(opened: OpenAtRanks) -> Project:
    assert opened.project is not None
    return opened.project


def asked(project: Project) -> Question:
    question = project.wait("", 120)
    assert question is not None
    return question


def answer(project: Project, label: str | None = None) -> str:
    """Answer the open question, by default with the cluster of its node; return its item."""
    node = asked(project).node
    name = label or f"cluster {node // 60}"
    if project.state.known.find(name) is None:
        project.record(Event("class", {"name": name}))
    item = project.catalogue.ids[node]
    project.record(Event("label", {"items": [item], "label": name}), {item: 0})
    return item


def settle(project: Project) -> None:
    """Wait until the queue is full, and every guess knows the newest labels."""
    asker = project.asker
    full = asker.pace.batch(asker._load())

    def ready() -> bool | None:
        questions = [*asker.waiting, *asker._explained.values()]
        is_new = all(question.knows == asker.changes for question in questions)
        return True if is_new and len(asker.waiting) >= full else None

    assert asker.wait(ready, 120)


def test_questions_are_queued_and_their_guesses_follow_the_labels(opened: OpenAtRanks) -> None:
    project = project_of(opened)
    for _ in range(6):
        answer(project)
    asked(project)
    settle(project)
    question = asked(project)
    assert question.guess == f"cluster {question.node // 60}"
    assert question.confidence is None
    assert question.reason in ("decide", "explore", "confirm")
    assert len({q.node for q in project.asker.waiting} | {question.node}) >= 4
    assert set(project.state.labels).isdisjoint(str(q.node) for q in project.asker.waiting)


def test_an_answer_is_on_disk_and_counts_after_a_restart(
    graph: poise.Graph, tmp_path: Path
) -> None:
    opened = opened_alone(graph, tmp_path / "answers")
    project = project_of(opened)
    items = [answer(project) for _ in range(4)]
    aside = project.catalogue.ids[asked(project).node]
    project.record(Event("unsure", {"items": [aside]}))
    waiting = asked(project).node
    # Nothing is closed in order: as after the death of the rank.
    again = opened_alone(graph, tmp_path / "answers")
    assert list(project_of(again).state.labels) == items
    assert asked(project_of(again)).node == waiting
    learner = project_of(again).asker.learner
    assert set(learner.labels) == {int(item) for item in items}
    assert fold(project.store.events()).unsure.keys() == {aside}
    for each in (opened, again):
        each.close()


def test_undo_shows_the_item_again_and_forgets_its_label(opened: OpenAtRanks) -> None:
    project = project_of(opened)
    first = answer(project)
    last = answer(project)
    undone = project.undo()
    assert undone is not None
    assert undone.items == [last]
    assert asked(project).node == int(last)
    labels = project.asker.do(lambda learner: learner.labels).result(120)
    assert list(labels) == [int(first)]
    with pytest.raises(StaleError):
        project.record(Event("label", {"items": [last], "label": "cluster 0"}), {last: 0})


def test_a_skipped_item_comes_later_and_an_earlier_answer_can_be_changed(
    opened: OpenAtRanks,
) -> None:
    project = project_of(opened)
    item = answer(project)
    skipped = project.catalogue.ids[asked(project).node]
    project.record(Event("skip", {"items": [skipped]}))
    assert asked(project).node != int(skipped)
    project.look_at(item)
    assert asked(project).node == int(item)
    project.record(Event("class", {"name": "another"}))
    project.record(Event("label", {"items": [item], "label": "another"}))
    labels = project.asker.do(lambda learner: learner.labels).result(120)
    assert labels == {int(item): "another"}


def test_everything_can_be_labelled(tmp_path: Path) -> None:
    small = poise.knn_graph(np.random.default_rng(0).normal(size=(12, 2)), k=3)
    opened = opened_alone(small, tmp_path / "answers")
    project = project_of(opened)
    items = {answer(project, "a") for _ in range(12)}
    assert items == set(project.nodes)
    assert project.wait("", 60) is None
    assert project.asker.exhausted
    opened.close()


def test_what_the_command_line_sets_cannot_be_changed_on_the_page(opened: OpenAtRanks) -> None:
    with pytest.raises(InputError, match="start the command again with another --acquisition"):
        project_of(opened).record(Event("setting", {"name": "acquisition", "value": "norm"}))


def test_the_terminal_goes_on_where_the_page_stopped(graph: poise.Graph, tmp_path: Path) -> None:
    opened = opened_alone(graph, tmp_path / "answers")
    item = answer(project_of(opened), "a")
    opened.close()
    learner = learner_alone(graph)
    with Answers(tmp_path / "answers", learner) as answers:
        assert list(learner.labels) == [int(item)]
        answers.tell(answers.question(), "b")
    learner.close()
    again = opened_alone(graph, tmp_path / "answers")
    assert [each.label for each in project_of(again).state.labels.values()] == ["a", "b"]
    again.close()


def test_answers_about_other_items_are_refused(graph: poise.Graph, tmp_path: Path) -> None:
    opened_alone(graph, tmp_path / "answers").close()
    other = poise.knn_graph(np.random.default_rng(1).normal(size=(40, 2)), k=4)
    with pytest.raises(WrongGraphError, match="about another graph"):
        opened_alone(other, tmp_path / "answers")
    opened = opened_alone(graph, tmp_path / "named")
    store = project_of(opened).store
    store.append(
        Event("class", {"name": "a"}), Event("label", {"items": ["photo.png"], "label": "a"})
    )
    opened.close()
    with pytest.raises(InputError, match="which is no node of this graph"):
        opened_alone(graph, tmp_path / "named")


def test_answers_that_another_process_writes_are_refused(
    graph: poise.Graph, tmp_path: Path
) -> None:
    opened = opened_alone(graph, tmp_path / "answers")
    learner: Any = project_of(opened).asker.learner
    with (
        only_writer(tmp_path / "answers", "http://127.0.0.1:1/?token=other"),
        pytest.raises(InputError, match=r"answers is in use by another poise.*token=other"),
    ):
        serve_until_lost(opened, learner, 0, print)
    learner.close()  # no thread asks any more, so nothing is sent after the end
    assert not project_of(opened).asker._thread.is_alive()


def test_the_reason_of_a_loss_is_raised_after_the_page_could_read_it(
    graph: poise.Graph, tmp_path: Path
) -> None:
    opened = opened_alone(graph, tmp_path / "answers")
    learner: Any = project_of(opened).asker.learner
    seen: list[str] = []

    def lose(addresses: list[str]) -> None:
        def fail(data: bytes) -> bytes:
            raise RankLostError("rank 1 is gone")

        learner.partition.ranks.from_first = fail
        with pytest.raises(RankLostError):
            learner.ask()
        seen.append(opened.ending()["ending"]["words"])

    with pytest.raises(RankLostError, match="rank 1 is gone"):
        serve_until_lost(opened, learner, 0, lose, grace=0.5)
    assert seen == ["RankLostError: rank 1 is gone."]
