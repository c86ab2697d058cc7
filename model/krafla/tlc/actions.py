"""The names of actions, from the places at which TLC says they stand."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from krafla.values_text import ValueTextError, parse_arguments

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from krafla.values import Value

__all__ = ["ActionLabel", "SourceText", "parse_label"]

_LABEL = re.compile(
    r"<(?P<name>[^\s(<>]+)(?:\((?P<arguments>.*)\))? "
    r"line (?P<line>\d+), col (?P<column>\d+) "
    r"to line (?P<end_line>\d+), col (?P<end_column>\d+) of module (?P<module>\w+)"
    r"(?: \((?P<part>\d+ \d+ \d+ \d+)\))?>"
)
_CALL = re.compile(r"(?:\w+!)*(?P<name>\w+)\s*(?:\((?P<arguments>.*)\))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ActionLabel:
    """An action as TLC labels it: its name, its place, and its arguments if it printed them."""

    name: str
    module: str
    line: int
    column: int
    end_line: int
    end_column: int
    arguments: tuple[Value, ...] | None = None

    @property
    def location(self) -> str:
        """Return the place as ``Module:line``."""
        return f"{self.module}:{self.line}"


def parse_label(text: str) -> ActionLabel | None:
    """Return the first action label in the text, or ``None`` if there is none."""
    found = _LABEL.search(text)
    if found is None:
        return None
    place = [int(found[key]) for key in ("line", "column", "end_line", "end_column")]
    if found["part"] is not None:
        # A disjunct that TLC cannot name: the numbers in brackets are where it stands.
        place = [int(number) for number in found["part"].split()]
    arguments = None
    if found["arguments"] is not None:
        try:
            arguments = parse_arguments(found["arguments"])
        except ValueTextError:
            arguments = None
    line, column, end_line, end_column = place
    return ActionLabel(
        found["name"], found["module"], line, column, end_line, end_column, arguments
    )


class SourceText:
    r"""The modules of one run, to look up what stands at a place.

    TLC names a step ``Next`` if its disjunct quantifies over something that depends on
    the state, as in ``\E m \in messages : Receive(m)``; the text at the place knows better.
    """

    def __init__(self, files: Mapping[str, Path]) -> None:
        self._files = dict(files)
        self._lines: dict[str, list[str]] = {}

    def resolve(self, label: ActionLabel) -> ActionLabel:
        """Return the label under the name of the only operator that its disjunct applies."""
        text = self.text(label).strip()
        if not text.startswith("\\E"):
            return label
        while text.startswith("\\E"):
            _, colon, text = text.partition(":")
            text = text.strip()
            if not colon:
                return label
        call = _CALL.fullmatch(text)
        return label if call is None else replace(label, name=call["name"])

    def text(self, label: ActionLabel) -> str:
        """Return the text at the label's place; empty if the module cannot be read."""
        lines = self._module(label.module)
        if not 1 <= label.line <= label.end_line <= len(lines):
            return ""
        part = lines[label.line - 1 : label.end_line]
        part[-1] = part[-1][: label.end_column]
        part[0] = part[0][label.column - 1 :]
        return "\n".join(re.sub(r"\\\*.*", "", line) for line in part)

    def _module(self, module: str) -> list[str]:
        if module not in self._lines:
            path = self._files.get(module)
            try:
                text = path.read_text(encoding="utf-8", errors="replace") if path else ""
            except OSError:
                text = ""
            self._lines[module] = text.splitlines()
        return self._lines[module]
