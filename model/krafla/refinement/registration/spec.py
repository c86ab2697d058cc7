"""ControllerRegistration, loaded once in a process for each configuration, and its judges."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from krafla.oracle.digest import spec_files
from krafla.oracle.loader import find_module
from krafla.oracle.properties import properties_of
from krafla.refinement.common.judged_spec import JudgedSpec
from krafla.refinement.common.loading import load_pinned
from krafla.refinement.common.lockstep import judge_by
from krafla.refinement.lease.vocabulary import NIL
from krafla.refinement.registration.mapping import RegistrationMapping
from krafla.traces.spec_text import SpecText
from krafla.values import function
from kraft.sim.registration.cluster import controllers_of

if TYPE_CHECKING:
    from kraft.sim.registration.cluster import Configuration

__all__ = ["MODULE", "constants_of", "judge", "left_out", "load"]

MODULE: Final = "ControllerRegistrationProperties"
# 3.7-IV0 (KIP-919). The judged code has a number of its own.
_GATE_LEVEL: Final = 15
_GATED: Final = "ControllerRegistration"
_GATE: Final = re.compile(r"^GateOpenFor\(i\) == .*$", re.MULTILINE)


def left_out(configuration: Configuration) -> frozenset[str]:
    """Return the properties of ControllerRegistration that the runs of a configuration may break.

    Each is false for a reason, which a model of specs/broken/registration shows.
    """
    names = set()
    by_controller: dict[int, int] = {}
    grows = True
    for one in configuration.processes:
        grows = grows and by_controller.get(one.controller_id, 0) <= one.highest_level
        by_controller[one.controller_id] = one.highest_level
    is_static = set(configuration.quorum_ids) == set(controllers_of(configuration))
    is_open = min(configuration.levels) >= _GATE_LEVEL
    if not (is_static and is_open and grows) or configuration.changes_voters:
        # DynamicQuorum, BlindUpgrade, OlderSoftware, UnregisterUpgradeRace
        names.add("UpgradeSupportedByAllInv")
    if configuration.eager:
        names.add("SentOnlyWhenNeededProp")  # MCControllerRegistrationEager
    return frozenset(names)


def constants_of(configuration: Configuration) -> dict[str, Any]:
    """Return the constants of ControllerRegistration; a process is its incarnation id."""
    levels = configuration.levels
    processes = sorted(configuration.processes, key=lambda one: one.incarnation_id)
    return {
        "Controller": frozenset(int(one) for one in controllers_of(configuration)),
        "Incarnation": frozenset(str(one.incarnation_id) for one in processes),
        "ControllerOf": function(
            (str(one.incarnation_id), int(one.controller_id)) for one in processes
        ),
        "Level": frozenset(levels),
        "GateLevel": _GATE_LEVEL,
        "Supported": function(
            (
                str(one.incarnation_id),
                frozenset(level for level in levels if level <= one.highest_level),
            )
            for one in processes
        ),
        "QuorumIds": frozenset(int(one) for one in configuration.quorum_ids),
        "Nil": NIL,
    }


@lru_cache(maxsize=12)
def load(configuration: Configuration) -> JudgedSpec[RegistrationMapping]:
    """Return ControllerRegistration with the constants of a configuration, and what must hold."""
    constants = constants_of(configuration)
    properties = properties_of(find_module(MODULE, None), left_out(configuration))
    eager = {"Eager(i)": "TRUE"} if configuration.eager else {}
    replaced = {"GateOpenFor": "Eager"} if configuration.eager else {}
    spec = load_pinned(MODULE, constants, expressions=eager, replacements=replaced)
    mapping = RegistrationMapping(configuration)
    text = _eager_text() if configuration.eager else None
    return JudgedSpec(MODULE, constants, spec, properties, mapping, text)


def _eager_text() -> SpecText:
    """Return the spec in which the gate is open, as it judges eager runs."""
    modules = {
        name: file.read_text(encoding="utf-8") for name, file in sorted(spec_files(MODULE).items())
    }
    modules[_GATED], count = _GATE.subn("GateOpenFor(i) == TRUE", modules[_GATED])
    assert count == 1, f"{_GATED} defines the gate in one line"
    return SpecText(MODULE, tuple(modules.items()))


judge: Final = judge_by(load)
"""Makes the judge of one run of a configuration."""
