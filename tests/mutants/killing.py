"""Whether a seeded bug was noticed by what must notice it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krafla.refinement.common.judgement import Divergence

if TYPE_CHECKING:
    from krafla.fuzz.engine.mutant import Mutant
    from krafla.refinement.common.judgement import Finding


def objection(mutant: Mutant, finding: Finding | None) -> str | None:
    """Return why a finding is not what must kill a mutant; None if it is."""
    killer = mutant.killer
    if finding is None:
        return "survived"
    if not isinstance(finding, Divergence):
        return f"killed by something else: {finding}"
    texts = [reason.text for reason in finding.explanation.reasons]
    if finding.action.name not in killer.actions:
        return f"killed at {finding.action.name}, not at {' or '.join(killer.actions)}: {finding}"
    if killer.variable is None and killer.conjunct is None and finding.variables:
        differing = ", ".join(finding.variables)
        return f"{differing} differ, and the action should not be enabled: {finding}"
    if killer.variable is not None and killer.variable not in finding.variables:
        return f"{killer.variable} does not differ: {finding}"
    if killer.conjunct is not None and not any(killer.conjunct in text for text in texts):
        return f"{killer.conjunct} is not what is false: {finding}"
    if killer.breaks is not None and killer.breaks not in finding.breaks:
        return f"{killer.breaks} is not broken: {finding}"
    return None
