"""Runs `client.py` in a process of its own: Spark lets a process have one kind of session."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.krafla.pipeline.places.spark_servers import environment_of

if TYPE_CHECKING:
    from collections.abc import Mapping

SECONDS_MAX = 600


def run_client(
    where: str,
    folder: Path,
    jobs: Mapping[str, list[Any]],
    settings: Mapping[str, str] | None = None,
    *,
    ships: bool = True,
) -> dict[str, Any]:
    """Return the answers of jobs in a session: over Connect for ``sc://``, else a classic one."""
    usual = {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.executor.memory": "512m",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.local.dir": str(folder),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
    }
    if where.startswith("sc://"):
        usual = {}
    asked = {
        "where": where, "jobs": jobs, "ships": ships, "settings": {**usual, **(settings or {})}
    }  # fmt: skip
    ended = subprocess.run(
        [sys.executable, Path(__file__).with_name("client.py"), json.dumps(asked)],
        capture_output=True, text=True, timeout=SECONDS_MAX, check=False,
        env=environment_of(folder, spark_home=None),
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr[-6000:]
    # Ivy says what it does before.
    return json.loads(ended.stdout.splitlines()[-1])
