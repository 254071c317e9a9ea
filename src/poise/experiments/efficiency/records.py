"""Lines of JSON, appended one by one, so that an interrupted measurement keeps its results."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

Row = dict[str, Any]


class Lines:
    """A file of rows; the values of `keys` identify a row."""

    def __init__(self, path: Path, keys: tuple[str, ...]) -> None:
        self.path, self.keys = path, keys
        self.rows: dict[tuple[Any, ...], Row] = {}
        if path.is_file():
            whole = path.read_text(encoding="utf-8").splitlines(keepends=True)
            if whole and not whole[-1].endswith("\n"):  # left by an interrupted write
                whole.pop()
                path.write_text("".join(whole), encoding="utf-8")
            for line in whole:
                row = json.loads(line)
                self.rows[self.key(row)] = row

    def key(self, row: Row) -> tuple[Any, ...]:
        return tuple(row[name] for name in self.keys)

    def add(self, rows: Iterable[Row]) -> None:
        """Append rows; an existing row with the same keys is replaced at the next read."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            for row in rows:
                file.write(json.dumps(row) + "\n")
                self.rows[self.key(row)] = row

    def __contains__(self, key: tuple[Any, ...]) -> bool:
        return key in self.rows

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows.values())
