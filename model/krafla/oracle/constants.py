"""Constants as values: a definition that a configuration puts for a constant is evaluated once.

TLC evaluates the definition of ``C <- Definition`` anew at each use of ``C``. Of a function
over a dozen processes that takes more time than the invariant that looks a process up in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from krafla.oracle.wrapper import WRAPPER

if TYPE_CHECKING:
    from krafla.oracle.spec import Spec
    from krafla.values import Value

__all__ = ["given_constants", "pin_constants"]


def given_constants(spec: Spec) -> tuple[tuple[str, Value], ...]:
    """Return the constants that the modules of a spec declare, with their values here.

    Those without a finite value are left out: operators, and sets such as ``Nat``.
    """
    declared = spec.tool.getRootModule().getConstantDecls()
    modules = dict.fromkeys(spec.sources.place(one).module for one in declared)
    # The wrapper declares model values.
    return tuple(
        pair for one in sorted(modules) if one != WRAPPER for pair in spec.constants_of(one)
    )


def pin_constants(spec: Spec) -> None:
    """Give every constant that is no operator its value for good."""
    tool = spec.tool
    for declaration in tool.getRootModule().getConstantDecls():
        found = tool.lookup(declaration, spec.empty_context, False)
        if type(found) is spec.tree.definition_class and not found.getParams():
            value = spec.asked(tool.eval, found.getBody(), spec.empty_context, spec.empty_state)
            value.deepNormalize()
            declaration.setToolObject(tool.getId(), value)
