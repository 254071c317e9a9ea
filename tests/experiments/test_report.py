import csv
import re
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import BinaryIO

import pytest
from hand_made import hand_made, of_paper

from poise import files
from poise.errors import InputError
from poise.experiments.paper.experiments import EXPERIMENTS
from poise.experiments.paper.report import write_report
from poise.experiments.paper.report.styles import STYLES
from poise.experiments.paper.report.write import report_files
from poise.experiments.records import Records
from poise.experiments.runner import run

POLICY_NAMES = ("max", "KDE", "proportional")
NAMES = ("norm", "norm-decay", "sm", "random", "coreset")


@pytest.fixture(scope="module")
def blobs(tmp_path_factory: pytest.TempPathFactory) -> Records:
    """A small real experiment."""
    experiment = EXPERIMENTS["blobs"].with_trials(2).only(*NAMES)
    return run(replace(experiment, k=20, budget=10), Path(tmp_path_factory.mktemp("blobs")))


@pytest.fixture(scope="module")
def written(blobs: Records, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = Path(tmp_path_factory.mktemp("report"))
    every = [
        blobs,
        hand_made(of_paper("isolet", trials=3), {}),
        hand_made(of_paper("mnist", trials=3), {}, explored={"sm": 0.5}),
        hand_made(of_paper("models", trials=3), {}),
    ]
    return write_report(every, folder, timings={"vopt-subset": 12.0}, command="poise <b>")


def claims_in(folder: Path) -> list[dict[str, str]]:
    """The claims with their verdicts, from a report's table of them."""
    with (folder / "claims.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


class Elements(HTMLParser):
    """Collects open tags, links and ids."""

    VOID = ("meta", "link", "br", "img")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.headings: list[int] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        known = dict(attributes)
        if tag not in self.VOID:
            self.open.append(tag)
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        self.ids += [value for name, value in attributes if name == "id" and value]
        if tag == "a":
            self.links.append(known["href"] or "")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        pass


def test_the_report_is_complete(written: Path) -> None:
    folder = written.parent
    names = {path.name for path in (folder / "figures").iterdir()}
    assert names >= {
        *("blobs-truth.svg", "blobs-accuracy.svg", "blobs-choosing.svg", "blobs-clusters.svg"),
        *("blobs-heat-maps.svg", "blobs-others-accuracy.svg", "blobs-others-clusters.svg"),
        *("isolet-accuracy.svg", "mnist-accuracy.svg", "mnist-clusters.svg"),
        *("isolet-rivals-accuracy.svg", "mnist-rivals-accuracy.svg", "mnist-others-accuracy.svg"),
        *("mnist-policies-norm.svg", "mnist-policies-norm-decay.svg"),
        *("models-norm-decay.svg", "models-random.svg"),
    }
    lines = (folder / "summary.csv").read_text().splitlines()
    methods = len(NAMES) + len(EXPERIMENTS["mnist"].methods)
    assert len(lines) == 1 + 2 * methods + 2 * len(EXPERIMENTS["isolet"].methods) + 2 * 6
    assert not list(folder.rglob("*.part"))


def test_the_page_is_well_formed(written: Path) -> None:
    text = written.read_text(encoding="utf-8")
    page = Elements(text)
    assert page.open == []
    assert len(set(page.ids)) == len(page.ids)
    assert {link[1:] for link in page.links if link.startswith("#")} <= set(page.ids)
    assert [link for link in page.links if not link.startswith("#")] == [
        "summary.csv",
        "claims.csv",
    ]
    assert page.headings[0] == 1
    assert all(b - a <= 1 for a, b in zip(page.headings, page.headings[1:], strict=False))
    assert "poise &lt;b&gt;" in text
    assert "nan" not in re.sub("<[^>]*>", "", text.lower()).split()


def test_the_page_loads_nothing_from_outside(written: Path) -> None:
    text = written.read_text(encoding="utf-8")
    assert not re.search(r"https?://|@import|<script|url\(", text)
    for path in (written.parent / "figures").iterdir():
        svg = path.read_text(encoding="utf-8")
        assert not re.search(r"href|@import|<script|url\(", svg)
        assert re.findall(r"https?://[^\"]+", svg) == ["http://www.w3.org/2000/svg"]


def test_figures_are_complete_files(written: Path) -> None:
    for path in (written.parent / "figures").iterdir():
        root = ElementTree.parse(path).getroot()
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert root.find("{*}title") is not None
        assert root.find("{*}style") is not None
        assert path.stat().st_size < 400_000


def test_the_opening_counts_all_verdicts(written: Path) -> None:
    text = written.read_text(encoding="utf-8")
    verdicts = [row["verdict"] for row in claims_in(written.parent)]
    count = Counter(verdicts)
    assert len(count) >= 4
    assert (
        f"<h1>{len(verdicts)} claims: {count['holds']} hold, {count['does not hold']} do not hold, "
        f"{count['undecided']} undecided, {count['not run']} not run, "
        f"{count['not testable here']} not testable here</h1>" in text.replace("\u00a0", " ")
    )
    marks = re.findall(r'class="verdict ([\w-]+)"', text)
    assert marks.count("fails") + marks.count("beaten") == count["does not hold"]
    assert marks.count("holds") == count["holds"]
    assert marks.count("undecided") == count["undecided"]


def test_a_time_that_poise_beats_is_no_failure(written: Path) -> None:
    text = written.read_text(encoding="utf-8")
    (row,) = [row for row in claims_in(written.parent) if row["beaten"] == "True"]
    assert row["numbers"] == "12.00 seconds per query here: poise is 30 times as fast."
    assert text.count('class="verdict beaten"') == 1
    assert "One claim that does not hold is a time that poise beats." in text


def test_only_a_method_that_is_ahead_is_bold(tmp_path: Path) -> None:
    experiment = of_paper("mnist", "norm", "sm", "random")
    for level, bold in ((0.7, 1), (0.5, 0)):
        write_report([hand_made(experiment, {"norm": level})], tmp_path)
        table = (tmp_path / "index.html").read_text().split("Numbers of MNIST")[1]
        assert table.split("</table>")[0].count("<b>") == bold


def test_a_method_has_one_style_throughout(written: Path) -> None:
    text = written.read_text(encoding="utf-8")
    drawn = re.findall(
        r'<path class="line c(\d)" (?:stroke-dasharray="([^"]*)" )?d="M0 6H34"/>'
        r'<g class="point c\d">.*?</g></svg>(?:<span>)?([^<]+)<',
        text,
    )
    looks: dict[str, set[tuple[str, str]]] = {}
    for colour, dashes, name in drawn:
        looks.setdefault(name, set()).add((colour, dashes))
    assert looks["Norm"] == {(str(STYLES["norm"].colour), STYLES["norm"].dashes)}
    assert len(looks["Random"]) == 1
    assert all(len(found) == 1 for name, found in looks.items() if name not in POLICY_NAMES)


def test_a_report_is_the_same_every_time(blobs: Records) -> None:
    assert report_files([blobs]) == report_files([blobs])


def test_an_interrupted_run_says_what_is_missing(blobs: Records, tmp_path: Path) -> None:
    first = blobs.experiment.seeds[0]
    kept = {
        key: rows
        for key, rows in blobs.trials.items()
        if key != ("norm", first) and key[0] != "random"
    }
    text = write_report([Records(blobs.experiment, kept, blobs.about)], tmp_path).read_text()
    assert "Not finished." in text
    assert "Norm (1 of 2), Random (0 of 2)" in text
    assert "1 of 2 trials of Norm are finished." in text


def test_trials_of_methods_may_differ(tmp_path: Path) -> None:
    """Two of them share no seed, so no method can be called ahead."""
    experiment = of_paper("mnist", "norm", "sm", "random", trials=3)
    gone = (("norm", 2), ("sm", 3), ("sm", 5))
    records = hand_made(experiment, {"norm": 0.9}, unfinished=gone)
    text = write_report([records], tmp_path).read_text()
    assert "means of 1 to 3 trials." in text
    assert "Norm (2 of 3), SM (1 of 3)" in text
    assert "<b>" not in text.split("Numbers of MNIST")[1].split("</table>")[0]
    assert "Not run: Norm, τ → 0, " in text.replace("\u00a0", " ")


def test_a_run_without_finished_trials_has_a_report(blobs: Records, tmp_path: Path) -> None:
    text = write_report([Records(blobs.experiment, {}, blobs.about)], tmp_path).read_text()
    assert " claims: 0 hold, 0 do not hold, 0 undecided, " in text.replace("\u00a0", " ")
    assert "Coreset (0 of 2)" in text


def test_the_note_on_the_data_is_shown_with_every_figure(tmp_path: Path) -> None:
    note = "a class-balanced part of 42,300 points, not the official 131,600"
    records = hand_made(of_paper("emnist", trials=2), {}, note=note)
    text = write_report([records], tmp_path).read_text()
    assert text.count("A class-balanced part of 42,300 points, not the official 131,600.") >= 3
    for path in (tmp_path / "figures").iterdir():
        assert "A class-balanced part of 42,300 points" in path.read_text()


def test_one_trial_has_no_bands(blobs: Records, tmp_path: Path) -> None:
    one = replace(blobs.experiment, seeds=blobs.experiment.seeds[:1])
    text = write_report([Records(one, blobs.trials, blobs.about)], tmp_path).read_text()
    assert "means of 1 trial." in text
    assert "Bands hold" not in text


def test_experiments_of_your_own_have_a_report(blobs: Records, tmp_path: Path) -> None:
    own = replace(blobs.experiment, name="mine", evaluate=("choosing",))
    write_report([Records(own, blobs.trials, blobs.about)], tmp_path)
    assert (tmp_path / "figures" / "mine-accuracy.svg").exists()


def test_no_records_no_report(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="at least one"):
        write_report([], tmp_path / "report")
    assert not (tmp_path / "report").exists()


def test_a_report_is_replaced_only_by_a_complete_one(
    blobs: Records, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = write_report([blobs], tmp_path, command="the first")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    fill = files._fill

    def full_disk(part: Path, write: Callable[[BinaryIO], object], durably: bool) -> None:
        if "index" in part.name:
            raise OSError(28, "No space left on device")
        fill(part, write, durably)

    with monkeypatch.context() as patch:
        patch.setattr(files, "_fill", full_disk)
        with pytest.raises(OSError, match="space"):
            write_report([blobs], tmp_path, command="the second")
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    write_report([blobs], tmp_path, command="the second")
    assert "the second" in page.read_text()
