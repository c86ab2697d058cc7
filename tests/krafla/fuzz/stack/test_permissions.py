"""Whose word counts about an unclean election: the topic's, else the node's, else that of all."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from krafla.fuzz.stack.permissions import is_elr_enabled, may_elect_uncleanly
from kraft.controller.operations.defaults import Defaults
from kraft.ids import NodeId
from kraft.image.metadata_image import EMPTY_IMAGE

TOPIC, NODE, ALL = (2, "t"), (4, "7"), (4, "")


def image_with(said):
    configurations = EMPTY_IMAGE.configurations
    for resource, value in said.items():
        configurations = configurations.set(resource, {"unclean.leader.election.enable": value})
    return replace(EMPTY_IMAGE, configurations=configurations)


@pytest.mark.parametrize(
    ("said", "default", "permitted"),
    [
        ({}, True, True),
        ({}, False, False),
        ({TOPIC: "false"}, True, False),
        ({TOPIC: "TRUE", NODE: "false"}, False, True),
        ({NODE: "false", ALL: "true"}, True, False),
        ({ALL: "true"}, False, True),
        ({(2, "other"): "true", (4, "8"): "true"}, False, False),
    ],
)
def test_the_nearest_setting_counts(said, default, permitted):
    defaults = Defaults(NodeId(7), unclean_leader_election_enable=default)
    assert may_elect_uncleanly(image_with(said), defaults, "t") is permitted


@pytest.mark.parametrize(("level", "enabled"), [(0, False), (1, True)])
def test_a_level_above_0_enables_eligible_leader_replicas(level, enabled):
    features = EMPTY_IMAGE.features.set("eligible.leader.replicas.version", level)
    assert is_elr_enabled(replace(EMPTY_IMAGE, features=features)) is enabled
    assert not is_elr_enabled(EMPTY_IMAGE)
