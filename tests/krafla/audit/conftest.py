"""Fixtures of the audit's tests: the specs, loaded once, and real logs."""

from __future__ import annotations

from pathlib import Path

import pytest

from krafla.audit.specs import LoadingSpec

REAL_LOGS = Path(__file__).parents[3] / "traces" / "kafka-4.1"


@pytest.fixture(scope="session")
def loading() -> LoadingSpec:
    """The specs, loaded once for all tests of a process."""
    return LoadingSpec()


@pytest.fixture(scope="session")
def real_logs() -> Path:
    """The small real logs of the repository."""
    return REAL_LOGS
