"""The control records of a history and the epochs of its batches, stepped through RaftLog.tla.

A LeaderChangeMessage, a KRaftVersionRecord, a KRaftVotersRecord and each record that begins, ends
or aborts a transaction are one action. Other metadata records leave the spec's state alone, so a
run of them under one epoch is one step. A history that starts from a checkpoint starts with what
the checkpoint says; later checkpoints are steps of their own.

Spec: RaftLog!Next, RaftLog!BeginEpoch, RaftLog!WriteVersion, RaftLog!WriteVoters,
RaftLog!AbortTransaction, RaftLog!OtherRecord, RaftLog!ReadCheckpoint.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from krafla.audit.mapping import LogStep, Place
from krafla.audit.refusals import refusal, violation_at
from krafla.audit.result import Evidence, Finding, Weight
from krafla.audit.specs import RAFT, state_in
from krafla.audit.voters import Told, checkpoint_objection, told_of, voters_objection
from krafla.values import ModelValue, record
from kraft.errors import CorruptRecordError, UnreadableFileError
from kraft.ids import ZERO_UUID
from kraft.log.checkpoint import read_checkpoint
from kraft.records.control_schemas import (
    CONTROL_SCHEMAS,
    KRAFT_VERSION,
    KRAFT_VOTERS,
    LEADER_CHANGE,
)
from kraft.records.metadata_schemas import ABORT_TRANSACTION, BEGIN_TRANSACTION, END_TRANSACTION

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from krafla.audit.specs import LoadingSpec
    from krafla.testing import State
    from krafla.values import Value
    from kraft.records.batch import RecordBatch
    from kraft.records.record import ControlRecord, MetadataRecord

_TRANSACTIONS: Final = {
    BEGIN_TRANSACTION.api_key: "BeginTransaction",
    END_TRANSACTION.api_key: "EndTransaction",
    ABORT_TRANSACTION.api_key: "AbortTransaction",
}
_KNOWN_VERSION: Final = 1
"""The highest kraft.version that the spec knows. Kafka: KRaftVersion."""
_CHECKPOINT: Final = "ReadCheckpoint"
_NIL: Final = ModelValue("Nil")
_NO_VOTERS: Final[frozenset[Any]] = frozenset()


class Formatted(NamedTuple):
    """What a checkpoint says of Raft: its epoch, its kraft.version, and its voters."""

    epoch: int
    version: int
    voters: tuple[Mapping[str, Any], ...]


class RaftRun:
    """The run of a history's control records in RaftLog, from offset 0 or a checkpoint on.

    The endpoints and ranges of voters, which the spec does not model, are compared beside them.
    `taken` counts steps, `judged` records. `aside` has the violations of checkpoints, which stop
    nothing; `doubt` is the finding, if any, that the spec does not know a kraft.version.
    """

    def __init__(self, loading: LoadingSpec, start: int, checkpoint: Path | None) -> None:
        self._loading = loading
        self._state: State | Mapping[str, Value] | None = None
        self._queue: list[LogStep | Finding] = []
        self._quiet_epoch: int | None = None
        self._begins = Formatted(0, 0, ())
        self._told: Told = {}
        self.taken = 0
        self.judged = 0
        self.aside: list[Finding] = []
        self.doubt: Finding | None = None
        # With 0-0.checkpoint a node was formatted; another one may have led first.
        found = None if checkpoint is None or start == 0 else formatted(checkpoint)
        if found is not None and checkpoint is not None:
            self._begins = found
            self._checkpoint_step(checkpoint, found, start)

    def note_control(self, batch: RecordBatch) -> None:
        """Note the control records of a batch, if it has any.

        Raises CorruptRecordError, or a subclass, for a bad record.
        """
        for found in batch.control_records():
            self.judged += 1
            self._add(self._step_of(batch, found))
            if found.control_type == KRAFT_VOTERS.api_key:
                place = Place(batch.path, found.position, None)
                told = told_of(found.fields["voters"])
                self._compare(told, voters_objection(self._told, told), "WriteVoters",
                              found.offset, place)  # fmt: skip

    def note(
        self,
        batch: RecordBatch,
        records: Iterable[MetadataRecord],
        counts: Mapping[tuple[int, int], int],
    ) -> None:
        """Note the metadata records of a batch, which are of the types in `counts`."""
        if batch.is_control:
            return
        self.judged += batch.count
        place = Place(batch.path, batch.position, None)
        unsaid = batch.base_offset
        if any(key in _TRANSACTIONS for key, _ in counts):
            for found in records:
                action = _TRANSACTIONS.get(found.api_key)
                if action is None:
                    continue
                if found.offset > unsaid:
                    self._add_other(batch, unsaid, place)
                here = Place(batch.path, found.position, found)
                parameters: tuple[tuple[str, Value], ...] = (("e", batch.leader_epoch),)
                self._add(LogStep(action, parameters, found.offset, here))
                unsaid = found.offset + 1
        if unsaid < batch.next_offset:
            self._add_other(batch, unsaid, place)

    def note_checkpoint(self, path: Path, offset: int) -> None:
        """Note a checkpoint whose end offset the history has reached.

        One that ends at offset 0 says with which voters a node was formatted. If another node led
        the first epoch, the log need not begin with those.
        """
        found = formatted(path) if offset else None
        if found is not None:
            self._checkpoint_step(path, found, offset)

    def take(self) -> Finding | None:
        """Take the queued steps; return the first violation, if any."""
        queue, self._queue = self._queue, []
        if self.doubt is not None:
            return None
        for step in queue:
            found = step if isinstance(step, Finding) else self._take(step)
            if found is None:
                continue
            if found.weight is Weight.INCONCLUSIVE:
                self.doubt = found
                return None
            if found.kind != f"{RAFT}!{_CHECKPOINT}":
                return found
            self.aside.append(found)
        return None

    def _take(self, step: LogStep) -> Finding | None:
        spec = self._loading.get(RAFT)
        before = self._first_state() if self._state is None else state_in(spec, self._state)
        found = spec.outcomes(before, step.action, *(value for _, value in step.parameters))
        if not found:
            return refusal(spec, step, before)
        self._state = found[0]
        self.taken += 1
        return None

    def _first_state(self) -> State:
        return self._loading.get(RAFT).state(
            {
                "epoch": self._begins.epoch,
                "leader": _NIL,
                "granting": _NO_VOTERS,
                "kraft_version": self._begins.version,
                "voters": _NO_VOTERS,
                "transaction": "None",
                "last": "Nothing",
            }
        )

    def _add(self, step: LogStep | Finding) -> None:
        self._queue.append(step)
        self._quiet_epoch = None

    def _add_other(self, batch: RecordBatch, offset: int, place: Place) -> None:
        if self._quiet_epoch == batch.leader_epoch:
            return
        parameters: tuple[tuple[str, Value], ...] = (("e", batch.leader_epoch),)
        self._queue.append(LogStep("OtherRecord", parameters, offset, place))
        self._quiet_epoch = batch.leader_epoch

    def _checkpoint_step(self, path: Path, found: Formatted, offset: int) -> None:
        place = Place(path, 0, None)
        voters = _voters(found.voters)
        if found.version > _KNOWN_VERSION:
            self._queue.append(_unknown_version(found.version, offset, place))
        elif voters is None:
            self._queue.append(_twice(_CHECKPOINT, offset, place))
        else:
            parameters: tuple[tuple[str, Value], ...] = (
                ("version", found.version), ("set", voters)
            )  # fmt: skip
            self._queue.append(LogStep(_CHECKPOINT, parameters, offset, place))
            told = told_of(found.voters)
            said = checkpoint_objection(self._told, told)
            self._compare(self._told or told, said, _CHECKPOINT, offset, place)

    def _compare(
        self, told: Told, said: str | None, action: str, offset: int, place: Place
    ) -> None:
        """Keep what was told of voters; queue the finding, if any, that it may not be told."""
        self._told = told
        if said is not None:
            self._queue.append(_no_action(LogStep(action, (), offset, place), said))

    def _step_of(self, batch: RecordBatch, found: ControlRecord) -> LogStep | Finding:
        """Return the action of a control record, or the finding that it is none."""
        place, fields, offset = Place(batch.path, found.position, None), found.fields, found.offset
        epoch: tuple[str, Value] = ("e", batch.leader_epoch)
        if found.control_type == LEADER_CHANGE.api_key:
            listed, granted = _voters(fields["voters"]), _voters(fields["grantingVoters"])
            if listed is None or granted is None:
                return _twice("BeginEpoch", offset, place)
            leader: tuple[str, Value] = ("new_leader", int(fields["leaderId"]))
            voters: tuple[tuple[str, Value], ...] = (("listed", listed), ("granted", granted))
            return LogStep("BeginEpoch", (epoch, leader, *voters), offset, place)
        if found.control_type == KRAFT_VERSION.api_key:
            version = int(fields["kRaftVersion"])
            if version > _KNOWN_VERSION:
                return _unknown_version(version, offset, place)
            return LogStep("WriteVersion", (epoch, ("version", version)), offset, place)
        if found.control_type == KRAFT_VOTERS.api_key:
            new = _voters(fields["voters"])
            if new is None:
                return _twice("WriteVoters", offset, place)
            return LogStep("WriteVoters", (epoch, ("set", new)), offset, place)
        name = CONTROL_SCHEMAS[found.control_type].name
        step = LogStep("Next", (), offset, place)
        return _no_action(step, f"a {name} record stands in checkpoints only")


def formatted(path: Path) -> Formatted | None:
    """Return what the control records at the start of a checkpoint say.

    None for a checkpoint that cannot be read: that is a finding of its own.
    """
    version, voters, epoch = 0, (), 0
    try:
        for batch in read_checkpoint(path):
            epoch = batch.leader_epoch
            if not batch.is_control:
                break
            for found in batch.control_records():
                if found.control_type == KRAFT_VERSION.api_key:
                    version = int(found.fields["kRaftVersion"])
                elif found.control_type == KRAFT_VOTERS.api_key:
                    voters = found.fields["voters"]
    except (CorruptRecordError, UnreadableFileError):
        return None
    return Formatted(epoch, version, tuple(voters))


def _voters(listed: Iterable[Mapping[str, Any]]) -> frozenset[Any] | None:
    """Return the voters of a record as the spec's set; None if one is listed twice."""
    every = [
        record(id=int(voter["voterId"]), directory=_directory(voter.get("voterDirectoryId")))
        for voter in listed
    ]
    return frozenset(every) if len(set(every)) == len(every) else None


def _directory(directory: str | None) -> Value:
    return _NIL if directory in (None, ZERO_UUID) else str(directory)


def _no_action(step: LogStep, said: str) -> Finding:
    """Return the violation that a control record is no action of the spec."""
    evidence = Evidence(
        rule=f"{RAFT}!{step.action}",
        statement="every control record is one action of the spec",
        source=RAFT,
        action=step.action,
    )
    return violation_at(step, said, evidence)


def _twice(action: str, offset: int, place: Place) -> Finding:
    return _no_action(LogStep(action, (), offset, place), "the record lists a voter twice")


def _unknown_version(version: int, offset: int, place: Place) -> Finding:
    return Finding(
        Weight.INCONCLUSIVE,
        "kraft.version not known",
        f"RaftLog knows kraft.version 0 and 1, not {version}, and does not judge from here on",
        place.path,
        place.position,
        offset,
    )
