"""TLA+ values in the Informal Trace Format."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from krafla.traces.encoding import check_integer, check_text, function_of, set_of
from krafla.traces.errors import TraceFormatError
from krafla.traces.limits import MAX_DEPTH, MAX_MEMBERS
from krafla.values import ModelValue, Value, function, is_record, sorted_values

__all__ = ["ItfReader", "itf_value"]

_MODEL: Final = "_OF_MODEL"
_NUMBER: Final = re.compile(r"-?[0-9]{1,40}")


def itf_value(value: Value, place: str) -> Any:
    """Return the value in ITF; ``TraceFormatError`` names the place of one that ITF lacks."""
    try:
        return _written(value, MAX_DEPTH)
    except ValueError as error:
        raise TraceFormatError(str(error), place) from error


def _written(value: Value, depth: int) -> Any:
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return {"#bigint": str(check_integer(value))}
    if isinstance(value, str):
        if value.endswith(_MODEL):
            raise ValueError(f"the string {value!r} would be read as a model value")
        return check_text(value)
    if isinstance(value, ModelValue):
        return check_text(value.name) + _MODEL
    if depth <= 0 or len(value) > MAX_MEMBERS:
        raise ValueError("a value is nested too deep or has too many parts")
    if isinstance(value, tuple):
        return [_written(member, depth - 1) for member in value]
    if isinstance(value, frozenset):
        return {"#set": [_written(member, depth - 1) for member in sorted_values(value)]}
    if is_record(value):
        return {str(field): _written(result, depth - 1) for field, result in value.items()}
    pairs = value.items()
    return {"#map": [[_written(key, depth - 1), _written(one, depth - 1)] for key, one in pairs]}


@dataclass(frozen=True, slots=True)
class ItfReader:
    """Reads the values of one document; ``name`` is its file."""

    name: str
    model_values: frozenset[str] = frozenset()

    def value(self, data: Any, path: str) -> Value:
        """Return the value; ``TraceFormatError`` names the path of what cannot be read."""
        try:
            return self._value(data, MAX_DEPTH)
        except ValueError as error:
            raise TraceFormatError(str(error), f"{self.name}: {path}") from error

    def _value(self, data: Any, depth: int) -> Value:
        if isinstance(data, bool):
            return data
        if isinstance(data, int):
            return check_integer(data)
        if isinstance(data, str):
            return self._text(check_text(data))
        if isinstance(data, list | dict):
            if depth <= 0:
                raise ValueError(f"values are nested deeper than {MAX_DEPTH} levels")
            return self._object(data, depth) if isinstance(data, dict) else self._list(data, depth)
        raise ValueError(f"{data!r} stands for no TLA+ value")

    def _list(self, data: list[Any], depth: int) -> tuple[Value, ...]:
        if len(data) > MAX_MEMBERS:
            raise ValueError(f"a value has {len(data)} parts; the most is {MAX_MEMBERS}")
        return tuple([self._value(member, depth - 1) for member in data])

    def _text(self, text: str) -> Value:
        if text.endswith(_MODEL) and text != _MODEL:
            return ModelValue(text.removesuffix(_MODEL))
        return ModelValue(text) if text in self.model_values else text

    def _object(self, data: dict[str, Any], depth: int) -> Value:
        tags = [key for key in data if key.startswith("#")]
        if not tags:
            # The record without fields is the empty function, which is <<>>.
            fields = {check_text(key): self._value(one, depth - 1) for key, one in data.items()}
            return function(fields)
        tag, content = tags[0], data[tags[0]]
        if len(data) != 1:
            raise ValueError(f"{tag!r} must be the only key of its object")
        if tag == "#unserializable":
            raise ValueError(f"the writer could not write this value: {content!r}")
        if tag == "#bigint":
            return self._number(content)
        if tag not in ("#tup", "#set", "#map") or not isinstance(content, list):
            raise ValueError(f"{tag!r} with {type(content).__name__} stands for no TLA+ value")
        if tag == "#map":
            return self._map(content, depth)
        members = self._list(content, depth)
        return members if tag == "#tup" else set_of(list(members))

    def _number(self, data: Any) -> Value:
        if not isinstance(data, str) or _NUMBER.fullmatch(data) is None:
            raise ValueError(f"'#bigint' {data!r} is no number")
        return check_integer(int(data))

    def _map(self, data: list[Any], depth: int) -> Value:
        if len(data) > MAX_MEMBERS or not all(
            isinstance(pair, list) and len(pair) == 2 for pair in data
        ):
            raise ValueError(f"'#map' takes a list of pairs, at most {MAX_MEMBERS}")
        pairs = [(self._value(key, depth - 1), self._value(one, depth - 1)) for key, one in data]
        return function_of(pairs)
