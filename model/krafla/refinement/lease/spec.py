"""BrokerLease, loaded once in a process for each vocabulary, and its judges."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from krafla.oracle.loader import find_module
from krafla.refinement.common.judged_spec import JudgedSpec
from krafla.refinement.common.loading import load_pinned
from krafla.refinement.common.lockstep import Judge
from krafla.refinement.lease.mapping import LeaseMapping
from krafla.refinement.lease.properties import MODULE, read_properties
from krafla.refinement.lease.vocabulary import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from krafla.testing import Spec
    from kraft.sim.lease.configuration import Configuration

__all__ = ["MODULE", "judge", "load", "load_for"]

_LOADED = 12

_Constants: TypeAlias = "tuple[tuple[tuple[str, str], ...], Path | None]"
_loaded: dict[_Constants, tuple[Spec, LeaseMapping]] = {}
_judged: dict[tuple[_Constants, tuple[str, ...]], JudgedSpec[LeaseMapping]] = {}


def judge(configuration: Configuration, also: Collection[str] = ()) -> Judge:
    """Return the judge of one run; ``also`` names conditional properties to judge as well."""
    return Judge(load(configuration, also))


def load(configuration: Configuration, also: Collection[str] = ()) -> JudgedSpec[LeaseMapping]:
    """Return BrokerLease with the constants of a configuration.

    ``also`` names properties to judge as well that hold in some configurations only.
    """
    return load_for(Vocabulary.of(configuration), also)


def load_for(
    vocabulary: Vocabulary, also: Collection[str] = (), path: Path | None = None
) -> JudgedSpec[LeaseMapping]:
    """Return BrokerLease with the constants of a vocabulary, loaded once in this process.

    ``also`` names conditional properties to judge as well; ``path`` is the folder of another copy
    of the spec.
    """
    constants = (vocabulary.key(), path)
    key = (constants, tuple(sorted(also)))
    known = _judged.get(key)
    if known is None:
        properties = read_properties(find_module(MODULE, path), also)
        spec, mapping = _loaded.get(constants) or _load(vocabulary, path)
        judged = JudgedSpec(MODULE, vocabulary.constants, spec, properties, mapping)
        known = _judged[key] = judged
    return known


def _load(vocabulary: Vocabulary, path: Path | None) -> tuple[Spec, LeaseMapping]:
    spec = load_pinned(MODULE, vocabulary.constants, path=path)
    if len(_loaded) >= _LOADED:
        oldest = next(iter(_loaded))
        del _loaded[oldest]
        for key in [key for key in _judged if key[0] == oldest]:
            del _judged[key]
    loaded = _loaded[vocabulary.key(), path] = spec, LeaseMapping(vocabulary)
    return loaded
