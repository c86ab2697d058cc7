"""``krafla prove``: what holds of a spec for any number of brokers, shown by z3 from its text."""

from __future__ import annotations

import json
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from krafla.cli.options import Json, Quiet  # noqa: TC001 - typer reads the annotations
from krafla.files import check_writable
from krafla.manifest import on_these_specs
from krafla.verdict import ExitCode, KraflaError, Verdict, worst

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krafla.proofs.agreement import ActionAgreement
    from krafla.proofs.clause_needs import Need
    from krafla.proofs.mutants import MutantAnswer
    from krafla.proofs.prove import Proofs, ProofsReport
    from krafla.proofs.refutation import Refutation

__all__ = ["command"]

_Subject = Annotated[str, typer.Argument(metavar="SUBJECT", help="What to prove: lease.")]
_Only = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Obligations of this name, or clauses with --needed."),
]
_Timeout = Annotated[float, typer.Option(min=0.1, help="Seconds for each obligation.")]
_Needed = Annotated[bool, typer.Option("--needed", help="What fails without each clause.")]
_Refuted = Annotated[bool, typer.Option("--refuted", help="Show what must fail, by a behaviour.")]
_Mutants = Annotated[bool, typer.Option("--mutants", help="Refute wrong invariants and specs.")]
_Agreement = Annotated[bool, typer.Option("--agreement", help="Compare z3's steps with TLC's.")]
_Save = Annotated[
    Path | None,
    typer.Option("--save", metavar="FILE", help="With --refuted: save the behaviour as a trace."),
]


def command(
    subject: _Subject,
    only: _Only = None,
    timeout: _Timeout = 10.0,
    needed: _Needed = False,
    refuted: _Refuted = False,
    mutants: _Mutants = False,
    agreement: _Agreement = False,
    save: _Save = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> ExitCode:
    r"""Prove invariants of a spec without bounds: any sets, any timeouts, a log of any length.

    z3 gets the spec's own text. For each invariant it must show that Init implies it, that
    every action keeps it, and that it implies the properties; in one proof also that every
    expression in an action has a value. Init and each action must be possible: a proof about an
    impossible action proves nothing. A step that breaks a clause is shown with both states, to
    which TLC's evaluator has agreed, and with whether behaviours of the spec reach the first.

    Exit status: 0 if all was proved; 1 if an obligation is false; 3 if z3 could not tell.
    With --needed, 3 if a clause is not shown needed; with --mutants, 1 if one is not refuted.
    With --agreement, z3's formulas for Init and each action are compared with the steps of TLC
    on small models, both ways: 1 if they differ, 3 if TLC takes no step of an action.

    \b
    Examples:
      krafla prove lease
      krafla prove lease --only overlap/Tick
      krafla prove lease --only '*/StaleHeartbeatIgnoredProp'
      krafla prove lease --only 'processes/*/defined'
      krafla prove lease --needed --only 'Given*'
      krafla prove lease --refuted --save overlap.ndjson && krafla replay overlap.ndjson --impl
      krafla prove lease --agreement
      krafla prove lease --mutants
    """
    from krafla.cli import screen
    from krafla.manifest import find_specs
    from krafla.proofs.prove import Proofs

    specs = find_specs()
    if save is not None and not refuted:
        raise KraflaError("--save saves the behaviour that --refuted finds: add --refuted")
    check_writable(save)
    if agreement and only is not None:
        raise KraflaError("--agreement compares all actions: leave out --only")
    with screen.LiveLine(quiet=quiet or as_json) as live:

        def progress(what: str, done: int, of: int) -> None:
            live.show(f"{what} [{done}/{of}]" if of else f"{what} [{done}]")

        live.show("reading the spec")
        proofs = Proofs(specs, subject, timeout=timeout, progress=progress)
        wanted = _wanted(needed=needed, refuted=refuted, mutants=mutants, agreement=agreement)
        results = {name: _result(name, proofs, specs, only) for name in wanted}
        if not wanted:
            results["proofs"] = proofs.run(only)
        if save is not None:
            _save(results["refuted"], save)
    return _told(results, proofs, only, save, as_json=as_json)


def _wanted(**asked: bool) -> list[str]:
    """Return the names of the modes that were asked for."""
    return [name for name, is_asked in asked.items() if is_asked]


def _told(
    results: dict[str, Any], proofs: Proofs, only: str | None, save: Path | None, *, as_json: bool
) -> ExitCode:
    from krafla.cli import screen

    console, subject = screen.stdout(), proofs.subject
    verdict = worst(_verdicts(results))
    if as_json:
        document = {"format": 1, "verdict": verdict.value, **_data(results)}
        console.print(json.dumps(document, indent=2), markup=False, soft_wrap=True)
        return verdict.exit_code
    for line in _lines(results, proofs):
        screen.line(console, line)
    word = (verdict.name, screen.VERDICT_STYLES[verdict])
    screen.line(console, word, f"  {subject}: {_summary(results)}")
    if save is not None:
        screen.line(console, f"    saved: {save}")
    screen.line(console, (f"    reproduce: {_reproduce(subject, only, results)}", "dim"))
    return verdict.exit_code


def _result(name: str, proofs: Proofs, specs: Path, only: str | None) -> Any:
    if name == "needed":
        from krafla.proofs.clause_needs import needs

        return needs(proofs, only)
    if name == "mutants":
        from krafla.proofs.mutants import refute_mutants

        return refute_mutants(specs, proofs.subject, proofs.timeout, proofs.progress, only)
    if name == "agreement":
        return _agreement(proofs)
    from krafla.proofs.refutation import refute

    must_fail = [proof for proof in proofs.plans if proof.is_refuted]
    meant = [proof for proof in must_fail if only is None or fnmatchcase(proof.name, only)]
    if not meant:
        names = ", ".join(proof.name for proof in must_fail)
        raise KraflaError(f"no proof that must fail is named {only}; there is {names}")
    return [refute(proofs, proof) for proof in meant]


def _agreement(proofs: Proofs) -> Sequence[ActionAgreement]:
    from krafla.proofs.agreement import agreement
    from krafla.refinement.lease.proof_instances import lease_instances

    # All proofs of a subject are about the same actions.
    theory = proofs.theory(proofs.plans[0])
    return agreement(theory, lease_instances(), lambda what: proofs.progress(what, 0, 0)).rows


def _save(found: Sequence[Refutation], path: Path) -> None:
    from krafla.proofs.behaviour import behaviour_of
    from krafla.traces import write

    if len(found) != 1:
        raise KraflaError("a file holds one behaviour: say which proof is meant by --only")
    write(behaviour_of(found[0]), path)


def _verdicts(results: dict[str, Any]) -> Iterator[Verdict]:
    for name, result in results.items():
        if name == "proofs":
            yield result.verdict
        else:
            yield from (one.verdict for one in result)


def _lines(results: dict[str, Any], proofs: Proofs) -> Iterator[str]:
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


def _proof_lines(report: ProofsReport, proofs: Proofs) -> Iterator[str]:
    for proof in dict.fromkeys(case.proof for case in report.cases):
        mine = [case for case in report.cases if case.proof == proof]
        yield f"{proof.name}: {proof.what}"
        if proof.conditions or proof.step_conditions:
            yield f"    if {', '.join((*proof.conditions, *proof.step_conditions))}"
        if proof.after:
            yield f"    relies on: {', '.join(proof.after)}"
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
                    else "none was found in a small world: nothing may be proved of it"
                )  # fmt: skip
        yield ""
    for case in report.cases:
        for answer in case.answers:
            if answer.verdict is not Verdict.HELD:
                yield f"{answer.verdict.name}  {answer.obligation.name}  {answer.reason}"
            if answer.counterexample is not None:
                yield from (f"    {line}" for line in answer.counterexample.lines())
                reached = proofs.reach(case.proof).search(
                    answer.counterexample.constants, dict(answer.counterexample.before.items())
                )
                yield f"    its first state: {reached}"


def _need_lines(found: Sequence[Need]) -> Iterator[str]:
    for need in found:
        if need.counterexample is None:
            yield f"{need.clause:32}not shown needed ({need.tried} obligations tried)"
        else:
            without = need.counterexample.obligation.name
            yield f"{need.clause:32}without it fails {without}  {need.seconds:.1f} s"


def _refutation_lines(one: Refutation) -> Iterator[str]:
    yield f"{one.proof.name}: {one.proof.what}"
    yield f"    if {', '.join((*one.proof.conditions, *one.proof.step_conditions))}"
    if one.counterexample is None or one.reached is None:
        yield "    no step that breaks it was found"
        return
    yield from (f"    {line}" for line in one.counterexample.lines())
    yield f"    its first state: {one.reached}; z3 gave {one.tried} states, {one.seconds:.1f} s"
    if one.reached.path is not None:
        yield f"    {' '.join(action for action, _ in one.reached.path)} {one.counterexample.step}"


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


def _summary(results: dict[str, Any]) -> str:
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
    if "agreement" in results:
        rows = results["agreement"]
        differences = sum(len(row.differences) for row in rows)
        steps = sum(row.steps_tlc for row in rows)
        parts.append(
            f"Init and {len(rows) - 1} actions, {steps:,} steps, {differences} differences"
        )
    return ", ".join(parts)


def _reproduce(subject: str, only: str | None, results: dict[str, Any]) -> str:
    flags = [f" --{name}" for name in results if name != "proofs"]
    command = f"krafla prove {subject}{''.join(flags)}" + (f" --only '{only}'" if only else "")
    return on_these_specs(command)


def _data(results: dict[str, Any]) -> dict[str, Any]:
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
    for name in ("needed", "refuted", "mutants", "agreement"):
        if name in results:
            data[name] = [one.as_json() for one in results[name]]
    return data
