"""The data source ``krafla-campaign``: the runs of simulated seeds as rows, one for each seed.

``krafla.spark.register`` makes it known to a session. Then

    spark.read.format("krafla-campaign").option("system", "raft").option("seeds", "0..9999").load()

gives the rows of seeds that are played while they are read. Seed n is run n of
``krafla fuzz SYSTEM --seed 0``. docs/internals/pipeline.md has the columns and their types.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from krafla.fuzz.engine.system import RunOptions, System, find_system, named
from krafla.pipeline.arrow import as_spark
from krafla.pipeline.campaign.plan import SEED, CampaignPlan, parse_seeds
from krafla.pipeline.campaign.player import Player, play_seeds
from krafla.pipeline.campaign.rows import PLAYED
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types
    from pyspark.sql.types import StructType

__all__ = ["CampaignSource", "plan_of"]

_OPTIONS: Final = (
    "system", "seeds", "steps", "profile", "faults", "chaos", "lockstep", "chunk",
)  # fmt: skip
_YES: Final = {"true": True, "false": False}


class CampaignSource(DataSource):
    """The runs of seeds, played in executors while they are read.

    Options: ``system`` (one of the seven words of ``krafla fuzz``) and ``seeds`` (``A..B``); those
    of ``krafla fuzz`` that decide runs: ``steps``, ``profile`` (names with commas between),
    ``faults``, ``chaos``, ``lockstep`` (``true`` or ``false``); ``chunk``, the seeds of a task.
    """

    @classmethod
    def name(cls) -> str:
        """Return the name for ``spark.read.format``."""
        return "krafla-campaign"

    def schema(self) -> StructType:
        """Return the columns: those of the table ``runs``, and ``states``."""
        return as_spark(PLAYED)

    def reader(self, schema: StructType) -> _Reader:  # noqa: ARG002 - there is one schema
        """Return the reader; ``KraflaError`` if an option is missing or wrong."""
        return _Reader(plan_of(self.options))


@dataclass
class _Seeds(InputPartition):
    """The seeds of one task, both ends included."""

    first: int
    last: int


class _Reader(DataSourceReader):
    def __init__(self, plan: CampaignPlan) -> None:
        self._plan = plan

    def partitions(self) -> list[InputPartition]:
        plan = self._plan
        starts = range(plan.first, plan.last + 1, plan.chunk)
        return [_Seeds(one, min(one + plan.chunk - 1, plan.last)) for one in starts]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, _Seeds), "it is one of ours"
        seeds = range(partition.first, partition.last + 1)
        # How much a process plays in all is not known here; campaigns are long.
        yield from play_seeds(Player(self._plan.runs, is_brief=False), seeds)


def plan_of(options: Mapping[str, str]) -> CampaignPlan:
    """Return the campaign that the options of the source describe; ``KraflaError`` if none."""
    given = {name.lower(): text for name, text in options.items()}
    strange = sorted(given.keys() - {*_OPTIONS, "path"})
    if strange:
        raise KraflaError(f"krafla-campaign has no option {strange[0]!r};"
                          f" {named(strange[0], _OPTIONS)}")  # fmt: skip
    for name in _OPTIONS[:2]:
        if name not in given:
            raise KraflaError(f"krafla-campaign needs the option {name!r}")
    system = find_system(given["system"])
    first, last = parse_seeds(given["seeds"])
    chunk = _whole("chunk", given["chunk"]) if "chunk" in given else system.chunk
    return CampaignPlan(first, last, system.runs(SEED, _options(system, given)), chunk)


def _options(system: System, given: Mapping[str, str]) -> RunOptions:
    steps, profile, faults = (given.get(name) for name in ("steps", "profile", "faults"))
    chaos, lockstep = given.get("chaos"), given.get("lockstep")
    options = RunOptions(
        None if steps is None else _whole("steps", steps),
        None if profile is None else tuple(profile.split(",")),
        None if faults is None else tuple(faults.split(",")),
        None if chaos is None else _seconds("chaos", chaos),
        None if lockstep is None else _flag("lockstep", lockstep),
    )
    strange = [name[2:] for name in options.arguments if name not in system.takes]
    if strange:
        raise KraflaError(f"{system.name} takes no option {strange[0]!r}")
    return options


def _whole(name: str, text: str) -> int:
    if not (text.isascii() and text.isdecimal() and 0 < int(text) < 1 << 31):
        raise KraflaError(f"the option {name!r} is a number from 1, not {text!r}")
    return int(text)


def _seconds(name: str, text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = 0.0
    if not 1 <= found < float("inf"):
        raise KraflaError(f"the option {name!r} is seconds, at least 1, not {text!r}")
    return found


def _flag(name: str, text: str) -> bool:
    if text.lower() not in _YES:
        raise KraflaError(f"the option {name!r} is true or false, not {text!r}")
    return _YES[text.lower()]
