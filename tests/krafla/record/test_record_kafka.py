"""Real clusters are recorded and held: by night, for each takes up to six JVMs and a minute."""

from __future__ import annotations

import pytest

from krafla.audit.run import audit
from krafla.record.run import Recording, record
from krafla.record.scenario import load, with_controllers
from krafla.verdict import ExitCode

pytestmark = [pytest.mark.nightly, pytest.mark.xdist_group("kafka-jars")]


@pytest.mark.parametrize(
    ("name", "controllers", "directories"),
    [
        ("calm", "java", 6),
        ("failover", "kraft", 7),
        ("failover", "mixed", 7),
        ("dynamic-quorum", "mixed:3000,3002", 6),
        ("upgrade", "kraft", 6),
    ],
)
def test_a_cluster_is_recorded_and_held(tmp_path, name, controllers, directories):
    out = tmp_path / "recorded"
    scenario = with_controllers(load(name), controllers)

    record(Recording(scenario, None, out), lambda _: None)
    report = audit([out])

    assert report.exit_code is ExitCode.HELD
    (cluster,) = report.clusters
    assert len(cluster.directories) == directories
    assert all(directory.records > 20 for directory in cluster.directories)
