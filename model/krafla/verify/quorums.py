"""The question whether simulated quorums of Raft keep the properties of the spec."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from krafla.verify.rows import Kind, Question, Row

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["quorum_question"]

RUNS: Final = 40
_SECOND: Final = 1_000_000_000


def quorum_question(seed: int) -> Question:
    """Return the question whether quorums with faults keep every property and make progress."""
    name = "raft"
    reproduce = f"krafla fuzz raft --seed {seed} --examples {RUNS}"

    def ask(progress: Callable[[str], None]) -> Row:
        from krafla.fuzz.quorum.campaign import Campaign, run_campaign

        report = run_campaign(Campaign(seed=seed, examples=RUNS), progress)
        finding = report.finding
        reasons = report.doubts if finding is None else (str(finding.shrunk.violation),)
        return Row(
            Kind.FUZZ,
            name,
            report.verdict,
            f"{report.examples:,} runs of at most 5 voters and 2 observers, seed {seed}",
            (
                f"{report.events:,} events, the properties asked after each",
                f"{sum(report.faults.values()):,} effects of {len(report.faults)} kinds of faults",
                f"{report.acknowledged:,} values acknowledged",
                f"{report.simulated // _SECOND:,} simulated seconds",
            ),
            reasons,
            reproduce,
            report.seconds,
        )

    return Question(Kind.FUZZ, name, reproduce, ask)
