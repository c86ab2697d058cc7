"""Trace files as tests."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from krafla.testing.completion import completed
from krafla.testing.setting import NamedTrace
from krafla.testing.trace_reader import read_trace_of
from krafla.traces import Claim, ClaimKind
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from krafla.testing.setting import Setting
    from krafla.traces import Trace

__all__ = ["TraceFiles", "trace_files"]


def trace_files(*patterns: str, refused: bool = False) -> TraceFiles:
    """Return the traces of files, named by patterns from the folder of the test's file.

    Formats: krafla's ndjson, ITF of Apalache and Quint, TLC's JSON (``-dumpTrace json``) and TLC's
    printed output; gzip or not. What such a file does not say (actions, parameters, model values)
    is found by the spec. ``refused``: they are counterexamples of a broken spec, whose last step
    the code must refuse, also where the file does not claim that. ``KraflaError`` if a pattern
    matches no file.
    """
    return TraceFiles(patterns, refused)


@dataclass(frozen=True, slots=True)
class TraceFiles:
    """Traces in files; ``trace_files`` makes it."""

    patterns: tuple[str, ...]
    refused: bool = False

    def cases(self, setting: Setting) -> Sequence[NamedTrace]:
        """Return one case for each file, by its name from the folder of the test."""
        found: dict[Path, None] = {}
        for pattern in self.patterns:
            files = sorted(setting.folder.glob(pattern))
            if not files:
                raise KraflaError(f"no file matches {pattern!r}", str(setting.folder))
            found.update(dict.fromkeys(files))
        return [
            NamedTrace(
                file.relative_to(setting.folder).as_posix(), partial(self._trace, setting, file)
            )
            for file in found
        ]

    def _trace(self, setting: Setting, file: Path) -> Trace:
        found = completed(read_trace_of(file, setting.spec), setting.spec, str(file))
        if self.refused and not found.claims_violation:
            claim = Claim(ClaimKind.DIVERGENCE, found.steps[-1].action)
            return replace(found, claim=claim)
        return found
