"""What ``traces.toml`` of the rooms says of specs: facts a tool needs besides the specs' text.

``specs/lease/traces.toml`` explains the keys.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from krafla.manifest import read_toml
from krafla.project.at_hand import at_hand, projects_about
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from krafla.project import Project

__all__ = [
    *("ShrinkFacts", "SpecFacts", "facts_files", "facts_of", "faults", "is_known"),
    *("shrink_facts_of", "specs_alone"),
]

FACTS_NAME: Final = "traces.toml"
# How the name of an operator begins that stands for a constant.
_STAND_IN: Final = "Given"
_TABLES_OF_TEXTS: Final = ("conditional", "left_to_models", "operators")
_SPEC_KEYS: Final = {
    **dict.fromkeys(("spec", "init", "next", "stands_alone_for"), str),
    "judged": bool,
    **dict.fromkeys(("choices", "unoffered"), list),
    **dict.fromkeys(_TABLES_OF_TEXTS, dict),
}
_SHRINK_KEYS: Final = {
    **dict.fromkeys(("specs", "switches"), list),
    **dict.fromkeys(("numbers", "owners"), dict),
    **dict.fromkeys(("processes", "process_field", "time"), str),
}
_WORDS: Final = {str: "a string", bool: "true or false", list: "a list of strings", dict: "a table"}


@dataclass(frozen=True, slots=True)
class SpecFacts:
    """What the judge of a trace must know of its spec.

    ``init`` and ``next`` are the operators of a behaviour. ``stands_alone_for`` is the spec of
    the models whose counterexamples become traces of this spec; ``None`` if a trace of one of its
    models needs that model. ``conditional`` and ``left_to_models`` give a reason for each name,
    ``operators`` a definition for each constant that no trace can give a value. ``unoffered`` are
    actions that a trace may take with parameters of its own, though Next offers none.
    """

    spec: str
    init: str = "Init"
    next: str = "Next"
    stands_alone_for: str | None = None
    judged: bool = False
    conditional: Mapping[str, str] = field(default_factory=dict)
    left_to_models: Mapping[str, str] = field(default_factory=dict)
    operators: Mapping[str, str] = field(default_factory=dict)
    choices: tuple[str, ...] = ()
    unoffered: tuple[str, ...] = ()
    place: str = ""

    def choosers(self) -> tuple[Callable[[Any], Any], ...]:
        """Return the functions that ``choices`` names; ``KraflaError`` if one is not there."""
        return tuple(map(self._function, self.choices))

    def definitions(self, constants: Iterable[str] = ()) -> dict[str, Any]:
        """Return the options of ``Spec.load`` that define ``operators``, but for these constants.

        A constant that is an operator is replaced by another one, which is defined beside it.
        """
        given = set(constants)
        found = {key: text for key, text in self.operators.items() if _name_of(key) not in given}
        return {
            "expressions": {f"{_STAND_IN}{key}": text for key, text in found.items()},
            "replacements": {name: f"{_STAND_IN}{name}" for name in map(_name_of, found)},
        }

    def _function(self, name: str) -> Callable[[Any], Any]:
        module, _, attribute = name.partition(":")
        try:
            found = getattr(import_module(module), attribute)
        except (ImportError, AttributeError, ValueError) as error:
            raise KraflaError(
                f"choices of {self.spec} names {name!r}, which is no module:function: {error}",
                self.place,
            ) from error
        if not callable(found):
            raise KraflaError(f"choices of {self.spec} names {name!r}, no function", self.place)
        return found  # type: ignore[no-any-return]  # what it takes and returns is its own promise


def _name_of(head: str) -> str:
    """Return the name in the head of a definition: ``Replay(image, record)``."""
    return head.partition("(")[0].strip()


@dataclass(frozen=True, slots=True)
class ShrinkFacts:
    """What can get smaller in a trace: the constants, and the action that lets time pass."""

    numbers: Mapping[str, int] = field(default_factory=dict)
    switches: tuple[str, ...] = ()
    processes: str | None = None
    owners: Mapping[str, str] = field(default_factory=dict)
    process_field: str | None = None
    time: str | None = None


def facts_of(spec: str) -> SpecFacts:
    """Return what the rooms say of a spec; the defaults if they say nothing."""
    for room in _rooms_about(spec):
        if spec in room.specs:
            return room.specs[spec]
    return SpecFacts(spec)


def is_known(spec: str) -> bool:
    """Return whether the rooms say something of a spec, or of one that stands for its models."""
    facts = (one for room in _rooms_about(spec) for one in room.specs.values())
    return any(spec in {one.spec, one.stands_alone_for} for one in facts)


def specs_alone() -> tuple[SpecFacts, ...]:
    """Return the specs whose traces need no model."""
    found = (one for room in _rooms() for one in room.specs.values())
    return tuple(one for one in found if one.stands_alone_for is not None)


def shrink_facts_of(spec: str) -> ShrinkFacts:
    """Return what can get smaller in traces of a spec; nothing if the rooms do not say."""
    for room in _rooms_about(spec):
        if spec in room.shrinks:
            return room.shrinks[spec]
    return ShrinkFacts()


def faults() -> Mapping[str, str]:
    """Return the actions that are faults in any spec, each with its name in tables."""
    return {action: words for room in _rooms() for action, words in room.faults.items()}


@dataclass(frozen=True, slots=True)
class _Room:
    """What one file says."""

    specs: Mapping[str, SpecFacts]
    shrinks: Mapping[str, ShrinkFacts]
    faults: Mapping[str, str]


def facts_files() -> tuple[Path, ...]:
    """Return the files of the project at hand that state these facts, in the order of the rooms."""
    return _files((at_hand(),))


def _files(projects: Iterable[Project]) -> tuple[Path, ...]:
    paths = (room / FACTS_NAME for project in projects for room in project.rooms())
    return tuple(path for path in paths if path.is_file())


def _rooms_about(spec: str) -> Iterator[_Room]:
    return _rooms(_files(projects_about(spec)))


def _rooms(files: Iterable[Path] | None = None) -> Iterator[_Room]:
    for path in facts_files() if files is None else files:
        found = path.stat()
        yield _read(path, found.st_mtime_ns, found.st_size)


@lru_cache(maxsize=32)
def _read(path: Path, _modified: int, _size: int) -> _Room:
    data = read_toml(path)[1]
    unknown = sorted(data.keys() - {"spec", "shrink", "faults"})
    if unknown:
        raise KraflaError(f"there is no key {unknown[0]!r}; known: faults, shrink, spec", str(path))
    specs = [_spec(table, path) for table in _tables(data, "spec", path)]
    shrinks = [_shrink(table, path) for table in _tables(data, "shrink", path)]
    named = [(spec, facts) for names, facts in shrinks for spec in names]
    _refuse_twice("spec", [one.spec for one in specs], path)
    _refuse_twice("shrink", [spec for spec, _ in named], path)
    return _Room({one.spec: one for one in specs}, dict(named), _texts(data, "faults", path))


def _tables(data: Mapping[str, Any], key: str, path: Path) -> list[dict[str, Any]]:
    tables = data.get(key, [])
    if not isinstance(tables, list) or not all(isinstance(one, dict) for one in tables):
        raise KraflaError(f"each {key} is a table [[{key}]]", str(path))
    return tables


def _refuse_twice(key: str, names: Iterable[str], path: Path) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise KraflaError(f"{name} stands in two tables [[{key}]]", str(path))
        seen.add(name)


def _spec(table: dict[str, Any], path: Path) -> SpecFacts:
    _check(table, "spec", _SPEC_KEYS, path)
    if not table.get("spec"):
        raise KraflaError("a [[spec]] table names its spec", str(path))
    texts = {key: _texts(table, key, path) for key in _TABLES_OF_TEXTS}
    lists = {key: tuple(table.get(key, ())) for key in ("choices", "unoffered")}
    return SpecFacts(**{**table, **texts, **lists}, place=str(path))


def _shrink(table: dict[str, Any], path: Path) -> tuple[list[str], ShrinkFacts]:
    _check(table, "shrink", _SHRINK_KEYS, path)
    if not table.get("specs"):
        raise KraflaError("a [[shrink]] table names its specs", str(path))
    for name, least in table.get("numbers", {}).items():
        if type(least) is not int:
            raise KraflaError(f"numbers gives {name} no least value: {least!r}", str(path))
    facts = {key: value for key, value in table.items() if key != "specs"}
    facts |= {"switches": tuple(table.get("switches", ())), "owners": _texts(table, "owners", path)}
    return table["specs"], ShrinkFacts(**facts)


def _check(table: dict[str, Any], kind: str, keys: Mapping[str, type], path: Path) -> None:
    for key, value in table.items():
        known = keys.get(key)
        if known is None:
            raise KraflaError(
                f"[[{kind}]] has no key {key!r}; known: {', '.join(sorted(keys))}", str(path)
            )
        is_right = isinstance(value, known)
        if known is list:
            is_right = is_right and all(isinstance(one, str) for one in value)
        if not is_right:
            raise KraflaError(
                f"{key!r} of [[{kind}]] is {_WORDS[known]}, found {value!r}", str(path)
            )


def _texts(data: Mapping[str, Any], key: str, path: Path) -> dict[str, str]:
    found = data.get(key, {})
    if not isinstance(found, dict) or not all(isinstance(one, str) for one in found.values()):
        raise KraflaError(f"{key!r} is a table that gives each name a string", str(path))
    return found
