"""The controller registrations of a history, stepped through RegistrationLog.tla.

A RegisterControllerRecord, a FeatureLevelRecord of metadata.version and a VotersRecord are one
action each. The writer of a feature record is the leader of its epoch. No log shows which process
of the leader wrote it, so that process is assumed to support the level.

Spec: RegistrationLog!Next, RegistrationLog!RegisterController, RegistrationLog!UpgradeFeature,
RegistrationLog!ChangeVoters, RegistrationLog!RegisteredAboveGateInv.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from krafla.audit.entities import ranges_of
from krafla.audit.image import METADATA_VERSION
from krafla.audit.mapping import LogStep, Place
from krafla.audit.refusals import false_conjuncts, refusal
from krafla.audit.result import Evidence, Finding, Weight
from krafla.audit.specs import REGISTRATIONS, state_in
from krafla.values import Function, ModelValue, function, record
from kraft.records.control_schemas import KRAFT_VOTERS, LEADER_CHANGE
from kraft.records.metadata_schemas import FEATURE_LEVEL, REGISTER_CONTROLLER

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from krafla.audit.entities import Ranges
    from krafla.audit.image import Image
    from krafla.audit.specs import LoadingSpec
    from krafla.testing import State
    from krafla.values import Value
    from kraft.records.batch import RecordBatch
    from kraft.records.record import MetadataRecord

REGISTRATION_API_KEYS: Final = frozenset({REGISTER_CONTROLLER.api_key, FEATURE_LEVEL.api_key})
"""The metadata records that may be an action of RegistrationLog.tla."""
GATED: Final = "RegisteredAboveGateInv"
_UNKNOWN: Final = -1
"""The writer before the log names a leader, and the only voter before it names the voters."""
LOWERED: Final = "a metadata version that is lowered"
SAID_AGAIN: Final = "a metadata version that is written again"
_NO_VERSION: Final = 0


class RegistrationRun:
    """The run of a history's controller registrations in RegistrationLog, from an image on.

    `taken` counts steps, `passed_over` the records without an action in the spec, by kind.
    """

    def __init__(self, loading: LoadingSpec, start: int, image: Image) -> None:
        self._loading = loading
        self._start = start
        self._queue: list[LogStep | dict[str, Value]] = [_known(image)]
        self._state: State | Mapping[str, Value] | None = None
        self._writer = _UNKNOWN
        self.taken = 0
        self.passed_over: Counter[str] = Counter()

    def note_control(self, batch: RecordBatch) -> None:
        """Note the leader and the voters that a batch of control records names."""
        for found in batch.control_records():
            if found.control_type == LEADER_CHANGE.api_key:
                self._writer = found.fields["leaderId"]
            elif found.control_type == KRAFT_VOTERS.api_key:
                voters = frozenset(voter["voterId"] for voter in found.fields["voters"])
                place = Place(batch.path, found.position, None)
                named = (("new_voters", voters),)
                self._queue.append(LogStep("ChangeVoters", named, found.offset, place))

    def note(self, found: MetadataRecord, path: Path | None) -> None:
        """Note a record of `REGISTRATION_API_KEYS`."""
        place, fields = Place(path, found.position, found), found.fields
        if found.api_key == REGISTER_CONTROLLER.api_key:
            parameters: tuple[tuple[str, Value], ...] = (
                ("c", int(fields["controllerId"])),
                ("incarnation", str(fields["incarnationId"])),
                ("supported", _levels(ranges_of(fields))),
            )
            self._queue.append(LogStep("RegisterController", parameters, found.offset, place))
        elif fields["name"] == METADATA_VERSION:
            level = int(fields["featureLevel"])
            parameters = (
                ("writer", self._writer), ("supported", frozenset({level})), ("level", level)
            )  # fmt: skip
            self._queue.append(LogStep("UpgradeFeature", parameters, found.offset, place))

    def go_back(self, image: Image) -> None:
        """Continue from the image before an aborted transaction."""
        self._queue.append(_known(image))

    def take(self) -> Finding | None:
        """Take the queued steps; return the first violation, if any."""
        queue, self._queue = self._queue, []
        for step in queue:
            found = self._take(step) if isinstance(step, LogStep) else self._begin(step)
            if found is not None:
                return found
        return None

    def _begin(self, known: dict[str, Value]) -> Finding | None:
        spec = self._loading.get(REGISTRATIONS)
        voters = frozenset({_UNKNOWN}) if self._state is None else self._state["voters"]
        self._state = spec.state({**known, "voters": voters})
        if spec.check_invariant(GATED, self._state):
            return None
        false = false_conjuncts(spec.explain_invariant(GATED, self._state).reasons)
        rule = f"{REGISTRATIONS}!{GATED}"
        statement = "no controller is registered while the metadata version has no registrations"
        source = false[0].place if false else REGISTRATIONS
        evidence = Evidence(rule, statement, source, false=false)
        return Finding(
            Weight.VIOLATION, rule, f"{GATED} is false", offset=self._start, evidence=evidence
        )

    def _take(self, step: LogStep) -> Finding | None:
        spec = self._loading.get(REGISTRATIONS)
        before = state_in(spec, self._state)
        named: dict[str, Any] = dict(step.parameters)
        if step.action == "UpgradeFeature":
            return self._upgrade(step, before, named["level"])
        if step.action == "ChangeVoters" and before["voters"] == frozenset({_UNKNOWN}):
            # The first VotersRecord of a history sets the voters as Init does; it is no step.
            self._state = spec.rebind(before, {"voters": named["new_voters"]})
            return None
        if step.action == "RegisterController":
            before = self._with(before, named["c"])
        return self._step(step, before)

    def _upgrade(self, step: LogStep, before: State, level: int) -> Finding | None:
        spec, known = self._loading.get(REGISTRATIONS), before["metadata_version"]
        assert isinstance(known, int), "a metadata version is a number"
        if known == _NO_VERSION or level <= known:
            # Init begins at the first version. Kafka can lower a version, or write it again for
            # an update to the same version; the spec cannot.
            self._state = spec.rebind(before, {"metadata_version": level})
            if known != _NO_VERSION:
                self.passed_over[LOWERED if level < known else SAID_AGAIN] += 1
            return None
        if dict(step.parameters)["writer"] != _UNKNOWN:
            return self._step(step, before)
        others = [
            step._replace(parameters=(("writer", c), *step.parameters[1:]))
            for c in sorted(_registrations(before))
        ]
        could = [one for one in others if spec.outcomes(before, one.action, *_values(one))]
        return self._step(could[0] if could else step, before)

    def _step(self, step: LogStep, before: State) -> Finding | None:
        spec = self._loading.get(REGISTRATIONS)
        found = spec.outcomes(before, step.action, *_values(step))
        if not found:
            return refusal(spec, step, before)
        self._state = found[0]
        self.taken += 1
        return None

    def _with(self, before: State, controller: int) -> State:
        """Return the state with a controller among the controllers of the spec."""
        known = _registrations(before)
        if controller in known:
            return before
        registrations = function({**known, controller: ModelValue("Nil")})
        return self._loading.get(REGISTRATIONS).rebind(before, {"registrations": registrations})


def _values(step: LogStep) -> list[Value]:
    return [value for _, value in step.parameters]


def _registrations(state: State) -> dict[Any, Value]:
    registrations = state["registrations"]
    if isinstance(registrations, tuple):
        return dict(enumerate(registrations, 1))
    assert isinstance(registrations, Function), "registrations are a function"
    return dict(registrations)


def _levels(ranges: Ranges) -> frozenset[int]:
    """Return the metadata versions that a controller's registration supports."""
    return frozenset(
        level for name, low, high in ranges if name == METADATA_VERSION
        for level in range(low, high + 1)
    )  # fmt: skip


def _known(image: Image) -> dict[str, Value]:
    registrations = {
        controller: record(incarnation=incarnation, supported=_levels(ranges))
        for controller, (incarnation, ranges) in image.entities.controllers.items()
    }
    version = image.metadata_version
    return {
        "registrations": function(registrations),
        "metadata_version": _NO_VERSION if version is None else version,
    }
