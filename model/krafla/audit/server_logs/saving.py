"""The joined trace of a cluster as a partial trace on disk, for the tools that read those.

It has every step of the explanation that was found: those that were seen, with their place and
time, as actions of ObservedLease, and those that nobody saw, without a place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from krafla.audit.server_logs.lease import MODULE, constants
from krafla.traces import Observation, PartialTrace
from krafla.traces.trace import INITIAL
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from krafla.audit.server_logs.candidate import Taken
    from krafla.audit.server_logs.judging import Judgement


def partial_trace(judged: Judgement) -> PartialTrace:
    """Return what was seen of a cluster, as far as it was explained.

    Raises KraflaError if the metadata log starts at a checkpoint: a partial trace starts in an
    initial state.
    """
    if judged.judged_from != 0:
        raise KraflaError(
            f"the metadata log is judged from offset {judged.judged_from} on, and a partial trace"
            " begins in an initial state: nothing was saved",
            str(judged.log),
        )
    taken = judged.taken
    observations = []
    while taken is not None:
        observations.append(_observation(taken))
        taken = taken.before
    observations.append(Observation(INITIAL, ()))
    values = constants(judged.streams.incarnations, judged.brokers, judged.settings)
    return PartialTrace(MODULE, tuple(reversed(observations)), tuple(sorted(values.items())))


def _observation(taken: Taken) -> Observation:
    sighting = taken.sighting
    if sighting is None:
        return Observation(taken.action, taken.parameters)
    place = "" if sighting.event is None else sighting.event.line.place
    if sighting.operation is not None and not place:
        place = f"{sighting.operation.path}@{sighting.operation.offset}"
    return Observation(taken.action, taken.parameters, (), place, sighting.time_ms)
