"""Steps by hand that break a property of brokers, each beside one that does not."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from tests.krafla.fuzz.stack.test_stack_checks import (
    END,
    EPOCH,
    KEY,
    LED_BY_TWO,
    ONE,
    WITH_TWO,
)

from krafla.fuzz.engine.violation import Violated
from krafla.fuzz.stack.broker_checks import (
    BrokerChecks,
    _check_leading,
    _check_requests,
    _check_sends,
    _check_state,
)
from krafla.fuzz.stack.checks import PROPERTIES
from krafla.fuzz.stack.committed_log import CommittedLog
from kraft.broker.lease import BrokerLifecycle, BrokerState, RequestInFlight
from kraft.broker.lifecycle_manager import BrokerProcess, OfflineDirectory
from kraft.broker.partition_leader import view_of
from kraft.broker.partitions import BrokerPartitions
from kraft.broker.settings import BrokerSettings
from kraft.controller.memory import Memory
from kraft.controller.operations.written import Written
from kraft.ids import DirectoryId, IncarnationId
from kraft.rpc import BrokerHeartbeatResponse
from kraft.sim.raft.steps import ListenerStep
from kraft.sim.stack.broker_host import BrokerView

if TYPE_CHECKING:
    from collections.abc import Callable

    from kraft.image.metadata_image import MetadataImage

NOW_MS = 100_000
FAILED = DirectoryId("failed")
SETTINGS = BrokerSettings("cluster", (DirectoryId("d"), FAILED))
RUNNING = BrokerLifecycle(
    ONE, IncarnationId("incarnation"), state=BrokerState.RUNNING, broker_epoch=EPOCH
)
AWAITED = RequestInFlight(3, NOW_MS - 1)


def view(
    lifecycle: BrokerLifecycle = RUNNING, image: MetadataImage = WITH_TWO, **of_process: Any
) -> BrokerView:
    """Return a broker that leads what its image says, and sends its next heartbeat in time."""
    life = BrokerProcess(SETTINGS, lifecycle, EPOCH, communication_ms=NOW_MS + 1)
    leads = view_of(ONE, image.partitions[KEY])
    return BrokerView(
        replace(life, **of_process),
        Memory(Written(image, end=END)),
        {} if leads is None else {KEY: leads},
        frozenset(),
        BrokerPartitions(ONE),
        begun=True,
        now_ms=NOW_MS,
        disk=SimpleNamespace(),  # type: ignore[arg-type]  # no check here reads it
    )


def received(correlation_id: int | None) -> Any:
    message = None if correlation_id is None else SimpleNamespace(correlation_id=correlation_id)
    return SimpleNamespace(incarnation=1, received=message)


def step_to(after: BrokerView, event: Any = "due") -> ListenerStep:
    return ListenerStep("broker", None, event, after)


def leads_another(*, is_wrong: bool) -> None:
    image = LED_BY_TWO if is_wrong else WITH_TWO
    _check_leading(view()._replace(memory=Memory(Written(image, end=END))))


def leads_in_another_epoch(*, is_wrong: bool) -> None:
    shown = view()
    epoch = shown.leading[KEY].leader_epoch - is_wrong
    _check_leading(shown._replace(leading={KEY: replace(shown.leading[KEY], leader_epoch=epoch)}))


def leads_nothing(*, is_wrong: bool) -> None:
    shown = view()
    _check_leading(shown._replace(leading={} if is_wrong else shown.leading))


def falls_silent(*, is_wrong: bool) -> None:
    _check_sends(view(communication_ms=None if is_wrong else NOW_MS))


def unfences_itself(*, is_wrong: bool) -> None:
    """Check that a broker runs once the answer to its own request says that it is not fenced."""
    waits = replace(RUNNING, state=BrokerState.RECOVERY, request=AWAITED)
    answer = BrokerHeartbeatResponse(is_caught_up=True, is_fenced=is_wrong)
    before, after = view(waits), view()
    _check_state(before, after, received(AWAITED.correlation_id), step_to(after, answer))


def runs_on_the_answer_to_another(*, is_wrong: bool) -> None:
    waits = replace(RUNNING, state=BrokerState.RECOVERY, request=AWAITED)
    answer = BrokerHeartbeatResponse(is_caught_up=True, is_fenced=False)
    before, after = view(waits), view()
    _check_state(before, after, received(3 - is_wrong), step_to(after, answer))


def skips_a_state(*, is_wrong: bool) -> None:
    was = BrokerState.NOT_RUNNING
    now = BrokerState.RUNNING if is_wrong else BrokerState.STARTING
    before, after = view(replace(RUNNING, state=was)), view(replace(RUNNING, state=now))
    _check_state(before, after, received(None), step_to(after, "start"))


def shuts_down_later(*, is_wrong: bool) -> None:
    """Check that a broker that wants to shut down says so now."""
    wants = replace(RUNNING, state=BrokerState.PENDING_CONTROLLED_SHUTDOWN)
    after = view(wants, communication_ms=NOW_MS + is_wrong)
    _check_state(view(), after, received(None), step_to(after, "shutdown"))


def forgets_a_request(*, is_wrong: bool) -> None:
    """Check that a broker gives up a request only once a session has passed."""
    timeout_ms = SETTINGS.broker_session_timeout_ms
    sent = RequestInFlight(3, NOW_MS - timeout_ms + is_wrong)
    after = view()
    before = view(replace(RUNNING, request=sent))
    _check_requests(before, after, received(None), step_to(after))


def sends_two(*, is_wrong: bool) -> None:
    after = view(replace(RUNNING, next_correlation_id=1 + is_wrong))
    _check_requests(view(), after, received(None), step_to(after))


def hides_a_failure(*, is_wrong: bool) -> None:
    sent = replace(RUNNING, next_correlation_id=1)
    told = () if is_wrong else (FAILED,)
    failed = (OfflineDirectory(FAILED, NOW_MS),)
    after = view(sent, offline_directories=failed, reported=told)
    _check_requests(view(), after, received(None), step_to(after))


def forgets_an_isr(*, is_wrong: bool) -> None:
    """Check a leader that waits for an ISR, with and without a request for it."""
    shown = view()
    waits = {KEY: replace(shown.leading[KEY], pending=(ONE,))}
    after = shown._replace(leading=waits, asks=frozenset(() if is_wrong else (KEY,)))
    BrokerChecks(CommittedLog())._check_isr_requests(1, after, step_to(after))


HISTORIES: tuple[tuple[str, Callable[..., None]], ...] = (
    ("AskedIsAnsweredProp", forgets_an_isr),
    ("BrokerSpeaksInv", falls_silent),
    ("BrokerStatesProp", runs_on_the_answer_to_another),
    ("BrokerStatesProp", skips_a_state),
    ("BrokerStatesProp", unfences_itself),
    ("FailedDirectoriesToldProp", hides_a_failure),
    ("LeadershipFollowsImageInv", leads_another),
    ("LeadershipFollowsImageInv", leads_in_another_epoch),
    ("LeadershipFollowsImageInv", leads_nothing),
    ("OneRequestInFlightProp", forgets_a_request),
    ("OneRequestInFlightProp", sends_two),
    ("ShutdownAskedAtOnceProp", shuts_down_later),
)


@pytest.mark.parametrize(
    ("name", "history"), HISTORIES, ids=lambda one: getattr(one, "__name__", one)
)
def test_a_step_that_breaks_a_property_is_caught_by_it_and_its_true_twin_is_not(name, history):
    history(is_wrong=False)
    with pytest.raises(Violated, match=f"^{name}: "):
        history(is_wrong=True)
    assert name in PROPERTIES
