"""``krafla replay``: a trace on the spec or on the implementation; a recording on both at once."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import TYPE_CHECKING, Annotated

import typer

from krafla.cli.ci.reports import reported, tell
from krafla.cli.ci.traces import refused_entry, replay_entry
from krafla.cli.options import SpecPath, use_spec
from krafla.verdict import ExitCode, KraflaError, Verdict, worst_status

if TYPE_CHECKING:
    from krafla.report.explain.account import Account
    from krafla.report.explain.outcome import Outcome
    from krafla.traces import Trace

__all__ = ["command"]


@reported()
def command(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", help="Traces (.ndjson), recordings (.json), a corpus."),
    ],
    implementation: Annotated[
        bool, typer.Option("--impl", help="Play traces on the implementation, judged by the spec.")
    ] = False,
    at_hand: Annotated[
        bool, typer.Option("--at-hand", help="Judge by the specs here, not by a trace's own text.")
    ] = False,
    spec: SpecPath = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Only verdicts.")] = False,
) -> ExitCode:
    r"""Replay a trace or a run: on the spec, on the implementation, or on both in lockstep.

    A trace is replayed on its spec, step by step: each must be a step of the named action and
    keep every property but the one that the trace claims to violate, which is judged anew.
    With --impl, the implementation is made to take the same steps: after each its state is
    compared with the trace's, and the spec judges it. In a project that is the machine of
    krafla.toml with this spec. Where one side cannot follow, krafla shows
    the step and the false conjunct with its values.

    A run that krafla fuzz saved (.json) is played again on the implementation, and judged. With
    --impl, a trace that it saved of Kafka's systems is played from its recorded choices; a trace
    without choices works for the lease only. A folder with an index.toml is a corpus: each of its
    files must show what the index says.

    A trace of an edited spec carries its text, which judges the trace wherever it is replayed.
    With --at-hand the specs here judge it: has the error gone with the edit? Then it is held.

    A trace that ends in a loop must close it: a step leads from its last state to where the
    loop begins.

    Exit status: 0 if everything agreed; 1 if a step was denied or a property violated, as claimed
    or not; 3 if Kafka's implementation rightly did not take the steps of a trace, or a trace does
    not show the violation that it claims, shows no step at all, or its file was cut short.

    \b
    Examples:
      krafla replay traces
      krafla replay found/krafla-lease-7-31-FenceStaleBroker.json
      krafla replay traces/accepted/lease/late-copy-amends.ndjson --impl
      krafla check NoSelfFence --trace overlap.ndjson && krafla replay overlap.ndjson --impl
    """
    from krafla.cli import screen

    use_spec(spec)
    statuses: list[ExitCode] = []
    for path in paths:
        try:
            told = _replayed(path, implementation=implementation, at_hand=at_hand)
        except KraflaError as error:
            if len(paths) == 1:
                raise
            screen.line(screen.stderr(), f"krafla: {error}")
            tell(refused_entry, path, error)
            statuses.append(ExitCode.COULD_NOT_RUN)
            continue
        tell(replay_entry, path, told.verdict, told.sentence, told.lines, told.account)
        statuses.append(told.verdict.exit_code)
        _show(told, path, quiet=quiet)
    return worst_status(statuses)


@dataclass(frozen=True, slots=True)
class _Told:
    """What is said of a recording: the verdict, how far it was played, remarks, the failure."""

    verdict: Verdict
    sentence: str
    lines: tuple[str, ...] = ()
    account: Account | None = None


def _show(told: _Told, path: Path, *, quiet: bool) -> None:
    from krafla.cli import screen
    from krafla.cli.account_view import show_account

    console = screen.stdout()
    word = (told.verdict.name, screen.VERDICT_STYLES[told.verdict])
    screen.line(console, word, f"  {path}{f': {told.sentence}' if told.sentence else ''}")
    if quiet:
        return
    for line in told.lines:
        screen.line(console, f"  {line}")
    if told.account is not None:
        show_account(console, told.account)


def _replayed(path: Path, *, implementation: bool, at_hand: bool) -> _Told:
    from krafla.cli.recording import is_run, refuse_logs, trace_in

    if path.is_dir():
        refuse_logs(path)
        return _corpus(path)
    if is_run(path):
        from krafla.fuzz.engine.run_file import replay_file

        replay = replay_file(path)
        return _Told(replay.verdict, replay.sentence, (), replay.failure)
    trace = trace_in(path)
    try:
        if at_hand:
            from krafla.match.spec_source import by_specs_at_hand

            trace = by_specs_at_hand(trace)
        if implementation:
            return _on_implementation(trace, path)
        return _checked(trace, path, at_hand=at_hand)
    except KraflaError as error:
        where = str(path) if error.place is None else f"{path}, {error.place}"
        raise KraflaError(error.message, where) from None


def _checked(trace: Trace, path: Path, *, at_hand: bool) -> _Told:
    """Return the spec's verdict on a trace and on its claim, which may be gone since an edit."""
    from krafla.match.claim_check import claim_shown
    from krafla.match.trace_check import check_trace, shows_no_step
    from krafla.report.explain.outcome import outcome_of_claim, outcome_of_rejection

    report, other = check_trace(trace), _other_text(trace)
    steps = len(trace) - 1
    if report.rejection is not None:
        account = _account(trace, outcome_of_rejection(trace, report.rejection), path)
        sentence = f"{max(0, report.steps - 1)} of {steps} steps are steps of {trace.spec}"
        return _Told(report.verdict, sentence, other, account)
    all_of_them = "the one step is a step" if steps == 1 else f"all {steps} steps are steps"
    sentence = f"{all_of_them} of {trace.spec}"
    shown = claim_shown(trace)
    if shown is None:
        nothing = ("the trace shows no step",) if shows_no_step(trace) else ()
        return _Told(report.verdict, sentence, (*other, *nothing))
    if at_hand and shown.is_gone:
        return _Told(Verdict.HELD, f"{sentence}; {trace.claim}, which it claims, is gone", other)
    verdict = Verdict.VIOLATED if shown.is_shown else Verdict.INCONCLUSIVE
    sentence += f"; the trace {shown.sentence}"
    if shown.explanation is None:
        return _Told(verdict, sentence, other)
    account = _account(trace, outcome_of_claim(trace, shown.explanation), path)
    return _Told(verdict, sentence, other, account)


def _account(trace: Trace, outcome: Outcome, path: Path) -> Account:
    """Return the account of a trace in a file, which `krafla explain` shows whole."""
    from krafla.cli.account_view import command as command_line
    from krafla.cli.account_view import commands_for
    from krafla.match.spec_source import has_other_text_at_hand
    from krafla.report.explain.account import Account
    from krafla.report.explain.view import view_of

    commands = commands_for(path)[:1]
    if has_other_text_at_hand(trace):
        line = f"krafla replay {shlex.quote(str(path))} --at-hand"
        commands = (*commands, command_line(line, "the same steps, judged by the specs at hand"))
    return Account(outcome, view_of(trace, outcome), commands=commands)


def _other_text(trace: Trace) -> tuple[str, ...]:
    from krafla.match.spec_source import other_text

    found = other_text(trace)
    return () if found is None else (found,)


def _on_implementation(trace: Trace, path: Path) -> _Told:
    """Force a trace of the lease on the implementation; play the choices of any other again."""
    from krafla.fuzz.lease.system import SYSTEM

    if trace.spec in SYSTEM.modules:
        return _followed(trace, path)
    if trace.origin is None or trace.origin.plan is None:
        return _on_machine(trace, path)
    from krafla.fuzz.engine.choice_system import planned
    from krafla.fuzz.engine.run_file import header_of, with_bug

    place = "the choices in its header"
    system, plan = planned(trace, place)
    with with_bug(system, header_of(plan, place), place):
        run = system.play(system.decoded(plan, place))
        account = system.account(run)
    ended = "nothing was found" if run.finding is None else "ended by a finding"
    verdict = Verdict.HELD if run.finding is None else Verdict.VIOLATED
    sentence = f"{run.steps:,} choices of {system.name} played again, {ended}"
    return _Told(verdict, sentence, (), account)


def _on_machine(trace: Trace, path: Path) -> _Told:
    """Drive a machine of the project through a trace; what no machine takes, the lease refuses."""
    from krafla.project.at_hand import is_of_tree
    from krafla.testing.machine_replay import machine_for, replay_on_machine

    machine = machine_for(trace, path)
    if machine is None:
        if is_of_tree(trace.spec):
            return _followed(trace, path)
        raise KraflaError(
            f"--impl drives Python code, and no machine of {trace.spec} is named by a krafla.toml "
            "here: [[machine]] has its name and class"
        )
    found = replay_on_machine(trace, machine)
    return _Told(found.verdict, found.sentence, (), found.account)


def _followed(trace: Trace, path: Path) -> _Told:
    """Return how far the implementation takes the steps of a trace."""
    from krafla.fuzz.lease.follow import follow
    from krafla.fuzz.lease.follow_outcome import outcome_of_followed

    followed = follow(trace)
    outcome = outcome_of_followed(followed)
    account = None if outcome is None else _account(trace, outcome, path)
    return _Told(followed.verdict, followed.sentence, _other_text(trace), account)


def _corpus(folder: Path) -> _Told:
    from krafla.fuzz.engine.kept_trace import check_corpus
    from krafla.match.corpus import root_of

    corpus = check_corpus(root_of(folder), within=folder)
    return _Told(corpus.verdict, ", ".join(corpus.evidence), (*corpus.reasons, *corpus.doubts))
