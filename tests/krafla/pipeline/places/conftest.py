"""A machine's other user with a Python of its own, which has no krafla."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

import pytest
from tests.krafla.pipeline.places.environments import (
    CONNECT_PACKAGES,
    WORKER_PACKAGES,
    make_environment,
    public_folder,
)
from tests.krafla.pipeline.places.users import another_user

from krafla.tlc.jre import find_system_java

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.krafla.pipeline.places.environments import Environment
    from tests.krafla.pipeline.places.users import User


class Elsewhere(NamedTuple):
    """A folder that every user can read, another user, and the Python that it has."""

    folder: Path
    user: User
    environment: Environment


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[Elsewhere]:
    """Another user with a Python that has what krafla needs, and not krafla."""
    if find_system_java((17, 21)) is None:
        pytest.skip("Spark needs Java 17 or 21; neither JAVA_HOME nor PATH has one")
    if os.geteuid() != 0:
        pytest.skip("only root can make another user")
    with public_folder() as folder, another_user() as user:
        packages = WORKER_PACKAGES + CONNECT_PACKAGES
        yield Elsewhere(folder, user, make_environment(folder / "environment", packages))
