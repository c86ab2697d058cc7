"""Constants as values: a definition that a configuration puts for a constant is evaluated once.

TLC evaluates the definition of ``C <- Definition`` anew at each use of ``C``. Of a function
over a dozen processes that takes more time than the invariant that looks a process up in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from krafla.oracle.spec import Spec

__all__ = ["pin_constants"]


def pin_constants(spec: Spec) -> None:
    """Give every constant that is no operator its value for good."""
    tool = spec.tool
    for declaration in tool.getRootModule().getConstantDecls():
        found = tool.lookup(declaration, spec.empty_context, False)
        if type(found) is spec.tree.definition_class and not found.getParams():
            value = spec.asked(tool.eval, found.getBody(), spec.empty_context, spec.empty_state)
            value.deepNormalize()
            declaration.setToolObject(tool.getId(), value)
