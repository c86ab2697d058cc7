"""Writing numbers into a ``krafla.toml`` that does not pin them yet."""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from krafla.files import write_bytes
from krafla.project.at_hand import listing_above, project_at
from krafla.project.file import FILE_NAME
from krafla.project.models import read_toml
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from krafla.project.models import Model

__all__ = ["pin_numbers", "project_file"]

_HEAD: Final = "# Models and what must come of them: `krafla check` reads this file.\n"
_TABLE: Final = re.compile(r"\s*\[")
_NAMES: Final = re.compile(r"\s*(?:name|module|cfg|spec)\s*=")


def project_file(model: Model) -> Path:
    """Return the ``krafla.toml`` that lists a model, or would: the nearest one from its cfg up."""
    if model.place:
        return Path(model.place.rpartition(":")[0])
    above = listing_above(model.config)
    if above is not None and above.name == FILE_NAME:
        return above
    return model.config.parent / FILE_NAME


def pin_numbers(model: Model, numbers: Mapping[str, int]) -> tuple[str, ...]:
    """Write numbers that are not pinned yet; return a line for each.

    A model that the file does not list is listed. ``KraflaError`` if the file cannot be written,
    or is laid out so that no line can be added to it; then it stays as it is.
    """
    path = project_file(model)
    before, data = read_toml(path) if path.is_file() else ("", {})
    lines = before.splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    if model.place:
        at = _end_of_names(lines, int(model.place.rpartition(":")[2]) - 1)
        lines[at:at] = [f"{key} = {number}\n" for key, number in numbers.items()]
    else:
        others = _guessed_with(model, path) if path.is_file() and not data.get("model") else ()
        lines += _listed(model, path, numbers)
        for one in others:
            lines += _listed(one, path, {})
    text = "".join(lines) if before else _HEAD + "".join(lines)
    _check_added(data, text, path, numbers)
    write_bytes(path, [text.encode("utf-8")])
    return tuple(f"{path}: {key} = {number}" for key, number in numbers.items())


def _guessed_with(model: Model, path: Path) -> tuple[Model, ...]:
    """Return the other models that the project has as long as its file lists none."""
    models = project_at((path,)).manifest().models
    return tuple(one for one in models if one.config != model.config)


def _listed(model: Model, path: Path, numbers: Mapping[str, int]) -> list[str]:
    """Return the lines of a table that lists a model."""
    files = {"module": model.module, "cfg": model.config}
    found: dict[str, Any] = {"name": model.name} if model.name != model.config.stem else {}
    found |= {key: Path(os.path.relpath(file, path.parent)).as_posix()
              for key, file in files.items()}  # fmt: skip
    lines = [f'{key} = "{value}"\n' for key, value in found.items()]
    return ["\n", "[[model]]\n", *lines, *(f"{key} = {one}\n" for key, one in numbers.items())]


def _end_of_names(lines: list[str], inside: int) -> int:
    """Return the line after those that name a model, in the table that has the line ``inside``."""
    head = next((n for n in range(inside, -1, -1) if _TABLE.match(lines[n])), 0)
    end = head + 1
    for number in range(head + 1, len(lines)):
        if _TABLE.match(lines[number]):
            break
        if _NAMES.match(lines[number]):
            end = number + 1
    return end


def _check_added(before: dict[str, Any], text: str, path: Path, numbers: Mapping[str, int]) -> None:
    """Refuse an edit that would do more than add: a table may be laid out in other ways."""
    told = ", ".join(f"{key} = {number}" for key, number in numbers.items())
    refusal = KraflaError(
        f"add {told} to the model's table yourself; nothing was written", str(path)
    )
    try:
        after = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise refusal from None
    old, new = before.get("model", []), after.pop("model", [])
    rest = {key: value for key, value in before.items() if key != "model"}
    kept = [{key: value for key, value in one.items() if key not in numbers} for one in new]
    if rest != after or kept[: len(old)] != [
        {key: value for key, value in one.items() if key not in numbers} for one in old
    ]:
        raise refusal
