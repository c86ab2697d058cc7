"""A real Kafka is recorded and held: by night, for it takes six JVMs and a minute."""

from __future__ import annotations

import pytest

from krafla.audit.run import audit
from krafla.record.run import Recording, record
from krafla.record.scenario import load
from krafla.verdict import ExitCode

pytestmark = [pytest.mark.nightly, pytest.mark.xdist_group("kafka-jars")]


def test_a_calm_cluster_is_recorded_and_held(tmp_path):
    out = tmp_path / "calm"

    record(Recording(load("calm"), None, out), lambda _: None)
    report = audit([out])

    assert report.exit_code is ExitCode.HELD
    (cluster,) = report.clusters
    assert len(cluster.directories) == 6
    assert all(directory.records > 100 for directory in cluster.directories)
