"""Values of TLC as Python values, and back: total and lossless for the values of specs.

A call into the JVM costs about as much as TLC's whole evaluation of a small action, so both
directions keep a memory: from TLC by fingerprint, to TLC by the value itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krafla.oracle.errors import EvaluationError, ValueOutOfRange
from krafla.values import Function, ModelValue, Value, fmt, freeze, function, sort_key

if TYPE_CHECKING:
    from collections.abc import Callable

    from krafla.oracle.jvm import TlcClasses

__all__ = ["Converter"]

_INT_MIN, _INT_MAX = -(2**31), 2**31 - 1
_REMEMBERED = 200_000
_LAZY_SETS = (
    "IntervalValue", "SetCapValue", "SetCupValue", "SetDiffValue", "SetOfFcnsValue",
    "SetOfRcdsValue", "SetOfTuplesValue", "SetPredValue", "SubsetValue", "UnionValue",
)  # fmt: skip


class Converter:
    """The converter of one loaded spec; its Java values belong to that spec alone."""

    def __init__(self, classes: TlcClasses) -> None:
        def value_class(name: str) -> Any:
            return classes(f"tlc2.value.impl.{name}")

        self._seed = int(classes("tlc2.util.FP64").New())
        self._unique = classes("util.UniqueString").uniqueStringOf
        self._names_array = classes.array("util.UniqueString")
        self._values_array = classes.array("tlc2.value.impl.Value")
        self._true = value_class("BoolValue").ValTrue
        self._false = value_class("BoolValue").ValFalse
        self._int = value_class("IntValue")
        self._string = value_class("StringValue")
        self._tuple = value_class("TupleValue")
        self._record = value_class("RecordValue")
        self._function = value_class("FcnRcdValue")
        self._set = value_class("SetEnumValue")
        self._model_values = {
            str(model.val.toString()): model for model in value_class("ModelValue").mvs or ()
        }
        self._readers: dict[Any, Callable[[Any], Value]] = {}
        self._bool = value_class("BoolValue")
        self._from_java: dict[int, Value] = {}
        self._to_java: dict[tuple[Any, ...], Any] = {}

    @property
    def model_values(self) -> tuple[str, ...]:
        """Return the names of the model values that the spec declares."""
        return tuple(self._model_values)

    def to_python(self, java: Any) -> Value:
        """Return TLC's value as a Python value; ``EvaluationError`` if it has no finite form."""
        kind = type(java)
        if kind is self._int:
            return int(java.val)
        if kind is self._bool:
            return bool(java.val)
        reader = self._readers.get(kind) or self._reader_of(kind, java)
        fingerprint = java.fingerPrint(self._seed)
        known = self._from_java.get(fingerprint)
        if known is None:
            if len(self._from_java) >= _REMEMBERED:
                self._from_java.clear()
            known = self._from_java[fingerprint] = reader(java)
        return known

    def to_java(self, value: Value) -> Any:
        """Return the Python value as TLC's; ``ValueOutOfRange`` if TLC cannot hold it."""
        try:
            key = sort_key(value)
        except TypeError:
            value = freeze(value)
            key = sort_key(value)
        known = self._to_java.get(key)
        if known is None:
            if len(self._to_java) >= _REMEMBERED:
                self._to_java.clear()
            known = self._to_java[key] = self._build(value)
        return known

    def forget(self) -> None:
        """Drop the memory; values already given out stay valid."""
        self._from_java.clear()
        self._to_java.clear()

    def _reader_of(self, kind: Any, java: Any) -> Callable[[Any], Value]:
        """Return what reads a kind of TLC's values.

        JPype takes a millisecond to make the Python class of a Java class, and few specs have every
        kind of value. So a kind is known by the name of its class, once there is a value of it.
        """
        name = str(kind.__name__).removeprefix("tlc2.value.impl.")
        known: dict[str, Callable[[Any], Value]] = {
            "StringValue": lambda java: str(java.val.toString()),
            "ModelValue": lambda java: ModelValue(str(java.val.toString())),
            "SetEnumValue": self._read_set,
            "TupleValue": self._read_tuple,
            "RecordValue": self._read_record,
            "FcnRcdValue": self._read_function,
            "FcnLambdaValue": lambda java: self.to_python(java.toFcnRcd()),
            **dict.fromkeys(_LAZY_SETS, lambda java: self.to_python(java.toSetEnum())),
        }
        reader = known.get(name)
        if reader is None:
            raise EvaluationError(f"TLC's {kind.__name__} {java} is not a finite value")
        self._readers[kind] = reader
        return reader

    def _read_set(self, java: Any) -> Value:
        members = java.elems.toArray()
        return frozenset(self.to_python(member) for member in members if member is not None)

    def _read_tuple(self, java: Any) -> Value:
        return tuple(self.to_python(element) for element in java.elems)

    def _read_record(self, java: Any) -> Value:
        return function(
            (str(name.toString()), self.to_python(value))
            for name, value in zip(java.names, java.values, strict=True)
        )

    def _read_function(self, java: Any) -> Value:
        results = [self.to_python(value) for value in java.values]
        interval = java.intv
        if interval is not None:
            low = int(interval.low)
            return function(enumerate(results, start=low))
        arguments = [self.to_python(argument) for argument in java.domain]
        return function(zip(arguments, results, strict=True))

    def _build(self, value: Value) -> Any:
        if isinstance(value, bool):
            return self._true if value else self._false
        if isinstance(value, int):
            if not _INT_MIN <= value <= _INT_MAX:
                raise ValueOutOfRange(f"{value} does not fit in TLC's 32-bit numbers")
            return self._int.gen(value)
        if isinstance(value, str):
            return self._string(value)
        if isinstance(value, ModelValue):
            return self._model_value(value)
        if isinstance(value, tuple):
            return self._tuple(self._array(value))
        if isinstance(value, frozenset):
            built = self._set(self._array(value), False)
        else:
            built = self._build_function(value)
        built.deepNormalize()
        return built

    def _build_function(self, value: Function) -> Any:
        results = self._array(value.values())
        if all(isinstance(argument, str) for argument in value):
            names = self._names_array([self._unique(argument) for argument in value])
            return self._record(names, results, False)
        return self._function(self._array(value), results, False)

    def _array(self, values: Any) -> Any:
        return self._values_array([self.to_java(value) for value in values])

    def _model_value(self, value: ModelValue) -> Any:
        found = self._model_values.get(value.name)
        if found is None:
            declared = ", ".join(sorted(self._model_values)) or "none"
            raise ValueOutOfRange(
                f"{fmt(value)} is no model value of this spec (declared: {declared})"
            )
        return found
