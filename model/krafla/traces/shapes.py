"""The shapes of values, learnt from known ones, for reading data without types.

In TLC's JSON a set and a sequence are both arrays, a model value and a string are both strings,
and the arguments of a function are text. Known values of the same variable show which is meant. If
they do not, the reader raises an error; it never guesses.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from krafla.traces.encoding import check_integer, check_text, function_of, set_of
from krafla.traces.limits import MAX_DEPTH, MAX_MEMBERS
from krafla.values import Function, ModelValue, Value
from krafla.values_text import ValueTextError, parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["AmbiguousDataError", "Shapes"]


class AmbiguousDataError(ValueError):
    """The data may stand for several values, and no known value shows for which."""


@dataclass(slots=True)
class _Shape:
    """The known values of one place: their kinds, and the shapes of their parts."""

    kinds: set[str] = field(default_factory=set)
    lengths: set[int] = field(default_factory=set)
    members: _Shape | None = None
    elements: _Shape | None = None
    arguments: _Shape | None = None
    results: _Shape | None = None
    fields: dict[Value, _Shape] = field(default_factory=dict)

    def fits(self, data: Any) -> bool:
        """Return whether a value of this shape can be written as this JSON data."""
        if isinstance(data, list):
            return bool(self.kinds & {"set", "sequence"})
        return bool(self.kinds & {"function", "string", "model value"})


_NOTHING_KNOWN = _Shape()


class Shapes:
    """The shapes of the variables of a spec, learnt from values of each.

    Every model value of the spec must occur in the known values, so include the constants.
    """

    def __init__(self, like: Mapping[str, Iterable[Value]]) -> None:
        self._names: set[str] = set()
        self._strings: set[str] = set()
        self._shapes = {name: _Shape() for name in like}
        for name, values in like.items():
            for value in values:
                self._learn(self._shapes[name], value)

    @property
    def model_values(self) -> frozenset[str]:
        """Return the names of the known model values that are not also known strings."""
        return frozenset(self._names - self._strings)

    def _learn(self, shape: _Shape, value: Value) -> None:
        if isinstance(value, str):
            shape.kinds.add("string")
            self._strings.add(value)
        elif isinstance(value, ModelValue):
            shape.kinds.add("model value")
            self._names.add(value.name)
        elif isinstance(value, bool | int):
            shape.kinds.add("number")
        elif isinstance(value, frozenset):
            shape.kinds.add("set")
            shape.members = shape.members or _Shape()
            for member in value:
                self._learn(shape.members, member)
        elif isinstance(value, tuple):
            self._learn_sequence(shape, value)
        else:
            self._learn_function(shape, value)

    def _learn_sequence(self, shape: _Shape, value: tuple[Value, ...]) -> None:
        shape.kinds.add("sequence")
        shape.lengths.add(len(value))
        shape.elements = shape.elements or _Shape()
        for index, element in enumerate(value, 1):
            self._learn(shape.elements, element)
            self._learn(shape.fields.setdefault(index, _Shape()), element)

    def _learn_function(self, shape: _Shape, value: Function) -> None:
        shape.kinds.add("function")
        shape.arguments = shape.arguments or _Shape()
        shape.results = shape.results or _Shape()
        for argument, result in value.items():
            self._learn(shape.arguments, argument)
            self._learn(shape.results, result)
            if isinstance(argument, str):
                self._learn(shape.fields.setdefault(argument, _Shape()), result)

    def read(self, variable: str | None, data: Any) -> Value:
        """Return the value of a variable (``None``: of something without known values).

        ``AmbiguousDataError`` if the data has several meanings, ``ValueError`` if it has none; both
        name the path to the part at fault.
        """
        shape = _NOTHING_KNOWN if variable is None else self._shapes.get(variable, _NOTHING_KNOWN)
        return self._value(data, shape, variable or "it", MAX_DEPTH)

    def _value(self, data: Any, shape: _Shape, path: str, depth: int) -> Value:
        if isinstance(data, bool):
            return data
        if isinstance(data, int):
            return check_integer(data)
        if isinstance(data, str):
            return self._text(check_text(data), shape, path)
        if not isinstance(data, list | dict):
            raise ValueError(f"{path}: {data!r} stands for no TLA+ value")  # noqa: TRY004 - of data
        if depth <= 0 or len(data) > MAX_MEMBERS:
            raise ValueError(f"{path[:80]}: nested too deep, or more than {MAX_MEMBERS} parts")
        if isinstance(data, list):
            return self._array(data, shape, path, depth)
        return self._object(data, shape, path, depth)

    def _text(self, text: str, shape: _Shape, path: str) -> Value:
        kinds = shape.kinds & {"string", "model value"}
        if text in self._names and (text not in self._strings or kinds == {"model value"}):
            return ModelValue(text)
        if text in self._names and kinds != {"string"}:
            raise AmbiguousDataError(f"{path}: {text!r} may be a string or a model value")
        if kinds == {"model value"}:
            raise AmbiguousDataError(f"{path}: {text!r} is none of the known model values")
        return text

    def _array(self, data: list[Any], shape: _Shape, path: str, depth: int) -> Value:
        is_set = "set" in shape.kinds
        if is_set == bool(shape.kinds & {"sequence", "function"}):
            why = "known values are of both kinds" if is_set else "no known value tells which"
            raise AmbiguousDataError(f"{path}: an array may be a set or a sequence, and {why}")
        if is_set:
            inner = shape.members or _NOTHING_KNOWN
            return set_of(
                [self._value(one, inner, f"a member of {path}", depth - 1) for one in data]
            )
        # Each place of a tuple has its own shape; all places of a sequence share one.
        is_tuple = shape.lengths == {len(data)}
        inner = shape.elements or shape.results or _NOTHING_KNOWN
        return tuple(
            [
                self._value(
                    one,
                    shape.fields.get(index, inner) if is_tuple else inner,
                    f"{path}[{index}]",
                    depth - 1,
                )
                for index, one in enumerate(data, 1)
            ]
        )

    def _object(self, data: dict[str, Any], shape: _Shape, path: str, depth: int) -> Value:
        arguments = shape.arguments or _NOTHING_KNOWN
        if shape.elements is not None and shape.elements.kinds:
            arguments = _Shape(arguments.kinds | {"number"})
        common = shape.results or shape.elements or _NOTHING_KNOWN
        pairs = []
        for key, one in data.items():
            argument = self._argument(check_text(key), arguments, path)
            known = shape.fields.get(argument) if isinstance(argument, str) else None
            inner = known if known is not None and known.fits(one) else common
            pairs.append((argument, self._value(one, inner, f"{path}[{key}]", depth - 1)))
        return function_of(pairs)

    def _argument(self, key: str, shape: _Shape, path: str) -> Value:
        """Return the argument of a key: TLC writes a string bare, any other value as TLA+ text."""
        if shape.kinds == {"string"}:
            return key
        try:
            value = parse(key)
        except ValueTextError:
            if shape.kinds and "string" not in shape.kinds:
                raise ValueError(f"{path}: the argument {key!r} is no value") from None
            return key
        if shape.kinds and "string" not in shape.kinds:
            return value
        if isinstance(value, ModelValue):
            return self._text(key, shape, f"an argument of {path}")
        raise AmbiguousDataError(f"{path}: the argument {key!r} may be a string or a value")
