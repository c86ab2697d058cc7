"""The smallest cluster with a Java broker, by day; by night `test_java_brokers` asks for more."""

from __future__ import annotations

import re

import pytest
from tests.kraft.node.java_cluster import (
    assert_held,
    complaints,
    create_topic_at_controller,
    running,
)

from krafla.record.scenario import Shape

pytestmark = pytest.mark.xdist_group("java_cluster")


def test_a_java_broker_runs_on_our_controller_and_gets_a_topic(tmp_path):
    with running(Shape(controllers=1, brokers=1, kraft_ids=(3000,)), tmp_path) as cluster:
        create_topic_at_controller(cluster, "calm")
        got = re.compile(r"Created log for partition calm-1 ")
        cluster.until_seen(0, got, "has the topic")

    for node in cluster.layout.nodes:
        assert complaints(node) == []
    assert_held(cluster, tmp_path)
