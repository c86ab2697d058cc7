"""Run a model under TLC and return everything the run says about it."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from krafla.tlc.actions import SourceText, parse_label
from krafla.tlc.command import Options, Simulation, prepare, reproduce
from krafla.tlc.comments import without_comments
from krafla.tlc.config import INVARIANT_KEYWORDS, PROPERTY_KEYWORDS, ModelConfig, read_config
from krafla.tlc.config_mistakes import foreign, mended, undeclared
from krafla.tlc.counterexample import counterexample
from krafla.tlc.inputs import modules_of
from krafla.tlc.jar import TlcJar, find_jar
from krafla.tlc.joined_modules import at_home
from krafla.tlc.jre import JavaRuntime, find_jre
from krafla.tlc.outcome import (
    ActionPropertyViolated,
    AssumptionFailed,
    ConfigError,
    EvaluationError,
    Interrupted,
    Outcome,
    OutOfMemory,
    SpecError,
    TemporalPropertyViolated,
    Unknown,
    claim_of,
)
from krafla.tlc.output import Count, Output, Progress
from krafla.tlc.pluscal import stale, untranslated
from krafla.tlc.probe import PROBE_MODULE
from krafla.tlc.remedies import java_advice
from krafla.tlc.run_end import outcome_of
from krafla.tlc.scratch import scratch
from krafla.tlc.trust import trusted_jar
from krafla.tlc.warm_java import run_tlc
from krafla.values import ModelValue
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from krafla.manifest import Model
    from krafla.traces import Trace

__all__ = ["ActionCoverage", "Progress", "RunResult", "Simulation", "run"]

_HEADER = re.compile(r"^[ \t]*-{4,}[ \t]*MODULE[ \t]+(\w+)[ \t]*-{4,}", re.MULTILINE)
_ACTION = re.compile(r"not completely specified by action (\w+)")
_NO_MEMORY = re.compile(r"OutOfMemoryError|insufficient memory|Could not reserve enough space")


@dataclass(frozen=True, slots=True)
class ActionCoverage:
    """How often an action was taken, and how many of its successors were new states.

    ``counts`` are those of its parts, for each disjunct of Next that applies the action.
    """

    name: str
    taken: int
    distinct: int
    location: str
    counts: tuple[tuple[Count, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class RunResult:
    """The findings of one run. Counts are ``None`` where TLC gave none, as before the search.

    ``coverage`` is ``None`` unless a complete report was asked for and given; it has one
    entry for each action name. ``reached`` are the witnesses that were seen,
    ``reached_at_start`` those of them that were true before any step, ``checked`` the
    invariants and properties that the cfg lists. ``doubts`` are reasons not
    to rely on a run without errors: what this TLC cannot ask, PlusCal that was changed since.
    """

    outcome: Outcome
    generated: int | None
    distinct: int | None
    depth: int | None
    queue_left: int | None
    seconds: float
    coverage: tuple[ActionCoverage, ...] | None
    reached: tuple[str, ...]
    reached_at_start: tuple[str, ...]
    counterexample: Trace | None
    simulation: Simulation | None
    version: str
    java: JavaRuntime
    jar: TlcJar
    exit_status: int
    warnings: tuple[str, ...]
    printed: tuple[str, ...]
    java_command: tuple[str, ...]
    reproduce: str
    checked: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()


def run(
    model: Model,
    *,
    workers: int = 1,
    progress: Callable[[Progress], None] | None = None,
    timeout: float | None = None,
    coverage: bool = True,
    simulation: Simulation | None = None,
    heap_mb: int | None = None,
) -> RunResult:
    """Run TLC on the model and return its findings.

    ``timeout`` is in seconds and ends the run as ``Interrupted``. TLC does not name a temporal
    property that fails, nor a property of another module: if the model has several, each is run
    alone to find out, within the same time. ``KraflaError`` if there is no Java, no TLC, or the
    files cannot be read; ``KeyboardInterrupt`` passes through once the process and its files are
    gone.
    """
    options = Options(workers, coverage, progress is not None, simulation, heap_mb)
    config = read_config(model.config)
    _check_module(model.module)
    started = time.monotonic()
    single = _Run(model, config, options, find_jar(), find_jre())
    result = single.result(progress, timeout)
    names = config.properties
    unnamed = result.outcome == TemporalPropertyViolated() or (
        # It may name a definition within the property, which the cfg does not.
        isinstance(result.outcome, ActionPropertyViolated) and result.outcome.name not in names
    )
    if not unnamed:
        return result
    left = None if timeout is None else max(0.0, started + timeout - time.monotonic())
    outcome = _named(result.outcome, names if len(names) == 1 else _failing(single, names, left))
    return _with_outcome(result, outcome, time.monotonic() - started)


def _at(message: str, place: str) -> ConfigError:
    path, _, line = place.rpartition(":")
    return (
        ConfigError(message, path, int(line)) if line.isdecimal() else ConfigError(message, place)
    )


def _named(outcome: Outcome, names: tuple[str, ...]) -> Outcome:
    if isinstance(outcome, TemporalPropertyViolated):
        return TemporalPropertyViolated(names)
    assert isinstance(outcome, ActionPropertyViolated), "only properties go without a name"
    return replace(outcome, name=names[0]) if len(names) == 1 else outcome


def _failing(single: _Run, names: tuple[str, ...], timeout: float | None) -> tuple[str, ...]:
    """Return the properties that fail when each is run alone; none if time runs out."""
    deadline = None if timeout is None else time.monotonic() + timeout
    base = single.config.without([*INVARIANT_KEYWORDS, *PROPERTY_KEYWORDS])
    options = replace(single.options, coverage=False, progress=False)
    failing: list[str] = []
    for name in names:
        left = None if deadline is None else max(0.0, deadline - time.monotonic())
        alone = replace(
            single,
            model=replace(single.model, witnesses=()),
            config=base.with_line(f"PROPERTY {name}"),
            options=options,
        )
        outcome = alone.result(None, left).outcome
        if isinstance(outcome, Interrupted | Unknown):
            return ()
        if isinstance(outcome, TemporalPropertyViolated | ActionPropertyViolated):
            failing.append(name)
    return tuple(failing)


def _with_outcome(result: RunResult, outcome: Outcome, seconds: float) -> RunResult:
    trace = result.counterexample
    if trace is not None:
        trace = replace(trace, claim=claim_of(outcome))
    return replace(result, outcome=outcome, counterexample=trace, seconds=seconds)


@dataclass(frozen=True, slots=True)
class _Run:
    """One process: the model as the cfg at hand has it."""

    model: Model
    config: ModelConfig
    options: Options
    jar: TlcJar
    jre: JavaRuntime

    def result(
        self, progress: Callable[[Progress], None] | None, timeout: float | None
    ) -> RunResult:
        output = Output(on_progress=progress)
        started = time.monotonic()
        with scratch() as folder:
            command = prepare(
                self.model, self.config, self.options, jar=self.jar, jre=self.jre, folder=folder
            )
            status, expired, errors = run_tlc(command, folder, output.feed, timeout)
            output.close()
            output.files = at_home(output.files, self.model.module)
            outcome = self._outcome(output, status, errors, timeout if expired else None)
            # The labels of the states are looked up in the modules, some of which lie in the
            # folder.
            trace = counterexample(
                output,
                spec=self.model.spec,
                constants=self.config.constants,
                claim=claim_of(outcome),
                model=self.model.name,
            )
            coverage = _coverage(output) if self.options.coverage else None
        generated, distinct, queue = output.stats or _counts(output.progress)
        return RunResult(
            outcome=outcome,
            generated=generated,
            distinct=None if output.simulated else distinct,
            depth=output.depth,
            queue_left=None if output.simulated else queue,
            seconds=time.monotonic() - started,
            coverage=coverage,
            reached=tuple(sorted(output.reached)),
            # The pinned TLC counts levels from 0; one that counts from 1 would tell nothing here.
            reached_at_start=tuple(sorted(n for n, level in output.reached.items() if level == 0)),
            counterexample=trace,
            simulation=self.options.simulation,
            version=output.version,
            java=self.jre,
            jar=self.jar,
            exit_status=status,
            warnings=tuple(message.all_texts() for message in output.warnings),
            printed=tuple(output.printed),
            java_command=command.words,
            reproduce=reproduce(self.model, self.options),
            checked=(*self.config.invariants, *self.config.properties),
            doubts=(
                *self.config.unasked(self.jar.capabilities),
                *stale(dict.fromkeys(output.files.values())),
            ),
        )

    def _outcome(self, output: Output, status: int, errors: str, expired: float | None) -> Outcome:
        if expired is not None:
            return Interrupted(f"the time of {expired:g} s ran out")
        outcome = outcome_of(output, status, has_behaviour=self.config.has_behaviour)
        if isinstance(outcome, SpecError | ConfigError):
            missing = untranslated(output.files.values())
            if missing is not None:
                sentence, path, line = missing
                return SpecError(sentence, str(path), line)
        plain = self._plainly(outcome) if isinstance(outcome, ConfigError) else None
        if plain is not None:
            return plain
        if isinstance(outcome, SpecError) and Path(outcome.file or "").stem == PROBE_MODULE:
            where = f"named as a witness in {self.model.place or 'the model'}"
            return SpecError(f"{outcome.message} ({where})")
        if isinstance(outcome, EvaluationError | AssumptionFailed):
            if trusted_jar(self.jar.capabilities) is None:
                advice = java_advice(output.files, outcome.message)
                outcome = replace(outcome, message=outcome.message + advice)
            if isinstance(outcome, EvaluationError) and outcome.location is None:
                return replace(outcome, location=_of_action(outcome.message, output.files))
            return outcome
        unknown = None if isinstance(outcome, SpecError) else self._unknown(output)
        if unknown is not None:
            # TLC ignores it, and the constant that was meant keeps another value.
            return unknown
        if isinstance(outcome, Unknown) and _NO_MEMORY.search(errors):
            return OutOfMemory(errors.splitlines()[0][:300])
        if isinstance(outcome, Unknown) and errors:
            return Unknown(f"{outcome.reason}; stderr: {errors.splitlines()[0][:300]}")
        return outcome

    def _plainly(self, outcome: ConfigError) -> ConfigError | None:
        """Return what is wrong with the cfg, with its place; ``None`` if TLC has told the place."""
        config = self.model.config
        plain = mended(outcome.message, config, modules_of(self.model))
        if plain is not None:
            return _at(*plain)
        return None if outcome.file is not None else replace(outcome, file=str(config))

    def _unknown(self, output: Output) -> ConfigError | None:
        """Return what is wrong with the first of the cfg's constants that no module has."""
        # NAME = NAME only makes a model value, which other lines may use.
        own = {name for name, value in self.config.constants if value == ModelValue(name)}
        wanted = [name for name in self.config.constant_names if name not in own]
        if not wanted or not output.files:
            return None
        modules = [path for path in output.files.values() if path.is_file()]
        name = next(foreign(wanted, modules), None)
        return None if name is None else _at(*undeclared(name, self.model.config, modules))


def _of_action(message: str, files: Mapping[str, Path]) -> str | None:
    """Return where the action that a message of TLC names is defined; None if it names none."""
    named = _ACTION.search(message)
    if named is None:
        return None
    wanted = re.compile(rf"^[ \t]*(?:LOCAL\s+)?{named[1]}\s*(?:\([^=\n]*\))?\s*==", re.MULTILINE)
    for path in filter(Path.is_file, files.values()):
        text = without_comments(path.read_text("utf-8", errors="replace"))
        found = wanted.search(text)
        if found is not None:
            return f"{path.name}:{text.count(chr(10), 0, found.end()) + 1}"
    return None


def _check_module(path: Path) -> None:
    """Refuse a file in which SANY finds no module, because its own message says nothing useful."""
    # TLC takes a module with a byte order mark, too.
    head = _HEADER.search(path.read_text(encoding="utf-8-sig", errors="replace"))
    if head is None:
        raise KraflaError("this is no TLA+ module: there is no line ---- MODULE ...", str(path))
    if head[1] != path.stem:
        raise KraflaError(f"the module in it is called {head[1]}", str(path))


def _counts(progress: Progress | None) -> tuple[int | None, int | None, int | None]:
    if progress is None:
        return None, None, None
    return progress.generated, progress.distinct, progress.queue


def _coverage(output: Output) -> tuple[ActionCoverage, ...] | None:
    """Return the coverage of each action; the disjuncts that apply one action count together."""
    if not output.coverage_complete:
        return None
    source = SourceText(output.files)
    found: dict[str, ActionCoverage] = {}
    for covered in output.coverage:
        label = parse_label(covered.label)
        if label is None:
            continue
        label = source.resolve(label)
        before = found.get(label.name)
        found[label.name] = ActionCoverage(
            label.name,
            covered.taken + (before.taken if before else 0),
            covered.distinct + (before.distinct if before else 0),
            before.location if before else label.location,
            (*(before.counts if before else ()), tuple(covered.counts)),
        )
    return tuple(found.values())
