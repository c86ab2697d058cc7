"""TLC's complaints about a spec that somebody loads from Python, with what to do about them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from krafla.oracle.errors import SpecError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["plainly"]

_NO_OPERATOR: Final = re.compile(
    r"The (?:initial predicate|next[- ]state (?:relation|action)) (?P<name>\w+) specified in the "
    r"configuration file is not defined"
)
_NO_VALUE: Final = re.compile(r"constant parameter (?P<name>\w+) is not assigned a value")
_NO_CONSTANT: Final = re.compile(r"identifier (?P<name>\w+) does not appear in the specification")


def plainly(error: SpecError, module: Path, configuration: Path | None) -> SpecError:
    """Return a complaint with its place in the module, and a remedy, where there is a usual one."""
    no_operator, no_value, no_constant = (
        one.search(error.message) for one in (_NO_OPERATOR, _NO_VALUE, _NO_CONSTANT)
    )
    place = str(configuration or module)
    name = module.stem
    if no_operator is not None:
        return SpecError(
            f"{name} defines no {no_operator['name']}: write SPECIFICATION, or INIT and NEXT, in "
            f"{name}.cfg, or give init= and next=",
            place,
        )
    if no_value is not None:
        constant = no_value["name"]
        return SpecError(
            f"the constant parameter {constant} is not assigned a value: give it in constants=, "
            f"or write {constant} = ... under CONSTANT in {name}.cfg",
            place,
        )
    if no_constant is not None and configuration is None:
        return SpecError(f"the identifier {no_constant['name']} does not appear in {name}", place)
    return error
