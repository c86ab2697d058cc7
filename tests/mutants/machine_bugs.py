"""Seeded bugs that the state machines of Hypothesis find, and the table of them.

``python -m tests.mutants.machine_bugs`` prints the table of docs/internals/state-machines.md; with
words, only the rows of these systems.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from krafla.fuzz.engine.mutant import find_mutant
from krafla.fuzz.engine.state_machine import SystemViolationError, machine_of
from krafla.fuzz.engine.system import NAMES, find_system
from krafla.oracle.jvm import start

if TYPE_CHECKING:
    from collections.abc import Iterator

BUGS = {
    "lease": (
        "amending-takes-new-epoch", "registration-is-not-fenced", "registration-inherits-session",
        "unregistering-keeps-soft-state", "newcomer-displaces-live-session",
        "only-unfenced-have-sessions", "refusal-carries-other-epoch",
        "heartbeat-does-not-renew-session", "heartbeat-does-not-report-offset",
        "failover-starts-no-sessions",
    ),
    "metadata": (
        "raft-is-not-made-to-resign", "uncommitted-state-is-kept",
        "waiting-requests-are-left-waiting", "forgets-its-transaction",
        "only-newest-batch-is-remembered", "committed-is-replayed-again",
        "answered-when-appended", "unchanged-is-answered-at-once", "commit-answers-all",
        "half-of-transaction-is-shown",
    ),
    "reassignment": (
        "completes-when-added-are-in-sync", "completes-with-one-in-sync",
        "completes-and-keeps-removed-in-sync", "completes-and-keeps-adding",
        "fenced-replica-joins", "replica-joins-in-shutdown", "leader-ahead-is-fenced",
        "leader-ahead-is-granted", "former-leader-is-granted",
        "stale-partition-epoch-is-granted",
    ),
    "registration": (
        "answer-is-registration", "lost-request-is-awaited-forever", "error-is-no-answer",
        "other-incarnation-is-ignored", "asks-below-gate", "first-incarnation-counts",
        "registered-below-gate", "upgrade-waits-for-no-controller",
        "upgrade-does-not-ask-active", "upgrade-waits-for-active",
    ),
    "cluster": (
        "amending-takes-new-epoch", "answered-when-appended", "unchanged-is-answered-at-once",
        "uncommitted-state-is-kept", "waiting-requests-are-left-waiting", "sessions-are-kept",
        "failover-starts-no-sessions", "former-process-is-heard", "epoch-is-before-batch",
        "unfencing-wants-end-of-log",
    ),
    "raft": (
        "vote-before-write", "asks-before-write", "epoch-not-written", "boots-as-leader",
        "boots-unattached", "leader-never-flushes", "sent-is-received",
        "leader-keeps-high-watermark", "observers-commit", "resigned-stays",
    ),
    # An example of the stack takes a second: only so many were looked for until they were found.
    "stack": (
        "answers-before-commit",
        "claims-late",
        "waiters-are-forgotten",
        "resigning-says-yes",
        "last-answer-first",
        "one-answer-for-each-commit",
        "keeps-uncommitted",
        "unfences-too-soon",
    ),
}  # fmt: skip
"""Ten of each system but the stack."""
# As many as a night plays. What Hypothesis draws depends on the modules that are loaded, from which
# it takes numbers: completes-with-one-in-sync took 87 to 1,694 examples of eight seeds.
EXAMPLES_MAXIMUM = 10_000
RULES = {"raft": 15, "stack": 15}
_MEASURED = {"raft": 60, "stack": 40}


@dataclass(frozen=True)
class Found:
    """How a seeded bug was found: by which property or action, in how many examples and seconds."""

    by: str
    examples: int
    seconds: float


def search(word: str, name: str, folder) -> Found | None:
    """Return how the machine of a system finds a seeded bug, which it does not shrink."""
    mutant, machine, examples = find_mutant(name, find_system(word)), machine_of(word), []
    seeded = {
        "folder": folder,
        "mutant": name,
        "observed": (examples.append,),
        # The lease has beginnings of its own, shorter than those of its profiles.
        "profiles": (mutant.profile,) if mutant.profile and word != "lease" else (),
    }
    began = time.process_time()
    with mutant.applied():
        try:
            _run(type("Seeded", (machine,), seeded), word, EXAMPLES_MAXIMUM)
        except SystemViolationError as error:
            # The last example is the one that failed, which Hypothesis plays twice.
            return Found(error.kind[1], len(examples) - 1, time.process_time() - began)
    return None


def _run(machine, word: str, examples: int) -> None:
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples, stateful_step_count=RULES.get(word, 40), deadline=None,
            database=None, derandomize=True, phases=[Phase.generate], report_multiple_bugs=False,
            suppress_health_check=list(HealthCheck),
        ),
    )  # fmt: skip


def row(word: str, folder) -> str:
    """Return the row of a system: its rules, its speed, what it takes, and the bugs it finds."""
    machine, runs, taken = machine_of(word), [], Counter()

    def note(run):
        runs.append(run.steps)
        taken.update(run.tallies["actions"])

    began = time.process_time()
    examples = _MEASURED.get(word, 200)
    _run(type("Observed", (machine,), {"observed": (note,)}), word, examples)
    seconds = time.process_time() - began
    found = [(name, search(word, name, folder)) for name in BUGS[word]]
    bugs = "; ".join(
        f"{name} {one.examples}, {one.seconds:.1f} s" if one else f"{name}: not found"
        for name, one in found
    )
    rules = len(machine.setup_state().rules)
    reached = sum(count > 0 for count in taken.values())
    return (
        f"| {word} | {rules} | {len(runs) / seconds:.1f} | {sum(runs) / seconds:,.0f} "
        f"| {reached} of {len(taken)} | {bugs} |"
    )


def lines(words, folder) -> Iterator[str]:
    """Yield the table."""
    yield "| machine | rules | examples/s | steps/s | actions | seeded bugs: examples, seconds |"
    yield "|---|---|---|---|---|---|"
    for word in words:
        yield row(word, folder)


if __name__ == "__main__":
    from krafla.scratch import scratch_folder

    start(brief=False)
    with scratch_folder("bugs") as scratch:
        for line in lines(sys.argv[1:] or NAMES, scratch):
            sys.stdout.write(f"{line}\n")
            sys.stdout.flush()
