"""What the tests of several rooms share: one Spark for all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from krafla.tlc.jre import find_system_java

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krafla.pipeline.session import Session


@pytest.hookimpl(tryfirst=True)  # a test that has a group by then is given no other
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let one process have all tests that use Spark: each process would start its own."""
    for item in items:
        is_grouped = item.get_closest_marker("xdist_group") is not None
        if "spark" in getattr(item, "fixturenames", ()) and not is_grouped:
            item.add_marker(pytest.mark.xdist_group("spark"))


@pytest.fixture(scope="session")
def spark() -> Iterator[Session]:
    """A session of a Spark Connect server of our own, with two tasks at once."""
    if find_system_java((17, 21)) is None:
        pytest.skip("Spark needs Java 17 or 21; neither JAVA_HOME nor PATH has one")
    from krafla.pipeline.server import Settings
    from krafla.pipeline.session import session

    # Each query is small and asked once: what makes a long one quick only takes time.
    brief = {
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.shuffle.partitions": "2",
    }
    with session("krafla tests", "local[2]", settings=Settings(brief)) as running:
        yield running
