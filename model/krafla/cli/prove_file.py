"""``krafla prove FILE.tla --invariant NAME``: a claim is tried without a list of proofs."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING

from krafla.cli import screen
from krafla.cli.ci.proofs import trial_entry
from krafla.cli.ci.reports import tell
from krafla.cli.prove_view import data_of, lines_of
from krafla.manifest import find_specs, on_these_specs
from krafla.proofs.trial import try_invariants
from krafla.verdict import KraflaError, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from krafla.proofs.trial import Trial
    from krafla.verdict import ExitCode

__all__ = ["tell_trial"]


def tell_trial(
    module: Path, invariants: list[str] | None, effort: int, *, as_json: bool, quiet: bool
) -> ExitCode:
    """Tell whether invariants of a module hold; ``effort`` is in steps of z3.

    ``KraflaError`` if there is no such file or operator, or no invariant is named;
    ``Untranslatable`` if a proof cannot be about something in the module.
    """
    if not module.is_file():
        raise KraflaError("there is no such file", str(module))
    if not invariants:
        raise KraflaError("say what to prove of it: --invariant NAME", str(module))
    with screen.LiveLine(quiet=quiet or as_json) as live:
        live.show("reading the spec")
        found = try_invariants(
            find_specs(), module.resolve(), tuple(invariants), effort=effort,
            progress=lambda what, done, of: live.show(f"{what} [{done}/{of}]"),
        )  # fmt: skip
    options = "".join(f" --invariant {name}" for name in invariants)
    command = on_these_specs(f"krafla prove {shlex.quote(str(module))}{options}")
    lines = tuple(lines_of(_results(found), found.proofs))
    tell(trial_entry, module, invariants, found, lines, command)
    console = screen.stdout()
    if as_json:
        document = {"format": 1, "verdict": found.verdict.value, **data_of(_results(found))}
        console.print(json.dumps(document, indent=2), markup=False, soft_wrap=True)
        return found.verdict.exit_code
    for line in lines:
        screen.line(console, line)
    word = (found.verdict.name, screen.VERDICT_STYLES[found.verdict])
    screen.line(console, word, f"  {module.stem}: {', '.join(invariants)}: {_summary(found)}")
    for line in _advice(found):
        screen.line(console, f"    {line}")
    screen.line(console, (f"    reproduce: {command}", "dim"))
    return found.verdict.exit_code


def _results(found: Trial) -> dict[str, object]:
    results: dict[str, object] = {"proofs": found.report}
    if found.refutation is not None and found.refutation.verdict is Verdict.HELD:
        results["refuted"] = [found.refutation]
    return results


def _summary(found: Trial) -> str:
    answers = found.report.answers
    proved = sum(one.verdict is Verdict.HELD for one in answers)
    return f"{proved:,} of {len(answers):,} obligations proved in {found.report.seconds:.1f} s"


def _advice(found: Trial) -> Iterator[str]:
    """Yield what to do about a claim that is neither proved nor refuted."""
    if found.verdict is Verdict.INCONCLUSIVE and found.reached:
        yield "not inductive: no behaviour was found that leads to the states above;"
        yield "name an invariant that rules them out: a second --invariant"
