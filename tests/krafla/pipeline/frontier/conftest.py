"""A search in a Spark of two tasks at a time, of models of the manifest and of small specs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from krafla.manifest import Model
from krafla.tlc.config import read_config

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

    from krafla.pipeline.session import Session

SPECS = Path(__file__).parents[2] / "oracle" / "specs"


@pytest.fixture
def frames(spark: Session) -> SparkSession:
    """The session that the other tests of the pipeline use."""
    return spark.spark


@pytest.fixture
def searched(frames: SparkSession, tmp_path: Path) -> Callable[..., object]:
    """A function that searches a model: by default levels of more than 150 states are spread."""
    from krafla.pipeline.frontier.plan import plan_of
    from krafla.pipeline.frontier.search import Bounds, search
    from krafla.pipeline.frontier.task import search_store

    def run(model, place=None, bounds=None, progress=lambda _: None):
        plan, spec = plan_of(model)
        place = place or search_store(frames, (tmp_path / "search").as_uri())
        reached = search(
            frames, place, plan, bounds or Bounds(alone_states=150),
            checks_deadlock=read_config(model.config).checks_deadlock, progress=progress,
        )  # fmt: skip
        return Run(place, plan, spec, reached)

    return run


class Run:
    """A finished search, and what asks for its table."""

    def __init__(self, place, plan, spec, reached):
        self.place, self.plan, self.spec, self.reached = place, plan, spec, reached

    @property
    def prints(self) -> list[int]:
        """The fingerprints in the table, sorted."""
        table = self.place.read("states", "level").where("note IS NULL")
        return sorted(row["fp"] for row in table.select("fp").collect())

    @property
    def path(self):
        """The way to the fault."""
        from krafla.pipeline.frontier.way import way_to_fault

        fault = self.reached.tally.fault
        return way_to_fault(self.place, self.reached, self.plan, self.spec, fault)


def sample(module: str, config: str, folder: Path = SPECS, witnesses: tuple[str, ...] = ()):
    """A model of a small spec, not of the manifest."""
    return Model(
        config, folder / f"{module}.tla", folder / f"{config}.cfg", (folder,), module,
        witnesses=witnesses,
    )  # fmt: skip


def written(folder: Path, module: str, text: str, config: str):
    """A model of a spec that a test writes."""
    (folder / f"{module}.tla").write_text(f"---- MODULE {module} ----\n{text}\n====\n")
    (folder / f"{module}.cfg").write_text(config)
    return sample(module, module, folder)
