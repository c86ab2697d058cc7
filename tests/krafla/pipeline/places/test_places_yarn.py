"""krafla sent to containers of YARN."""

from __future__ import annotations

import pytest
from tests.krafla.pipeline.places.clients import run_client
from tests.krafla.pipeline.places.environments import public_folder
from tests.krafla.pipeline.places.yarn import local_yarn

pytestmark = pytest.mark.xdist_group("places")


@pytest.mark.nightly  # 66 MB from Maven Central
def test_a_container_of_yarn_judges_with_what_was_sent(tmp_path, monkeypatch):
    with public_folder() as folder, local_yarn(folder) as settings:
        monkeypatch.setenv("HADOOP_CONF_DIR", str(folder / "conf"))
        jobs = {"judge": [[], "site-packages"]}
        rows = run_client("yarn", tmp_path, jobs, settings)["judge"]
    assert [(row["states"], row["held"]) for row in rows] == [(1, 2)] * 4
    assert not [row for row in rows if "container_" not in row["krafla"]]
