"""Questions to TLC about thousands of states in a few calls into the JVM.

A call costs one to three microseconds, a successor not much more. So a chunk of states is sent
through Java streams, whose functions are TLC's own methods as method handles.
"""

from __future__ import annotations

from array import array as numbers
from typing import TYPE_CHECKING, Any

from krafla.oracle.errors import EvaluationError
from krafla.oracle.jvm import java, java_error
from krafla.tlc.remedies import with_remedy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from krafla.oracle.spec import Spec

__all__ = ["Batch"]


class Batch:
    """The batched questions of one spec. States are TLC's own here, not ``State``."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self._handles = java("java.lang.invoke.MethodHandles")
        self._lookup = self._handles.publicLookup()
        self._type = java("java.lang.invoke.MethodType").methodType
        self._as_interface = java("java.lang.invoke.MethodHandleProxies").asInterfaceInstance
        self._arrays = java("java.util.Arrays")
        self._list = java("java.util.ArrayList")
        self._tool = spec.tool
        self._tool_class = spec.classes("tlc2.tool.impl.Tool").class_
        self._state_class = spec.classes("tlc2.tool.TLCState").class_
        self._action_class = spec.classes("tlc2.tool.Action")
        self._vector_class = spec.classes("tlc2.tool.StateVec").class_
        self._int = java("java.lang.Integer").TYPE
        self._boolean = java("java.lang.Boolean").TYPE
        self._size = self._to_int(
            self._lookup.findVirtual(self._vector_class, "size", self._type(self._int))
        )
        self._fingerprint = self._as_interface(
            java("java.util.function.ToLongFunction").class_,
            self._lookup.findVirtual(
                self._state_class, "fingerPrint", self._type(java("java.lang.Long").TYPE)
            ),
        )
        _, view = spec.reductions
        self._has_view = view is not None
        self._is_whole = self._test(
            self._lookup.findVirtual(self._state_class, "allAssigned", self._type(self._boolean))
        )
        self._objects = java("java.lang.Object[]")
        self._stream = java("java.util.stream.IntStream")
        self._zero = java("java.lang.Integer")(0)
        # The steps that are asked about; Java's own arrays, which its functions look into.
        self._sources, self._targets = self._objects([None]), self._objects([None])
        self._elements = self._elements_of_vector()
        self._next = self._lookup.findVirtual(
            self._tool_class,
            "getNextStates",
            self._type(self._vector_class, self._action_class.class_, [self._state_class]),
        ).bindTo(self._tool)

    def action(self, node: Any, context: Any, definition: Any) -> Any:
        """Return the function from a state to its successors by one action."""
        action = self._action_class(node, context, definition)
        return self._function(self._next.bindTo(action))

    def predicate(self, action: Any) -> Any:
        """Return the test whether a state predicate holds."""
        kind = self._type(self._boolean, self._action_class.class_, [self._state_class])
        handle = self._lookup.findVirtual(self._tool_class, "isValid", kind)
        return self._test(handle.bindTo(self._tool).bindTo(action))

    def value_fingerprint(self, variable: str) -> Any:
        """Return the function from a state to the fingerprint of a variable's value."""
        name = self._spec.classes("util.UniqueString")
        value = self._spec.classes("tlc2.value.IValue").class_
        long = java("java.lang.Long").TYPE
        lookup = self._lookup.findVirtual(self._state_class, "lookup", self._type(value, name))
        read = self._handles.insertArguments(lookup, 1, [name.uniqueStringOf(variable)])
        print_ = self._lookup.findVirtual(value, "fingerPrint", self._type(long, long))
        seed = java("java.lang.Long")(int(self._spec.classes("tlc2.util.FP64").New()))
        handle = self._handles.filterReturnValue(
            read, self._handles.insertArguments(print_, 1, [seed])
        )
        return self._as_interface(java("java.util.function.ToLongFunction").class_, handle)

    def in_model(self) -> Any:
        """Return the test whether a state satisfies every CONSTRAINT."""
        kind = self._type(self._boolean, self._state_class)
        handle = self._lookup.findVirtual(self._tool_class, "isInModel", kind)
        return self._test(handle.bindTo(self._tool))

    def step_predicate(self, action: Any) -> Any:
        """Return the test of a step, for ``steps_satisfying``."""
        kind = self._type(
            self._boolean, self._action_class.class_, [self._state_class, self._state_class]
        )
        handle = self._lookup.findVirtual(self._tool_class, "isValid", kind)
        return self._step_test(handle.bindTo(self._tool).bindTo(action))

    def action_constraint(self) -> Any:
        """Return the test of a step against every ACTION_CONSTRAINT, for ``steps_satisfying``."""
        kind = self._type(self._boolean, self._state_class, [self._state_class])
        handle = self._lookup.findVirtual(self._tool_class, "isInActions", kind)
        return self._step_test(handle.bindTo(self._tool))

    def chunk(self, states: Sequence[Any]) -> Any:
        """Return states as a Java list."""
        return self._list(states)

    def successors(self, function: Any, chunk: Any) -> tuple[numbers[int], Any, numbers[int]]:
        """Return the number of successors of each state, all successors, and their fingerprints.

        `EvaluationError` if a step leaves a variable without a value.
        """
        vectors = chunk.stream().map(function).toArray()
        sizes = _numbers("i", self._arrays.stream(vectors).mapToInt(self._size).toArray())
        if not any(sizes):
            return sizes, None, numbers("q")
        found = self._arrays.stream(vectors).flatMap(self._elements).toArray()
        if self._has_view:
            # A view may not look at what is missing.
            self._check_whole(found)
        try:
            prints = self._arrays.stream(found).mapToLong(self._fingerprint).toArray()
        except java_error():
            self._check_whole(found)
            raise
        return sizes, found, _numbers("q", prints)

    def _check_whole(self, states: Any) -> None:
        whole = _numbers("i", self._arrays.stream(states).mapToInt(self._is_whole).toArray())
        if not all(whole):
            state = states[whole.index(0)]
            names = sorted(str(variable.getName()) for variable in state.getUnassigned())
            told = f"{self._spec.name}: a step of Next gives no next value to {', '.join(names)}"
            raise EvaluationError(with_remedy(told))

    def fingerprints(self, function: Any, chunk: Any) -> numbers[int]:
        """Return one fingerprint for each state, by a function from ``value_fingerprint``."""
        return _numbers("q", chunk.stream().mapToLong(function).toArray())

    def satisfying(self, test: Any, chunk: Any) -> numbers[int]:
        """Return 1 for each state for which the test holds, 0 for the others."""
        return _numbers("i", chunk.stream().mapToInt(test).toArray())

    def array(self, states: Sequence[Any]) -> Any:
        """Return states as a Java array."""
        return self._objects(states)

    def steps_satisfying(self, test: Any, sources: Any, targets: Any) -> numbers[int]:
        """Return 1 for each step, from ``sources[i]`` to ``targets[i]``, that satisfies."""
        self._sources[0], self._targets[0] = sources, targets
        return _numbers("i", self._stream.range(0, len(sources)).map(test).toArray())

    def _step_test(self, handle: Any) -> Any:
        """Return the test of the step of a number, between ``_sources[0]`` and ``_targets[0]``.

        It is made once for each property: what is made for each call never becomes machine code.
        """
        getter = self._handles.arrayElementGetter(self._objects.class_)
        whole = self._type(self._objects.class_)
        narrow = self._type(self._state_class, self._int)
        pick = []
        for box in (self._sources, self._targets):
            held = self._handles.insertArguments(getter.bindTo(box), 0, [self._zero])
            element = self._handles.collectArguments(getter, 0, held.asType(whole))
            pick.append(element.asType(narrow))
        pairs = self._handles.filterArguments(handle, 0, pick)
        both = self._handles.permuteArguments(pairs, self._type(self._boolean, self._int), [0, 0])
        numbered = self._handles.explicitCastArguments(both, self._type(self._int, self._int))
        return self._as_interface(java("java.util.function.IntUnaryOperator").class_, numbered)

    def _elements_of_vector(self) -> Any:
        """Return the function from a StateVec to the stream of its states."""
        stream_class = java("java.util.stream.Stream").class_
        objects = java("java.lang.Object[]").class_
        slice_type = self._type(stream_class, objects, [self._int, self._int])
        handle = self._lookup.findStatic(self._arrays.class_, "stream", slice_type)
        from_start = self._handles.insertArguments(handle, 1, [java("java.lang.Integer")(0)])
        field = self._vector_class.getDeclaredField("v")
        field.setAccessible(True)
        content = self._lookup.unreflectGetter(field)
        content = content.asType(self._type(objects, self._vector_class))
        size = self._lookup.findVirtual(self._vector_class, "size", self._type(self._int))
        filtered = self._handles.filterArguments(from_start, 0, [content, size])
        once = self._type(stream_class, self._vector_class)
        return self._function(self._handles.permuteArguments(filtered, once, [0, 0]))

    def _function(self, handle: Any) -> Any:
        return self._as_interface(java("java.util.function.Function").class_, handle)

    def _to_int(self, handle: Any) -> Any:
        return self._as_interface(java("java.util.function.ToIntFunction").class_, handle)

    def _test(self, handle: Any) -> Any:
        kind = self._type(self._int, self._state_class)
        return self._to_int(self._handles.explicitCastArguments(handle, kind))


def _numbers(typecode: str, java_array: Any) -> numbers[int]:
    copied = numbers(typecode)
    copied.frombytes(memoryview(java_array).tobytes())
    return copied
