"""A controller under load: many partitions."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from tests.kraft.controller.cluster_driver import (
    FEATURES,
    SESSION_TIMEOUT_MS,
    ClusterDriver,
    incarnation,
)
from tests.kraft.controller.partitions import LATEST, directory

from kraft.controller.operations.broker_heartbeats import (
    maybe_fence_stale_broker,
    process_broker_heartbeat,
)
from kraft.controller.operations.broker_registration import register_broker, unregister_broker
from kraft.controller.operations.leader_eligibility import default_directory
from kraft.controller.operations.written import Written
from kraft.image.entries import MIGRATING, UNASSIGNED
from kraft.rpc import BrokerHeartbeatRequest, BrokerRegistrationRequest


class Unscanned:
    """Partitions that can be looked up but not scanned."""

    def __init__(self, partitions):
        self._partitions = partitions

    def __len__(self):
        return len(self._partitions)

    def __getitem__(self, key):
        return self._partitions[key]

    def __iter__(self):
        raise AssertionError("all partitions are gone through")

    items = keys = values = __iter__

    def mutate(self):
        return Unscanned(self._partitions.mutate())

    def finish(self):
        return Unscanned(self._partitions.finish())

    def get(self, key, default=None):
        return self._partitions.get(key, default)

    def __setitem__(self, key, partition):
        self._partitions[key] = partition


@pytest.mark.parametrize("wish", [{}, {"want_fence": True}, {"want_shut_down": True}])
def test_no_heartbeat_scans_all_partitions_unless_a_directory_has_just_failed(wish):
    driver = ClusterDriver().unfenced(1, 2, 3)
    driver.create((1, 2), (2, 3), (3, 1))
    driver.heartbeat(3, want_fence=True)
    partitions = driver.written.image.partitions
    unscanned = replace(driver.written.image, partitions=Unscanned(partitions))
    written = Written(
        unscanned, driver.written.registration_offsets, driver.written.end, driver.written.index
    )
    driver.now_ms += SESSION_TIMEOUT_MS + 1

    def heartbeat(broker, failed):
        request = BrokerHeartbeatRequest(
            broker, driver.registration(broker).epoch, driver.written.end - 1,
            want_fence=wish.get("want_fence", False),
            want_shut_down=wish.get("want_shut_down", False), offline_log_dirs=(failed,),
        )  # fmt: skip
        return process_broker_heartbeat(
            written, driver.heartbeats, driver.defaults, request, driver.now_ms
        ).result.records

    known_as_failed = directory(9)
    assert heartbeat(1, known_as_failed) or heartbeat(3, known_as_failed)
    for broker in (1, 3):
        with pytest.raises(AssertionError, match="all partitions are gone through"):
            heartbeat(broker, directory(broker))
    assert maybe_fence_stale_broker(
        written, driver.heartbeats, driver.defaults, driver.now_ms
    ).result.response
    unregistered = unregister_broker(written, driver.heartbeats, driver.defaults, 1)
    assert len(unregistered.result.records) == 3
    registration = BrokerRegistrationRequest(
        1, incarnation(1, 2), driver.defaults.cluster_id, features=FEATURES,
        log_dirs=(directory(1),),
    )  # fmt: skip
    registered_anew = register_broker(
        written, driver.heartbeats, driver.defaults, registration, driver.now_ms, 0
    )
    assert len(registered_anew.result.records) == 3


@pytest.mark.parametrize(
    ("directories", "where"),
    [((), MIGRATING), ((directory(1),), directory(1)), ((directory(1), directory(8)), UNASSIGNED)],
)
def test_a_new_replica_is_in_the_only_directory_or_the_broker_chooses(directories, where):
    driver = ClusterDriver(metadata_version=LATEST if directories else 16)
    driver.register(1, log_dirs=directories)
    assert default_directory(driver.written.image, 1) == where
    assert default_directory(driver.written.image, 2) == MIGRATING
