"""The commands in a README, and what it says that they print."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FAILS = "# fails"


@dataclass(frozen=True)
class Shown:
    """Commands of one block, whether each must fail, and the lines that they must print."""

    commands: tuple[tuple[str, bool], ...]
    lines: tuple[str, ...]


def shown_in(readme: Path) -> list[Shown]:
    """Return the blocks of commands in a README, each with the text that follows it."""
    blocks = _BLOCK.findall(readme.read_text(encoding="utf-8"))
    found: list[Shown] = []
    for language, text in blocks:
        lines = tuple(line for line in text.splitlines() if line.strip())
        if language == "sh":
            found.append(Shown(tuple((line, _FAILS in line) for line in lines), ()))
        elif language == "text":
            found[-1] = Shown(found[-1].commands, (*found[-1].lines, *lines))
    return found


def missing_line(output: str, lines: Iterable[str]) -> str | None:
    """Return the first of some lines that an output lacks, in this order.

    A line may lack the beginning of one of the output. It ends where that ends, unless it says with
    ``…`` that more follows, as times. ``…`` alone stands for one line or more. Spaces do not count.
    """
    left = [" ".join(line.split()) for line in output.splitlines()]
    for line in lines:
        wanted = " ".join(line.split())
        at = next((number for number, one in enumerate(left) if _shows(wanted, one)), None)
        if at is None:
            return line
        left = left[at + 1 :]
    return None


def _shows(wanted: str, line: str) -> bool:
    if wanted.endswith("…"):
        return wanted.removesuffix("…").rstrip() in line
    return line.endswith(wanted)


def workflow_commands(folder: Path) -> list[str]:
    """Return what the workflows of a project run."""
    workflows = sorted((folder / ".github" / "workflows").glob("*.yml"))
    texts = [one.read_text(encoding="utf-8") for one in workflows]
    return [one for text in texts for one in re.findall(r"- run: (.+)", text)]
