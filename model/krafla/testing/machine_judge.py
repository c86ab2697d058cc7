"""The judge of a machine's class: its spec, as the class names it, is loaded once."""

from __future__ import annotations

import sys
import warnings
from dataclasses import fields
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

from krafla.match.property_checker import left_out_told
from krafla.match.seen import Seen
from krafla.oracle import Spec
from krafla.testing.errors import UnjudgedWarning
from krafla.testing.judge import Judge
from krafla.testing.judge_options import JudgeOptions
from krafla.testing.plain import value_of
from krafla.traces import Observation
from krafla.values import Function, function
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from krafla.values import Value

__all__ = ["judge_of", "loaded", "spec_name_of", "spec_of"]

# The options of a judge that a class has under another name.
_ATTRIBUTES: Final = {"invariants": "spec_invariants"}
# Of shorter words a letter more or less makes another word.
_LETTERS_MIN: Final = 5
# An English word, though it is `limit_s` without the underscore.
_NOT_MISSPELT: Final = frozenset({"limits"})

# By class and given spec: what the class said, the judge, and its spec. A test may change both.
_judges: WeakKeyDictionary[type, dict[Spec | None, tuple[dict[str, Any], Judge]]] = (
    WeakKeyDictionary()
)


def judge_of(machine: type, spec: Spec | None = None) -> Judge:
    """Return the judge that others of the class are made from by ``fresh``.

    The class has the attributes of a ``SpecMachine``. It must name its ``spec`` if none is given.
    ``KraflaError`` also if it has one that is most likely a misspelt option, or a method for an
    action that the spec does not have.
    """
    said = {
        one.name: _said(machine, _ATTRIBUTES.get(one.name, one.name), one.default)
        for one in fields(JudgeOptions)
    }
    chosen = spec_of(machine) if spec is None else spec
    known = _judges.setdefault(machine, {})
    before, found = known.get(spec, ({}, None))
    if found is None or found.spec is not chosen or before != said:
        _check_names(machine)
        found = Judge(chosen, **said)
        _check_methods(machine, chosen)
        known[spec] = said, found
        if found.left_out and said["invariants"] is said["properties"] is None:
            warnings.warn(
                f"{machine.__name__} does not judge {left_out_told(chosen, found.left_out)}. Name "
                "them in spec_invariants and properties, or set both to ()",
                UnjudgedWarning, stacklevel=2,
            )  # fmt: skip
    return found


def _check_methods(machine: type, spec: Spec) -> None:
    """Raise ``KraflaError`` if a method takes an action that the spec does not have.

    A method of other parameters than the action may say what it took, when it is called.
    """
    # What an action's method does with an error of the code comes back to this module.
    from krafla.testing.action_method import marked_methods

    for one in marked_methods(machine):
        place = one.function.__qualname__.rpartition("<locals>.")[2]
        Seen(spec, Observation(one.action), place)


def _check_names(machine: type) -> None:
    """Raise ``KraflaError`` if a class says an option under another name: nothing reads it."""
    if hasattr(machine, "invariants"):
        what = "Hypothesis has a list of this name: those of the spec are spec_invariants"
        raise KraflaError(f"invariants: {what}", machine.__name__)
    look = getattr(machine, "observe", len)
    if not callable(look):
        what = "it is a method: observes = False says that nothing shall be seen"
        raise KraflaError(f"observe = {look!r}: {what}", machine.__name__)
    known = {one.name: _ATTRIBUTES.get(one.name, one.name) for one in fields(JudgeOptions)}
    known |= {"constants": "constants"} | {one: one for one in known.values()}
    for name in dir(machine):
        if name in known or name.startswith("_") or callable(getattr(machine, name, None)):
            continue
        for near in (attribute for one, attribute in known.items() if _is_like(name, one)):
            what = f"no option of a machine; did you mean {near}?"
            yours = f"If {name} is an attribute of your own, give it another name"
            raise KraflaError(f"{name}: {what} {yours}", machine.__name__)


def _is_like(name: str, option: str) -> bool:
    """Return whether a name is most likely a misspelt option; others are the user's own.

    It has the same words in any order (``max_hidden`` is ``hidden_max``), with or without the
    underscores between them, or one letter of one word is wrong.
    """
    own, wanted = _words(name), _words(option)
    if "".join(own) == "".join(wanted):
        return name.lower() not in _NOT_MISSPELT
    if len(own) != len(wanted):
        return False
    other = [pair for pair in zip(own, wanted, strict=True) if pair[0] != pair[1]]
    return len(other) == 1 and _is_one_letter_off(*other[0])


def _words(name: str) -> list[str]:
    """Return the words of a name in an order of their own."""
    return sorted(filter(None, name.lower().split("_")))


def _is_one_letter_off(word: str, wanted: str) -> bool:
    """Return whether one letter is too many, missing, or another, or two have changed places."""
    pairs = enumerate(zip(word, wanted, strict=False))
    at = next((at for at, (one, other) in pairs if one != other), min(len(word), len(wanted)))
    more, less = word[at:], wanted[at:]
    is_off = less[1:] in (more[1:], more) or more[1:] == less
    is_swapped = more[:2] == less[1::-1] and more[2:] == less[2:]
    return len(wanted) >= _LETTERS_MIN and (is_off or is_swapped)


def spec_of(machine: type) -> Spec:
    """Return the spec that a class names; ``KraflaError`` if it names none."""
    spec = _said(machine, "spec", None)
    if isinstance(spec, Spec):
        return spec
    if spec is None:
        raise KraflaError(f'{machine.__name__} names no spec: give it spec = "specs/Lock.tla"')
    cfg = _said(machine, "cfg", None)
    config = None if cfg is None else _folder_of(machine, "cfg") / cfg
    return loaded(_folder_of(machine, "spec") / spec, _said(machine, "constants", None), config)


def _folder_of(machine: type, attribute: str) -> Path:
    """Return the folder of the class that says a path: the machine, or one that it inherits."""
    said_by = next((one for one in machine.__mro__ if attribute in vars(one)), machine)
    file = getattr(sys.modules.get(said_by.__module__), "__file__", None)
    return Path.cwd() if file is None else Path(file).parent


def spec_name_of(machine: type) -> str | None:
    """Return the name of the module that a class names as its spec, without loading it."""
    spec = _said(machine, "spec", None)
    if isinstance(spec, Spec):
        return spec.name
    return Path(spec).stem if isinstance(spec, str | Path) else None


def loaded(path: Path, constants: Mapping[str, Any] | None, cfg: Path | None) -> Spec:
    """Return the spec of a module, loaded once for the same constants or cfg."""
    given = None
    if constants is not None:
        # A function is equal only to what TLA+ holds equal, so F = 1 is not F = TRUE.
        given = function(
            (name, value_of(one, {}, f"the constant {name}")) for name, one in constants.items()
        )
    return _loaded(path, given, cfg)


@lru_cache(maxsize=32)
def _loaded(path: Path, constants: Value | None, cfg: Path | None) -> Spec:
    if constants is None:
        return Spec.load(path, cfg=cfg)
    given = constants.items() if isinstance(constants, Function) else ()
    return Spec.load(path, {str(name): value for name, value in given}, cfg=cfg)


def _said(machine: type, name: str, default: Any) -> Any:
    return getattr(machine, name, default)
