"""The JSON Schema of the lines of a trace file, made from the types that decode them."""

from __future__ import annotations

import json
from typing import Any, Final

import msgspec

from krafla.traces.limits import MAX_INTEGER, MAX_MEMBERS, MAX_TEXT, MIN_INTEGER
from krafla.traces.lines import (
    FORMAT_VERSION,
    HeaderLine,
    ObservationLine,
    PartialHeaderLine,
    StepLine,
    value_reference,
)
from krafla.traces.states import EXCEPT

__all__ = ["lines_schema", "schema_text"]

_VALUE: Final = value_reference()
_VALUES: Final = {"type": "array", "items": _VALUE, "maxItems": MAX_MEMBERS}
_PAIR: Final = {
    "type": "array",
    "prefixItems": [_VALUE, _VALUE],
    "minItems": 2,
    "maxItems": 2,
    "items": False,
}
_PAIRS: Final = {"type": "array", "items": _PAIR, "maxItems": MAX_MEMBERS}
_TEXT: Final = {"type": "string", "maxLength": MAX_TEXT}


def schema_text() -> str:
    """Return the JSON Schema (draft 2020-12) that each line of a trace file satisfies.

    A schema cannot relate lines to each other (their numbers, the domains of changed functions),
    nor limit the depth of values; the reader checks these.
    """
    kinds = (HeaderLine, StepLine, PartialHeaderLine, ObservationLine)
    return lines_schema(kinds, f"A line of a krafla trace, format {FORMAT_VERSION}")


def lines_schema(kinds: tuple[type[msgspec.Struct], ...], title: str) -> str:
    """Return the JSON Schema of lines of these types, as text."""
    lines, definitions = msgspec.json.schema_components(kinds, ref_template="#/$defs/{name}")
    definitions = {**definitions, "value": _value()}
    if StepLine in kinds:
        definitions["change"] = _change()
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        "anyOf": list(lines),
        "$defs": definitions,
    }
    return json.dumps(schema, indent=2, sort_keys=True) + "\n"


def _value() -> dict[str, Any]:
    record = {
        "type": "object",
        "minProperties": 1,
        "maxProperties": MAX_MEMBERS,
        "propertyNames": {"not": {"pattern": "^#"}, "maxLength": MAX_TEXT},
        "additionalProperties": _VALUE,
    }
    return {
        "description": "A TLA+ value.",
        "anyOf": [
            {"type": "boolean"},
            {"type": "integer", "minimum": MIN_INTEGER, "maximum": MAX_INTEGER},
            _TEXT,
            _VALUES,
            record,
            _tagged("#model", _TEXT),
            _tagged("#set", _VALUES),
            _tagged("#map", _PAIRS),
        ],
    }


def _change() -> dict[str, Any]:
    return {
        "description": "The new value of a variable, or some new results of a function.",
        "anyOf": [_VALUE, _tagged(EXCEPT, _PAIRS)],
    }


def _tagged(tag: str, content: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {tag: content},
        "required": [tag],
        "additionalProperties": False,
    }
