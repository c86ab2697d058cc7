"""The properties that a module defines, by the endings of their names, and whether one holds."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from krafla.oracle.errors import EvaluationError
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from pathlib import Path

__all__ = ["Answers", "Properties", "holds", "properties_of"]

_DEFINITION = re.compile(r"^(?P<name>\w+?(?P<suffix>Inv|Prop|Reach)) *==", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Properties:
    """Names of properties: of every state, of steps, and of some state (witnesses).

    Those of ``steps`` may also speak of the first state and of every state. What those of
    ``temporal`` say of whole behaviours, no state or step can show.
    """

    invariants: tuple[str, ...]
    steps: tuple[str, ...]
    witnesses: tuple[str, ...]
    temporal: tuple[str, ...] = ()


def properties_of(module: Path, left_out: Collection[str] = ()) -> Properties:
    """Return TypeOK and the properties that a module defines, without those left out.

    ``KraflaError`` if the module defines none of a kind: a judge without properties accepts
    everything.
    """
    found: dict[str, list[str]] = {"Inv": [], "Prop": [], "Reach": []}
    for match in _DEFINITION.finditer(module.read_text(encoding="utf-8")):
        if match["name"] not in left_out:
            found[match["suffix"]].append(match["name"])
    empty = [suffix for suffix, names in found.items() if not names]
    if empty:
        raise KraflaError(f"defines no property called ...{empty[0]}", str(module))
    return Properties(("TypeOK", *found["Inv"]), tuple(found["Prop"]), tuple(found["Reach"]))


def holds(question: Callable[..., bool], *arguments: object) -> bool:
    """Return the answer to a question about a state or step; false if it cannot be evaluated."""
    try:
        return question(*arguments)
    except EvaluationError:
        return False


class Answers:
    """Answers to questions about properties, and the first one that TLC could not give.

    What cannot be evaluated says nothing about the code, so that a property is false counts more.
    """

    def __init__(self) -> None:
        self._doubt: EvaluationError | None = None

    def is_false(self, question: Callable[..., bool], name: str, *arguments: object) -> bool:
        """Return whether the answer about a property is no."""
        try:
            return not question(name, *arguments)
        except EvaluationError as error:
            if self._doubt is None:
                self._doubt = EvaluationError(
                    f"{name} cannot be evaluated: {error.message}", error.place
                )
            return False

    def settle(self) -> None:
        """Raise ``EvaluationError`` if an answer is missing."""
        if self._doubt is not None:
            raise self._doubt
