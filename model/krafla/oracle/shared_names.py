"""Which specs may share TLC's classes: those with the same names.

Java keeps what it has compiled of TLC, so the second spec in the same classes is loaded and judged
several times as fast. The specs may be asked in any order, because almost everything that belongs
to a spec is in its own objects. What its classes hold instead:

* Each name has one number, the place of the variable in a state or of the definition in a table,
  and keeps it. The first new definition of every spec gets the first place, which another name
  has. So all the specs must have variables, definitions and constants of the same names; their
  values may differ. ``check_names`` sees to it.
* Each string has a number, too, from when it was first seen, and TLC sorts strings by it. So the
  elements of a set are enumerated in an order that depends on earlier specs, and fingerprints
  mean nothing to another process. So a CHOOSE must have one answer, and what leaves something open
  must be asked for all its answers. A judge whose fingerprints leave the process must not share.
* TLC knows the SYMMETRY and the VIEW of the last spec only; ``Reductions`` keeps each spec's own.
* Each spec that is loaded adds a place to what TLC keeps at each node of a module. So memory grows
  with their number, and after ``SPECS_MOST`` new classes are due (``TlcClasses.are_worn``).
* Model values of equal names are equal, whichever spec made them.

Source: UniqueString, Defns, TLCState, TLCStateMut, ModelValue of TLC 2.18.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from krafla.oracle.jvm import TlcClasses

__all__ = ["check_names", "variables_in"]


def variables_in(classes: TlcClasses) -> tuple[str, ...]:
    """Return the variables of the last spec that was loaded into classes, in TLC's order."""
    declared = classes("tlc2.tool.TLCState").vars
    return tuple(str(one.getName().toString()) for one in declared or ())


def check_names(classes: TlcClasses, tool: Any, before: tuple[str, ...]) -> None:
    """Raise ``RuntimeError`` unless a spec has the names of an earlier one.

    ``before`` are the variables of that one.
    """
    variables = variables_in(classes)
    if variables != before:
        raise RuntimeError(f"specs with variables {before} and {variables} share TLC's classes")
    definitions = _private(classes("tlc2.tool.impl.Spec"), "defns", tool)
    places = int(_private(classes("tlc2.tool.Defns"), "defnIdx", definitions))
    new = places - len(variables)
    if new:
        raise RuntimeError(f"a spec brings {new} names to TLC's classes that an earlier one lacks")


def _private(owner: Any, name: str, subject: Any) -> Any:
    field = owner.class_.getDeclaredField(name)
    field.setAccessible(True)
    return field.get(subject)
