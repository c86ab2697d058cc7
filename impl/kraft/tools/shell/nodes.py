"""The nodes of the tree, and which of them a path or a pattern stands for.

Kafka: MetadataNode, GlobVisitor, GlobComponent, CommandUtils.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_PIECE: Final = re.compile(r"\\.|.", re.DOTALL)
_PLAIN: Final = {"*": "[*]", "?": "[?]", "[": "[[]"}
"""How `fnmatch` has the characters that mean something to it."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """A node that has a text and no children."""

    text: str


class Directory:
    """A node that has children, made when one of them is first asked for.

    A child may be None: a name that is listed, and has no node.
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
    patterns = _patterns(name) if may_be_pattern else None
    matching = [name]
    if patterns is not None:
        matching = [n for n in children if any(fnmatchcase(n, one) for one in patterns)]
    for one in matching:
        child = children.get(one)
        if child is not None:
            yield from _below(Found((*at.names, one), child), rest)


def is_pattern(path: str) -> bool:
    """Return whether a path has a pattern for one of its names, and so may stand for several."""
    return any(_patterns(name) is not None for name in path.split("/"))


def _patterns(name: str) -> list[str] | None:
    """Return the patterns, as `fnmatch` has them, that a name stands for; None if it is none.

    A group that is not closed or has a group in it is none, and backslashes alone make none, as in
    Kafka, where names have backslashes. Kafka: GlobComponent.toRegularExpression.
    """
    made = [""]
    alternatives: list[str] | None = None
    is_literal = True
    for piece in _PIECE.findall(name):
        if piece == "{":
            if alternatives is not None:
                return None
            is_literal, alternatives = False, [""]
        elif alternatives is not None and piece == ",":
            alternatives.append("")
        elif alternatives is not None and piece == "}":
            made = [start + one for start in made for one in alternatives]
            alternatives = None
        else:
            is_wild = piece in {"*", "?"}
            is_literal = is_literal and not is_wild
            text = piece if is_wild else _PLAIN.get(piece[-1], piece[-1])
            if alternatives is None:
                made = [start + text for start in made]
            else:
                alternatives[-1] += text
    return None if is_literal or alternatives is not None else made


def _utf16(name: str) -> bytes:
    return name.encode("utf-16-be", "surrogatepass")
