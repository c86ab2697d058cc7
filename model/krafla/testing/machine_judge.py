"""The judge of a machine's class: its spec, as the class names it, is loaded once."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from krafla.oracle import Spec
from krafla.testing.judge import LIMIT_S, Judge
from krafla.verdict import KraflaError

__all__ = ["judge_of", "spec_of"]

_judges: dict[type, Judge] = {}


def judge_of(machine: type) -> Judge:
    """Return the judge that others of the class are made from by ``fresh``.

    The class has the attributes of a ``SpecMachine``; only ``spec`` is needed.
    """
    found = _judges.get(machine)
    if found is None:
        found = _judges[machine] = Judge(
            spec_of(machine),
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
    return Spec.load(folder / spec, constants, cfg=None if cfg is None else folder / cfg)


def _said(machine: type, name: str, default: Any) -> Any:
    return getattr(machine, name, default)
