"""One writer per project, with real processes."""

import json
import os
import signal
import subprocess
import sys

import pytest

from poise.errors import InputError
from poise.studio.log.lock import NAME, only_writer

HOLDER = """
import sys, time
from pathlib import Path
from poise.studio.log.lock import only_writer
with only_writer(Path(sys.argv[1]), "http://127.0.0.1:9/?token=x"):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path):
    command = [sys.executable, "-c", HOLDER, str(tmp_path / "p.poise")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_a_second_process_is_told_who_holds_the_lock(holder, tmp_path):
    with pytest.raises(InputError) as caught, only_writer(tmp_path / "p.poise", "here"):
        pass
    words = str(caught.value)
    assert f"process {holder.pid}" in words
    assert "continue at http://127.0.0.1:9/?token=x" in words


def test_a_crash_releases_the_lock(holder, tmp_path):
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait()
    with only_writer(tmp_path / "p.poise", "here"):
        found = json.loads((tmp_path / "p.poise" / NAME).read_text())
    assert found == {"process": os.getpid(), "address": "here"}
    assert (tmp_path / "p.poise" / NAME).stat().st_mode & 0o077 == 0  # it holds a key


def test_any_content_of_the_file_is_tolerated(holder, tmp_path):
    (tmp_path / "p.poise" / NAME).write_text("[1, 2")
    with (
        pytest.raises(InputError, match="by another poise process: stop that one first"),
        only_writer(tmp_path / "p.poise", "here"),
    ):
        pass


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="--project FOLDER"), only_writer(tmp_path / "file", "x"):
        pass
