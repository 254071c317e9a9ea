"""The endpoints of Label Studio's HTTP API that poise uses, as documented for its SDK 2.1.

docs/integrations/label-studio.md lists them.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from poise.integrations.label_studio.client import Client, NotFoundError, UnreachableError
from poise.progress import Progress, no_progress

#: Tasks of a page: what Label Studio sends unless it is asked for another number.
PAGE_TASKS = 100
#: Predictions of one request.
BATCH_PREDICTIONS = 500
#: Readings of a list that changes while it is read.
READINGS = 3


class About(NamedTuple):
    """What poise uses of a project.

    Attributes
    ----------
    config : the labelling configuration, XML
    n_tasks : number of tasks
    version : the model version whose predictions the project shows; empty for all
    """

    title: str
    config: str
    n_tasks: int
    version: str


class Api:
    """One project of a server."""

    def __init__(self, client: Client, project: int) -> None:
        self.client, self.project = client, project

    def about(self) -> About:
        """The project itself."""
        path = f"/api/projects/{self.project}/"
        given = self.client.get(path)
        config = given.get("label_config") if isinstance(given, dict) else None
        n_tasks = given.get("task_number") if isinstance(given, dict) else None
        if not isinstance(config, str):
            raise self._odd(path, "a project with a label_config")
        version, title = given.get("model_version"), given.get("title")
        return About(
            title if isinstance(title, str) else "",
            config,
            n_tasks if type(n_tasks) is int else -1,
            version if isinstance(version, str) else "",
        )

    def tasks(
        self, since: datetime | None = None, progress: Progress = no_progress
    ) -> list[dict[str, Any]]:
        """All tasks with their annotations and predictions, or those changed after a time in UTC.

        Tasks that come or go meanwhile shift the pages, so a list that changed is read again.
        """
        for _ in range(READINGS):
            found, totals = self._read(since, progress)
            if len(totals) == 1 and len(found) == min(totals):
                break
        return list(found.values())

    def _read(
        self, since: datetime | None, progress: Progress
    ) -> tuple[dict[int, dict[str, Any]], set[int]]:
        """The tasks of all pages by their ids, and the totals that the pages gave."""
        found: dict[int, dict[str, Any]] = {}
        totals: set[int] = set()
        page = n_read = 0
        while True:
            page += 1
            try:
                tasks, total = self._page(page, since)
            except NotFoundError:
                if page == 1:
                    raise
                break  # the list has become shorter than it was
            totals.add(total)
            n_before = len(found)
            found |= {task["id"]: task for task in tasks}
            n_read += len(tasks)
            progress(min(n_read, total), total)
            if len(found) == n_before or n_read >= total:
                break
        return found, totals

    def _page(self, page: int, since: datetime | None) -> tuple[list[dict[str, Any]], int]:
        query: dict[str, Any] = {"ordering": ["tasks:id"]}
        if since is not None:
            changed = {
                "filter": "filter:tasks:updated_at",
                "operator": "greater",
                "type": "Datetime",
                "value": since.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
            }
            query["filters"] = {"conjunction": "and", "items": [changed]}
        path = "/api/tasks/"
        given = self.client.get(
            path,
            project=self.project,
            fields="all",
            page=page,
            page_size=PAGE_TASKS,
            query=json.dumps(query),
        )
        tasks = given.get("tasks") if isinstance(given, dict) else None
        total = given.get("total") if isinstance(given, dict) else None
        if not isinstance(tasks, list) or type(total) is not int or total < 0:
            raise self._odd(path, "tasks and their total")
        if not all(isinstance(task, dict) and type(task.get("id")) is int for task in tasks):
            raise self._odd(path, "tasks with whole numbers as ids")
        return tasks, total

    def create(self, predictions: Sequence[Mapping[str, Any]]) -> None:
        """Create predictions, in one request; each names its task.

        It is not sent twice: if it is unknown whether it arrived, the tasks have to be read again.
        """
        path = f"/api/projects/{self.project}/import/predictions"
        self.client.send("POST", path, list(predictions), repeatable=False)

    def update(self, prediction: int, changes: Mapping[str, Any]) -> None:
        """Change a prediction."""
        self.client.send("PATCH", f"/api/predictions/{prediction}/", dict(changes))

    def delete(self, prediction: int) -> None:
        """Delete a prediction; one that is gone already is no error."""
        try:
            self.client.send("DELETE", f"/api/predictions/{prediction}/")
        except NotFoundError:
            return

    def _odd(self, path: str, expected: str) -> UnreachableError:
        return UnreachableError(
            f"{self.client.address}{path} answered with JSON of another form: expected {expected}; "
            "check the address and the version of Label Studio"
        )
