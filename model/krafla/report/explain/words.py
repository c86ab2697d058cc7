"""Values and names in readable form: short names for nodes, words for the fields of messages.

Every text that is returned is inert: whatever a trace contains, the text cannot move a cursor,
change a colour or the direction of writing.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from dataclasses import dataclass, field
from itertools import count, islice
from typing import TYPE_CHECKING, Any

from krafla.traces.changes import Change, Sort
from krafla.values import (
    Function,
    ModelValue,
    Value,
    fmt,
    is_record,
    listed,
    sort_key,
    sorted_values,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

__all__ = ["Words", "inert", "short_names", "shorten"]

# A name of at most this length is not shortened.
_NAME_MAX = 12
_VALUE_MAX = 240
# So many arguments of a function with one result are told together.
_USUAL_MIN = 4
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


def shorten(text: str, room: int = _VALUE_MAX) -> str:
    """Return the text; of a longer one as many whole words as fit."""
    if len(text) <= room:
        return text
    end = text.rfind(" ", 0, room + 1)
    end = end if end > 0 else text.find(" ", room)
    return text if end < 0 else f"{text[:end].rstrip(' ,')} ..."


def _plain(value: str | ModelValue) -> str:
    if isinstance(value, ModelValue):
        return inert(value.name)
    is_word = value.isidentifier() and value.upper() not in {"TRUE", "FALSE"}
    return inert(value if is_word else fmt(value))


def _apart(
    pairs: list[tuple[Value, Value]],
) -> tuple[list[tuple[Value, Value]], Value | None]:
    """Return the pairs of a function without those of its usual result, and that result.

    The result is None, and all pairs are returned, if no result is that of most arguments.
    """
    counts = Counter(sort_key(result) for _, result in pairs)
    usual, count = counts.most_common(1)[0] if counts else ((), 0)
    if count < _USUAL_MIN or 2 * count <= len(pairs):
        return pairs, None
    rest = [pair for pair in pairs if sort_key(pair[1]) != usual]
    return rest, next(result for _, result in pairs if sort_key(result) == usual)


@dataclass(frozen=True, slots=True)
class Words:
    """The words for values: ``names`` of nodes by their ``sort_key``, and words for fields.

    ``fields`` gives the words for the field of a message and the TLA+ text of its value (or
    ``other``). ``{}`` in the words stands for the value, ``{:}`` for a function whose arguments
    are named even if they are 1, 2 and so on; for ``""`` the field is not shown.
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
        return inert(shorten(text))

    def whole(self, value: Value) -> str:
        """Return the whole value in TLA+ syntax."""
        return inert(fmt(value))

    def value(self, value: Value, room: int = _VALUE_MAX) -> str:
        """Return the value in short form, without the last members of one that is very long."""
        # A number is not taken as a node, even if a node has that number as its name.
        if isinstance(value, str | ModelValue):
            return self.names.get(sort_key(value)) or _plain(value)
        if isinstance(value, tuple):
            return f"[{listed(value, self.value, room)}]"
        if isinstance(value, frozenset):
            return f"{{{listed(sorted_values(value), self.value, room)}}}"
        if isinstance(value, Function):
            return self._function(value, room)
        return fmt(value)

    def _function(self, value: Function, room: int) -> str:
        if isinstance(value.get("type"), str) and is_record(value):
            return self._message(value, room)
        pairs = list(value.items())
        if is_record(value) and not any(sort_key(one) in self.names for one in value):
            return f"[{listed(pairs, lambda pair, left: self._pair(pair, ' ', left), room)}]"
        pairs, usual = _apart(pairs)
        text = listed(pairs, lambda pair, left: self._pair(pair, ": ", left), room)
        if usual is None:
            return f"({text})"
        others = f"the other {len(value) - len(pairs)}" if pairs else f"all {len(value)}"
        return f"({text}{', ' if text else ''}{others}: {self.value(usual, room)})"

    def _pair(self, pair: tuple[Value, Value], between: str, room: int) -> str:
        name = str(pair[0]) if between == " " else self.value(pair[0])
        return f"{name}{between}{self.value(pair[1], room)}"

    def _message(self, value: Function, room: int) -> str:
        ordered = [name for name in self.fields if name in value]
        ordered += [str(name) for name in value if name not in self.fields and name != "type"]
        shown = [name for name in ordered if self._field(name, value[name], room)]
        said = listed(shown, lambda name, left: self._field(name, value[name], left), room)
        return f"{inert(str(value['type']))}({said})"

    def _field(self, name: str, value: Value, room: int) -> str:
        words = self.fields.get(name, {})
        said = words.get(fmt(value), words.get("other"))
        if said is not None:
            if isinstance(value, tuple) and "{:}" in said:
                pairs = list(enumerate(value, start=1))
                each = listed(pairs, lambda pair, left: self._pair(pair, ": ", left), room)
                return said.replace("{:}", f"({each})")
            return said.replace("{:}", "{}").replace("{}", self.value(value, room))
        if isinstance(value, bool):
            return name if value else f"not {name}"
        return f"{name} {self.value(value, room)}"

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
            text = self.value(one)
            # A record has brackets of its own.
            text = text if text.startswith("[") else f"[{text}]"
            parts.append(f".{one}" if is_field and not named else text)
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
            Sort.CUT: f"{name} loses at its end: {before}",
            Sort.EMPTIED: f"{name} is emptied of {before}",
            Sort.PREPENDED: f"{name} gains in front: {after}",
            Sort.SHIFTED: f"{name} loses in front: {before}",
        }
        return said[change.sort]
