"""krafla sent to workers that do not have it: on this machine, another user's, over Connect."""

from __future__ import annotations

import os
import time

import pytest
from tests.krafla.pipeline.places.clients import run_client
from tests.krafla.pipeline.places.spark_servers import (
    connect_server,
    hidden_folders,
    standalone,
)
from tests.krafla.pipeline.places.users import processes_of

import krafla
from krafla.oracle.jvm import HEAP_VARIABLE

pytestmark = pytest.mark.xdist_group("places")
HIDDEN = [[str(folder) for folder in hidden_folders()], "site-packages"]
JOBS = {"import_path": [], "source": [], "judge": HIDDEN}
WORKER_PYTHON = "spark.sql.execution.pyspark.python"
SENT, NOT_SENT = (True, krafla.__file__, 0), (False, krafla.__file__, 0)


def import_path(answer):
    """Return whether workers import from a zip, and what this program imports, and from zips."""
    path = answer["import_path"]
    zips = [one for one in path["here"] if one.endswith(".zip") and "krafla-" in one]
    return path["sent"], path["here"][0], len(zips)


def source(answer):
    """Return whether a data source was planned, and read, with the krafla that was sent."""
    return ["/krafla-" in path for path in answer["source"]]


def judged(answer):
    """Return the user of the tasks, how many of our folders they read, and what they found."""
    rows = answer["judge"]
    return [(row["uid"], row["reads"], row["states"], row["held"]) for row in rows]


def remaining(user, most):
    """Return how many processes a user has, once they are not more than the most expected."""
    deadline = time.monotonic() + 30
    while len(processes_of(user)) > most and time.monotonic() < deadline:
        time.sleep(0.2)
    return len(processes_of(user))


@pytest.mark.nightly  # the day has the workers of a standalone master
def test_a_local_master_with_this_krafla_is_sent_nothing(tmp_path):
    answer = run_client("local[1]", tmp_path, JOBS)
    assert import_path(answer) == NOT_SENT
    assert source(answer) == [False, False]
    # The same job elsewhere reads none of them.
    assert judged(answer) == [(os.geteuid(), len(HIDDEN[0]), 1, 2)] * 4


@pytest.mark.nightly  # the day has the workers of a standalone master
def test_a_local_master_whose_python_has_no_krafla_is_sent_it(elsewhere, tmp_path):
    python = {WORKER_PYTHON: str(elsewhere.environment.python)}
    answer = run_client("local[1]", tmp_path, {"import_path": [], "source": []}, python)
    assert import_path(answer) == SENT
    assert source(answer) == [True, True]


@pytest.mark.nightly
def test_two_workers_of_another_user_judge_with_what_was_sent(elsewhere, tmp_path):
    settings = {
        WORKER_PYTHON: str(elsewhere.environment.python),
        f"spark.executorEnv.{HEAP_VARIABLE}": "256",
    }
    with standalone(elsewhere.folder, elsewhere.user, elsewhere.environment) as master:
        answer = run_client(master, tmp_path, JOBS, settings)
        assert import_path(answer) == SENT
        assert source(answer) == [True, True]
        assert judged(answer) == [(elsewhere.user.uid, 0, 1, 2)] * 4
        # Each worker has laid it out in its own folder.
        assert len({row["krafla"] for row in answer["judge"]}) == 2
        assert all(row["heap_mib"] <= 256 for row in answer["judge"])
        # The oracle's machine is in the Python worker, which ends with the executor.
        assert remaining(elsewhere.user, 2) == 2


@pytest.mark.nightly  # the day has the workers of a standalone master
def test_a_connect_server_of_another_user_judges_with_what_was_sent(elsewhere, tmp_path):
    settings = {"spark.master": "local[2]"}
    with connect_server(elsewhere.folder, settings, elsewhere.user, elsewhere.environment) as url:
        answer = run_client(url, tmp_path, JOBS)
    assert import_path(answer) == SENT
    assert source(answer) == [True, True]
    assert judged(answer) == [(elsewhere.user.uid, 0, 1, 2)] * 4
    assert remaining(elsewhere.user, 0) == 0
