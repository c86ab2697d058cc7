"""The questions of a verification about the implementation: each system, fuzzed for a while."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from krafla.fuzz.engine.system import RunOptions
from krafla.verify.rows import Kind, Question, Row

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["fuzz_question", "fuzz_questions"]

REASSIGNMENT_RUNS: Final = 110
RAFT_RUNS: Final = 40
STACK_RUNS: Final = 8
# In this many seconds each fault of the stack has its turn.
STACK_CHAOS: Final = 4
_METADATA: Final = RunOptions(steps=400, profiles=("transactions", "controllers", "failovers"))


def fuzz_questions(lease_runs: int, seed: int) -> tuple[Question, ...]:
    """Return a question for each system but cluster, which would take minutes.

    ``lease_runs`` runs of the lease, and runs of reassignment and raft, from ``seed``. The seeds of
    the others are fixed: from most seeds so few runs miss an action or a witness.
    """
    return (
        fuzz_question("lease", lease_runs, seed),
        fuzz_question("reassignment", REASSIGNMENT_RUNS, seed),
        fuzz_question("metadata", 9, 27, _METADATA),
        fuzz_question("registration", 10, 2),
        fuzz_question("raft", RAFT_RUNS, seed),
        fuzz_question("stack", STACK_RUNS, 0, RunOptions(chaos=STACK_CHAOS)),
    )


def fuzz_question(
    name: str, examples: int, seed: int, options: RunOptions | None = None
) -> Question:
    """Return the question whether a number of runs of a system keep everything they are held to.

    They must take every action and reach every witness.
    """
    chosen = options or RunOptions()
    given = "".join(chosen.arguments.values())
    reproduce = f"krafla fuzz {name} --seed {seed} --examples {examples}{given} --require-coverage"

    def ask(progress: Callable[[str], None]) -> Row:
        from krafla.fuzz.engine.campaign import Campaign, run_campaign
        from krafla.fuzz.engine.system import find_system

        runs = find_system(name).runs(seed, chosen)
        report = run_campaign(Campaign(runs, examples, requires_coverage=True), progress)
        if report.is_interrupted:
            # Ctrl-C ends all questions.
            raise KeyboardInterrupt
        return Row(
            Kind.FUZZ,
            name,
            report.verdict,
            f"{report.seen.runs:,} runs of {runs.bounds}, seed {seed}",
            report.seen.evidence,
            report.doubts if report.failure is None else (report.failure.smallest.detail,),
            report.reproduce,
            report.seconds,
        )

    return Question(Kind.FUZZ, name, reproduce, ask)
