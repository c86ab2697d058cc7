"""KIP-343 on brokers that fence themselves. Kafka never built it; the simulation has it."""

from __future__ import annotations

import pytest

from kraft.broker.lease import is_serving
from kraft.sim.lease.cluster import broker_time_ms
from kraft.sim.lease.configuration import kafka_4_1, kip_343, promises_no_overlap, self_fencing
from kraft.sim.lease.runs import run


def overlaps(cluster):
    """The processes that serve although the controller fenced or displaced them."""
    registrations = cluster.controller.image.registrations
    serving = [
        process.lifecycle
        for process in cluster.processes.values()
        if is_serving(process.lifecycle, broker_time_ms(cluster, process))
    ]
    return [
        each.incarnation_id
        for each in serving
        if (registration := registrations.get(each.broker_id)) is None
        or registration.epoch != each.broker_epoch
        or registration.fenced
    ]


def has_overlap(configuration, seeds=range(12), steps=800):
    return any(
        overlaps(result.after)
        for seed in seeds
        for result in run(configuration, seed, steps).results
    )


def served(configuration, seed):
    return any(
        is_serving(process.lifecycle, broker_time_ms(result.after, process))
        for result in run(configuration, seed, 800).results
        for process in result.after.processes.values()
    )


def test_a_node_that_cannot_contact_the_controller_fences_itself():
    configuration = self_fencing()
    assert promises_no_overlap(configuration)
    assert not has_overlap(configuration)
    assert served(configuration, seed=0)


@pytest.mark.parametrize("profile", [kip_343, kafka_4_1])
def test_a_broker_side_timeout_that_is_longer_or_absent_lets_a_fenced_broker_serve(profile):
    """The KIP wants the longer one; so a fenced broker serves on until its own timeout."""
    assert not promises_no_overlap(profile())
    assert has_overlap(profile())
