"""``krafla fuzz`` on a machine of ``krafla.testing``: random runs of any Python code."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from krafla.cli.ci.reports import tell
from krafla.cli.ci.traces import machine_entry
from krafla.counted import counted
from krafla.manifest import meant, on_these_specs
from krafla.match.property_checker import left_out_told, temporal_parts
from krafla.project.at_hand import at_hand
from krafla.project.file import FILE_NAME
from krafla.verdict import ExitCode, KraflaError, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Console

    from krafla.cli.screen import LiveLine
    from krafla.testing.machine_search import Search, SearchReport
    from krafla.testing.machine_tally import MachineTally

__all__ = ["fuzz_machine", "is_machine", "refuse_unknown"]

_LIKE_THIS: Final = (
    "give the file of a machine of a test and its class, as `test_lock.py::LockMachine`"
)
# Of a sentence that lists all names, as none is like the one given.
_NO_NEAR: Final = "; there are: "
_SECONDS_DEFAULT: Final = 20.0
_TOLD_EVERY_S: Final = 0.3
# An action is told if of so many calls less than one in twenty was a step.
_CALLS_ENOUGH: Final = 100
_CALLS_A_STEP: Final = 20
# With these in its cfg a model has another number of states than its spec.
_OTHER_STATES: Final = (
    *("SYMMETRY", "VIEW", "CONSTRAINT", "CONSTRAINTS", "ACTION_CONSTRAINT", "ACTION_CONSTRAINTS"),
)


def is_machine(word: str) -> bool:
    """Return whether a word names a machine: of the project at hand, by its module or its file."""
    if ":" in word or word.endswith(".py"):
        return True
    return any(one.name == word for one in at_hand().machines())


def refuse_unknown(word: str) -> None:
    """Raise ``KraflaError`` if a word is no system, but a path or meant for a project's machine."""
    from krafla.fuzz.engine.system import NAMES, unknown
    from krafla.project.asked import is_path

    if word in NAMES:
        return
    if is_path(word):
        raise KraflaError(f"is no machine: {_LIKE_THIS}", word)
    project = at_hand()
    machines = [one.name for one in project.machines()]
    if not machines and project.listing.name == FILE_NAME:
        told = f"nothing is called {word!r}: it names no [[machine]]"
        raise KraflaError(f"{told}{_of_test(word) or f'; {_LIKE_THIS}'}", str(project.listing))
    known = [*machines, *NAMES]
    told = f"nothing is called {word!r} here{meant(word, known)}" if machines else unknown(word)
    own = f"; {_LIKE_THIS}" if _NO_NEAR in told else ""
    raise KraflaError(f"{told}{_of_test(word) or own}")


def _of_test(word: str) -> str:
    """Return how the machine of a test is named, if exactly one file here has such a class."""
    begins = re.compile(rf"^class {re.escape(word)}\b", re.MULTILINE)
    files = []
    for one in sorted((*Path().glob("*.py"), *Path("tests").rglob("*.py"))):
        # What cannot be read defines nothing that could be run.
        with suppress(OSError):
            if begins.search(one.read_text(encoding="utf-8", errors="replace")):
                files.append(one)
    if len(files) != 1:
        return ""
    return f"; {files[0]} has a class of this name: give `{files[0]}::{word}`"


def fuzz_machine(
    word: str,
    how: Search,
    save: Path | None,
    require_coverage: bool,
    as_json: bool,
    quiet: bool,
) -> ExitCode:
    """Run a machine, tell what was found, and what was covered; the status is the verdict's."""
    from krafla.cli import screen
    from krafla.files import made_folder
    from krafla.testing.found import FOLDER_VARIABLE
    from krafla.testing.machine_lookup import find_machine
    from krafla.testing.machine_search import Search, search

    if how.examples is None and how.seconds is None:
        how = Search(how.seed, None, _SECONDS_DEFAULT, how.steps, how.shrinks)
    if save is not None:
        os.environ[FOLDER_VARIABLE] = str(made_folder(save, "--save"))
    machine = find_machine(word)
    with screen.LiveLine(quiet=quiet or as_json) as live:
        live.show(f"{machine.__name__}: loading the spec")
        report = search(machine, how, _reporter(live, machine.__name__))
    missed = report.tally.missed if report.verdict is Verdict.HELD else ()
    verdict = Verdict.INCONCLUSIVE if missed and require_coverage else report.verdict
    command = _command(word, report, how)
    tell(machine_entry, report, verdict, command)
    if as_json:
        document = _document(report, verdict, command)
        sys.stdout.write(json.dumps(document, indent=2) + "\n")
    else:
        _show(screen.stdout(), report, verdict, command)
    if report.is_interrupted:
        # What was covered up to the interrupt has been shown.
        raise KeyboardInterrupt
    return verdict.exit_code


def _reporter(live: LiveLine, name: str) -> Callable[[MachineTally], None]:
    told = 0.0

    def report(tally: MachineTally) -> None:
        nonlocal told
        now = time.monotonic()
        if now - told >= _TOLD_EVERY_S:
            told = now
            live.show(f"{name}: {tally.runs:,} runs, {tally.judged}, "
                      f"{len(tally.states):,} states of the spec")  # fmt: skip

    return report


def _show(console: Console, report: SearchReport, verdict: Verdict, command: str) -> None:
    from krafla.cli import screen
    from krafla.cli.account_view import show_account

    tally = report.tally
    judged = f"{tally.runs_told}, {tally.judged} judged"
    by = "" if tally.spec is None else f" by {tally.spec.name}"
    sentence = report.sentence or "nothing was found"
    word = (verdict.name, screen.VERDICT_STYLES[verdict])
    screen.line(console, word, f"  {report.machine}: {judged}{by}; {sentence}")
    if report.violation is not None:
        show_account(console, report.violation.account)
    if report.calls:
        screen.line(console, "")
        screen.line(console, "  the calls that lead there")
        for call in report.calls:
            screen.line(console, f"    {call}")
    screen.line(console, "")
    for text in _coverage(tally):
        screen.line(console, f"    {text}")
    screen.line(console, (f"    reproduce: {command}", "dim"))


def _coverage(tally: MachineTally) -> Iterator[str]:
    taken = [one for one in tally.actions if tally.taken[one]]
    counts = ", ".join(f"{one} {tally.taken[one]:,}" for one in taken)
    yield f"{len(taken)} of {len(tally.actions)} actions taken{f': {counts}' if counts else ''}"
    hidden = [one for one in tally.actions if one in tally.hidden]
    if hidden:
        yield f"taken in hidden steps: {', '.join(hidden)}"
    if tally.missed:
        yield f"never taken: {', '.join(tally.missed)}"
    if tally.not_judged:
        yield f"not judged: {temporal_parts(tally.not_judged)}"
    if tally.spec is not None and tally.left_out:
        told = left_out_told(tally.spec, tally.left_out)
        yield f"left out: {told}. Name them in spec_invariants and properties"
    if tally.unseen:
        yield f"variables never seen: {', '.join(tally.unseen)}"
    if tally.refused:
        refused = ", ".join(f"{one} {number:,}" for one, number in sorted(tally.refused.items()))
        yield f"refused, rightly: {refused}"
    if seldom := ", ".join(_seldom(tally)):
        yield (
            f"seldom taken when called: {seldom}; only_if_enabled=True draws what the spec allows, "
            "or give a strategy that fits the state"
        )
    yield f"{_states(tally)} of the spec"


def _seldom(tally: MachineTally) -> Iterator[str]:
    """Yield the actions that were seldom taken when they were called for, with the numbers."""
    for one in tally.actions:
        taken = tally.taken[one]
        calls = taken + tally.refused[one]
        if calls >= _CALLS_ENOUGH and taken * _CALLS_A_STEP < calls:
            yield f"{one} {taken:,} of {calls:,} calls"


def _states(tally: MachineTally) -> str:
    """Return how many states were met, and of how many, if a project knows."""
    found, spec = len(tally.states), tally.spec
    config = None if spec is None or spec.configuration is None else spec.configuration.resolve()
    total = None if config is None else _pinned(config)
    if total is not None and found <= total:
        return f"{found:,} of {total:,} distinct states"
    return counted(found, "distinct state")


def _pinned(config: Path) -> int | None:
    """Return how many states the spec has with a cfg, as the project at hand or around it pins."""
    from krafla.testing.project_lookup import project_around
    from krafla.tlc.config import read_config

    try:
        if read_config(config).words(*_OTHER_STATES):
            return None
        projects = filter(None, (at_hand(), project_around(config)))
        models = (one for project in projects for one in project.manifest().models)
        return next((one.distinct for one in models if one.config.resolve() == config), None)
    except (KraflaError, OSError):
        return None


def _command(word: str, report: SearchReport, how: Search) -> str:
    words = ["krafla", "fuzz", word, "--seed", str(report.seed), "--examples", str(report.examples)]
    words += [] if how.steps is None else ["--steps", str(how.steps)]
    return on_these_specs(shlex.join(words))


def _document(report: SearchReport, verdict: Verdict, command: str) -> dict[str, Any]:
    tally = report.tally
    return {
        "machine": report.machine,
        "spec": None if tally.spec is None else tally.spec.name,
        "verdict": verdict.value,
        "sentence": report.sentence,
        "story": None if report.violation is None else str(report.violation),
        "calls": list(report.calls),
        "runs": tally.runs,
        "failed_in": tally.failed_in,
        "steps": tally.steps,
        "refusals": tally.refusals,
        "actions": {one: tally.taken[one] for one in tally.actions},
        "hidden": sorted(tally.hidden),
        "unseen": list(tally.unseen),
        "not_judged": list(tally.not_judged),
        "left_out": list(tally.left_out),
        "refused": dict(sorted(tally.refused.items())),
        "states": len(tally.states),
        "seed": report.seed,
        "examples": report.examples,
        "seconds": round(report.seconds, 3),
        "reproduce": command,
    }
