"""The variables that a formula reads, wherever they stand: also in what a configuration put there.

SANY knows the variables below a formula, through all definitions. It knows nothing of
``Total <- MCTotal``: TLC evaluates ``MCTotal``, and the text says ``Total``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from krafla.oracle.jvm import java

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krafla.oracle.spec import Spec

__all__ = ["variables_read"]


def variables_read(spec: Spec, node: Any) -> frozenset[str]:
    """Return the variables a formula reads, through the operators it applies."""
    found = _read_directly(spec, node)
    replacements = list(_replacements(spec))
    nodes = [node]
    while nodes and replacements:
        inside = nodes.pop()
        met = [one for one in replacements if one.is_in(spec, inside)]
        for one in met:
            replacements.remove(one)
            nodes.append(one.body)
            found |= _read_directly(spec, one.body)
    return found


def _read_directly(spec: Spec, node: Any) -> frozenset[str]:
    return frozenset(spec.variables) & _declared_names(node)


def _declared_names(node: Any) -> frozenset[str]:
    """Return the names of the variables and constants below a node."""
    return frozenset(str(symbol.getName().toString()) for symbol in node.getAllParams())


@dataclass(frozen=True, slots=True, eq=False)
class _Replacement:
    """The body of a definition that the configuration put in the place of a name.

    ``constant`` is the name if it is a constant, ``definition`` SANY's node if it is defined. A
    name inside of an instantiated module has neither: any formula may depend on it.
    """

    body: Any
    constant: str | None = None
    definition: Any | None = None

    def is_in(self, spec: Spec, node: Any) -> bool:
        """Return whether a formula depends on the name."""
        if self.constant is not None:
            return self.constant in _declared_names(node)
        if self.definition is None:
            return True
        reached = java("java.util.Hashtable")()
        node.walkGraph(reached, spec.classes("tla2sany.explorer.ExplorerVisitor").NoopVisitor)
        return bool(reached.containsKey(self.definition.getUid()))


@lru_cache(maxsize=8)
def _replacements(spec: Spec) -> tuple[_Replacement, ...]:
    """Return the replacements through which a formula may read a variable."""
    every = list(_configured(spec))
    found = [one for one in every if _read_directly(spec, one.body)]
    size = 0
    while size != len(found):
        size = len(found)
        found += [
            one
            for one in every
            if one not in found and any(other.is_in(spec, one.body) for other in found)
        ]
    return tuple(found)


def _configured(spec: Spec) -> Iterator[_Replacement]:
    config, root = spec.tool.getModelConfig(), spec.tool.getRootModule()
    named = spec.classes("util.UniqueString").uniqueStringOf
    constants = {str(one.getName().toString()): one for one in root.getConstantDecls()}
    for name in map(str, config.getOverrides().keySet()):
        constant, definition = constants.get(name), root.getOpDef(named(name))
        symbol = definition if constant is None else constant
        if symbol is None:
            continue
        found: Any = spec.tool.lookup(symbol, spec.empty_context, False)
        if type(found) is spec.tree.definition_class and found.getBody() is not None:
            known = (name, None) if definition is None else (None, definition)
            yield _Replacement(found.getBody(), *known)
    # ``Total <- [Module]MCTotal`` replaces the name that one module has.
    for names in config.getModOverrides().values():
        for other in map(str, names.values()):
            definition = root.getOpDef(named(other))
            if definition is not None and definition.getBody() is not None:
                yield _Replacement(definition.getBody())
