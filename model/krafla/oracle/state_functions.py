"""Questions to TLC about one state or two, in one call into the JVM each.

A call costs as much as a small formula. So each question is one Java function, put together from
TLC's own methods as method handles.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krafla.oracle.jvm import java

if TYPE_CHECKING:
    from krafla.oracle.spec import Spec

__all__ = ["StateFunctions"]


class StateFunctions:
    """The questions for one spec. States and contexts are TLC's own objects."""

    def __init__(self, spec: Spec) -> None:
        classes = spec.classes
        self._handles = java("java.lang.invoke.MethodHandles")
        self._lookup = self._handles.publicLookup()
        self._type = java("java.lang.invoke.MethodType").methodType
        self._boolean = java("java.lang.Boolean").TYPE
        self._state = classes("tlc2.tool.TLCState").class_
        self._vector = classes("tlc2.tool.StateVec").class_
        tool = classes("tlc2.tool.impl.Tool").class_
        action = classes("tlc2.tool.Action").class_
        kind = self._type(self._vector, action, [classes("tlc2.util.Context").class_, self._state])
        self._next = self._lookup.findVirtual(tool, "getNextStates", kind).bindTo(spec.tool)
        self._first = self._first_of_vector()
        self.are_equal = self._equality(classes("tlc2.tool.TLCStateMut").class_)
        """The test whether two states are equal: variable by variable.

        A value is equal to itself without a look inside, and a step shares all that it left
        unchanged with the state before it.
        """

    def first_after(self, action: Any) -> Any:
        """Return the function from a context and a state to the first state after an action.

        There is no such state, ``None``, if the action is not enabled.
        """
        handle = self._handles.filterReturnValue(self._next, self._first).bindTo(action)
        return self._function("BiFunction", handle).apply

    def all_after(self, action: Any) -> Any:
        """Return the function from a context and a state to TLC's vector of the states after."""
        return self._function("BiFunction", self._next.bindTo(action)).apply

    def _first_of_vector(self) -> Any:
        is_empty = self._lookup.findVirtual(self._vector, "isEmpty", self._type(self._boolean))
        first = self._lookup.findVirtual(self._vector, "first", self._type(self._state))
        none = self._handles.constant(self._state, None)
        none = self._handles.dropArguments(none, 0, [self._vector])
        return self._handles.guardWithTest(is_empty, none, first)

    def _equality(self, state: Any) -> Any:
        field = state.getDeclaredField("values")
        field.setAccessible(True)
        objects = java("java.lang.Object[]").class_
        values = self._lookup.unreflectGetter(field).asType(self._type(objects, state))
        kind = self._type(self._boolean, objects, [objects])
        equals = self._lookup.findStatic(java("java.util.Arrays").class_, "equals", kind)
        both = self._handles.filterArguments(equals, 0, [values, values])
        return self._function("BiPredicate", both).test

    def _function(self, name: str, handle: Any) -> Any:
        interface = java(f"java.util.function.{name}").class_
        return java("java.lang.invoke.MethodHandleProxies").asInterfaceInstance(interface, handle)
