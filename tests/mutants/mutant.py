"""A seeded bug of the implementation, and what must notice it.

A mutant replaces small functions of kraft by wrong ones. Most are bugs that Kafka had, or that the
KIPs warn of.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from krafla.refinement.common.judgement import Divergence, Failed

if TYPE_CHECKING:
    from krafla.refinement.common.judgement import Finding


@dataclass(frozen=True)
class Mutant:
    """A bug, and its only accepted killer: a divergence at one of these actions that names it.

    `variable` is one that must differ; None where the spec does not have the action at all.
    `conjunct` is a piece of the false conjunct's text. `breaks` is a property that the
    implementation's state must break. `failure` is a piece of what an implementation says that
    gives up because of the bug, where that is what must happen instead.
    """

    id: str
    source: str
    patches: dict[str, Any]
    actions: tuple[str, ...]
    variable: str | None = None
    conjunct: str | None = None
    breaks: str | None = None
    profile: str = "restless"
    failure: str | None = None


def objection(mutant: Mutant, finding: Finding | None) -> str | None:
    """Return why a finding is not what must kill a mutant; None if it is."""
    if finding is None:
        return "survived"
    if mutant.failure is not None:
        told = isinstance(finding, Failed) and mutant.failure in finding.error
        return None if told else f"not {mutant.failure!r}: {finding}"
    if not isinstance(finding, Divergence):
        return f"killed by something else: {finding}"
    texts = [reason.text for reason in finding.explanation.reasons]
    if finding.action.name not in mutant.actions:
        return f"killed at {finding.action.name}, not at {' or '.join(mutant.actions)}: {finding}"
    if mutant.variable is not None and mutant.variable not in finding.variables:
        return f"{mutant.variable} does not differ: {finding}"
    if mutant.conjunct is not None and not any(mutant.conjunct in text for text in texts):
        return f"{mutant.conjunct} is not what is false: {finding}"
    if mutant.breaks is not None and mutant.breaks not in finding.breaks:
        return f"{mutant.breaks} is not broken: {finding}"
    return None
