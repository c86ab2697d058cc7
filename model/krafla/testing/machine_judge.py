"""The judge of a machine's class: its spec, as the class names it, is loaded once."""

from __future__ import annotations

import sys
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from krafla.oracle import Spec
from krafla.testing.judge import LIMIT_S, Judge
from krafla.testing.plain import value_of
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from krafla.values import Value

__all__ = ["judge_of", "loaded", "spec_name_of", "spec_of"]

_judges: dict[tuple[type, Spec | None], Judge] = {}


def judge_of(machine: type, spec: Spec | None = None) -> Judge:
    """Return the judge that others of the class are made from by ``fresh``.

    The class has the attributes of a ``SpecMachine``. It must name its ``spec`` if none is given.
    """
    found = _judges.get((machine, spec))
    if found is None:
        found = _judges[machine, spec] = Judge(
            spec_of(machine) if spec is None else spec,
            hidden=_said(machine, "hidden", ()),
            hidden_max=_said(machine, "hidden_max", 8),
            invariants=_said(machine, "invariants", None),
            properties=_said(machine, "properties", None),
            limit_s=_said(machine, "limit_s", LIMIT_S),
        )
    return found


def spec_of(machine: type) -> Spec:
    """Return the spec that a class names; ``KraflaError`` if it names none."""
    spec = _said(machine, "spec", None)
    if isinstance(spec, Spec):
        return spec
    if spec is None:
        raise KraflaError(f'{machine.__name__} names no spec: give it spec = "specs/Lock.tla"')
    module = sys.modules.get(machine.__module__)
    file = getattr(module, "__file__", None)
    folder = Path.cwd() if file is None else Path(file).parent
    cfg = _said(machine, "cfg", None)
    constants = _said(machine, "constants", None)
    return loaded(folder / spec, constants, None if cfg is None else folder / cfg)


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
        given = tuple(
            (name, value_of(one, {}, f"the constant {name}"))
            for name, one in sorted(constants.items())
        )
    return _loaded(path, given, cfg)


@lru_cache(maxsize=32)
def _loaded(path: Path, constants: tuple[tuple[str, Value], ...] | None, cfg: Path | None) -> Spec:
    return Spec.load(path, None if constants is None else dict(constants), cfg=cfg)


def _said(machine: type, name: str, default: Any) -> Any:
    return getattr(machine, name, default)
