"""A state of a loaded spec: TLC's own state, seen as a mapping from variables to values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from krafla.values import Function, Value, fmt

if TYPE_CHECKING:
    from krafla.oracle.spec import Spec

__all__ = ["State"]


class State(Mapping[str, Value]):
    """One state; ``state["log_end"]`` converts that variable when it is first asked for.

    States of one spec are equal when TLC's 64-bit fingerprints are, and hash by them. They
    live inside this process: to keep or send one, take ``as_function()``.
    """

    __slots__ = ("_values", "fingerprint", "java", "spec")

    def __init__(
        self,
        spec: Spec,
        java: Any,
        fingerprint: int | None = None,
        values: dict[str, Value] | None = None,
    ) -> None:
        self.spec = spec
        self.java = java
        self.fingerprint = int(java.fingerPrint()) if fingerprint is None else fingerprint
        # What is known of its values already.
        self._values: dict[str, Value] = {} if values is None else values

    def __getitem__(self, variable: str) -> Value:
        value = self._values.get(variable)
        if value is None:
            value = self.spec.read_variable(self.java, variable)
            self._values[variable] = value
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self.spec.variables)

    def __len__(self) -> int:
        return len(self.spec.variables)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, State):
            return NotImplemented
        return self.spec is other.spec and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __repr__(self) -> str:
        return f"<State {self.fingerprint & 2**64 - 1:016x} of {self.spec.name}>"

    def __str__(self) -> str:
        return "\n".join(f"/\\ {variable} = {fmt(self[variable])}" for variable in self)

    def replace(self, **values: Value) -> State:
        """Return the state in which these variables have these values."""
        found = self.spec.rebind(self, values)
        return State(self.spec, found.java, found.fingerprint, {**self._values, **values})

    def as_function(self) -> Function:
        """Return the state as a plain value, a function from variable names."""
        return Function({variable: self[variable] for variable in self})
