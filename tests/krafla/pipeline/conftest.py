"""What the pipeline's tests share: one Spark for all of them, and logs to feed it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from krafla.tlc.jre import find_system_java

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krafla.pipeline import session as sessions
    from krafla.pipeline.pool import Session

REAL_LOGS = Path(__file__).parents[3] / "traces" / "kafka-4.1"


@pytest.fixture(scope="session")
def spark() -> Iterator[Session]:
    """A Spark of this process with two executors' worth of threads."""
    if find_system_java((17, 21)) is None:
        pytest.skip("Spark needs Java 17 or 21; neither JAVA_HOME nor PATH has one")
    from krafla.pipeline.pool import session

    with session("krafla tests", "local[2]") as running:
        yield running


@pytest.fixture(scope="session")
def lake() -> Iterator[sessions.Session]:
    """A session of a Spark Connect server with two executors' worth of threads."""
    if find_system_java((17, 21)) is None:
        pytest.skip("Spark needs Java 17 or 21; neither JAVA_HOME nor PATH has one")
    from krafla.pipeline.server import Settings
    from krafla.pipeline.session import session

    few = Settings({"spark.sql.shuffle.partitions": "2"})
    with session("krafla tests", "local[2]", settings=few) as running:
        yield running


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """A copy of a small real cluster's logs, to be spoiled."""
    return Path(shutil.copytree(REAL_LOGS / "crash", tmp_path / "logs" / "crash"))
