"""What ``krafla check`` prints of a model, of its coverage and of a tier; and the same as data."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any, TypeAlias

from krafla.cli import screen
from krafla.cli.account_view import (
    command,
    commands_for,
    counterexample,
    show_account,
    show_commands,
)
from krafla.project.models import argument_of
from krafla.report.explain.account import Command
from krafla.report.models_page import models_page
from krafla.tlc.judge import misfits, unpinned
from krafla.tlc.model_check import Check, evidence
from krafla.tlc.outcome import describe
from krafla.verdict import KraflaError, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console

    from krafla.cli.check_total import Total
    from krafla.manifest import Model
    from krafla.tlc.conjuncts import Conjunct
    from krafla.tlc.run import ActionCoverage
    from krafla.tlc.together import SpecTotal

__all__ = ["Answer", "data", "show", "show_list", "show_total", "spec_data"]

Answer: TypeAlias = Check | KraflaError

_PINS_IN_FILE = "keep these numbers in krafla.toml: from then on others are inconclusive"
_PINS = "write the numbers that were found; CONTRIBUTING.md says what else a property needs"
# Which of several threads comes first to a violation is chance.
_SAME_SEARCH = "the same search (--workers 1: the same steps)"
_TEXT_MAX = 68
_NUMBER = 12


def show(
    console: Console, answer: Answer, *, coverage: bool, asked_for: bool, kept: str | None = None
) -> None:
    """Print one answer. ``asked_for`` says that the run is about this model alone.

    ``kept`` is the file that will have the counterexample.
    """
    if isinstance(answer, KraflaError):
        screen.line(console, ("COULD NOT RUN", "bold red"), f"  {answer}")
        return
    model, result, verdict = answer.model, answer.result, answer.verdict
    word = (verdict.name, screen.VERDICT_STYLES[verdict])
    screen.line(console, word, f"  {model.name}: {answer.judgement.reasons[0]}")
    for reason in answer.judgement.reasons[1:]:
        screen.line(console, f"    {reason}")
    for note in answer.judgement.notes:
        screen.line(console, (f"    {note}", "yellow"))
    trace = result.counterexample
    # A model that must fail is asked for by name to see how.
    is_shown = trace is not None and (asked_for or verdict is not Verdict.HELD)
    if trace is not None and is_shown:
        show_account(console, counterexample(trace, model))
        screen.line(console, "")
    screen.line(console, f"    {', '.join(evidence(answer))}")
    if model.bounds:
        screen.line(console, f"    bounds: {model.bounds}")
    if coverage:
        for line in _coverage(answer):
            screen.line(console, *line)
    if is_shown:
        show_commands(console, *_commands(answer, kept))
        return
    screen.line(console, (f"    reproduce: {result.reproduce}", "dim"))
    pins = f"krafla check {shlex.quote(argument_of(model))} --pin"
    if verdict is Verdict.INCONCLUSIVE and misfits(model, result):
        show_commands(console, command(pins, _PINS))
    elif verdict is Verdict.HELD and not model.listing.needs_pins and unpinned(model, result):
        show_commands(console, command(pins, _PINS_IN_FILE))


def _commands(check: Check, kept: str | None) -> Iterator[Command]:
    """Yield the commands to go on with after a counterexample."""
    if kept is not None:
        yield from commands_for(kept)
        yield command(f"krafla shrink {shlex.quote(kept)}", "as few steps as show the same")
    else:
        line = f"{check.result.reproduce} --trace FILE"
        yield Command(line, "save it, for krafla explain, shrink and replay")
    has_one_thread = " --workers 1 " in f"{check.result.reproduce} "
    purpose = "the same search" if has_one_thread else _SAME_SEARCH
    yield Command(check.result.reproduce, purpose)


def _conjuncts(check: Check) -> list[tuple[ActionCoverage, tuple[Conjunct, ...]]]:
    """Return each action of a run with its conjuncts."""
    from krafla.oracle.syntax import read_module
    from krafla.tlc.conjuncts import conjuncts_of

    model = check.model
    module = read_module(model.module.stem, model.module, model.search_path)
    return [(one, conjuncts_of(module, one)) for one in check.result.coverage or ()]


def _coverage(check: Check) -> Iterator[list[str | tuple[str, str]]]:
    """Yield the lines for each action, and for each of its conjuncts."""
    if check.result.coverage is None:
        yield ["    no coverage: TLC did not finish"]
        return
    yield ["    how often each guard was evaluated, and how often it was true"]
    for action, conjuncts in _conjuncts(check):
        taken = f"{action.taken:>{_NUMBER},} taken {action.distinct:>{_NUMBER},} new"
        style = "bold" if action.taken else "bold yellow"
        yield [f"    {taken}  ", (action.name, style), f"  {action.location}"]
        for one in _outermost(conjuncts):
            text = _conjunct_text(one, is_taken=action.taken > 0)
            if text:
                yield [(f"    {text}", "yellow" if _remark(one) else "")]


def _outermost(conjuncts: Sequence[Conjunct]) -> Iterator[Conjunct]:
    """Yield the conjuncts without what stands inside a choice that was never reached."""
    dead: int | None = None
    for one in conjuncts:
        if dead is None or one.depth <= dead:
            dead = one.depth if one.kind == "choice" and one.is_never_reached else None
            yield one


def _conjunct_text(one: Conjunct, *, is_taken: bool) -> str:
    """Return the line of a conjunct; of an effect only if the action was taken without it."""
    if one.kind == "effect" and not (is_taken and one.is_never_reached):
        return ""
    evaluated = "?" if one.evaluated is None else f"{one.evaluated:,}"
    held = "" if one.kind != "guard" else "?" if one.held is None else f"{one.held:,}"
    counts = f"{evaluated:>{_NUMBER}} {held:>{_NUMBER + 6}}     "
    text = " ".join(one.text.split())
    text = text if len(text) <= _TEXT_MAX else f"{text[: _TEXT_MAX - 3]}..."
    return (
        f"{counts}{'  ' * (one.depth + 1)}{text}{_remark(one)}  {one.place.module}:{one.place.line}"
    )


def _remark(one: Conjunct) -> str:
    if one.is_never_reached:
        return "   <- never reached"
    return "   <- never false" if one.is_never_false else ""


def show_list(console: Console, models: Sequence[Model], *, as_page: bool = False) -> None:
    """List the models without running any: a line for each, or a Markdown page."""
    if as_page:
        screen.line(console, models_page(models).rstrip("\n"))
        return
    for model in models:
        expected = "holds" if model.property is None else f"{model.property} must fail"
        pinned = "" if model.distinct is None else f", {model.distinct:,} states"
        screen.line(
            console, (model.name, "bold"), f"  {model.tier}, {model.kind}, {expected}{pinned}"
        )


def show_total(console: Console, total: Total) -> None:
    """Print the table of all models, the totals of each spec, the doubts, and the counts."""
    screen.line(console, "")
    checks = [one for one in total.answers if isinstance(one, Check)]
    width = max((len(one.model.name) for one in checks), default=0)
    head = f"{'verdict':12}  {'model':{width}}  {'states':>12}  {'':10}  {'seconds':>8}  {'/s':>8}"
    screen.line(console, (head, "bold"))
    for one in checks:
        verdict = (f"{one.verdict.value:12}", screen.VERDICT_STYLES[one.verdict])
        screen.line(console, verdict, f"  {one.model.name:{width}}  {_figures(one)}")
    for error in total.answers:
        if isinstance(error, KraflaError):
            screen.line(console, (f"{'could not run':12}", "bold red"), f"  {error}")
    screen.line(console, "")
    for spec in total.specs:
        screen.line(console, (str(spec), "" if spec.is_whole else "bold yellow"))
    for doubt in total.doubts:
        screen.line(console, ("INCONCLUSIVE", "bold yellow"), f"  {doubt}")
    screen.line(console, str(total))


def _figures(check: Check) -> str:
    model, result = check.model, check.result
    seconds = f"{result.seconds:>8.1f}"
    if model.expect == "violates":
        failed = check.verdict is Verdict.HELD
        return f"{'':>12}  {'':10}  {seconds}  {'':>8}  {model.property}{' failed' * failed}"
    if result.distinct is None:
        return f"{'':>12}  {'':10}  {seconds}"
    absent = "not pinned" if not model.listing.needs_pins else "NOT pinned"
    pinned = absent if model.distinct is None else "NOT pinned"
    pinned = "as pinned" if result.distinct == model.distinct else pinned
    speed = result.distinct / result.seconds if result.seconds > 0 else 0
    return f"{result.distinct:>12,}  {pinned:10}  {seconds}  {speed:>8,.0f}"


def spec_data(total: SpecTotal) -> dict[str, Any]:
    """Return the totals of a spec as plain values, for ``--json``."""
    return {
        "spec": total.spec,
        "actions": list(total.actions),
        "actions_lent": sorted(total.lent),
        "actions_missed": list(total.missed_actions),
        "witnesses": list(total.witnesses),
        "witnesses_missed": list(total.missed_witnesses),
    }


def data(answer: Answer, *, coverage: bool) -> dict[str, Any]:
    """Return an answer as plain values, for ``--json``."""
    if isinstance(answer, KraflaError):
        return {"error": answer.message, "place": answer.place}
    model, result = answer.model, answer.result
    return {
        "model": model.name,
        "verdict": answer.verdict.value,
        "reasons": list(answer.judgement.reasons),
        "notes": list(answer.judgement.notes),
        "outcome": type(result.outcome).__name__,
        "outcome_text": describe(result.outcome),
        "bounds": model.bounds,
        "distinct": result.distinct,
        "pinned_distinct": model.distinct,
        "generated": result.generated,
        "depth": result.depth,
        "queue_left": result.queue_left,
        "seconds": round(result.seconds, 3),
        "earlier_run": answer.is_kept,
        "actions": None if result.coverage is None else _actions(answer, coverage=coverage),
        "properties_checked": list(result.checked),
        "witnesses_reached": list(result.reached),
        "counterexample_steps": len(result.counterexample) if result.counterexample else None,
        "tlc_exit_status": result.exit_status,
        "tlc_version": result.version,
        "tlc_sha256": result.jar.sha256,
        "java": result.java.version,
        "reproduce": result.reproduce,
    }


def _actions(check: Check, *, coverage: bool) -> dict[str, Any]:
    found: dict[str, Any] = {
        one.name: {"taken": one.taken, "distinct": one.distinct}
        for one in check.result.coverage or ()
    }
    for action, conjuncts in _conjuncts(check) if coverage else ():
        found[action.name]["conjuncts"] = [
            {
                "kind": one.kind,
                "depth": one.depth,
                "place": f"{one.place.module}:{one.place.line}",
                "text": one.text,
                "evaluated": one.evaluated,
                "held": one.held,
                "never_reached": one.is_never_reached,
                "never_false": one.is_never_false,
            }
            for one in conjuncts
        ]
    return found
