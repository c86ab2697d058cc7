"""The nodes of the tree, and the nodes that a path or a pattern matches.

Kafka: MetadataNode, GlobVisitor, GlobComponent, CommandUtils.
"""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_PIECE: Final = re.compile(r"\\.|.", re.DOTALL)


class _Wild(enum.Enum):
    ANY_TEXT = "*"
    ANY_CHARACTER = "?"


_WILD: Final = {one.value: one for one in _Wild}
_Piece: TypeAlias = "str | _Wild | tuple[list[_Piece], ...]"
"""A character, a wild card, or the alternatives of a group."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """A node that has a text and no children."""

    text: str


class Directory:
    """A node with children, which are made when one of them is first needed.

    A child may be None: its name is listed, but it has no node.
    """

    __slots__ = ("_children", "_make")

    def __init__(self, make: Callable[[], Mapping[str, Node | None]]) -> None:
        self._make = make
        self._children: Mapping[str, Node | None] | None = None

    @property
    def children(self) -> Mapping[str, Node | None]:
        """Return the children by name, in the order in which Java sorts strings."""
        if self._children is None:
            made = self._make()
            self._children = {name: made[name] for name in sorted(made, key=_utf16)}
        return self._children


Node: TypeAlias = Leaf | Directory


class Found(NamedTuple):
    """A node, and the names that lead to it from the root."""

    names: tuple[str, ...]
    node: Node

    @property
    def name(self) -> str:
        """The last of the names; `/` for the root."""
        return self.names[-1] if self.names else "/"

    @property
    def path(self) -> str:
        """The path from the root."""
        return path_of(self.names)


def path_of(names: tuple[str, ...]) -> str:
    """Return the path from the root of a node with these names."""
    return "/" + "/".join(names)


def found_at(root: Directory, working: tuple[str, ...], path: str) -> list[Found]:
    """Return the nodes that a path stands for, in order; a path may have patterns for names.

    `working` are the names of the directory that a path without `/` in front begins at. In a
    pattern `*` is any text, `?` any character, `{a,b}` either of two; a backslash takes their
    meaning away. Kafka: GlobVisitor.accept.
    """
    begin = () if path.startswith("/") else working
    names: list[tuple[str, bool]] = [(name, False) for name in begin]
    for part in path.split("/"):
        if part == "..":
            del names[-1:]
        elif part not in {"", "."}:
            names.append((part, True))
    return list(_below(Found((), root), names))


def _below(at: Found, names: list[tuple[str, bool]]) -> Iterator[Found]:
    if not names:
        yield at
        return
    if isinstance(at.node, Leaf):
        return
    children = at.node.children
    (name, may_be_pattern), *rest = names
    pieces = _pattern(name) if may_be_pattern else None
    matching = [name]
    if pieces is not None:
        begin = frozenset({0})
        matching = [one for one in children if len(one) in _ends(pieces, one, begin)]
    for one in matching:
        child = children.get(one)
        if child is not None:
            yield from _below(Found((*at.names, one), child), rest)


def is_pattern(path: str) -> bool:
    """Return whether a path has a pattern in one of its names, and so may match several nodes."""
    return any(_pattern(name) is not None for name in path.split("/"))


def _pattern(name: str) -> list[_Piece] | None:
    """Return the pieces of a pattern; None if the name is no pattern.

    A group that is not closed or has a group in it is no pattern. Backslashes alone make none
    either, as in Kafka, whose names have backslashes. Kafka: GlobComponent.toRegularExpression.
    """
    pieces: list[_Piece] = []
    alternatives: list[list[_Piece]] | None = None
    is_literal = True
    for text in _PIECE.findall(name):
        if text == "{":
            if alternatives is not None:
                return None
            is_literal, alternatives = False, [[]]
        elif alternatives is not None and text == ",":
            alternatives.append([])
        elif alternatives is not None and text == "}":
            pieces.append(tuple(alternatives))
            alternatives = None
        else:
            is_literal = is_literal and text not in _WILD
            into = pieces if alternatives is None else alternatives[-1]
            into.append(_WILD.get(text, text[-1]))
    return None if is_literal or alternatives is not None else pieces


def _ends(pieces: list[_Piece], name: str, starts: frozenset[int]) -> frozenset[int]:
    """Return where in the name the pieces may end that begin at one of `starts`.

    All ways are followed at once: no pattern takes longer than its length times that of the name.
    """
    for piece in pieces:
        if isinstance(piece, tuple):
            found = [_ends(alternative, name, starts) for alternative in piece]
            starts = frozenset().union(*found)
        elif piece is _Wild.ANY_TEXT:
            starts = frozenset(range(min(starts), len(name) + 1)) if starts else starts
        else:
            starts = frozenset(
                n + 1
                for n in starts
                if n < len(name) and (piece is _Wild.ANY_CHARACTER or name[n] == piece)
            )
    return starts


def _utf16(name: str) -> bytes:
    return name.encode("utf-16-be", "surrogatepass")
