"""The entries of what TLC or the oracle says of models: ``check``, ``explore`` and ``mutate``."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from krafla.cli.ci.accounts import SpecFiles, told_by
from krafla.report.entries import Entry, FilePlace, Rule, places_named
from krafla.verdict import KraflaError, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from krafla.cli.check_total import Total
    from krafla.graph.survey import Survey
    from krafla.manifest import Model
    from krafla.mutate.run import MutationReport
    from krafla.tlc.model_check import Check
    from krafla.traces import Trace

__all__ = ["check_entries", "explored_entry", "mutation_entries", "survey_entries"]


def check_entries(models: Sequence[Model], total: Total) -> Iterator[Entry]:
    """Yield an entry for each model that was checked, and for each doubt about all together.

    ``models`` are those of the answers, in the same order.
    """
    for model, answer in zip(models, total.answers, strict=True):
        if isinstance(answer, KraflaError):
            yield Entry(
                "model", model.name, Verdict.INCONCLUSIVE, (str(answer),), could_run=False,
                places=places_named(str(answer)) or (FilePlace(model.config),),
            )  # fmt: skip
        else:
            yield _checked(answer)
    for doubt in total.doubts:
        yield Entry("tier", doubt.rpartition(": ")[0] or doubt, Verdict.INCONCLUSIVE, (doubt,))


def _checked(check: Check) -> Entry:
    from krafla.tlc.model_check import evidence

    model, result, verdict = check.model, check.result, check.verdict
    reasons = check.judgement.reasons
    return Entry(
        "expected failure" if model.expect == "violates" else "model",
        model.name, verdict, () if verdict is Verdict.HELD else reasons,
        evidence=(*(reasons if verdict is Verdict.HELD else ()), *evidence(check)),
        bounds=model.bounds, reproduce=result.reproduce,
        seconds=0.0 if check.is_kept else result.seconds,
        asked=_rules(model, result.checked),
        **_told(model, None if verdict is Verdict.HELD else result.counterexample),
    )  # fmt: skip


def _told(model: Model, trace: Trace | None) -> dict[str, Any]:
    """Return the rule, the places, the steps and the story of a counterexample, if there is one."""
    config = FilePlace(model.config)
    if trace is None:
        return {"places": (config,)}
    from krafla.cli.account_view import counterexample

    files = SpecFiles((model.module.parent, *model.search_path))
    return told_by(counterexample(trace, model), files, model.spec, (config,))


def _rules(model: Model, names: Sequence[str]) -> tuple[Rule, ...]:
    from krafla.report.explain.meaning import Meanings

    meanings = Meanings(model.spec)
    return tuple(Rule(f"{model.spec}!{name}", meanings.of(name)) for name in names)


def explored_entry(
    model: Model, verdict: Verdict, reasons: tuple[str, ...], evidence: str, trace: Trace | None
) -> Entry:
    """Return the entry of a model that was explored; ``trace`` leads to where it is violated."""
    is_held = verdict is Verdict.HELD
    return Entry(
        "state graph", model.name, verdict, () if is_held else reasons,
        evidence=(*(reasons if is_held else ()), evidence), bounds=model.bounds,
        **_told(model, None if is_held else trace),
    )  # fmt: skip


def survey_entries(survey: Survey) -> Iterator[Entry]:
    """Yield an entry for each model of ``krafla explore --report``."""
    for row in survey.rows:
        yield Entry("state graph", row.model, row.verdict, tuple(row.reasons), seconds=row.seconds)


def mutation_entries(
    report: MutationReport, original: Callable[[str], Path], subject: str
) -> Iterator[Entry]:
    """Yield an entry for each mutant that was tried, and for what else a run of mutants shows.

    ``original`` gives the file that a mutant changes, ``subject`` is what was asked about.
    """
    from krafla.manifest import on_these_specs
    from krafla.mutate.summary import Fate

    summary, explained = report.summary, report.plan.explained
    asked = f"krafla mutate {shlex.quote(subject)}"
    unexplained = {one.mutant.id for one in summary.unexplained}
    for one in summary.outcomes:
        mutant, verdict = one.mutant, Verdict.HELD
        if one.fate is Fate.UNKNOWN and mutant.id in unexplained:
            verdict = Verdict.INCONCLUSIVE
        elif explained.is_there and mutant.id in unexplained:
            verdict = Verdict.VIOLATED
        told = (f"{one.fate.value}: {one.because}",)
        yield Entry(
            "mutant", mutant.id, verdict, () if verdict is Verdict.HELD else told,
            evidence=told if verdict is Verdict.HELD else (mutant.what,),
            reproduce=on_these_specs(f"{asked} --only {mutant.id}"),
            places=(FilePlace(original(mutant.file), mutant.line),),
        )  # fmt: skip
    for entry, why in summary.stale:
        yield Entry(
            "stale reason", entry.id, Verdict.VIOLATED, (why,),
            places=(FilePlace(explained.path, entry.line),),
        )  # fmt: skip
    for name, why in sorted(report.broken.items()):
        yield Entry("model", name, Verdict.INCONCLUSIVE, (f"no mutant is tried on it: {why}",))
