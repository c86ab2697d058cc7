"""How ``krafla prove`` tells its results: lines for people, plain values for programs."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

from krafla.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krafla.proofs.agreement import ActionAgreement
    from krafla.proofs.clause_needs import Need
    from krafla.proofs.counterexample import Counterexample
    from krafla.proofs.mutants import MutantAnswer
    from krafla.proofs.prove import Proofs, ProofsReport
    from krafla.proofs.reach import Reached
    from krafla.proofs.refutation import Refutation
    from krafla.proofs.second_opinion import Opinion

__all__ = ["data_of", "lines_of", "summary_of"]


def lines_of(results: dict[str, Any], proofs: Proofs) -> Iterator[str]:
    """Yield the lines about the results of each mode that was asked for."""
    if "proofs" in results:
        yield from _proof_lines(results["proofs"], proofs)
    if "needed" in results:
        yield from _need_lines(results["needed"])
    for one in results.get("refuted", ()):
        yield from _refutation_lines(one)
    if "mutants" in results:
        yield from _mutant_lines(results["mutants"])
    if "agreement" in results:
        yield from _agreement_lines(results["agreement"])
    yield from _opinion_lines(results.get("second_opinion", ()))


def _proof_lines(report: ProofsReport, proofs: Proofs) -> Iterator[str]:
    for proof in dict.fromkeys(case.proof for case in report.cases):
        mine = [case for case in report.cases if case.proof == proof]
        yield f"{proof.name}: {proof.what}" if proof.what else f"{proof.name}:"
        if proof.conditions or proof.step_conditions:
            yield f"    if {', '.join((*proof.conditions, *proof.step_conditions))}"
        asked = {case.proof.name for case in report.cases}
        for name in proof.after:
            yield f"    relies on: {name}" + ("" if name in asked else ", which is not asked here")
        if proof.is_defined:
            yield "    and whatever an action evaluates means something (defined)"
        for case in mine:
            proved = sum(answer.verdict is Verdict.HELD for answer in case.answers)
            what = case.name.partition("/")[2]
            why = dict(proof.never).get(case.action or "")
            note = "" if why is None else f"  never: {why}"
            yield f"  {what:28}{proved:4} of {len(case.answers):3}{case.seconds:8.2f} s{note}"
            if case.possibility is not Verdict.HELD:
                yield f"    {case.name}: " + (
                    "possible, though never expected" if case.is_possible
                    else "no such step was found among the few values that were tried, so its "
                    "proof may say nothing"
                )  # fmt: skip
        yield ""
    for case in report.cases:
        for answer in case.answers:
            if answer.verdict is not Verdict.HELD:
                told = f"{answer.verdict.name}  {answer.obligation.name}  {answer.reason}"
                yield told.rstrip()
            if answer.counterexample is not None:
                yield from (f"    {line}" for line in answer.counterexample.lines())
                reached = proofs.reach(case.proof).search(
                    answer.counterexample.constants, dict(answer.counterexample.before.items())
                )
                yield f"    that state is {reached}"
                yield from _path_lines(reached, answer.counterexample)


def _need_lines(found: Sequence[Need]) -> Iterator[str]:
    for need in found:
        if need.counterexample is None:
            yield f"{need.clause:32}not shown needed ({need.tried} obligations tried)"
        else:
            without = need.counterexample.obligation.name
            yield f"{need.clause:32}without it fails {without}  {need.seconds:.1f} s"


def _refutation_lines(one: Refutation) -> Iterator[str]:
    yield f"{one.proof.name}: {one.proof.what}"
    if one.proof.conditions or one.proof.step_conditions:
        yield f"    if {', '.join((*one.proof.conditions, *one.proof.step_conditions))}"
    if one.counterexample is None or one.reached is None:
        yield "    no step that breaks it was found"
        return
    yield from (f"    {line}" for line in one.counterexample.lines())
    yield f"    that state is {one.reached}; z3 gave {one.tried} states, {one.seconds:.1f} s"
    yield from _path_lines(one.reached, one.counterexample)


def _path_lines(reached: Reached, found: Counterexample) -> Iterator[str]:
    """Yield the behaviour that leads to a counterexample and takes its step, if there is one."""
    if reached.path is None:
        return
    taken = [action for action, _ in reached.path]
    if found.after is not None:
        taken.append(found.step)
    folded = ((name, sum(1 for _ in same)) for name, same in groupby(taken))
    told = ", ".join(name if count == 1 else f"{name} x {count}" for name, count in folded)
    yield f"    a behaviour: {told}"


def _mutant_lines(found: Sequence[MutantAnswer]) -> Iterator[str]:
    for one in found:
        answer = "refuted" if one.verdict is Verdict.HELD else "NOT REFUTED"
        yield f"{one.id:36}{answer:12}{one.obligation}  {one.seconds:.1f} s"


def _agreement_lines(rows: Sequence[ActionAgreement]) -> Iterator[str]:
    names = ("states", "questions", "steps TLC", "steps z3", "refused", "differences")
    yield f"{'action':28}" + "".join(f"{name:>12}" for name in names)
    for row in rows:
        counts = (row.states, row.questions, row.steps_tlc, row.steps_z3, row.refused)
        yield f"{row.action:28}" + "".join(f"{n:>12,}" for n in (*counts, len(row.differences)))
    yield ""
    for row in rows:
        yield from (f"{row.verdict.name}  {one}" for one in row.differences)
        if not row.steps_tlc:
            yield f"{row.verdict.name}  {row.action}: TLC takes no such step in these models"


def _opinion_lines(found: Sequence[Opinion]) -> Iterator[str]:
    for one in found:
        if one.verdict is not Verdict.HELD:
            says = "denies it" if one.verdict is Verdict.VIOLATED else "could not tell"
            name = f"{one.obligation.name}, conjunct {one.obligation.conjunct}"
            yield f"{one.verdict.name}  {name}: cvc5 {says}"


def summary_of(results: dict[str, Any]) -> str:
    """Return what the results come to, in one line."""
    parts = []
    if "proofs" in results:
        report = results["proofs"]
        proved = sum(answer.verdict is Verdict.HELD for answer in report.answers)
        parts.append(
            f"{proved:,} of {len(report.answers):,} obligations proved in {report.seconds:.1f} s"
        )
    if "needed" in results:
        shown = sum(need.counterexample is not None for need in results["needed"])
        parts.append(f"{shown} of {len(results['needed'])} clauses shown needed")
    for name in ("refuted", "mutants"):
        if name in results:
            good = sum(one.verdict is Verdict.HELD for one in results[name])
            parts.append(f"{good} of {len(results[name])} {name} as they must be")
    if "second_opinion" in results:
        found = results["second_opinion"]
        agreed = sum(one.verdict is Verdict.HELD for one in found)
        parts.append(f"{agreed:,} of {len(found):,} proofs of z3 confirmed by cvc5")
    if "agreement" in results:
        rows = results["agreement"]
        differences = sum(len(row.differences) for row in rows)
        steps = sum(row.steps_tlc for row in rows)
        parts.append(
            f"Init and {len(rows) - 1} actions, {steps:,} steps, {differences} differences"
        )
    return ", ".join(parts)


def data_of(results: dict[str, Any]) -> dict[str, Any]:
    """Return the results as plain values."""
    data: dict[str, Any] = {}
    if "proofs" in results:
        data["obligations"] = [
            {
                "name": answer.obligation.name,
                "conjunct": answer.obligation.conjunct,
                "verdict": answer.verdict.value,
                "seconds": round(answer.seconds, 4),
                "used": sorted(answer.used),
                "reason": answer.reason,
            }
            for answer in results["proofs"].answers
        ]
    for name in ("needed", "refuted", "mutants", "agreement", "second_opinion"):
        if name in results:
            data[name] = [one.as_json() for one in results[name]]
    return data
