"""The module and configuration through which TLC loads a spec with given constants.

A configuration file can hold numbers, strings, model values and sets of them, but no function
and no record. So every constant gets a definition in a small module that EXTENDS the spec.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from krafla.oracle.errors import SpecError
from krafla.values import Function, ModelValue, Value, fmt, freeze, parts_of

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["WRAPPER", "Wrapping", "wrap"]

WRAPPER = "KraflaWrapper"
# Expressions that count or compare reach these modules by name, whatever the spec extends or
# defines: `KraflaFiniteSets!Cardinality(S)`.
_INSTANCES = {"KraflaFiniteSets": "FiniteSets", "KraflaIntegers": "Integers"}


@dataclass(frozen=True, slots=True)
class Wrapping:
    """What to load: a module, values for its constants, and what to check in it."""

    module: str
    constants: Mapping[str, Any] = field(default_factory=dict)
    definitions: Mapping[str, Any] = field(default_factory=dict)
    expressions: Mapping[str, str] = field(default_factory=dict)
    init: str = "Init"
    next: str = "Next"
    invariants: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    action_constraints: tuple[str, ...] = ()
    properties: tuple[str, ...] = ()
    replacements: Mapping[str, str] = field(default_factory=dict)
    model_values: tuple[str, ...] = ()


def wrap(wrapping: Wrapping) -> tuple[str, str]:
    """Return the texts of the wrapping module and of its configuration."""
    given = (*wrapping.constants.items(), *wrapping.definitions.items())
    values = {name: _frozen(name, value) for name, value in given}
    assigned = {name: value for name, value in values.items() if _is_itself(value)}
    defined = {name: value for name, value in values.items() if name not in assigned}
    models = sorted({model for value in values.values() for model in _model_values(value)})
    declared = [model for model in models if model not in values]

    extends = f"EXTENDS {', '.join(_extended(wrapping, defined))}"
    if wrapping.model_values:
        # On the same line: the line of an expression must not depend on it.
        extends += f" CONSTANTS {', '.join(wrapping.model_values)}"
    lines = [f"---- MODULE {WRAPPER} ----", extends]
    if declared:
        lines.append(f"CONSTANTS {', '.join(declared)}")
    lines += [f"Const_{name} == {fmt(value)}" for name, value in sorted(defined.items())]
    lines += [
        f"{name} == INSTANCE {module}"
        for name, module in _INSTANCES.items()
        if any(f"{name}!" in text for text in wrapping.expressions.values())
    ]
    lines += [f"{name} == {text}" for name, text in sorted(wrapping.expressions.items())]
    module = "\n".join([*lines, "====", ""])

    settings = [f"{name} = {fmt(value)}" for name, value in sorted(assigned.items())]
    settings += [f"{model} = {model}" for model in declared]
    settings += [f"{name} <- Const_{name}" for name in sorted(defined)]
    settings += [f"{name} <- {other}" for name, other in sorted(wrapping.replacements.items())]
    configuration = [f"CONSTANT {setting}" for setting in settings]
    configuration += [f"INIT {wrapping.init}", f"NEXT {wrapping.next}", "CHECK_DEADLOCK FALSE"]
    for keyword, names in (
        ("INVARIANT", wrapping.invariants),
        ("CONSTRAINT", wrapping.constraints),
        ("ACTION_CONSTRAINT", wrapping.action_constraints),
        ("PROPERTY", wrapping.properties),
    ):
        configuration += [f"{keyword} {name}" for name in names]
    return module, "\n".join([*configuration, ""])


def _frozen(name: str, plain: Any) -> Value:
    try:
        return freeze(plain)
    except TypeError as error:
        raise SpecError(f"the constant {name}: {error}") from None


def _is_itself(value: Value) -> bool:
    # A model value is declared by assigning it: "Nil = Nil".
    return isinstance(value, ModelValue)


def _extended(wrapping: Wrapping, defined: Mapping[str, Value]) -> list[str]:
    """Name only the modules that the definitions need: each more could clash with the spec."""
    extended = [wrapping.module]
    parts = [part for value in defined.values() for part in parts_of(value)]
    if any(isinstance(part, int) and part < 0 for part in parts):
        extended.append("Integers")
    if any(isinstance(part, Function) and ":>" in fmt(part) for part in parts):
        extended.append("TLC")
    return extended


def _model_values(value: Value) -> list[str]:
    return [part.name for part in parts_of(value) if isinstance(part, ModelValue)]
