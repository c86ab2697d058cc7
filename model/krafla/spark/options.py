"""The options of our data sources, read strictly: what is misspelt is no option."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from krafla.pipeline.decode import RecordChoice
from krafla.pipeline.storage import Storages
from krafla.spark.source_tables import TableQuestion
from krafla.verdict import KraflaError
from kraft.records.control_schemas import CONTROL_SCHEMAS
from kraft.records.limits import DEFAULT_LIMITS, Limits
from kraft.records.metadata_schemas import METADATA_SCHEMAS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from krafla.pipeline.sources import Source

__all__ = ["Options", "options_of", "sources_of"]

MIB: Final = 1024 * 1024
_SETTINGS: Final = ("fs.", "spark.")
_FAILFAST: Final = "FAILFAST"
_DROPMALFORMED: Final = "DROPMALFORMED"


@dataclass(frozen=True, slots=True)
class Options:
    """What a user asks a data source for.

    ``settings`` go to the storage. ``fails``: a file with a fault is an error.
    """

    uris: tuple[str, ...]
    table: str
    fails: bool
    choice: RecordChoice
    limits: Limits
    partition_bytes: int
    trigger_bytes: int | None
    settle_seconds: int
    settings: dict[str, str]

    @property
    def question(self) -> TableQuestion:
        """What is asked of each file."""
        return TableQuestion(self.table, self.fails, self.choice, self.limits)


_KNOWN: Final = {
    name.lower(): name
    for name in (
        "path", "paths", "table", "mode", "secrets", "fileMib", "partitionMib",
        "types", "maxBytesPerTrigger", "settleSeconds",
    )
}  # fmt: skip


def options_of(given: Mapping[str, str], tables: Mapping[str, object], default: str) -> Options:
    """Return the options of a source with these tables; ``KraflaError`` for one that is none."""
    named = {key.lower(): value for key, value in given.items()}
    settings = {key: value for key, value in named.items() if key.startswith(_SETTINGS)}
    for key in named.keys() - settings.keys():
        if key not in _KNOWN:
            raise KraflaError(f"there is no option {key}; there are {', '.join(_KNOWN.values())}")
    table = named.get("table", default)
    if table not in tables:
        raise KraflaError(f"there is no table {table}; there are {', '.join(tables)}")
    mode = named.get("mode", _DROPMALFORMED).upper()
    if mode not in (_FAILFAST, _DROPMALFORMED):
        raise KraflaError(f"mode is {_DROPMALFORMED} or {_FAILFAST}, not {mode}")
    secrets = named.get("secrets", "withhold")
    if secrets not in ("withhold", "show"):
        raise KraflaError(f"secrets is withhold or show, not {secrets}")
    trigger = named.get("maxbytespertrigger")
    return Options(
        _uris(named),
        table,
        mode == _FAILFAST,
        RecordChoice(_types(named), secrets == "show"),
        replace(DEFAULT_LIMITS, file_bytes=MIB * _number(named, "filemib",
                                                         DEFAULT_LIMITS.file_bytes // MIB)),
        MIB * _number(named, "partitionmib", 8),
        None if trigger is None else _number(named, "maxbytespertrigger", 0),
        _number(named, "settleseconds", 10, least=0),
        settings,
    )  # fmt: skip


def sources_of(options: Options) -> list[Source]:
    """Return all files at or below the options' URIs, each once, in order of their paths."""
    storages = Storages(options.settings)
    found = [storages.of(uri).list(uri) for uri in options.uris]
    sources = {source.path: source for one in found for source in one.sources}
    return [sources[path] for path in sorted(sources)]


def _uris(named: Mapping[str, str]) -> tuple[str, ...]:
    if "paths" in named:
        return tuple(json.loads(named["paths"]))
    if "path" not in named:
        raise KraflaError("no place to read: .load(URI)")
    return (named["path"],)


def _types(named: Mapping[str, str]) -> frozenset[str] | None:
    if "types" not in named:
        return None
    known = {schema.name for schema in (*METADATA_SCHEMAS.values(), *CONTROL_SCHEMAS.values())}
    asked = frozenset(name.strip() for name in named["types"].split(","))
    if strangers := sorted(asked - known):
        raise KraflaError(f"there is no type of record {strangers[0]!r}, as TOPIC_RECORD is one")
    return asked


def _number(named: Mapping[str, str], key: str, default: int, least: int = 1) -> int:
    text = named.get(key, str(default))
    if not (text.isascii() and text.isdigit() and len(text) <= 15 and int(text) >= least):
        raise KraflaError(f"{_KNOWN[key]} is a whole number from {least} on, not {text[:40]!r}")
    return int(text)
