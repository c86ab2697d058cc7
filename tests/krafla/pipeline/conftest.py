"""What the pipeline's tests share: one Spark for all of them, and logs to feed it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

REAL_LOGS = Path(__file__).parents[3] / "traces" / "kafka-4.1"


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """A copy of a small real cluster's logs, to be spoiled."""
    return Path(shutil.copytree(REAL_LOGS / "crash", tmp_path / "logs" / "crash"))
