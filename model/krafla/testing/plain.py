"""Plain Python data as values of a spec, and values as the code under test has them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from krafla.values import Function, ModelValue, freeze, sorted_values
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krafla.values import Value

__all__ = ["PlainReader", "thawed", "value_of"]

_REMEMBERED: Final = 20_000
# Types whose objects never change, unless a member of theirs does; and types without members.
_CONTAINERS: Final = frozenset({Function, frozenset, tuple})
_ATOMS: Final = frozenset({bool, int, str, ModelValue})


class PlainReader:
    """Reads plain data as values of one spec, whose model values are written as their names."""

    def __init__(self, models: Mapping[str, ModelValue]) -> None:
        self.models = models
        self._known: dict[int, tuple[object, Value]] = {}

    def value(self, plain: Any, place: str) -> Value:
        """Return plain data as a value; the errors are those of ``value_of``."""
        if type(plain) not in _CONTAINERS:
            return value_of(plain, self.models, place)
        # Code that shares the parts of its state shows the same ones again.
        known = self._known.get(id(plain))
        if known is not None:
            return known[1]
        found = value_of(plain, self.models, place)
        if not _is_unchanging(plain):
            return found
        if len(self._known) >= _REMEMBERED:
            self._known.clear()
        self._known[id(plain)] = plain, found
        return found


def _is_unchanging(plain: Any) -> bool:
    """Return whether nothing in plain data can ever change."""
    if type(plain) in _ATOMS:
        return True
    if type(plain) not in _CONTAINERS:
        return False
    members = chain(plain, plain.values()) if isinstance(plain, Function) else plain
    return all(map(_is_unchanging, members))


def value_of(plain: Any, models: Mapping[str, ModelValue], place: str) -> Value:
    """Return plain data as a value, with model values for their names.

    ``KraflaError`` with the path to what is no value of TLA+, and what to give instead.
    """
    try:
        return freeze(plain, models)
    except (TypeError, ValueError):
        for path, part in _parts(plain, place):
            try:
                freeze(part, models)
            except (TypeError, ValueError) as error:
                raise KraflaError(f"{error}; {_remedy(part, models)}", path) from None
        raise


def _parts(plain: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Yield the parts of plain data, the innermost first, each with the path to it."""
    if isinstance(plain, Mapping):
        for key, value in plain.items():
            yield from _parts(key, f"{path}, the key {key!r}")
            yield from _parts(value, f"{path}[{key!r}]")
    elif isinstance(plain, Iterable) and not isinstance(plain, str | bytes):
        for number, value in enumerate(plain, start=1):
            yield from _parts(value, f"{path}[{number}]")
    elif hasattr(plain, "__dataclass_fields__") and not isinstance(plain, type):
        for name in plain.__dataclass_fields__:
            yield from _parts(getattr(plain, name), f"{path}.{name}")
    yield path, plain


def _remedy(part: Any, models: Mapping[str, ModelValue]) -> str:
    if part is None:
        named = f", such as {min(models)}" if models else ""
        return f"give the value of the spec that stands for it{named}"
    if isinstance(part, float):
        return "TLA+ has whole numbers: give an int"
    return "give numbers, strings, tuples, sets, dicts or dataclasses of what the spec speaks of"


def thawed(values: Iterable[Any]) -> list[Any]:
    """Return values with strings for model values, those of a set in canonical order."""
    if isinstance(values, frozenset):
        values = sorted_values(values)
    return [_plain(one) for one in values]


def _plain(value: Any) -> Any:
    if isinstance(value, ModelValue):
        return value.name
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    if isinstance(value, frozenset):
        return frozenset(map(_plain, value))
    if isinstance(value, Function):
        return Function({_plain(argument): _plain(result) for argument, result in value.items()})
    return value
