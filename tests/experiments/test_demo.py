import json
import re
from collections.abc import Callable
from html.parser import HTMLParser

import numpy as np
import pytest

from poise.errors import InputError
from poise.experiments.demo.page import demo_page
from poise.experiments.demo.run import (
    METHODS,
    Demo,
    Settings,
    accuracy_rows,
    checkpoints,
    report,
    run_demo,
)


def test_the_default_finds_the_digits_sooner_than_random(demo: Demo) -> None:
    assert demo.explored("auto").mean() > demo.explored("random").mean()
    assert demo.accuracy("auto")[:, -1].mean() > demo.accuracy("random")[:, -1].mean()
    assert demo.accuracy("auto")[:, -1].mean() > 0.85


def test_both_methods_start_from_the_same_label(demo: Demo) -> None:
    for auto, random in zip(demo.traces["auto"], demo.traces["random"], strict=True):
        assert auto.initial.tolist() == random.initial.tolist()
        assert len(auto.initial) == 1
    assert demo.labels[0] == 1
    assert demo.labels[-1] == 26


@pytest.mark.parametrize(
    ("budget", "expected"),
    [
        (1, [1, 2]),
        (3, [1, 4]),
        (4, [1, 5]),
        (30, [1, 5, 10, 20, 31]),
        (100, [1, 5, 10, 20, 50, 100]),
    ],
)
def test_checkpoints(budget: int, expected: list[int]) -> None:
    assert checkpoints(budget) == expected


def test_rows_are_the_means_of_the_trials(demo: Demo) -> None:
    rows = accuracy_rows(demo)
    assert [row.labels for row in rows] == [1, 5, 10, 20, 26][: len(rows)]
    for row in rows:
        for method in METHODS:
            mean, low, high = row.accuracy[method]
            assert mean == pytest.approx(demo.accuracy(method)[:, row.labels - 1].mean())
            assert low <= mean <= high


def test_the_report_is_json(demo: Demo) -> None:
    read = json.loads(json.dumps(report(demo), allow_nan=False))
    assert read["settings"]["seed"] == 0
    assert set(read["accuracy"][0]) == {"labels", *METHODS}


def test_progress_is_reported_to_the_end() -> None:
    steps: dict[str, list[tuple[int, int]]] = {}

    def begin(step: str) -> Callable[[int, int], None]:
        steps[step] = []
        return lambda done, total: steps[step].append((done, total))

    run_demo(Settings(trials=2, budget=3), begin)
    for name in METHODS.values():
        reports = steps[f"Labelling, {name.lower()}"]
        assert [done for done, _ in reports] == sorted(done for done, _ in reports)
        assert reports[-1][0] == reports[-1][1]


def test_a_budget_beyond_the_data_is_refused() -> None:
    with pytest.raises(InputError, match="at most 1,796"):
        run_demo(Settings(budget=1797))


class Page(HTMLParser):
    """Collects the content of a page, and fails on tags that are not nested."""

    VOID = frozenset({"meta", "link", "img", "br", "circle", "rect"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def page(demo: Demo) -> str:
    return demo_page(demo)


def test_the_page_is_well_formed_and_loads_nothing(page: str) -> None:
    tags = Page(page).tags
    for tag, attributes in tags:
        assert tag not in {"script", "iframe", "object"}
        for name in ("src", "href"):
            assert (attributes.get(name) or "data:").startswith("data:")
    assert not re.search(r"url\(|@import|https?://", page)


def test_the_page_shows_the_questions_in_order(demo: Demo, page: str) -> None:
    images = [attributes for tag, attributes in Page(page).tags if tag == "img"]
    assert len(images) == 2 * 26
    asked = demo.digits[demo.traces["auto"][0].queries]
    said = [int(re.findall(r": (\d)", image["alt"] or "")[0]) for image in images[1:26]]
    assert said == asked.tolist()
    firsts = sum("first time" in (image["alt"] or "") for image in images[:26])
    assert firsts == demo.traces["auto"][0].clusters_seen[-1]


def test_every_image_and_chart_has_words(page: str) -> None:
    for tag, attributes in Page(page).tags:
        if tag == "img":
            assert attributes["alt"]
        if tag == "svg":
            assert attributes.get("aria-label") or attributes.get("aria-hidden") == "true"


def test_the_same_settings_give_the_same_page(demo: Demo, page: str) -> None:
    again = run_demo(demo.settings)
    for method in METHODS:
        np.testing.assert_array_equal(
            [trace.queries for trace in again.traces[method]],
            [trace.queries for trace in demo.traces[method]],
        )
    assert demo_page(again) == page


@pytest.mark.parametrize("settings", [Settings(trials=1, budget=1), Settings(trials=2, budget=4)])
def test_the_smallest_runs_have_a_page_too(settings: Settings) -> None:
    text = demo_page(run_demo(settings))
    Page(text)
    assert "nan" not in re.sub(r"data:[^\"]*", "", text).lower()
