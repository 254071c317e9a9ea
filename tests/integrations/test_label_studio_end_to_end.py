"""``poise label-studio`` as people use it: they label in the order of its score, poise follows."""

import io
import json
import os
import shlex
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from fake_label_studio import LEGACY_TOKEN, FakeLabelStudio, choices_config, page
from PIL import Image
from sklearn.datasets import load_digits

from poise.cli.main import main
from poise.integrations.label_studio.api import Api
from poise.integrations.label_studio.client import Client
from poise.integrations.label_studio.planning import make_plan
from poise.integrations.label_studio.sync import Sync

DIGITS = 400
ROUNDS, ANSWERS_OF_A_ROUND = 8, 3


@pytest.fixture
def digits(tmp_path, monkeypatch):
    """A project of handwritten digits, and the digit of each task."""
    monkeypatch.setenv("POISE_CACHE", str(tmp_path))
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", LEGACY_TOKEN)
    fake = FakeLabelStudio(choices_config(list("0123456789"), "Image", "image"))
    truth = {}
    X, y = load_digits(return_X_y=True)
    for number, (pixels, digit) in enumerate(zip(X[:DIGITS], y, strict=False)):
        file = io.BytesIO()
        Image.fromarray((255 - 15 * pixels.reshape(8, 8)).astype(np.uint8)).save(file, "PNG")
        fake.files[f"/data/upload/1/{number}.png"] = file.getvalue()
        truth[fake.add(image=f"/data/upload/1/{number}.png")] = str(digit)
    with fake.serving():
        yield fake, truth


@pytest.fixture
def texts(monkeypatch):
    """A project of a few texts."""
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", LEGACY_TOKEN)
    fake = FakeLabelStudio(choices_config(["sport", "food"]))
    for words in ("goal match", "match team", "team goal", "soup salt", "salt bread", "bread soup"):
        fake.add(text=words)
    with fake.serving():
        yield fake


@pytest.fixture
def run(capsys):
    def run(line):
        with pytest.raises(SystemExit) as stopped:
            main(shlex.split(line))
        return stopped.value.code, *capsys.readouterr()

    return run


def accuracy(fake, truth):
    """Share of the tasks whose prediction in Label Studio is right."""
    shown = {one["task"]: one["result"] for one in fake.predictions.values()}
    return np.mean(
        [bool(shown[t]) and shown[t][0]["value"]["choices"] == [c] for t, c in truth.items()]
    )


def test_people_who_follow_the_score_label_better_than_at_random(digits):
    fake, truth = digits
    sync = Sync(Api(Client(fake.address, LEGACY_TOKEN), 1))
    sync.round()
    by_score = []
    for _ in range(ROUNDS):
        for task in fake.in_order()[:ANSWERS_OF_A_ROUND]:
            fake.annotate(task, truth[task])
        sync.round()
        by_score.append(accuracy(fake, truth))
    graph, classes = sync.pool.graph, sync.question.classes
    topics = [truth[task] for task in sync.pool.ids]
    at_random = []
    for seed in range(5):
        nodes = np.random.default_rng(seed).choice(DIGITS, ROUNDS * ANSWERS_OF_A_ROUND, False)
        plan = make_plan(graph, {int(node): topics[node] for node in nodes}, (), classes)
        at_random.append(
            np.mean([p.label == c for p, c in zip(plan.predictions, topics, strict=True)])
        )
    assert by_score[-1] > by_score[0] + 0.3
    assert by_score[-1] > np.mean(at_random) + 0.05
    assert by_score[-1] > 0.9
    assert len({truth[one["task"]] for one in fake.annotations.values()}) == 10


def test_once_sends_predictions_and_names_the_next_tasks(texts, run):
    texts.annotate(1, "sport")
    texts.annotate(4, "food")
    code, out, err = run(f"label-studio {texts.address} --project 1 --once --embed tfidf")
    assert code == 0
    assert out.startswith("6 tasks; 2 labelled; 6 predictions sent; next: ")
    assert "Tasks are compared by tfidf: it was asked for." in err
    assert all(len(texts.own(task)) == 1 for task in texts.tasks)
    code, out, err = run(f"label-studio {texts.address}/ --project 1 --once --embed tfidf --json")
    assert code == 0
    done = json.loads(out)
    assert (done["tasks"], done["labelled"], done["sent"], done["waiting"]) == (6, 2, 0, 0)
    assert done["next"] == texts.in_order()
    assert err == ""


def test_other_models_and_left_out_tasks_are_mentioned(texts, run):
    texts.add(title="no text")
    texts.foresee(1, 0.7, "yolo")
    line = f"label-studio {texts.address} --project 1 --once --embed tfidf"
    _, _, err = run(line)
    assert "Left out: 1 tasks. Of task 7, it has no text" in err
    assert "choose 'poise' under Settings to sort by the score of poise alone" in err
    texts.version = "yolo"
    _, _, err = run(line)
    assert "The project shows the predictions of 'yolo'" in err
    texts.version = "poise"
    _, _, err = run(line)
    assert "Settings" not in err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--project 2", "check the address and the number of the project"),
        ("--project 0", "try 'poise label-studio --help'"),
        ("", "Missing option '--project'"),
        ("--project 1 --embed tfdif", "tfdif"),
        ("--project 1 --control mood", "there is no Choices 'mood'"),
        ("--project 1 --interval 0", "try 'poise label-studio --help'"),
    ],
)
def test_mistakes_are_one_line_and_exit_2(options, words, texts, run):
    code, out, err = run(f"label-studio {texts.address} {options} --once")
    assert (code, out) == (2, "")
    assert words.lower() in err.lower()
    assert err.count("\n") == 1


def test_a_missing_or_wrong_token_is_one_line(texts, run, monkeypatch):
    for token in ("", "0" * 40):
        monkeypatch.setenv("LABEL_STUDIO_API_KEY", token)
        code, out, err = run(f"label-studio {texts.address} --project 1 --once")
        assert (code, out) == (2, "")
        assert "LABEL_STUDIO_API_KEY" in err
        assert err.count("\n") == 1


def test_a_server_that_is_none_is_one_line_and_exits_1(texts, run):
    texts.faults.append(page(b"<!doctype html><h1>It works!</h1>"))
    code, out, err = run(f"label-studio {texts.address} --project 1")
    assert (code, out) == (1, "")
    assert "answered with a web page that is not JSON" in err
    assert err.count("\n") == 1


def test_it_follows_what_people_do_until_it_is_interrupted(texts):
    line = f"label-studio {texts.address} --project 1 --embed tfidf --interval 1 --json"
    process = subprocess.Popen(
        [sys.executable, "-m", "poise", *shlex.split(line)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ,
    )
    try:
        assert json.loads(process.stdout.readline())["labelled"] == 0
        texts.annotate(1, "sport")
        texts.annotate(4, "food")
        while (done := json.loads(process.stdout.readline()))["labelled"] < 2:
            pass
        while any(not texts.own(task) for task in texts.tasks):
            assert process.poll() is None
            time.sleep(0.05)
        assert done["next"]
        process.send_signal(signal.SIGINT)
        _, err = process.communicate()
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 0
    assert "Stopped. Run the same command again to continue." in err
    assert "Traceback" not in err
