"""Operators ask for every operation of the controller, within its limits and beyond them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import pytest
from tests.kraft.sim.stack.stack_runs import BUSY, CALM, SECOND, SHORT, only, simulate

from kraft.controller import events
from kraft.controller.effects import Failure
from kraft.controller.operation_table import OPERATIONS
from kraft.errors import ErrorCode
from kraft.rpc.partition_reassignments import ListPartitionReassignmentsRequest

EDGES = replace(BUSY, edge_every_ms=12, token_lifetime_ms=2_000)
# Brokers that are shut down are fenced, and only fenced brokers are often unregistered.
LEAVING = replace(SHORT, calm=6 * SECOND, chaos=6 * SECOND)
EVERY = {*OPERATIONS.writes, *OPERATIONS.reads}


@pytest.fixture(scope="module")
def run():
    """Play a run; return what operators asked with the answers, and who asked for what."""
    simulation = simulate(5, only("broker-shutdown", 2_000), EDGES, LEAVING)
    asked = simulation.workload.asked
    senders = defaultdict(set)
    tasks = set()
    for step in simulation.steps():
        if step.listener is None or step.listener.kind != "controller":
            continue
        event = step.listener.event
        if isinstance(event, events.RequestReceived):
            by = "operator" if event.token in asked else "node"
            senders[by].add(type(event.request))
        elif isinstance(event, events.Poll):
            before, after = (one.tasks for one in (step.listener.before, step.listener.after))
            tasks |= {name for name in after if before.get(name) != after[name]}
    return list(asked.values()), senders, tasks


def codes(response):
    """Yield every error code in an answer."""
    if isinstance(response, ErrorCode):
        yield response
    elif isinstance(response, tuple):
        for one in response:
            yield from codes(one)
    elif hasattr(response, "__dataclass_fields__"):
        for name in response.__dataclass_fields__:
            yield from codes(getattr(response, name))


def test_operators_ask_for_all_that_nodes_do_not_ask_for_by_themselves(run):
    _, senders, _ = run
    assert senders["operator"] | senders["node"] == EVERY
    # Only a broker's or controller's own process can ask for the rest.
    assert EVERY - senders["operator"] == senders["node"] - senders["operator"]
    assert len(senders["operator"]) == 19


def test_every_task_of_the_controller_runs(run):
    assert run[2] == {one.name for one in OPERATIONS.tasks}


def test_each_operation_is_granted_and_refused(run):
    asked, senders, _ = run
    found = defaultdict(set)
    for one in asked:
        if one.response is not None and not isinstance(one.response, Failure):
            codes_of = set(codes(one.response))
            found[type(one.request)] |= {code is ErrorCode.NONE for code in codes_of}
    # A read cannot be refused.
    ever = senders["operator"] - {ListPartitionReassignmentsRequest}
    assert {each for each in ever if found[each] != {True, False}} == set()


def test_whatever_can_be_validated_only_is(run):
    asked, senders, _ = run
    able = {each for each in senders["operator"] if "validate_only" in each.__dataclass_fields__}
    validated = {type(one.request) for one in asked if getattr(one.request, "validate_only", False)}
    assert validated == able
    assert len(able) == 6


def test_a_recorded_run_without_the_new_knobs_asks_what_it_asked():
    simulation = simulate(5, CALM, BUSY, replace(SHORT, calm=SECOND, chaos=SECOND, kinds=()))
    for _ in simulation.steps():
        pass
    kinds = {type(one.request).__name__ for one in simulation.workload.asked.values()}
    assert kinds
    assert not {one for one in kinds if "Token" in one or "Producer" in one}
