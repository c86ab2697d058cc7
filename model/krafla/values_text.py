"""Read TLA+ values from the text TLC prints: constants, sets, sequences, records, functions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from krafla.values import Function, ModelValue, Value, function, sort_key
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["ValueTextError", "parse", "parse_arguments", "parse_state"]

_TOKEN = re.compile(
    r"""\s*(?:
        (?P<name>\d*[A-Za-z_]\w*(?:(?:!|::)\w+)*)
      | (?P<number>-?\d+)
      | (?P<string>"(?:[^"\\]|\\.)*")
      | (?P<symbol><<|>>|\|->|:>|@@|/\\|\.\.|[{}\[\](),=])
    )""",
    re.VERBOSE,
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", '"': '"', "\\": "\\"}
# Deeper than any protocol state, and far from Python's own limit.
_MAX_DEPTH = 100


class ValueTextError(KraflaError):
    """The text is no value that can be read. ``offset`` counts characters from its start."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(f"{message} at character {offset}")
        self.offset = offset


class _Reader:
    """The tokens of one text, taken from left to right."""

    def __init__(self, text: str) -> None:
        self.tokens = list(_tokenize(text))
        self.next = 0
        self.depth = 0

    def take(self) -> tuple[str, str, int]:
        token = self.tokens[self.next]
        if token[0] != "end":
            self.next += 1
        return token

    def expect(self, symbol: str) -> None:
        kind, text, offset = self.take()
        if text != symbol or kind == "string":
            raise ValueTextError(f"expected {symbol!r}, found {text or 'the end'!r}", offset)

    def accept(self, symbol: str) -> bool:
        if self.tokens[self.next][:2] != ("symbol", symbol):
            return False
        self.next += 1
        return True

    def value(self) -> Value:
        kind, text, offset = self.take()
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise ValueTextError(f"values are nested deeper than {_MAX_DEPTH}", offset)
        try:
            return self._value(kind, text, offset)
        finally:
            self.depth -= 1

    def _value(self, kind: str, text: str, offset: int) -> Value:
        if kind == "number":
            low = int(text)
            return self._interval(low) if self.accept("..") else low
        if kind == "string":
            return _unquote(text)
        if kind == "name":
            return {"TRUE": True, "FALSE": False}.get(text, ModelValue(text))
        if text == "{":
            return frozenset(_distinct(self.items("}", self.value), offset))
        if text == "<<":
            return tuple(self.items(">>", self.value))
        if text == "[":
            return _function(self.items("]", lambda: self._pair("|->")), offset)
        if text == "(":
            return self._mapping(offset)
        raise ValueTextError(f"expected a value, found {text or 'the end'!r}", offset)

    def items(self, end: str, one: Callable[[], Any]) -> list[Any]:
        found: list[Any] = []
        if self.accept(end):
            return found
        found.append(one())
        while self.accept(","):
            found.append(one())
        self.expect(end)
        return found

    def _interval(self, low: int) -> frozenset[Value]:
        kind, text, offset = self.take()
        if kind != "number":
            raise ValueTextError(f"expected a number after '..', found {text!r}", offset)
        if int(text) - low > 1_000_000:
            raise ValueTextError(f"the interval {low}..{text} is too long to list", offset)
        return frozenset(range(low, int(text) + 1))

    def _pair(self, arrow: str) -> tuple[Value, Value]:
        if arrow == "|->":
            kind, argument, offset = self.take()
            if kind != "name":
                raise ValueTextError(f"expected a field name, found {argument!r}", offset)
            self.expect(arrow)
            return argument, self.value()
        key = self.value()
        self.expect(arrow)
        return key, self.value()

    def _mapping(self, offset: int) -> Value:
        pairs = [self._pair(":>")]
        while self.accept("@@"):
            pairs.append(self._pair(":>"))
        self.expect(")")
        return _function(pairs, offset)


def _tokenize(text: str) -> list[tuple[str, str, int]]:
    tokens: list[tuple[str, str, int]] = []
    offset = 0
    end = len(text.rstrip())
    while offset < end:
        match = _TOKEN.match(text, offset)
        if match is None:
            start = end - len(text[offset:end].lstrip())
            raise ValueTextError(f"cannot read {text[start : start + 12]!r}", start)
        kind = match.lastgroup
        assert kind is not None, "every alternative is named"
        tokens.append((kind, match[kind], match.start(kind)))
        offset = match.end()
    tokens.append(("end", "", end))
    return tokens


def _unquote(text: str) -> str:
    return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[0]), text[1:-1])


def _distinct(members: list[Value], offset: int) -> list[Value]:
    # In Python {True, 1} has one member; such a set would lose a value silently.
    if len(set(members)) != len({sort_key(member) for member in members}):
        raise ValueTextError("a set holds both a boolean and the number equal to it", offset)
    return members


def _function(pairs: list[tuple[Value, Value]], offset: int) -> Value:
    if len({sort_key(argument) for argument, _ in pairs}) != len(pairs):
        raise ValueTextError("a function gives one argument two results", offset)
    return function(pairs)


def parse(text: str) -> Value:
    """Return the value the text denotes.

    ``ValueTextError`` carries the offset of the first character that cannot be read.
    """
    reader = _Reader(text)
    value = reader.value()
    _finish(reader)
    return value


def parse_arguments(text: str) -> tuple[Value, ...]:
    """Return the values of a comma-separated list without brackets; no values for no text."""
    reader = _Reader(text)
    if reader.tokens[0][0] == "end":
        return ()
    values = [reader.value()]
    while reader.accept(","):
        values.append(reader.value())
    _finish(reader)
    return tuple(values)


def parse_state(text: str) -> Function:
    r"""Return the state of a text like ``/\ epoch = 1 /\ log = <<>>``, variables to values."""
    reader = _Reader(text)
    variables: list[tuple[Value, Value]] = []
    while reader.tokens[reader.next][0] != "end":
        reader.accept("/\\")
        kind, name, offset = reader.take()
        if kind != "name":
            raise ValueTextError(f"expected a variable, found {name or 'the end'!r}", offset)
        reader.expect("=")
        variables.append((name, reader.value()))
    if not variables:
        raise ValueTextError("a state needs at least one variable", 0)
    state = _function(variables, 0)
    assert isinstance(state, Function), "variables are names"
    return state


def _finish(reader: _Reader) -> None:
    kind, text, offset = reader.take()
    if kind != "end":
        raise ValueTextError(f"expected nothing more, found {text!r}", offset)
