"""Steps by hand that break a property of controllers, each beside one that does not."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from immutables import Map
from msgspec.structs import replace
from tests.krafla.fuzz.stack.test_stack_checks import (
    END,
    EPOCH,
    FIRST,
    LED_BY_ONE,
    ONE,
    TOKEN,
    TOPIC,
    TWO,
    WITH_TWO,
    answers,
    asked,
    process,
)

from krafla.fuzz.engine.violation import Violated
from krafla.fuzz.stack.checks import PROPERTIES
from krafla.fuzz.stack.committed_log import CommittedLog
from krafla.fuzz.stack.controller_checks import ControllerChecks
from krafla.fuzz.stack.progress_checks import _check_first_records
from krafla.fuzz.stack.soft_state_checks import (
    _PATIENCE,
    SoftStateChecks,
    _check_directories,
    _check_leaving,
    _check_stale,
    _Tenure,
)
from krafla.fuzz.stack.token_checks import _PATIENCE as TOKEN_PATIENCE
from krafla.fuzz.stack.token_checks import TokenChecks
from kraft.controller import effects as does
from kraft.controller import events
from kraft.controller.configuration import Configuration
from kraft.controller.memory import Memory
from kraft.controller.operations.defaults import Defaults
from kraft.controller.operations.written import Written
from kraft.controller.state import NO_EPOCH
from kraft.errors import ErrorCode
from kraft.ids import DirectoryId, NodeId, Offset, OffsetAndEpoch
from kraft.image.entries import BrokerRegistration, DelegationToken
from kraft.image.metadata_image import EMPTY_IMAGE, METADATA_VERSION, MetadataImage
from kraft.image.replay import replay
from kraft.records.cluster import AbortTransactionRecord, FeatureLevelRecord
from kraft.records.lease import UNFENCE, BrokerRegistrationChangeRecord
from kraft.records.security import DelegationTokenRecord
from kraft.records.topics import RECOVERING, PartitionChangeRecord
from kraft.rpc import BrokerHeartbeatRequest, BrokerHeartbeatResponse
from kraft.rpc.envelope import ANONYMOUS
from kraft.rpc.topics import CreatableTopic, CreateTopicsRequest, CreateTopicsResponse
from kraft.sim.raft.steps import ListenerStep

if TYPE_CHECKING:
    from collections.abc import Callable

NOW_MS, SESSION_MS = 100_000, 9_000
FAILED = DirectoryId("failed")
LEADER = NodeId(1)


def log_of(image: MetadataImage) -> CommittedLog:
    committed_log = CommittedLog()
    committed_log.end = END
    committed_log.ends.add(END)
    committed_log.stable_images[END] = image
    return committed_log


def shows(event: Any, claim: int, before_end: int, image: MetadataImage) -> None:
    """Check a step by which a controller shows an image at the end of a log of WITH_TWO."""
    ends = {"write_end": END, "committed_end": END, "claim_epoch": claim}
    timeline = {END: Memory(Written(image, end=END))}
    written = Memory(Written(image, end=END))
    before = SimpleNamespace(**ends, stable_end=before_end, timeline=timeline, written=written)
    after = SimpleNamespace(**ends, stable_end=END, timeline=timeline, written=written)
    step = ListenerStep("controller", before, event, after)
    ControllerChecks(log_of(WITH_TWO)).check(process(), step)


def standby(*, is_wrong: bool) -> None:
    shows(events.BatchesCommitted(0, ()), NO_EPOCH, END, LED_BY_ONE if is_wrong else WITH_TWO)


def active(*, is_wrong: bool) -> None:
    event = events.AppendRefused(0, 1)
    shows(event, 1, END - 1, LED_BY_ONE if is_wrong else WITH_TWO)


def snapshot(*, is_wrong: bool) -> None:
    records = (FeatureLevelRecord(METADATA_VERSION, 27),)
    image = WITH_TWO if is_wrong else replay(EMPTY_IMAGE, records)
    checks = ControllerChecks(log_of(image))
    checks.check_snapshot(does.CreateSnapshot(OffsetAndEpoch(END, 1), records, 27))


def snapshot_of_nothing(*, is_wrong: bool) -> None:
    records = () if is_wrong else (FeatureLevelRecord(METADATA_VERSION, 27),)
    checks = ControllerChecks(log_of(replay(EMPTY_IMAGE, records)))
    checks.check_snapshot(does.CreateSnapshot(OffsetAndEpoch(END, 1), records, 27))


def asks_for_nothing(*, is_wrong: bool) -> None:
    answer = None if is_wrong else CreateTopicsResponse(())
    step = asked(WITH_TWO, CreateTopicsRequest(()), answer)
    step = step._replace(effects=step.effects if answer is not None else ())
    ControllerChecks(log_of(WITH_TWO)).check(process(), step)


def only_validates(*, is_wrong: bool) -> None:
    request = CreateTopicsRequest((CreatableTopic("new", 1, 1),), validate_only=is_wrong)
    step = asked(WITH_TWO, request, None)._replace(effects=(does.Append(1, END, (), 27),))
    ControllerChecks(log_of(WITH_TWO)).check(process(), step)


def fails(*, is_wrong: bool) -> None:
    code = ErrorCode.UNKNOWN_SERVER_ERROR if is_wrong else ErrorCode.REQUEST_TIMED_OUT
    request = CreateTopicsRequest((CreatableTopic("new", 1, 1),))
    step = asked(WITH_TWO, request, does.Failure(code, "a division by zero"))
    ControllerChecks(log_of(WITH_TWO)).check(process(), step)


def elects_uncleanly(*, is_wrong: bool) -> None:
    recovery = RECOVERING if is_wrong else None
    record = PartitionChangeRecord(
        FIRST, TOPIC, isr=(TWO,), leader=TWO, leader_recovery_state=recovery
    )
    request = CreateTopicsRequest((CreatableTopic("new", 1, 1),))
    step = asked(WITH_TWO, request, None)._replace(effects=(does.Append(1, END, (record,), 27),))
    step.after.configuration.defaults = Defaults(LEADER)
    ControllerChecks(log_of(WITH_TWO)).check(process(), step)


def sends_away(*, is_wrong: bool) -> None:
    code = ErrorCode.NOT_CONTROLLER if is_wrong else ErrorCode.REQUEST_TIMED_OUT
    request = CreateTopicsRequest((CreatableTopic("new", 1, 1),))
    step = asked(WITH_TWO, request, does.Failure(code, "whatever it is"))
    answers(WITH_TWO).check(process(), step)


def claims(*, is_wrong: bool) -> None:
    """Check what a new active controller writes into a log that has begun."""
    image = replace(WITH_TWO, features=Map({"metadata.version": 27}))
    before = SimpleNamespace(claim_epoch=NO_EPOCH, written=Memory(Written(image, end=END)))
    effects = (does.Append(1, END, (AbortTransactionRecord("no leader"),), 27),)
    event = events.LeaderChanged(0, 1, LEADER)
    after = SimpleNamespace(claim_epoch=1)
    _check_first_records(
        ListenerStep("controller", before, event, after, effects if is_wrong else ())
    )


def heartbeat(**wishes: bool) -> BrokerHeartbeatRequest:
    wishes = {"want_fence": False, "want_shut_down": False} | wishes
    return BrokerHeartbeatRequest(ONE, EPOCH, Offset(6), offline_log_dirs=(FAILED,), **wishes)


def loses_directory(*, is_wrong: bool) -> None:
    """Check a heartbeat that reports a failed directory; the broker has another."""
    left = (DirectoryId("d"), FAILED) if is_wrong else (DirectoryId("d"),)
    registration = BrokerRegistration(EPOCH, "incarnation", fenced=False, directories=left)
    image = replace(WITH_TWO, brokers=WITH_TWO.brokers.set(ONE, registration))
    request = heartbeat()
    _check_directories(asked(image, request, BrokerHeartbeatResponse(is_fenced=False)), request)


def leaving(read: int, *, granted: bool) -> None:
    """Check the answer to broker 1, which wants to shut down; broker 2 has read up to an offset."""
    at = ONE, EPOCH
    tenure = _Tenure(
        leaving={at: 8}, reported={TWO: read}, last_reported={(TWO, EPOCH): read, at: 8}
    )
    _check_leaving(tenure, WITH_TWO, at, granted=granted, leads=False)


def granted_early(*, is_wrong: bool) -> None:
    leaving(7 if is_wrong else 8, granted=True)


def granted_late(*, is_wrong: bool) -> None:
    leaving(8 if is_wrong else 7, granted=False)


def stays_unfenced(*, is_wrong: bool) -> None:
    """Wake a controller until broker 1 should be fenced, and once more."""
    defaults = SimpleNamespace(broker_session_timeout_ms=SESSION_MS)
    state: Any = SimpleNamespace(
        written=Memory(Written(WITH_TWO, end=END)),
        configuration=SimpleNamespace(defaults=defaults),
    )
    tenure = _Tenure(contacts={(ONE, EPOCH): NOW_MS - SESSION_MS - 1, (TWO, EPOCH): NOW_MS})
    for _ in range(_PATIENCE + is_wrong):
        _check_stale(tenure, state, NOW_MS)


def unfences(*, is_wrong: bool) -> None:
    """Check the unfencing of broker 1 on a heartbeat; it has read up to offset 6."""
    checks = SoftStateChecks(CommittedLog())
    checks._registered[ONE, EPOCH] = 7 if is_wrong else 6
    record = BrokerRegistrationChangeRecord(ONE, EPOCH, fenced=UNFENCE)
    step = asked(WITH_TWO, heartbeat(), BrokerHeartbeatResponse(is_fenced=False))
    checks._record(_Tenure(), step, record)


def tokens_of(expires_ms: int, event: Any, effects: tuple[Any, ...], checks: TokenChecks) -> None:
    """Check a step of a controller that knows one token."""
    token = DelegationToken(ANONYMOUS, ANONYMOUS, (), 0, expires_ms, expires_ms)
    image = MetadataImage(delegation_tokens=Map({"id": token}))
    state: Any = SimpleNamespace(
        written=Memory(Written(image, end=END)), claim_epoch=1, deferred=(),
        configuration=Configuration(Defaults(LEADER)),
    )  # fmt: skip
    checks.check(process(), ListenerStep("controller", state, event, state, effects))


def keeps_expired(*, is_wrong: bool) -> None:
    """Wake a controller as often as it may be before an expired token must be gone."""
    checks = TokenChecks()
    for _ in range(TOKEN_PATIENCE + is_wrong):
        tokens_of(NOW_MS - 1, events.Poll(NOW_MS), (), checks)


def changes_token(*, is_wrong: bool) -> None:
    """Check a request about topics, with a record of the token."""
    request = CreateTopicsRequest((CreatableTopic("new", 1, 1),))
    event = events.RequestReceived(NOW_MS, TOKEN, request, kraft_version=1)
    record = DelegationTokenRecord(ANONYMOUS, ANONYMOUS, (), 0, NOW_MS, NOW_MS, "id")
    effects = (does.Append(1, END, (record,) if is_wrong else (), 27),)
    tokens_of(2 * NOW_MS, event, effects, TokenChecks())


HISTORIES: dict[str, Callable[..., None]] = {
    "ActiveAnswersProp": sends_away,
    "ActiveShowsCommittedInv": active,
    "ClaimWritesWhatIsMissingProp": claims,
    "EmptyIsAnsweredAtOnceProp": asks_for_nothing,
    "ExpiredTokenIsRemovedProp": keeps_expired,
    "LostDirectoryIsRecordedProp": loses_directory,
    "NothingWrittenByRefusedProp": only_validates,
    "OperationsDoNotFailProp": fails,
    "ShutdownGrantedInTimeProp": granted_late,
    "ShutdownSeenByAllProp": granted_early,
    "SnapshotAfterBootstrapProp": snapshot_of_nothing,
    "SnapshotIsFoldInv": snapshot,
    "StaleIsFencedProp": stays_unfenced,
    "StandbyShowsCommittedInv": standby,
    "TokenIsChangedByOwnersProp": changes_token,
    "UncleanOnlyWithLeaveProp": elects_uncleanly,
    "UnfencedOnlyCaughtUpProp": unfences,
}


@pytest.mark.parametrize(("name", "history"), HISTORIES.items(), ids=list(HISTORIES))
def test_a_step_that_breaks_a_property_is_caught_by_it_and_its_true_twin_is_not(name, history):
    history(is_wrong=False)
    with pytest.raises(Violated, match=f"^{name}: "):
        history(is_wrong=True)
    assert name in PROPERTIES
