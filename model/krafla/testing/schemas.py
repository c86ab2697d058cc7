"""The JSON Schemas of the lines that programs exchange with krafla, made from their types."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from krafla.testing.judge_lines import ANSWERS, PROTOCOL_VERSION, REQUESTS
from krafla.traces.lines import LogLine
from krafla.traces.schema import lines_schema, schema_text

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["SCHEMAS", "SCHEMA_FOLDER"]

# The same texts as files, NAME.schema.json, for tools that cannot run Python.
SCHEMA_FOLDER: Final = Path(__file__).resolve().parents[1] / "schemas"

_OF_JUDGE: Final = f"of krafla judge, protocol {PROTOCOL_VERSION}"
SCHEMAS: Final[dict[str, Callable[[], str]]] = {
    "trace": schema_text,
    "log": lambda: lines_schema((LogLine,), "A line of a plain log, for krafla validate"),
    "request": lambda: lines_schema(tuple(REQUESTS.values()), f"A request {_OF_JUDGE}"),
    "answer": lambda: lines_schema(ANSWERS, f"An answer {_OF_JUDGE}"),
}
"""Each schema (draft 2020-12) by its name: the text that every line of that kind satisfies."""
