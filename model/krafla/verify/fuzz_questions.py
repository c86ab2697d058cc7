"""The questions of a verification about the implementation: each system, fuzzed for a while."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from krafla.counted import counted
from krafla.fuzz.engine.system import RunOptions
from krafla.verify.foundations import foundation
from krafla.verify.rows import InterruptedWithRow, Kind, Question, Row

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["brief_fuzz_questions", "fuzz_question", "fuzz_questions"]

# In this many seconds each fault of the stack has its turn.
STACK_CHAOS: Final = 4
_METADATA: Final = RunOptions(steps=400, profiles=("transactions", "controllers", "failovers"))
_STACK: Final = RunOptions(chaos=STACK_CHAOS)


def fuzz_questions() -> tuple[Question, ...]:
    """Return a question for each system but cluster, which would take minutes.

    Their runs must take every action and reach every witness. So few runs do so from some seeds
    only: from these.
    """
    return (
        fuzz_question("lease", 25, 10),
        fuzz_question("reassignment", 50, 1),
        fuzz_question("metadata", 9, 27, _METADATA),
        fuzz_question("registration", 10, 2),
        fuzz_question("raft", 18, 1),
        fuzz_question("stack", 8, 0, _STACK),
    )


def brief_fuzz_questions() -> tuple[Question, ...]:
    """Return a question for each system, which takes seconds and may miss actions."""
    return (
        fuzz_question("lease", 6, 0, is_brief=True),
        fuzz_question("metadata", 2, 0, is_brief=True),
        fuzz_question("reassignment", 8, 0, is_brief=True),
        fuzz_question("registration", 2, 0, is_brief=True),
        fuzz_question("cluster", 2, 0, is_brief=True),
        fuzz_question("raft", 10, 0, is_brief=True),
        fuzz_question("stack", 2, 0, _STACK, is_brief=True),
    )


def fuzz_question(
    name: str,
    examples: int,
    seed: int,
    options: RunOptions | None = None,
    *,
    is_brief: bool = False,
) -> Question:
    """Return the question whether a number of runs of a system keep everything they are held to.

    Unless they are ``is_brief``, they must take every action and reach every witness.
    """
    chosen = options or RunOptions()
    given = "".join(chosen.arguments.values()) + ("" if is_brief else " --require-coverage")
    reproduce = f"krafla fuzz {name} --seed {seed} --examples {examples}{given}"

    def ask(progress: Callable[[str], None]) -> Row:
        from krafla.fuzz.engine.campaign import Campaign, run_campaign
        from krafla.fuzz.engine.system import find_system

        progress("its spec is loaded")
        runs = find_system(name).runs(seed, chosen)
        report = run_campaign(Campaign(runs, examples, requires_coverage=not is_brief), progress)
        if report.is_interrupted and report.failure is None:
            raise KeyboardInterrupt
        row = Row(
            Kind.FUZZ,
            name,
            report.verdict,
            f"{counted(report.seen.runs, 'run')} of {runs.bounds}, seed {seed}",
            report.seen.evidence,
            report.doubts if report.failure is None else (report.failure.smallest.detail,),
            report.reproduce,
            report.seconds,
        )
        if report.is_interrupted:
            # While the finding was shrunk.
            raise InterruptedWithRow(row)
        return row

    weight = 3.0 if is_brief else 12.0
    return Question(Kind.FUZZ, name, reproduce, ask, weight=weight, rests_on=foundation)
