"""The HTTP interface, described for programs (OpenAPI 3.1), at ``/api/openapi.json``."""

import re
from typing import Any

import poise
from poise.studio.web.guard import HEALTH
from poise.studio.web.routes import ADDRESSES, Address

RESPONSES = {
    "200": {"description": "done"},
    "403": {"description": "no cookie, or a write from another page"},
    "413": {"description": "the request is too long"},
    "422": {"description": "not understood: `error` says what was expected"},
    "503": {"description": "the project is being prepared"},
}


def openapi(root: str = "") -> dict[str, Any]:
    """The whole description; `root` is the path at which a proxy serves the app."""
    paths: dict[str, Any] = {}
    for address in ADDRESSES:
        if address.summary:
            path = re.sub(r":\w+}", "}", address.path)
            paths.setdefault(path, {})[address.method.lower()] = _operation(address, path)
    return {
        "openapi": "3.1.0",
        "servers": [{"url": root or "/"}],
        "info": {"title": "poise label", "version": poise.__version__},
        "components": {
            "securitySchemes": {"cookie": {"type": "apiKey", "in": "cookie", "name": "poise-PORT"}}
        },
        "security": [{"cookie": []}],
        "paths": paths,
    }


def _operation(address: Address, path: str) -> dict[str, Any]:
    text = {"type": "string"}
    in_query = [
        {"name": name, "in": "query", "description": meaning, "schema": text}
        for name, meaning in address.query.items()
    ]
    in_path = [
        {"name": name, "in": "path", "required": True, "schema": text}
        for name in re.findall(r"{(\w+)}", path)
    ]
    operation: dict[str, Any] = {
        "summary": address.summary,
        "parameters": in_query + in_path,
        "responses": RESPONSES,
    }
    if address.path == HEALTH:
        operation["security"] = []
    if address.method == "POST":
        operation["requestBody"] = {"required": True, "content": _content(address)}
    return operation


def _content(address: Address) -> dict[str, Any]:
    """What a POST sends: a JSON object, or a file."""
    if not address.body:
        return {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
    fields = {name: {"type": json_type} for name, json_type in address.body.items()}
    return {"application/json": {"schema": {"type": "object", "properties": fields}}}
