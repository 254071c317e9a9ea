"""Labels out of the project as a file, and in from one."""

from dataclasses import asdict
from typing import Any

from starlette.responses import Response

from poise.errors import InputError
from poise.studio import exchange
from poise.studio.web.site import Call, on_project

#: Rows of a file that are shown before it is exported.
PREVIEW_ROWS = 3


@on_project
def export(call: Call) -> Any:
    kind, rows, exact = _wanted(call)
    return Response(
        exchange.written(rows, kind, exact=exact),
        media_type="application/octet-stream",
        headers={"Content-Disposition": f'attachment; filename="labels.{kind}"'},
    )


@on_project
def preview(call: Call) -> Any:
    kind, rows, exact = _wanted(call)
    shown = "jsonl" if kind == "jsonl" else "csv"
    content = exchange.written(rows[:PREVIEW_ROWS], shown, exact=exact or kind == "parquet")
    return {"rows": content.decode().splitlines(), "count": len(rows)}


@on_project
def import_labels(call: Call) -> Any:
    rows = exchange.read(call.body, call.query.get("name", ""))
    return asdict(exchange.take_in(call.project, rows))


def _wanted(call: Call) -> tuple[str, list[exchange.Row], bool]:
    """The format of an export, its rows, and whether texts stay exactly as they are."""
    kind = call.query.get("format", "csv")
    include = call.query.get("include", "all")
    exact = call.query.get("exact", "no")
    if kind not in exchange.FORMATS:
        raise InputError(f"format is {kind!r}: expected {', '.join(exchange.FORMATS)}")
    if include not in ("all", "labelled"):
        raise InputError(f"include is {include!r}: expected all or labelled")
    if exact not in ("yes", "no"):
        raise InputError(f"exact is {exact!r}: expected yes or no")
    predictions = call.project.predictions().result() if include == "all" else None
    return kind, exchange.rows(call.project, predictions), exact == "yes"
