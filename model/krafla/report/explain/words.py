"""Values and names in readable form: short names for nodes, words for the fields of messages.

Every text that is returned is inert: whatever a trace contains, the text cannot move a cursor,
change a colour or the direction of writing.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field
from itertools import count, islice
from typing import TYPE_CHECKING, Any

from krafla.traces.changes import Change, Sort
from krafla.values import Function, ModelValue, Value, fmt, is_record, sort_key, sorted_values

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

__all__ = ["Words", "inert", "short_names"]

# A name of at most this length is not shortened.
_NAME_MAX = 12
_VALUE_MAX = 240
_UNSEEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")


def inert(text: str) -> str:
    r"""Return the text with control characters spelled out, as in ``\u001b``."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        f"\\u{ord(one):04x}" if unicodedata.category(one) in _UNSEEN else one for one in text
    )


def short_names(nodes: Sequence[Value], prefix: str, taken: Collection[str]) -> list[str]:
    """Return a short name for each node: its own if that is short, else a prefix and a number."""
    own = [inert(node if isinstance(node, str) else fmt(node)) for node in nodes]
    numbers = any(isinstance(node, bool | int) for node in nodes)
    if numbers or any(len(name) > _NAME_MAX for name in own) or {*own} & {*taken}:
        numbered = (f"{prefix}{number}" for number in count(1))
        return list(islice((name for name in numbered if name not in taken), len(nodes)))
    return own


def _plain(value: str | ModelValue) -> str:
    if isinstance(value, ModelValue):
        return inert(value.name)
    return inert(value if value.isidentifier() else fmt(value))


@dataclass(frozen=True, slots=True)
class Words:
    """The words for values: ``names`` of nodes by their ``sort_key``, and words for fields.

    ``fields`` gives the words for the field of a message and the TLA+ text of its value (or
    ``other``). ``{}`` in the words stands for the value; for ``""`` the field is not shown.
    ``quoted`` are the nodes whose TLA+ text is a string, with their names.
    """

    names: Mapping[tuple[Any, ...], str] = field(default_factory=dict)
    fields: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    quoted: tuple[tuple[str, str], ...] = ()

    def text(self, name: str) -> str:
        """Return a name or a text of a trace, with control characters spelled out."""
        return inert(name)

    def told(self, text: str) -> str:
        """Return a text of the spec's judge with short names for nodes, cut if it is very long."""
        for whole, name in self.quoted:
            text = text.replace(whole, name)
        text = inert(text)
        return text if len(text) <= _VALUE_MAX else f"{text[: _VALUE_MAX - 3]}..."

    def whole(self, value: Value) -> str:
        """Return the whole value in TLA+ syntax."""
        return inert(fmt(value))

    def value(self, value: Value) -> str:
        """Return the value in short form, cut if it is very long."""
        text = self._value(value)
        return text if len(text) <= _VALUE_MAX else f"{text[: _VALUE_MAX - 3]}..."

    def _value(self, value: Value) -> str:
        # A number is not taken as a node, even if a node has that number as its name.
        if isinstance(value, str | ModelValue):
            return self.names.get(sort_key(value)) or _plain(value)
        if isinstance(value, tuple):
            return f"<<{', '.join(map(self._value, value))}>>"
        if isinstance(value, frozenset):
            return f"{{{', '.join(map(self._value, sorted_values(value)))}}}"
        if isinstance(value, Function):
            return self._function(value)
        return fmt(value)

    def _function(self, value: Function) -> str:
        if isinstance(value.get("type"), str) and is_record(value):
            return self._message(value)
        if is_record(value) and not any(sort_key(one) in self.names for one in value):
            pairs = (f"{name} {self._value(result)}" for name, result in value.items())
            return f"[{', '.join(pairs)}]"
        pairs = (f"{self._value(one)}: {self._value(result)}" for one, result in value.items())
        return f"({', '.join(pairs)})"

    def _message(self, value: Function) -> str:
        ordered = [name for name in self.fields if name in value]
        ordered += [str(name) for name in value if name not in self.fields and name != "type"]
        said = (self._field(name, value[name]) for name in ordered)
        return f"{inert(str(value['type']))}({', '.join(text for text in said if text)})"

    def _field(self, name: str, value: Value) -> str:
        words = self.fields.get(name, {})
        said = words.get(fmt(value), words.get("other"))
        if said is not None:
            return said.replace("{}", self._value(value))
        if isinstance(value, bool):
            return name if value else f"not {name}"
        return f"{name} {self._value(value)}"

    def call(self, action: str, parameters: tuple[Value, ...] | None) -> str:
        """Return an action with its parameters, if they are known and there are any."""
        if not parameters:
            return inert(action)
        return f"{inert(action)}({', '.join(map(self.value, parameters))})"

    def whole_call(self, action: str, parameters: tuple[Value, ...] | None) -> str:
        """Return an action with the whole values of its parameters."""
        if not parameters:
            return inert(action)
        return f"{inert(action)}({', '.join(map(self.whole, parameters))})"

    def path(self, path: tuple[Value, ...]) -> str:
        """Return a path into the state, as ``registrations[b1].fenced``."""
        parts = [inert(str(path[0]))]
        for one in path[1:]:
            is_field = isinstance(one, str) and one.isidentifier()
            named = sort_key(one) in self.names
            parts.append(f".{one}" if is_field and not named else f"[{self.value(one)}]")
        return "".join(parts)

    def change(self, change: Change, path: tuple[Value, ...], *, is_bag: bool = False) -> str:
        """Return a change in one line; for a bag of messages it does not name the variable."""
        name = self.path(path)
        before = "" if change.before is None else self.value(change.before)
        after = "" if change.after is None else self.value(change.after)
        if change.sort in {Sort.GAINED, Sort.LOST}:
            subject = "" if is_bag else f"{name} "
            return f"{subject}{change.sign} {after or before}{change.remark}"
        said = {
            Sort.BECAME: f"{name}: {before} -> {after}",
            Sort.APPEARED: f"{name} = {after}",
            Sort.VANISHED: f"{name} gone (was {before})",
            Sort.APPENDED: f"{name} appends {after}",
        }
        return said.get(change.sort, f"{name} loses its end: {before}")
