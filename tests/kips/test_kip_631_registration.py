"""KIP-631 on what registrations of brokers say, and on their end."""

from __future__ import annotations

from dataclasses import fields

from tests.kips.sentences import sentence
from tests.kraft.broker.test_broker_process import NEW, SETTINGS, sent
from tests.kraft.controller.cluster_driver import FEATURES, ClusterDriver
from tests.kraft.controller.controller_runs import Player, replies
from tests.kraft.controller.partitions import LATEST

from kraft.broker.lifecycle_manager import start
from kraft.controller.operation_table import OPERATIONS
from kraft.errors import ErrorCode
from kraft.image.metadata_image import METADATA_VERSION
from kraft.rpc import BrokerRegistrationRequest, UnregisterBrokerRequest, UnregisterBrokerResponse
from kraft.rpc.node_description import SupportedFeature

# "Broker Registration".


@sentence("631-105")
def test_a_registration_says_what_the_software_supports():
    assert SETTINGS.features == (SupportedFeature(METADATA_VERSION, 7, 27),)
    assert sent(start(NEW, 0)).features == SETTINGS.features
    driver = ClusterDriver()
    driver.register(1)
    named = {(one.name, one.minimum, one.maximum) for one in driver.registration().features}
    assert named == {(one.name, one.minimum, one.maximum) for one in FEATURES}


@sentence("631-106")
def test_who_does_not_support_what_is_active_is_refused():
    driver = ClusterDriver()
    old = (SupportedFeature(METADATA_VERSION, 1, LATEST - 1), *FEATURES[1:])
    assert driver.register(1, features=old).error_code is ErrorCode.UNSUPPORTED_VERSION
    assert 1 not in driver.written.image.brokers
    assert driver.register(1).error_code is ErrorCode.NONE


# "BrokerRegistration".


@sentence("631-292")
def test_differs_a_registration_tells_of_directories_and_of_no_metadata_offset():
    names = [field.name for field in fields(BrokerRegistrationRequest)]
    assert names == [
        "broker_id",
        "incarnation_id",
        "cluster_id",
        "listeners",
        "features",
        "rack",
        "is_migrating_zk_broker",
        "log_dirs",
        "previous_broker_epoch",
    ]


# "UnregisterBroker".


@sentence("631-324")
def test_the_end_of_a_registration_is_answered_with_an_error_code():
    names = [field.name for field in fields(UnregisterBrokerResponse)]
    assert names == ["error_code", "error_message"]
    driver = ClusterDriver().unfenced(1)
    assert driver.unregister(1) is ErrorCode.NONE
    assert 1 not in driver.written.image.brokers


@sentence("631-325")
def test_an_unregistration_that_cannot_be_says_why():
    assert ClusterDriver().unregister(1) is ErrorCode.BROKER_ID_NOT_REGISTERED
    driver = ClusterDriver().unfenced(1, 2)
    driver.create(*[(1, 2)] * 10_000)
    assert driver.unregister(1) is ErrorCode.POLICY_VIOLATION
    standby = Player(operations=OPERATIONS)
    standby.follow(1)
    refused = standby.ask(UnregisterBrokerRequest(1))
    assert replies(refused) == [("t", ErrorCode.NOT_CONTROLLER)]
