"""``krafla prove``: what holds of a spec for any number of brokers, shown by z3 from its text."""

from __future__ import annotations

import json
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from krafla.cli.ci.proofs import proof_entries, refused_proof
from krafla.cli.ci.reports import reported, tell
from krafla.cli.options import Json, Quiet  # noqa: TC001 - typer reads the annotations
from krafla.cli.prove_file import is_claim, tell_trial
from krafla.cli.prove_view import data_of, lines_of, summary_of
from krafla.files import check_writable
from krafla.manifest import on_these_specs
from krafla.project.at_hand import put_shipped_at_hand
from krafla.verdict import ExitCode, KraflaError, Verdict, worst

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krafla.proofs.agreement import ActionAgreement
    from krafla.proofs.prove import Proofs
    from krafla.proofs.refutation import Refutation

__all__ = ["command"]

_Subject = Annotated[
    str,
    typer.Argument(metavar="SUBJECT", help="What to prove: lease, or your own: a .tla, a .cfg."),
]
_Invariants = Annotated[
    list[str] | None,
    typer.Option(
        "--invariant", metavar="NAME", help="An invariant of FILE.tla; several are proved together."
    ),
]
_Only = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Obligations of this name, or clauses with --needed."),
]
_Effort = Annotated[
    int,
    typer.Option(min=1, metavar="N", help="The most steps of z3 for each obligation, in millions."),
]
_Needed = Annotated[bool, typer.Option("--needed", help="What fails without each clause.")]
_Refuted = Annotated[bool, typer.Option("--refuted", help="Show what must fail, by a behaviour.")]
_Mutants = Annotated[bool, typer.Option("--mutants", help="Refute wrong invariants and specs.")]
_Agreement = Annotated[bool, typer.Option("--agreement", help="Compare z3's steps with TLC's.")]
_Opinion = Annotated[
    bool, typer.Option("--second-opinion", help="Ask cvc5 about all that z3 proves.")
]
_Save = Annotated[
    Path | None,
    typer.Option("--save", metavar="FILE", help="With --refuted: save the behaviour as a trace."),
]

_MILLION = 1_000_000


@reported()
def command(
    subject: _Subject,
    invariants: _Invariants = None,
    only: _Only = None,
    effort: _Effort = 20,
    needed: _Needed = False,
    refuted: _Refuted = False,
    mutants: _Mutants = False,
    agreement: _Agreement = False,
    second_opinion: _Opinion = False,
    save: _Save = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> ExitCode:
    r"""Prove invariants of a spec without bounds: any sets, any timeouts, a log of any length.

    z3 gets the spec's own text. For each invariant it must show that Init implies it, that
    every action keeps it, and that it implies the properties; also that every value that a
    step assigns belongs to its variable's type, and that every expression has a meaning. Init
    and each action must be possible: a proof about an impossible action proves nothing. A step
    that breaks a clause is shown with the states before and after it; TLC's evaluator has
    confirmed the step. krafla also says whether the spec can reach the state before.

    A module or cfg by its path needs no list of proofs: the invariants of the cfg are proved, or
    those you name, together with TypeOK; properties of the cfg are not. What has no translation
    is told before anything is proved: sequences, for one. A Spec, if there is one, must be
    Init /\ [][Next]_vars; it may have fairness.

    Exit status: 0 if all was proved; 1 if an obligation is false, of a module by its path
    only if a behaviour shows so; 3 if z3 could not tell, or if something has no translation.
    With --needed, 3 if a clause is not shown needed; with --mutants, 1 if one is not refuted.
    With --agreement, z3's formulas for Init and each action are compared with the steps of TLC
    on small models, both ways: 1 if they differ, 3 if TLC takes no step of an action. With
    --second-opinion, 1 if cvc5 denies what z3 has proved, 3 if it could not tell.

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
      krafla prove Counter.tla --invariant BelowLimitInv
    """
    wanted = _wanted(
        needed=needed, refuted=refuted, mutants=mutants, agreement=agreement,
        second_opinion=second_opinion,
    )  # fmt: skip
    is_file = is_claim(subject)
    _check_options(subject, wanted, only, invariants, save, is_file=is_file)
    steps = effort * _MILLION
    with _refusals(subject, as_json=as_json) as refused:
        if is_file:
            return tell_trial(subject, invariants, steps, as_json=as_json, quiet=quiet)
        put_shipped_at_hand()
        results, proofs = _asked(subject, wanted, only, save, steps, quiet=quiet or as_json)
        return _told(results, proofs, only, save, as_json=as_json)
    return refused


def _check_options(
    subject: str, wanted: list[str], only: str | None, invariants: list[str] | None,
    save: Path | None, *, is_file: bool,
) -> None:  # fmt: skip
    """Refuse options that do not go together, before any time is spent."""
    if save is not None and "refuted" not in wanted:
        raise KraflaError("--save saves the behaviour that --refuted finds: add --refuted")
    check_writable(save)
    if is_file and (wanted or only is not None):
        raise KraflaError("FILE.tla takes --invariant only, no --only and no mode such as --needed")
    if invariants and not is_file:
        raise KraflaError(f"--invariant is for a module by its path, and {subject} is none")
    if "agreement" in wanted and only is not None:
        raise KraflaError("--agreement compares all actions: leave out --only")


def _asked(
    subject: str, wanted: list[str], only: str | None, save: Path | None, effort: int, *,
    quiet: bool,
) -> tuple[dict[str, Any], Proofs]:  # fmt: skip
    """Return the results of each mode that is wanted, or else of the proofs."""
    from krafla.cli import screen
    from krafla.manifest import find_specs
    from krafla.proofs.prove import Proofs

    specs = find_specs()
    with screen.LiveLine(quiet=quiet) as live:

        def progress(what: str, done: int, of: int) -> None:
            live.show(f"{what} [{done}/{of}]" if of else f"{what} [{done}]")

        live.show("reading the spec")
        proofs = Proofs(specs, subject, effort=effort, progress=progress)
        results = {name: _result(name, proofs, specs, only) for name in wanted}
        if not wanted:
            results["proofs"] = proofs.run(only)
        if save is not None:
            _save(results["refuted"], save)
    return results, proofs


@contextmanager
def _refusals(subject: str, *, as_json: bool) -> Iterator[ExitCode]:
    """Tell that nothing was proved, if something in here has no translation."""
    from krafla.cli import screen
    from krafla.proofs.errors import Untranslatable

    try:
        yield ExitCode.INCONCLUSIVE
    except Untranslatable as error:
        console = screen.stdout()
        verdict = Verdict.INCONCLUSIVE
        tell(refused_proof, subject, str(error))
        if as_json:
            document = {"format": 1, "verdict": verdict.value, "refused": str(error)}
            console.print(json.dumps(document, indent=2), markup=False, soft_wrap=True)
            return
        word = (verdict.name, screen.VERDICT_STYLES[verdict])
        screen.line(console, word, f"  {subject}: refused, so nothing is proved: {error}")


def _wanted(**asked: bool) -> list[str]:
    """Return the names of the modes that were asked for."""
    return [name for name, is_asked in asked.items() if is_asked]


def _told(
    results: dict[str, Any], proofs: Proofs, only: str | None, save: Path | None, *, as_json: bool
) -> ExitCode:
    from krafla.cli import screen

    console, subject = screen.stdout(), proofs.subject
    verdict = worst(_verdicts(results))
    tell(proof_entries, subject, results, _reproduce(subject, only, results))
    if as_json:
        document = {"format": 1, "verdict": verdict.value, **data_of(results)}
        console.print(json.dumps(document, indent=2), markup=False, soft_wrap=True)
        return verdict.exit_code
    for line in lines_of(results, proofs):
        screen.line(console, line)
    word = (verdict.name, screen.VERDICT_STYLES[verdict])
    screen.line(console, word, f"  {subject}: {summary_of(results)}")
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

        return refute_mutants(specs, proofs.subject, proofs.effort, proofs.progress, only)
    if name == "agreement":
        return _agreement(proofs)
    if name == "second_opinion":
        from krafla.proofs.second_opinion import second_opinions

        return second_opinions(proofs, only)
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
    from krafla.traces import write_trace

    if len(found) != 1:
        raise KraflaError("a file holds one behaviour: say which proof is meant by --only")
    write_trace(behaviour_of(found[0]), path)


def _verdicts(results: dict[str, Any]) -> Iterator[Verdict]:
    for name, result in results.items():
        if name == "proofs":
            yield result.verdict
        else:
            yield from (one.verdict for one in result)


def _reproduce(subject: str, only: str | None, results: dict[str, Any]) -> str:
    flags = [f" --{name.replace('_', '-')}" for name in results if name != "proofs"]
    command = f"krafla prove {subject}{''.join(flags)}" + (f" --only '{only}'" if only else "")
    return on_these_specs(command)
