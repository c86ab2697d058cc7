"""Models that have held, in a file of JSON lines, so that a later run continues from them.

A line counts for a model as long as nothing changes that the search rests on: the modules, the cfg,
the witnesses, TLC. It has counts and observations, and no verdict: each run judges them anew.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import msgspec

from krafla.json_lines import append_line, read_lines
from krafla.tlc.config import read_config
from krafla.tlc.inputs import inputs_of
from krafla.tlc.jar import find_jar
from krafla.tlc.jre import find_jre
from krafla.tlc.judge import judge
from krafla.tlc.measured_coverage import find_coverage
from krafla.tlc.model_check import Check
from krafla.tlc.outcome import Finished
from krafla.tlc.run import ActionCoverage, RunResult
from krafla.verdict import Verdict

if TYPE_CHECKING:
    from pathlib import Path

    from krafla.manifest import Model

__all__ = ["KeptChecks"]

# Goes up when a line would say something else, or a run look for something else.
_VERSION: Final = 3


@dataclass(frozen=True, slots=True)
class _Line:
    """A finished search, and a digest of its inputs.

    ``actions`` is None if the search did not count them.
    """

    version: int
    model: str
    inputs: str
    generated: int
    distinct: int
    depth: int | None
    collisions: float | None
    reached: tuple[str, ...]
    reached_at_start: tuple[str, ...]
    seconds: float
    tlc: str
    java: str
    reproduce: str
    actions: tuple[ActionCoverage, ...] | None


class KeptChecks:
    """The models in a file that have held. ``KraflaError`` if the file cannot be used."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lines: dict[str, _Line] = {}
        read_lines(path, self._take, "models that held")
        append_line(path, None)

    def find(self, model: Model, *, measured: bool = False) -> Check | None:
        """Return the check of a model that is kept, judged anew; None if it must be run.

        With ``measured`` only of a search that has counted how often each action is taken.
        """
        line = self._lines.get(model.name)
        if line is None or line.inputs != inputs_of(model):
            return None
        result = _result(model, line)
        coverage_is_kept = result.coverage is None and model.expect == "holds"
        if coverage_is_kept:
            kept = None if measured else find_coverage(model)
            if kept is None or kept.doubt(result) is not None:
                return None
            result = replace(result, coverage=kept.actions)
        check = Check(
            model, result, judge(model, result), is_kept=True, coverage_is_kept=coverage_is_kept
        )
        return check if check.verdict is Verdict.HELD else None

    def add(self, check: Check, inputs: str) -> None:
        """Keep a check, if it held and covered all states.

        ``inputs`` is the result of `inputs_of` before the search. If it differs now, a file was
        edited meanwhile, and the search may have read either version. ``KraflaError`` if the file
        cannot be written.
        """
        result = check.result
        outcome = result.outcome
        if (
            check.is_kept
            or check.verdict is not Verdict.HELD
            or not isinstance(outcome, Finished)
            or outcome.simulated
            or result.generated is None
            or result.distinct is None
            or inputs_of(check.model) != inputs
        ):
            return
        line = _Line(
            _VERSION,
            check.model.name,
            inputs,
            result.generated,
            result.distinct,
            result.depth,
            outcome.collision_probability,
            result.reached,
            result.reached_at_start,
            round(result.seconds, 3),
            result.version,
            result.java.version,
            result.reproduce,
            None if check.coverage_is_kept else result.coverage,
        )
        append_line(self._path, msgspec.to_builtins(line))

    def _take(self, record: dict[str, Any]) -> None:
        if record["version"] == _VERSION:
            line = msgspec.convert(record, _Line)
            self._lines[line.model] = line


def _result(model: Model, line: _Line) -> RunResult:
    config = read_config(model.config)
    return RunResult(
        outcome=Finished(line.collisions),
        generated=line.generated,
        distinct=line.distinct,
        depth=line.depth,
        queue_left=0,
        seconds=line.seconds,
        coverage=line.actions,
        reached=line.reached,
        reached_at_start=line.reached_at_start,
        counterexample=None,
        simulation=None,
        version=line.tlc,
        java=replace(find_jre(), version=line.java),
        jar=find_jar(),
        exit_status=0,
        warnings=(),
        printed=(),
        java_command=(),
        reproduce=line.reproduce,
        checked=(*config.invariants, *config.properties),
    )
