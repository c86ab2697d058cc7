"""The sum of one run of ``krafla check`` over its models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from krafla.counted import counted
from krafla.manifest import TIERS
from krafla.tlc.model_check import Check
from krafla.tlc.together import Shown, manifest_doubts, spec_totals
from krafla.verdict import ExitCode, KraflaError, Verdict, worst

if TYPE_CHECKING:
    from collections.abc import Sequence

    from krafla.cli.check_selection import Selection
    from krafla.cli.check_view import Answer
    from krafla.manifest import Manifest, Model
    from krafla.tlc.together import SpecTotal

__all__ = ["Total", "total_of"]


@dataclass(frozen=True, slots=True)
class Total:
    """All answers of a run, and the totals of each spec whose models all ran.

    ``doubts`` are reasons not to believe that the tier holds, though each model may.
    """

    answers: tuple[Answer, ...]
    specs: tuple[SpecTotal, ...]
    doubts: tuple[str, ...]

    @property
    def exit_code(self) -> ExitCode:
        """Return the status: a violation counts most, then what could not be run, then doubt."""
        found = worst(one.verdict for one in self.answers if isinstance(one, Check))
        if found is Verdict.VIOLATED:
            return ExitCode.VIOLATED
        if any(isinstance(one, KraflaError) for one in self.answers):
            return ExitCode.COULD_NOT_RUN
        return ExitCode.INCONCLUSIVE if self.doubts else found.exit_code

    def __str__(self) -> str:
        counts = dict.fromkeys(Verdict, 0)
        for one in self.answers:
            if isinstance(one, Check):
                counts[one.verdict] += 1
        failed = len(self.answers) - sum(counts.values())
        parts = [f"{count} {verdict.value}" for verdict, count in counts.items() if count]
        kept = sum(isinstance(one, Check) and one.is_kept for one in self.answers)
        if kept:
            parts[0] += f" ({kept} of them in earlier runs)"
        parts += [f"{failed} could not run"] * bool(failed)
        if self.doubts:
            parts.append(f"{counted(len(self.doubts), 'doubt')} about the tier")
        return f"{counted(len(self.answers), 'model')}: {', '.join(parts)}"


def total_of(
    manifest: Manifest,
    selection: Selection,
    chosen: Sequence[Model],
    answers: Sequence[Answer],
    *,
    is_trial: bool = False,
) -> Total:
    """Return the sum of a run.

    A spec has a total if the run has all its models of the selected tiers, and no model was named.
    An action that no model took is a doubt if the smoke tier is selected. Rooms have totals unless
    models or tags were named. A trial, which asks models something else, has no totals.
    """
    checks = [one for one in answers if isinstance(one, Check)]
    if is_trial or selection.names or any(one.result.simulation is not None for one in checks
                              if one.model.kind != "simulation"):  # fmt: skip
        return Total(tuple(answers), (), ())
    if any(not one.listing.needs_pins for one in chosen):
        # What a tier shows together is asked of a manifest only.
        return Total(tuple(answers), (), ())
    names = {model.name for model in chosen}
    of_tiers = [
        one for one in manifest.models if not selection.tiers or one.tier in selection.tiers
    ]
    partial = {one.spec for one in of_tiers if one.name not in names}
    shown = [found for one in checks if (found := Shown.by(one)) is not None]
    specs: tuple[SpecTotal, ...] = ()
    doubts: list[str] = []
    try:
        specs = spec_totals([one for one in chosen if one.spec not in partial], shown)
    except KraflaError as error:
        doubts.append(f"it is not known which actions there are: {error}")
    # The wider tiers ask what the smoke tier leaves open, and need not take every action again.
    if selection.tiers is None or TIERS[0] in selection.tiers:
        doubts += [doubt for spec in specs for doubt in spec.doubts()]
    rooms = {one for one in selection.tags if any(model.room == one for model in chosen)}
    if not selection.tags or rooms == {*selection.tags}:
        doubts += manifest_doubts(manifest, rooms or None)
    return Total(tuple(answers), specs, tuple(doubts))
