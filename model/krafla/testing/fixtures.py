"""What the fixtures of the pytest plugin return: functions that know the folder of their test."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from krafla.testing.errors import Inconclusive
from krafla.testing.machine_judge import loaded
from krafla.testing.project_lookup import surroundings_of
from krafla.testing.recorded_trace import judge_recorded
from krafla.testing.trace_reader import read_trace_of
from krafla.traces import PartialTrace, Trace, read_trace

if TYPE_CHECKING:
    from collections.abc import Mapping

    from krafla.oracle import Spec

__all__ = ["SpecLoader", "TraceValidator", "spec_loader", "trace_validator"]


class SpecLoader(Protocol):
    """The type of the fixture ``krafla_spec``."""

    def __call__(
        self,
        path: str | Path,
        constants: Mapping[str, Any] | None = None,
        *,
        cfg: str | Path | None = None,
    ) -> Spec:
        """Return the spec of a ``.tla`` from the test's folder, as ``Spec.load``; loaded once."""


class TraceValidator(Protocol):
    """The type of the fixture ``krafla_validate``."""

    def __call__(
        self, trace: Trace | PartialTrace | str | Path, *, spec: Spec | str | Path | None = None
    ) -> None:
        """Judge a trace, or the file of one, as the file of a test ``*.trace.ndjson`` is judged.

        Without ``spec`` it is found beside the file, or in the project of the test's folder.
        """


def spec_loader(folder: Path) -> SpecLoader:
    """Return the fixture for tests in a folder."""

    def load(
        path: str | Path,
        constants: Mapping[str, Any] | None = None,
        *,
        cfg: str | Path | None = None,
    ) -> Spec:
        return loaded(folder / path, constants, None if cfg is None else folder / cfg)

    return load


def trace_validator(folder: Path) -> TraceValidator:
    """Return the fixture for tests in a folder."""

    def validate(
        trace: Trace | PartialTrace | str | Path, *, spec: Spec | str | Path | None = None
    ) -> None:
        __tracebackhide__ = True
        if isinstance(spec, str | Path):
            spec = loaded(folder / spec, None, None)
        if isinstance(trace, Trace | PartialTrace):
            found, file = trace, folder / "the trace"
        else:
            file = folder / trace
            found = read_trace(file) if spec is None else read_trace_of(file, spec)
        judge = surroundings_of(file).spec_for(found) if spec is None else spec
        doubt = judge_recorded(found, judge)
        if doubt is not None:
            raise Inconclusive(doubt)

    return validate
