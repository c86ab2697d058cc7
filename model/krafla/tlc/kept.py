"""Models that have held, in a file of JSON lines: a run that ended early is gone on with.

A line counts for a model as long as nothing has changed that the search rests on: the modules, the
cfg, the witnesses, TLC. It has what was counted and seen, and no verdict: that is passed anew.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from krafla.json_lines import append_line, read_lines
from krafla.tlc.checking import Check
from krafla.tlc.comments import without_comments
from krafla.tlc.config import read_config
from krafla.tlc.jar import find_jar
from krafla.tlc.jre import find_jre
from krafla.tlc.judge import judge
from krafla.tlc.outcome import Finished
from krafla.tlc.output import Count
from krafla.tlc.run import ActionCoverage, RunResult
from krafla.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from krafla.manifest import Model

__all__ = ["KeptChecks", "inputs_of"]

# Goes up when a line would say something else, or a run look for something else.
_VERSION = 1
_WORD = re.compile(r"\w+")


class KeptChecks:
    """The models in a file that have held. ``KraflaError`` if the file cannot be used."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._records: dict[str, dict[str, Any]] = {}
        read_lines(path, self._take, "models that held")
        append_line(path, None)

    def find(self, model: Model) -> Check | None:
        """Return the check of a model that is kept, judged anew; None if it must be run."""
        record = self._records.get(model.name)
        if record is None or record["inputs"] != inputs_of(model):
            return None
        result = _result(model, record)
        check = Check(model, result, judge(model, result), is_kept=True)
        return check if check.verdict is Verdict.HELD else None

    def add(self, check: Check) -> None:
        """Keep a check, if it held and was of all states."""
        outcome = check.result.outcome
        if (
            check.is_kept
            or check.verdict is not Verdict.HELD
            or not isinstance(outcome, Finished)
            or outcome.simulated
        ):
            return
        append_line(self._path, _record(check, outcome))

    def _take(self, record: dict[str, Any]) -> None:
        name = record["model"]
        if not isinstance(name, str) or not isinstance(record["inputs"], str):
            raise TypeError(name)
        if record["version"] == _VERSION:
            # What is no number, or no list, is a TypeError here and not where it is shown.
            sum(
                record[each] for each in ("generated", "distinct", "depth", "seconds", "collisions")
            )
            tuple(_coverage(record["actions"]))
            tuple(record["reached"] + record["reached_at_start"])
            "".join(record[each] for each in ("tlc", "java", "reproduce"))
            self._records[name] = record


def inputs_of(model: Model) -> str:
    """Return a digest of all that a search rests on.

    Of the modules on the search path it has every one that is named in one that it has: more than
    TLC reads, perhaps, and never less.
    """
    parts = [repr((model.name, sorted(model.witnesses), model.kind, find_jar().sha256)).encode()]
    parts += [path.read_bytes() for path in (model.config, *_modules(model))]
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()[:32]


def _modules(model: Model) -> list[Path]:
    """Return the module of a model and those of its search path that it may use, in order."""
    there: dict[str, Path] = {}
    for folder in model.search_path:
        for path in sorted(folder.glob("*.tla")):
            there.setdefault(path.stem, path)
    there[model.module.stem] = model.module
    known, waiting = {model.module.stem}, [model.module.stem]
    while waiting:
        text = there[waiting.pop()].read_text(encoding="utf-8", errors="replace")
        new = (set(_WORD.findall(without_comments(text))) & there.keys()) - known
        known |= new
        waiting += sorted(new)
    return [there[name] for name in sorted(known)]


def _record(check: Check, outcome: Finished) -> dict[str, Any]:
    result = check.result
    return {
        "version": _VERSION,
        "model": check.model.name,
        "inputs": inputs_of(check.model),
        "generated": result.generated,
        "distinct": result.distinct,
        "depth": result.depth,
        "collisions": outcome.collision_probability,
        "reached": result.reached,
        "reached_at_start": result.reached_at_start,
        "seconds": round(result.seconds, 3),
        "tlc": result.version,
        "java": result.java.version,
        "reproduce": result.reproduce,
        "actions": [
            [one.name, one.taken, one.distinct, one.location, _counts(one)]
            for one in result.coverage or ()
        ],
    }


def _counts(action: ActionCoverage) -> list[list[list[Any]]]:
    return [[[one.depth, list(one.span), one.number] for one in each] for each in action.counts]


def _coverage(actions: list[Any]) -> Iterator[ActionCoverage]:
    for name, taken, distinct, location, counts in actions:
        parts = tuple(
            tuple(Count(depth, _span(span), number) for depth, span, number in each)
            for each in counts
        )
        yield ActionCoverage(name, taken, distinct, location, parts)


def _span(values: list[Any]) -> tuple[str, int, int, int, int]:
    module, line, column, last_line, last_column = values
    return module, line, column, last_line, last_column


def _result(model: Model, record: dict[str, Any]) -> RunResult:
    config = read_config(model.config)
    return RunResult(
        outcome=Finished(record["collisions"]),
        generated=record["generated"],
        distinct=record["distinct"],
        depth=record["depth"],
        queue_left=0,
        seconds=record["seconds"],
        coverage=tuple(_coverage(record["actions"])),
        reached=tuple(record["reached"]),
        reached_at_start=tuple(record["reached_at_start"]),
        counterexample=None,
        simulation=None,
        version=record["tlc"],
        java=replace(find_jre(), version=record["java"]),
        jar=find_jar(),
        exit_status=0,
        warnings=(),
        printed=(),
        java_command=(),
        reproduce=record["reproduce"],
        checked=(*config.invariants, *config.properties),
    )
