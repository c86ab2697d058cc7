"""What the tests of several rooms share: one Spark for all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from krafla.tlc.jre import find_system_java

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krafla.pipeline.session import Session


@pytest.fixture(scope="session")
def spark() -> Iterator[Session]:
    """A session of a Spark Connect server of our own, with two tasks at once."""
    if find_system_java((17, 21)) is None:
        pytest.skip("Spark needs Java 17 or 21; neither JAVA_HOME nor PATH has one")
    from krafla.pipeline.server import Settings
    from krafla.pipeline.session import session

    # So little is shuffled here that more parts only take time.
    few = Settings({"spark.sql.shuffle.partitions": "2"})
    with session("krafla tests", "local[2]", settings=few) as running:
        yield running
