"""SYMMETRY and VIEW of a configuration, switched on only while a whole model is explored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from krafla.oracle.jvm import TlcClasses

__all__ = ["Reductions"]


class Reductions:
    """A context manager: inside, symmetric states share a fingerprint; outside they do not."""

    def __init__(self, classes: TlcClasses) -> None:
        state_class = classes("tlc2.tool.TLCStateMut").class_
        # The tool evaluates the view.
        self._tool = state_class.getDeclaredField("mytool")
        self._tool.setAccessible(True)
        self._own_tool = self._tool.get(None)
        self._fields = []
        for name in ("perms", "viewMap"):
            found = state_class.getDeclaredField(name)
            found.setAccessible(True)
            self._fields.append((found, found.get(None)))
        self._set_all(is_on=False)

    def __enter__(self) -> None:
        self._set_all(is_on=True)

    def __exit__(self, *exception: object) -> None:
        self._set_all(is_on=False)

    def _set_all(self, *, is_on: bool) -> None:
        for static, value in self._fields:
            static.set(None, value if is_on else None)
        if is_on:
            self._tool.set(None, self._own_tool)

    @property
    def configured(self) -> tuple[Any, ...]:
        """Return TLC's permutations and view; ``None`` where the configuration has none."""
        return tuple(value for _, value in self._fields)
