"""Every invariant that a module of the audit defines."""

from __future__ import annotations

from krafla.audit import (
    epoch_files,
    image_checks,
    invariants,
    invariants_features,
    invariants_log,
    invariants_others,
    invariants_partitions,
    invariants_reassignment,
    invariants_topics,
    invariants_written,
    min_insync_replicas,
    snapshots,
)
from krafla.audit.result import Invariant

MODULES = (
    epoch_files,
    image_checks,
    invariants,
    invariants_features,
    invariants_log,
    invariants_others,
    invariants_partitions,
    invariants_reassignment,
    invariants_topics,
    invariants_written,
    min_insync_replicas,
    snapshots,
)


def known_invariants() -> list[Invariant]:
    """Return the invariants of all modules, alone or in a tuple there; each once."""
    values = [value for module in MODULES for value in vars(module).values()]
    members = [one for value in values for one in (value if isinstance(value, tuple) else (value,))]
    found = {id(one): one for one in members if isinstance(one, Invariant)}
    return list(found.values())
