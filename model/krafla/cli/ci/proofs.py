"""The entries of what was proved, refuted or compared by ``krafla prove``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krafla.report.entries import Entry, FilePlace, places_named
from krafla.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from krafla.proofs.prove import ProofsReport
    from krafla.proofs.trial import Trial

__all__ = ["proof_entries", "refused_proof", "trial_entry"]


def proof_entries(subject: str, results: Mapping[str, Any], reproduce: str) -> Iterator[Entry]:
    """Yield an entry for each case of the proofs, and for each answer of another mode."""
    for mode, result in results.items():
        if mode == "proofs":
            yield from _cases(result, reproduce)
        else:
            for number, one in enumerate(result, start=1):
                data = one.as_json()
                told = next((str(data[key]) for key in _NAMES if data.get(key)), str(number))
                reason = f"{mode.replace('_', ' ')}: {one.verdict.value}"
                yield Entry(
                    "proof", f"{subject}/{mode}/{told}", one.verdict,
                    () if one.verdict is Verdict.HELD else (reason,), reproduce=reproduce,
                )  # fmt: skip


# Of each mode that is not the proofs themselves, the field of its data that says what was asked.
_NAMES = ("clause", "id", "action", "proof", "name")


def _cases(report: ProofsReport, reproduce: str) -> Iterator[Entry]:
    from krafla.verdict import worst

    for case in report.cases:
        verdict = worst([*(answer.verdict for answer in case.answers), case.possibility])
        unproved = [one for one in case.answers if one.verdict is not Verdict.HELD]
        reasons = [f"{one.obligation.name}: {one.verdict.value} {one.reason}" for one in unproved]
        if case.possibility is not Verdict.HELD:
            reasons.append("it is not known whether such a step is possible")
        story = tuple(
            line for one in unproved if one.counterexample for line in one.counterexample.lines()
        )
        yield Entry(
            "proof", case.name, verdict, tuple(reasons),
            evidence=(f"{len(case.answers) - len(unproved)} of {len(case.answers)} proved",),
            reproduce=reproduce, seconds=case.seconds, story=story,
        )  # fmt: skip


def trial_entry(
    module: Path, invariants: Iterable[str], found: Trial, lines: Iterable[str], reproduce: str
) -> Entry:
    """Return the entry of invariants of a module that were tried together."""
    is_held = found.verdict is Verdict.HELD
    reason = "refuted" if found.verdict is Verdict.VIOLATED else "neither proved nor refuted"
    return Entry(
        "proof", f"{module.stem}: {', '.join(invariants)}", found.verdict,
        () if is_held else (reason,), reproduce=reproduce, seconds=found.report.seconds,
        places=(FilePlace(module),), story=() if is_held else tuple(lines),
    )  # fmt: skip


def refused_proof(subject: str, reason: str) -> Entry:
    """Return the entry of a proof that something without a translation has prevented."""
    return Entry(
        "proof", subject, Verdict.INCONCLUSIVE, (f"refused: {reason}",), places=places_named(reason)
    )
