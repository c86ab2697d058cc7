"""Every invariant that a module of the audit defines."""

from __future__ import annotations

import pkgutil
from importlib import import_module

import krafla.audit
from krafla.audit.result import Invariant

MODULES = tuple(
    import_module(f"krafla.audit.{one.name}")
    for one in pkgutil.iter_modules(krafla.audit.__path__)
    if not one.ispkg
)


def known_invariants() -> list[Invariant]:
    """Return the invariants of all modules, alone or in a tuple there; each once."""
    values = [value for module in MODULES for value in vars(module).values()]
    members = [one for value in values for one in (value if isinstance(value, tuple) else (value,))]
    found = {id(one): one for one in members if isinstance(one, Invariant)}
    return list(found.values())
