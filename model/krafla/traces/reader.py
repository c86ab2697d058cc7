"""Reading untrusted text as typed lines: strict JSON, complete lines, in order."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
import msgspec.inspect

from krafla.manifest import meant
from krafla.traces.encoding import check_characters
from krafla.traces.errors import TraceFormatError, TruncatedTraceError
from krafla.traces.limits import MAX_LINE, MAX_STEPS
from krafla.traces.lines import FORMAT_VERSION, HeaderLine, PartialHeaderLine

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Lines", "check_strings", "convert", "strict_json"]

_T = TypeVar("_T")
# The form in which msgspec gives the place of a value.
_WHERE = re.compile(r" - at `\$\.?(?P<where>.*)`$", re.DOTALL)
_UNKNOWN = re.compile("contains unknown field `(?P<name>.*?)`", re.DOTALL)
# A pattern says nothing to a reader. Names have one, and digests.
_PATTERN = re.compile(r"Expected `str` matching regex '(?P<digest>\^\[0-9a-f\])?.*'", re.DOTALL)
_WORDS = {True: "a digest has 64 hexadecimal digits", False: "a name has letters, digits and _"}
# No counter or TLA+ number has more digits; a million digits would cost Python seconds.
_MAX_DIGITS = 40
_WITHOUT_TEXT = 2
_OLDER = "it is from before the first release: make the trace again with the tool that made it"


def strict_json(text: str, place: str) -> Any:
    """Return the data of a JSON text; ``TraceFormatError`` for anything ambiguous or odd.

    Refused are duplicate keys, fractions, NaN, numbers of many digits, control characters in
    strings, and halves of surrogate pairs.
    """
    try:
        data = json.loads(
            text,
            parse_int=_integer,
            parse_float=_no_fraction,
            parse_constant=_no_fraction,
            object_pairs_hook=_no_duplicates,
        )
        if "\\" in text or not text.isprintable():
            check_strings(data)
    except RecursionError as error:
        raise TraceFormatError("not JSON: nested too deep", place) from error
    except json.JSONDecodeError as error:
        raise TraceFormatError(f"not JSON: {error}", place) from error
    except ValueError as error:
        raise TraceFormatError(str(error), place) from error
    return data


def _integer(digits: str) -> int:
    if len(digits) > _MAX_DIGITS:
        raise ValueError(f"a number has {len(digits)} digits")
    return int(digits)


def _no_fraction(number: str) -> None:
    raise ValueError(f"{number[:_MAX_DIGITS]} is no whole number")


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) != len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"an object gives the key {twice!r} twice")
    return data


def check_strings(data: Any) -> None:
    """Raise ``ValueError`` for the first string of JSON data that cannot be shown."""
    if isinstance(data, str):
        check_characters(data)
    elif isinstance(data, list):
        for member in data:
            check_strings(member)
    elif isinstance(data, dict):
        for key, result in data.items():
            check_characters(key)
            check_strings(result)


def convert(data: Any, kind: type[_T], place: str) -> _T:
    """Return JSON data as a line of the given type; ``TraceFormatError`` names a wrong field."""
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        message = str(error)
        unknown, where = _UNKNOWN.search(message), _WHERE.search(message)
        if where is not None:
            message = f"{where['where']}: {message[: where.start()]}"
        if unknown is not None:
            message += _like(unknown["name"], kind, "" if where is None else where["where"])
        message = _PATTERN.sub(lambda found: _WORDS[found["digest"] is not None], message)
        raise TraceFormatError(message.replace(", got ", ", found "), place) from error


def _like(name: str, kind: Any, path: str) -> str:
    """Return the fields like an unknown one, of the object at a path in a line."""
    found = msgspec.inspect.type_info(kind)
    for step in filter(None, path.split(".")):
        fields = found.fields if isinstance(found, msgspec.inspect.StructType) else ()
        found = next(
            (one.type for one in fields if one.encode_name == step), msgspec.inspect.AnyType()
        )
    if not isinstance(found, msgspec.inspect.StructType):
        # One of several types: none of them is meant for sure.
        return ""
    return meant(name, [one.encode_name for one in found.fields])


class Lines:
    """The lines of one file. ``ends_early``: the file is cut, whatever its last line is."""

    def __init__(self, text: str, name: str, *, cut: bool = False) -> None:
        """Split the text into lines; ``TraceFormatError`` if they cannot be lines of a trace."""
        self.name = name
        if text.count("\n") > MAX_STEPS + 2:
            raise TraceFormatError(f"more than {MAX_STEPS} lines", name)
        lines = text.split("\n")
        # A last line without a line feed may still be complete.
        self.ends_early = cut
        self._is_open = cut or lines[-1] != ""
        if lines[-1] == "":
            lines.pop()
        self._lines = lines
        for number, line in enumerate(lines, 1):
            if len(line) > MAX_LINE:
                raise TraceFormatError(
                    f"a line of {len(line)} characters; the most is {MAX_LINE}", self.place(number)
                )
            if "\r" in line:
                raise TraceFormatError("a line ends in CR LF, not LF", self.place(number))

    def place(self, number: int) -> str:
        """Return the place of a line; the first has the number 1."""
        return f"{self.name}:{number}"

    @property
    def end(self) -> str:
        """Return the place of the last line."""
        return self.place(len(self._lines))

    def header(self) -> HeaderLine | PartialHeaderLine:
        """Return the first line; ``TraceFormatError`` for any other version of the format."""
        place = self.place(1)
        if not self._lines:
            raise TraceFormatError("the file is empty", self.name)
        try:
            data = strict_json(self._lines[0], place)
        except TraceFormatError as error:
            if self._is_cut(1) and self._lines[0].startswith('{"krafla_trace"'):
                raise TruncatedTraceError(
                    "the file ends within its first line", place, None
                ) from error
            raise
        if not isinstance(data, dict):
            raise TraceFormatError(f"expected an object, found {type(data).__name__}", place)
        version = data.get("krafla_trace")
        # A list could not be looked up in a set.
        if version not in (_WITHOUT_TEXT, FORMAT_VERSION) or isinstance(version, bool):
            found = "no krafla_trace header" if version is None else f"trace format {version!r}"
            advice = f"; {_OLDER}" if version == 1 else ""
            known = f"{_WITHOUT_TEXT} and {FORMAT_VERSION}"
            raise TraceFormatError(f"{found}; this krafla reads format {known}{advice}", place)
        if version == _WITHOUT_TEXT and "text" in data:
            raise TraceFormatError("'text' is a field of a later format", place)
        if "partial" in data:
            return convert(data, PartialHeaderLine, place)
        return convert(data, HeaderLine, place)

    def rows(self, kind: type[_T], announced: int) -> Iterator[tuple[_T, str]]:
        """Yield each complete line after the first, with its place.

        There are fewer than announced if the file was cut short. ``TraceFormatError`` names the
        first line that is wrong, out of sequence, or more than announced.
        """
        number_field = kind.__struct_fields__[0]  # type: ignore[attr-defined]  # a line type
        for index, line in enumerate(self._lines[1:]):
            place = self.place(index + 2)
            if index == announced:
                raise TraceFormatError(
                    f"the header announces {announced} {number_field}s, more follow", place
                )
            try:
                data = strict_json(line, place)
            except TraceFormatError:
                if self._is_cut(index + 2):
                    return
                raise
            row = convert(data, kind, place)
            _check_number(getattr(row, number_field), index, number_field, place)
            yield row, place

    def _is_cut(self, number: int) -> bool:
        return self._is_open and number == len(self._lines)


def _check_number(number: int, expected: int, what: str, place: str) -> None:
    if number > expected:
        missing = (
            f"{what} {expected} is"
            if number == expected + 1
            else (f"{what}s {expected} to {number - 1} are")
        )
        raise TraceFormatError(f"{missing} missing before {what} {number}", place)
    if number < expected:
        raise TraceFormatError(f"{what} {number} comes a second time, or late", place)
