"""The pinned numbers of models: where each stands in its file, and writing it anew."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from krafla.files import check_writable, unread, write_bytes
from krafla.manifest import witnesses_file
from krafla.project.pinned import project_file
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from krafla.manifest import Model

__all__ = ["Pin", "check_pinnable", "pin_of", "witness_doubts", "witness_pin", "write_pins"]

_TABLE = re.compile(r"\s*\[")
_HEAD = re.compile(r"\s*\[\[\s*model\s*\]\]")


@dataclass(frozen=True, slots=True)
class Pin:
    """A number that ``models.toml`` or ``witnesses.toml`` pins, and what was found instead."""

    model: str
    path: Path
    line: int
    key: str
    pinned: int
    found: int

    @property
    def field(self) -> str:
        """Return the field of the model that has this number."""
        return "witness_count" if self.key == self.model else self.key

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.key} = {self.pinned} -> {self.found}"


def pin_of(model: Model, key: str, found: int) -> Pin | None:
    """Return the pin that differs from the number found, with its line.

    ``None`` if there is no pin, if it agrees, or if no single line of the file has it.
    """
    pinned: int | None = getattr(model, key)
    file, _, line = model.place.rpartition(":")
    if pinned is None or pinned == found or not line.isdecimal():
        return None
    path = Path(file)
    lines = _lines(path)
    number = _line_of(lines, int(line) - 1, key)
    if number is None or _value(lines[number], key) != pinned:
        return None
    return Pin(model.name, path, number + 1, key, pinned, found)


def witness_pin(model: Model) -> Pin | None:
    """Return the pin of the number of a model's witnesses if it asks for another number of them.

    ``None`` if there is no pin, if it agrees, or if no single line of the file has it.
    """
    pinned, found = model.witness_count, len(set(model.witnesses))
    if pinned in {None, found} or not model.place:
        return None
    path = witnesses_file(model)
    numbers = [n for n, line in enumerate(_lines(path), 1) if _value(line, model.name) == pinned]
    return Pin(model.name, path, numbers[0], model.name, pinned, found) if numbers else None


def witness_doubts(model: Model) -> list[str]:
    """Return why it is not known that a model asks for all its witnesses: one was taken away."""
    found, pinned = len(set(model.witnesses)), model.witness_count
    if found == (pinned or 0):
        return []
    if pinned is None:
        line = f": add {model.name} = {found} to {witnesses_file(model)}" if model.place else ""
        return [f"no number of witnesses is pinned; found {found}{line}"]
    pin = witness_pin(model)
    return [f"{found} witnesses, but {pinned} are pinned{'' if pin is None else f': {pin}'}"]


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return []


def _line_of(lines: list[str], inside: int, key: str) -> int | None:
    """Return the line of a key in the ``[[model]]`` table that has the line ``inside``."""
    head = next((n for n in range(inside, -1, -1) if _HEAD.match(lines[n])), None)
    if head is None:
        return None
    for number in range(head + 1, len(lines)):
        if _TABLE.match(lines[number]):
            return None
        if _value(lines[number], key) is not None:
            return number
    return None


def _value(line: str, key: str) -> int | None:
    found = _assignment(key).match(line)
    return None if found is None else int(found["number"])


def _assignment(key: str) -> re.Pattern[str]:
    return re.compile(rf"(?P<before>\s*{key}\s*=\s*)(?P<number>\d+(?:_\d+)*)(?=\s*(?:#|$))")


def check_pinnable(models: Iterable[Model]) -> None:
    """Raise ``KraflaError`` if a file that pins numbers of these models cannot be written."""
    models = tuple(models)
    files = {
        project_file(model) if not model.listing.needs_pins
        else Path(model.place.rpartition(":")[0])
        for model in models
    }  # fmt: skip
    files |= {witnesses_file(model) for model in models if model.witness_count is not None}
    for path in sorted(files):
        check_writable(path)


def write_pins(pins: Iterable[Pin]) -> None:
    """Write what was found in place of what is pinned; the rest of each file stays as it is.

    ``KraflaError`` if a file no longer says what the pin says of it, or cannot be written. A file
    is written whole or not at all.
    """
    by_file: dict[Path, list[Pin]] = {}
    for pin in pins:
        by_file.setdefault(pin.path, []).append(pin)
    for path, mine in by_file.items():
        before = _read(path).decode("utf-8")
        lines = before.splitlines(keepends=True)
        for pin in mine:
            _replace(lines, pin)
        after = "".join(lines)
        _check_only_pins_differ(before, after, mine)
        write_bytes(path, [after.encode("utf-8")])


def _replace(lines: list[str], pin: Pin) -> None:
    index = pin.line - 1
    line = lines[index] if index < len(lines) else ""
    found = _assignment(pin.key).match(line)
    if found is None or int(found["number"]) != pin.pinned:
        raise _changed(pin)
    lines[index] = f"{found['before']}{pin.found}{line[found.end() :]}"


def _check_only_pins_differ(before: str, after: str, pins: list[Pin]) -> None:
    """Refuse an edit of anything else: what looks like a pin may stand in a text of many lines."""
    try:
        expected, written = tomllib.loads(before), tomllib.loads(after)
    except tomllib.TOMLDecodeError:
        raise _changed(pins[0]) from None
    entries = {entry.get("name"): entry for entry in expected.get("model", [])}
    for pin in pins:
        # `witnesses.toml` has no tables.
        entries.get(pin.model, expected)[pin.key] = pin.found
    if expected != written:
        raise _changed(pins[0])


def _changed(pin: Pin) -> KraflaError:
    return KraflaError(
        f"does not say {pin.key} = {pin.pinned} for {pin.model}; nothing was written",
        f"{pin.path}:{pin.line}",
    )


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise unread(path, error) from error
