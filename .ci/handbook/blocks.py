"""The code blocks of a Markdown page, and what is to be done with each.

Above a block, a comment may say how it is run. Readers of the page do not see it::

    <!-- run: status 1; first 12 lines -->
    <!-- not run: it needs a cluster of Kafka -->

Where a test of its own runs all blocks of a page, the page says so, and its name in the test is
demanded::

    <!-- blocks are run by tests/krafla/testing/test_other_languages.py -->

| option | meaning |
|---|---|
| `status N` | the last command ends with this exit status, not with 0 |
| `first N lines`, `last N lines` | no more of the output is shown |
| `unseen` | the output is not shown |
| `picture NAME` | the output is shown as a picture of a terminal, `pictures/NAME.svg` |
| `at night` | run by `make nightly` only; its output is not shown |
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_FENCE = re.compile(r"( *)(`{3,}|~{3,})(.*)")
_COMMENT = re.compile(r" *<!-- (run|not run): (.*) -->")
_RUN_BY = re.compile(r"^<!-- blocks are run by (\S+) -->$", re.MULTILINE)
_TITLE = re.compile(r'\btitle="([^"]+)"')
_CUT = re.compile(r"(first|last) (\d+) lines")

# Languages whose blocks are run, parsed or looked up. Others are no code: text, mermaid.
SHELLS = ("console", "sh")
DATA = ("toml", "json", "yaml")
CODE = (*SHELLS, *DATA, "python", "tla", "cfg", "sql", "java", "go", "rust")
NO_CODE = ("text", "mermaid", "markdown")


class BlockError(Exception):
    """Says in one sentence, with its place, what is wrong with a block."""


@dataclass(frozen=True, slots=True)
class Orders:
    """How a block is run: what its comment says."""

    reason_not_run: str | None = None
    run_by: str | None = None
    status: int = 0
    cut: tuple[str, int] | None = None
    is_unseen: bool = False
    is_nightly: bool = False
    picture: str | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """A block between two fences.

    ``line`` is that of its first fence, ``end`` that of its last, from 1. ``title`` is the name
    of the file that it is, if it is one.
    """

    page: str
    line: int
    end: int
    language: str
    title: str | None
    text: str
    indent: str
    orders: Orders

    @property
    def place(self) -> str:
        """Where the block is, for messages."""
        return f"{self.page}:{self.line}"

    @property
    def is_run_here(self) -> bool:
        """Whether it is run with its page, by day or by night."""
        return self.orders.reason_not_run is None and self.orders.run_by is None


def blocks_of(text: str, page: str) -> tuple[Block, ...]:
    """Return the blocks of a page in their order.

    ``page`` is the page's name in messages. Raises ``BlockError`` for a block that does not end,
    has no language or a language that is not known, or a comment that is not understood.
    """
    found = tuple(_blocks(text.split("\n"), page))
    other = _RUN_BY.search(text)
    if other is None:
        return found
    return tuple(replace(one, orders=Orders(run_by=other[1])) for one in found)


def _blocks(lines: list[str], page: str) -> Iterator[Block]:
    number, orders = 0, Orders()
    while number < len(lines):
        line = lines[number]
        comment, fence = _COMMENT.fullmatch(line), _FENCE.match(line)
        if comment:
            orders = _orders(comment[1], comment[2], f"{page}:{number + 1}")
        elif fence:
            end = _end(lines, number, fence[2], page)
            indent, name = fence[1], fence[3].strip()
            language = name.split(" ")[0]
            place = f"{page}:{number + 1}"
            if language not in CODE + NO_CODE:
                known = ", ".join(CODE + NO_CODE)
                raise BlockError(f"{place}: no language {language!r}; there are: {known}")
            title = _TITLE.search(name)
            body = "\n".join(one.removeprefix(indent) for one in lines[number + 1 : end])
            yield Block(
                page, number + 1, end + 1, language, title and title[1], body, indent, orders
            )
            number, orders = end, Orders()
        elif line.strip() and orders != Orders():
            raise BlockError(f"{page}:{number + 1}: there is no block below the comment")
        number += 1


def _end(lines: list[str], start: int, fence: str, page: str) -> int:
    for number in range(start + 1, len(lines)):
        if lines[number].strip() == fence:
            return number
    raise BlockError(f"{page}:{start + 1}: the block does not end")


def _orders(kind: str, words: str, place: str) -> Orders:
    if kind == "not run":
        return Orders(reason_not_run=words)
    status, cut, picture, flags = 0, None, None, set()
    for option in words.split("; "):
        if option in ("unseen", "at night"):
            flags.add(option)
        elif match := re.fullmatch(r"status (\d+)", option):
            status = int(match[1])
        elif match := _CUT.fullmatch(option):
            cut = (match[1], int(match[2]))
        elif match := re.fullmatch(r"picture ([a-z-]+)", option):
            picture = match[1]
        else:
            raise BlockError(f"{place}: no option {option!r}; .ci/handbook/blocks.py lists them")
    return Orders(
        status=status, cut=cut, is_unseen="unseen" in flags, is_nightly="at night" in flags,
        picture=picture,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Command:
    """A command of a block, and the lines of output that the page itself has below it."""

    words: str
    written: tuple[str, ...]


def commands_of(block: Block) -> tuple[Command, ...]:
    """Return the commands of a shell block: of `console` each after a `$`, of `sh` all as one.

    Raises ``BlockError`` where a `console` block begins with something else.
    """
    if block.language == "sh":
        return (Command(block.text, ()),)
    found: list[tuple[list[str], list[str]]] = []
    for number, line in enumerate(block.text.split("\n"), start=block.line + 1):
        if line.startswith("$ "):
            found.append(([line[2:]], []))
        elif found and found[-1][0][-1].endswith("\\"):
            found[-1][0].append(line)
        elif found:
            found[-1][1].append(line)
        elif line.strip():
            raise BlockError(
                f"{block.page}:{number}: a console block begins with `$ ` and a command"
            )
    return tuple(Command("\n".join(words), tuple(written)) for words, written in found)
