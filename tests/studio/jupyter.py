"""JupyterLab in a process of its own, and a browser's page that shows a notebook in it."""

import json
import os
import signal
import subprocess
import sys
import urllib.request
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from browser import free_port, until

#: Seconds until JupyterLab answers, and until a cell has run on a busy machine.
STARTED, RUN = 90.0, 120.0
TOKEN = "the-token-of-this-notebook"
NAME = "test.ipynb"


class Lab:
    """``jupyter lab`` on loopback, with folders of its own and nothing fetched or announced."""

    def __init__(self, folder: Path, cells: list[str], theme: str = "JupyterLab Light") -> None:
        self.folder = folder
        work = folder / "work"
        work.mkdir()
        notebook = {
            "cells": [_cell(number, source) for number, source in enumerate(cells)],
            "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3"}},
            "nbformat": 4,
            "nbformat_minor": 5,
        }
        (work / NAME).write_text(json.dumps(notebook), encoding="utf-8")
        settings = folder / "settings" / "@jupyterlab" / "apputils-extension"
        settings.mkdir(parents=True)
        for name, value in {
            "notification": {"fetchNews": "false"},
            "themes": {"theme": theme},
        }.items():
            (settings / f"{name}.jupyterlab-settings").write_text(json.dumps(value))
        self.port = free_port()
        options = {
            "ServerApp.ip": "127.0.0.1",
            "ServerApp.port": self.port,
            "ServerApp.port_retries": 0,
            "ServerApp.root_dir": work,
            "ServerApp.open_browser": False,
            "ServerApp.allow_root": True,
            "ServerApp.terminals_enabled": False,
            "IdentityProvider.token": TOKEN,
            "LabApp.news_url": None,
            "LabApp.check_for_updates_class": "jupyterlab.NeverCheckForUpdate",
            "LabApp.extension_manager": "readonly",
        }
        places = {
            "HOME": "home",
            "IPYTHONDIR": "ipython",
            "JUPYTER_CONFIG_DIR": "config",
            "JUPYTER_DATA_DIR": "data",
            "JUPYTER_RUNTIME_DIR": "runtime",
            "JUPYTERLAB_SETTINGS_DIR": "settings",
            "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
        }
        env = os.environ | {name: str(folder / place) for name, place in places.items()}
        self.log = (folder / "log.txt").open("w", encoding="utf-8")
        command = [sys.executable, "-m", "jupyterlab"]
        self.process = subprocess.Popen(
            [*command, *(f"--{name}={value}" for name, value in options.items())],
            stdout=self.log,
            stderr=subprocess.STDOUT,
            env=env,
            cwd=work,
        )
        until(self._answers, STARTED)

    @property
    def address(self) -> str:
        """The address of the notebook."""
        return f"http://127.0.0.1:{self.port}/lab/tree/{NAME}?token={TOKEN}"

    def _answers(self) -> bool:
        if self.process.poll() is not None:
            raise AssertionError(f"JupyterLab ended: {self.words()}")
        return self._get("status") is not None

    def is_idle(self) -> bool:
        """Whether a kernel is connected to a page and waits for cells."""
        kernels = self._get("kernels") or []
        return any(k["connections"] and k["execution_state"] == "idle" for k in kernels)

    def _get(self, what: str) -> Any:
        """What the server says; None while it does not answer, or starts a kernel."""
        address = f"http://127.0.0.1:{self.port}/api/{what}?token={TOKEN}"
        try:
            with urllib.request.urlopen(address, timeout=10) as answer:
                return json.load(answer)
        except OSError:
            return None

    def words(self) -> str:
        """The end of what JupyterLab printed."""
        return (self.folder / "log.txt").read_text(encoding="utf-8")[-2000:]

    def end(self) -> None:
        """End the server, which ends its kernels."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(timeout=60)
        finally:
            if self.process.poll() is None:
                self.process.kill()
                self.process.wait()
            self.log.close()


def _cell(number: int, source: str) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "id": f"cell-{number}",
        "metadata": {},
        "execution_count": None,
        "outputs": [],
        "source": source,
    }


def missing_lab() -> None:
    """Skip the test without JupyterLab and anywidget; in CI it fails."""
    lacking = [name for name in ("jupyterlab", "anywidget") if find_spec(name) is None]
    if lacking and os.environ.get("POISE_REQUIRE_BROWSER") == "1":
        pytest.fail(f"the tests of the widgets need {lacking}: install the extra dev")
    if lacking:
        pytest.skip(f"needs {lacking}: install the extra dev")
