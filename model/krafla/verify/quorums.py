"""The questions whether what is simulated over machines keeps its properties: Raft, clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from krafla.verify.rows import Kind, Question, Row

if TYPE_CHECKING:
    from collections.abc import Callable

    from krafla.fuzz.engine.machine_campaign import Campaign

__all__ = ["cluster_question", "quorum_question"]

RUNS: Final = 40
CLUSTER_RUNS: Final = 8
# A whole cluster has much to do: in so many seconds each fault still comes to its turn.
CLUSTER_CHAOS: Final = 4
_CLUSTER_SEED: Final = 0
_SECOND: Final = 1_000_000_000


def quorum_question(seed: int) -> Question:
    """Return the question whether quorums with faults keep every property and make progress."""
    from krafla.fuzz.engine.machine_campaign import Campaign

    return _question(Campaign(seed=seed, examples=RUNS), "at most 5 voters and 2 observers")


def cluster_question() -> Question:
    """Return the question whether controllers and brokers over Raft keep theirs, briefly asked."""
    from krafla.fuzz.engine.machine_campaign import Campaign, kinds_chosen

    campaign = Campaign(
        seed=_CLUSTER_SEED,
        examples=CLUSTER_RUNS,
        kinds=kinds_chosen(None, "stack"),
        system="stack",
        chaos=CLUSTER_CHAOS,
    )
    nodes = f"at most 5 controllers and 6 brokers, {CLUSTER_CHAOS} seconds of faults in each"
    return _question(campaign, nodes)


def _question(campaign: Campaign, nodes: str) -> Question:
    name = campaign.system
    reproduce = f"krafla fuzz {name} --seed {campaign.seed} --examples {campaign.examples}"
    if campaign.chaos is not None:
        reproduce += f" --chaos {campaign.chaos:g}"

    def ask(progress: Callable[[str], None]) -> Row:
        from krafla.fuzz.engine.machine_campaign import run_campaign

        report = run_campaign(campaign, progress)
        if report.is_interrupted:
            # Whoever presses Ctrl-C means all questions.
            raise KeyboardInterrupt
        finding = report.finding
        reasons = report.doubts if finding is None else (str(finding.shrunk.violation),)
        return Row(
            Kind.FUZZ,
            name,
            report.verdict,
            f"{report.examples:,} runs of {nodes}, seed {campaign.seed}",
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
