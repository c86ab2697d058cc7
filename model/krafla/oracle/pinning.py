"""Constants as values: what a configuration replaces by a definition is evaluated once.

TLC evaluates ``C <- Definition`` anew at every use of ``C``. For a function over a dozen nodes
that took most of the time of an invariant that looks it up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from krafla.oracle.spec import Spec

__all__ = ["pin_constants"]


def pin_constants(spec: Spec) -> None:
    """Give every constant without parameters its value for good."""
    tool = spec.tool
    for declaration in tool.getRootModule().getConstantDecls():
        if int(declaration.getArity()) == 0:
            name = str(declaration.getName().toString())
            value = spec.evaluate_constant(name)
            declaration.setToolObject(tool.getId(), value)
