"""The questions of a verification about what was recorded: kept traces, logs of real clusters."""

from __future__ import annotations

import time
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from krafla.counted import counted
from krafla.verdict import KraflaError, Verdict, worst
from krafla.verify.foundations import foundation
from krafla.verify.rows import Kind, Question, Row

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    *("find_traces", "log_question", "log_questions", "server_log_question"),
    *("server_log_questions", "trace_question"),
]


def find_traces() -> Path:
    """Return the folder of recorded traces and logs: the repository's, or the wheel's.

    ``KraflaError`` if there is none.
    """
    package = Path(str(resources.files("krafla")))
    for folder in (package / "traces_recorded", package.parent.parent / "traces"):
        if (folder / "kafka-4.1").is_dir():
            return folder.resolve()
    raise KraflaError("the recorded traces are not beside this installation")


def trace_question() -> Question:
    """Return the question whether every recorded trace is judged as its folder says."""
    folder = find_traces()
    reproduce = f"krafla replay {_shown(folder)}"

    def ask(progress: Callable[[str], None]) -> Row:
        from krafla.fuzz.engine.kept_trace import check_corpus

        started = time.monotonic()
        corpus = check_corpus(folder, progress)
        return Row(
            Kind.TRACE,
            "recorded traces",
            corpus.verdict,
            f"{counted(len(corpus.entries), 'trace')} of BrokerLease",
            corpus.evidence,
            corpus.reasons,
            reproduce,
            time.monotonic() - started,
        )

    return Question(
        Kind.TRACE, "recorded traces", reproduce, ask, weight=4, rests_on=lambda: foundation(folder)
    )


def log_questions() -> tuple[Question, ...]:
    """Return, for each recorded log of a real cluster, the question whether it follows the spec."""
    folder = find_traces() / "kafka-4.1"
    clusters = sorted(path for path in folder.iterdir() if path.is_dir())
    if not clusters:
        raise KraflaError("there is no recorded log", str(folder))
    return tuple(map(log_question, clusters))


def log_question(path: Path) -> Question:
    """Return the question whether the logs of one cluster follow the spec."""
    reproduce = f"krafla audit {_shown(path)}"

    def ask(progress: Callable[[str], None]) -> Row:
        from krafla.audit.run import audit

        started = time.monotonic()
        report = audit([path], progress)
        directories = [one for cluster in report.clusters for one in cluster.directories]
        findings = [*report.findings]
        findings += [one for cluster in report.clusters for one in cluster.all_findings()]
        first = min((one.judged_from for one in directories), default=0)
        end = max((one.judged_to for one in directories), default=0)
        return Row(
            Kind.AUDIT,
            path.name,
            report.verdict,
            f"the log of {counted(len(directories), 'node')}, offsets {first:,} to {end - 1:,}",
            (
                f"{counted(sum(one.records for one in directories), 'record')} decoded",
                f"{counted(report.steps, 'step')} of four specs",
            ),
            tuple(map(str, findings)),
            reproduce,
            time.monotonic() - started,
        )

    return Question(Kind.AUDIT, path.name, reproduce, ask, rests_on=lambda: foundation(path))


def server_log_questions() -> tuple[Question, ...]:
    """Return a question for each recorded cluster: whether BrokerLease explains its server logs."""
    folder = find_traces() / "kafka-4.1"
    clusters = sorted({path.parents[2] for path in folder.glob("*/*/logs/server.log")})
    if not clusters:
        raise KraflaError("there is no recorded server log", str(folder))
    return tuple(map(server_log_question, clusters))


def server_log_question(path: Path) -> Question:
    """Return the question whether BrokerLease explains the server logs of a cluster."""
    reproduce = f"krafla audit {_shown(path)} --server-logs"

    def ask(progress: Callable[[str], None]) -> Row:
        from krafla.audit.run import audit
        from krafla.audit.server_logs.counts import Counts
        from krafla.audit.server_logs.settings import ServerLogOptions

        started = time.monotonic()
        report = audit([path], progress, server_logs=ServerLogOptions())
        judged = [one.server_logs for one in report.clusters if one.server_logs is not None]
        findings = [*report.findings]
        findings += [one for cluster in report.clusters for one in cluster.all_findings()]
        counts = sum((one.counts for one in judged), Counts())
        # Without a judged line of a server log, the records alone cannot make this held.
        verdict = report.verdict if counts.lines else worst([report.verdict, Verdict.INCONCLUSIVE])
        return Row(
            Kind.SERVER_LOGS,
            path.name,
            verdict,
            counts.whose,
            (
                counts.explained,
                f"{counted(sum(one.steps for one in judged), 'step')} of BrokerLease",
            ),
            tuple(map(str, findings)),
            reproduce,
            time.monotonic() - started,
        )

    return Question(
        Kind.SERVER_LOGS, path.name, reproduce, ask, weight=4, rests_on=lambda: foundation(path)
    )


def _shown(path: Path) -> str:
    """Return the path as a person here would type it."""
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)
