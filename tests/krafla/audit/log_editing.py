"""Edits of server logs: a copy of a real cluster with single lines changed."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

from krafla.audit.result import Weight
from krafla.audit.run import audit
from krafla.audit.server_logs.settings import ServerLogOptions

if TYPE_CHECKING:
    from pathlib import Path

    from krafla.audit.report import AuditReport
    from krafla.audit.result import Finding
    from krafla.audit.specs import LoadingSpec

Edit = "Callable[[list[str], int], None]"


def replaced(old: str, new: str) -> Edit:
    def edit(lines: list[str], index: int) -> None:
        assert old in lines[index], "the edit must change the line"
        lines[index] = lines[index].replace(old, new)

    return edit


def removed(lines: list[str], index: int) -> None:
    del lines[index]


def doubled(lines: list[str], index: int) -> None:
    lines.insert(index, lines[index])


def exchanged_with_next(lines: list[str], index: int) -> None:
    """Exchange a broker's line with the next one of the same logger."""
    other = next(
        i for i in range(index + 1, len(lines)) if "(kafka.server.BrokerLifecycleM" in lines[i]
    )
    lines[index], lines[other] = lines[other], lines[index]


def followed_by(text: str) -> Edit:
    """Add another line after it, written at the same time."""

    def edit(lines: list[str], index: int) -> None:
        stamp = re.match(r"\[[^]]*\]", lines[index])
        assert stamp is not None, "a line starts with its time"
        lines.insert(index + 1, f"{stamp[0]} INFO {text}")

    return edit


def edited(source: Path, target: Path, file: str, pattern: str, edit: Edit) -> int:
    """Copy a cluster, edit the first line that matches a pattern; return its number."""
    shutil.copytree(source, target)
    path = target / file
    lines = path.read_text().splitlines()
    index = next(i for i, line in enumerate(lines) if pattern in line)
    edit(lines, index)
    path.write_text("".join(f"{line}\n" for line in lines))
    return index + 1


def judged(folder: Path, loading: LoadingSpec, **options: int) -> AuditReport:
    return audit([folder], loading=loading, server_logs=ServerLogOptions(**options))


def findings(report: AuditReport) -> list[Finding]:
    """Return the findings of a report without notes."""
    everything = [f for cluster in report.clusters for f in cluster.all_findings()]
    return [f for f in (*everything, *report.findings) if f.weight is not Weight.NOTE]


def notes(report: AuditReport) -> list[Finding]:
    everything = [f for cluster in report.clusters for f in cluster.all_findings()]
    return [f for f in (*everything, *report.findings) if f.weight is Weight.NOTE]
