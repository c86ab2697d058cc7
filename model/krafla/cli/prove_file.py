"""``krafla prove`` of a module by its path, or of a model: claims without a list of proofs."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from krafla.cli import screen
from krafla.cli.ci.proofs import refused_proof, trial_entry
from krafla.cli.ci.reports import tell
from krafla.cli.prove_view import data_of, lines_of
from krafla.manifest import find_specs, load, on_these_specs, search_path
from krafla.project.asked import is_path, names_asked, put_spec_at_hand, the_name
from krafla.project.at_hand import at_hand
from krafla.proofs.survey import refusals
from krafla.proofs.trial import try_invariants
from krafla.tlc.config import read_config
from krafla.verdict import KraflaError, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krafla.manifest import Model
    from krafla.proofs.errors import Untranslatable
    from krafla.proofs.trial import Trial
    from krafla.verdict import ExitCode

__all__ = ["is_claim", "tell_trial"]


def is_claim(subject: str) -> bool:
    """Return whether a subject is a path or a model of the project, and not one of a list."""
    return is_path(subject) or any(_is_named(one, subject) for one in load().models)


def _is_named(model: Model, name: str) -> bool:
    return model.name == name and not model.listing.needs_pins


def _claim_of(
    subject: str, invariants: list[str] | None
) -> tuple[Path, tuple[str, ...], tuple[str, ...]]:
    """Return the module that a subject is about, the invariants to prove, and what is not asked.

    A path or a model of the project means its module, and by default the invariants of its cfg.
    Its properties are not asked then. ``KraflaError`` if there is no such file, or no invariant to
    prove.
    """
    if subject.endswith(".tla") and invariants:
        if not Path(subject).is_file():
            raise KraflaError("there is no such file", subject)
        _put_module_at_hand(subject)
        return Path(subject).resolve(), tuple(invariants), ()
    if is_path(subject):
        names = names_asked((subject,))
        models = load().models
        (model,) = load().select((the_name(names, models),))
    else:
        model = next(one for one in load().models if _is_named(one, subject))
    if invariants:
        return model.module, tuple(invariants), ()
    config = read_config(model.config)
    found = tuple(config.invariants)
    if not found:
        what = "asks for no INVARIANT; name what to prove: --invariant NAME"
        raise KraflaError(what, str(model.config))
    return model.module, found, tuple(config.properties)


def _put_module_at_hand(subject: str) -> None:
    """Look for the modules that it extends in its own project, unless that is the one at hand."""
    try:
        is_mine = at_hand().owns(Path(subject).resolve())
    except KraflaError:
        is_mine = False
    if not is_mine:
        put_spec_at_hand(subject)


def tell_trial(
    subject: str, named: list[str] | None, effort: int, *, as_json: bool, quiet: bool
) -> ExitCode:
    """Tell whether what a subject claims holds; ``effort`` is in steps of z3.

    First of all it is told what has no translation, all of it; then nothing is asked of z3.
    ``KraflaError`` if there is no such operator, or the module does not parse.
    """
    module, invariants, unasked = _claim_of(subject, named)
    specs = find_specs()
    with screen.LiveLine(quiet=quiet or as_json) as live:
        live.show("reading the spec")
        refused = refusals(module, search_path(specs, module), invariants)
        if refused:
            live.erase()
            return _tell_refusals(subject, refused, as_json=as_json)
        found = try_invariants(
            specs, module, invariants, effort=effort,
            progress=lambda what, done, of: live.show(f"{what} [{done}/{of}]"),
        )  # fmt: skip
    options = "".join(f" --invariant {name}" for name in invariants)
    command = f"krafla prove {shlex.quote(subject)}{options}"
    if not subject.endswith(".tla"):
        command = on_these_specs(command)
    lines = tuple(lines_of(_results(found), found.proofs))
    tell(trial_entry, module, invariants, found, lines, command)
    console = screen.stdout()
    if as_json:
        document = {"format": 1, "verdict": found.verdict.value, **data_of(_results(found))}
        document["not_asked"] = list(unasked)
        console.print(json.dumps(document, indent=2), markup=False, soft_wrap=True)
        return found.verdict.exit_code
    for line in lines:
        screen.line(console, line)
    word = (found.verdict.name, screen.VERDICT_STYLES[found.verdict])
    screen.line(console, word, f"  {module.stem}: {', '.join(invariants)}: {_summary(found)}")
    if unasked:
        told = f"    not asked: PROPERTY {', '.join(unasked)}; only invariants are proved of a path"
        screen.line(console, told)
    for line in _advice(found):
        screen.line(console, f"    {line}")
    screen.line(console, (f"    reproduce: {command}", "dim"))
    return found.verdict.exit_code


def _tell_refusals(subject: str, found: Sequence[Untranslatable], *, as_json: bool) -> ExitCode:
    console, verdict = screen.stdout(), Verdict.INCONCLUSIVE
    tell(refused_proof, subject, "; ".join(map(str, found)))
    if as_json:
        texts = list(map(str, found))
        document: dict[str, Any] = {
            "format": 1,
            "verdict": verdict.value,
            "refused": "; ".join(texts),
        }
        document["constructs"] = texts
        console.print(json.dumps(document, indent=2), markup=False, soft_wrap=True)
        return verdict.exit_code
    count = "this has" if len(found) == 1 else f"these {len(found)} constructs have"
    said = f"  {subject}: refused, so nothing is proved: {count} no translation"
    screen.line(console, (verdict.name, screen.VERDICT_STYLES[verdict]), said)
    for one in found:
        screen.line(console, f"    {one}")
    return verdict.exit_code


def _results(found: Trial) -> dict[str, object]:
    results: dict[str, object] = {"proofs": found.report}
    if found.refutation is not None and found.refutation.verdict is Verdict.HELD:
        results["refuted"] = [found.refutation]
    return results


def _summary(found: Trial) -> str:
    answers = found.report.answers
    proved = sum(one.verdict is Verdict.HELD for one in answers)
    told = f"{proved:,} of {len(answers):,} obligations proved in {found.report.seconds:.1f} s"
    if found.reached:
        told += f", a behaviour looked for in {found.search_seconds:.1f} s"
    return told


def _advice(found: Trial) -> Iterator[str]:
    """Yield what to do about a claim that is neither proved nor refuted."""
    if found.verdict is Verdict.INCONCLUSIVE and found.reached:
        yield "not inductive: no behaviour was found that leads to the states above;"
        yield "name an invariant that rules them out: a second --invariant"
