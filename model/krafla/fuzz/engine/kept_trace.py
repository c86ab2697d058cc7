"""Kept traces: judged, stored, listed, and from then on checked on spec and implementation."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from krafla.fuzz.engine.choice_system import play_plan
from krafla.fuzz.engine.corpus_store import Stored, check_words, entries_of, name_of, stored
from krafla.fuzz.engine.kept_run import STILL_DONE, objection_to
from krafla.fuzz.lease.follow import follow
from krafla.match.corpus import KINDS, Corpus, Entry, read_index
from krafla.match.corpus_result import CorpusResult, objection, violation_of
from krafla.match.spec_source import by_specs_at_hand, is_at_hand
from krafla.match.trace_check import check_trace
from krafla.oracle.loader import find_module
from krafla.project.at_hand import is_of_tree
from krafla.report.explain.account import account_lines
from krafla.testing import Claim, ClaimKind, Inconclusive
from krafla.testing.machine_replay import machine_for, replay_on_machine
from krafla.traces.ndjson import dumps, read_whole_trace, write_trace
from krafla.traces.trace import INITIAL
from krafla.verdict import KraflaError, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from krafla.testing import Trace

__all__ = [
    "AS", "NotAsListed", "check_corpus", "check_kept", "does_not_follow", "keep",
    "still_done",
]  # fmt: skip

# What a user calls one trace, and the folder of its kind.
AS = {"accepted": KINDS[0], "rejected": KINDS[1], "counterexample": KINDS[2]}
_, _REJECTED, _COUNTEREXAMPLES = KINDS
_NAMES_MAX = 120
_AS_REJECTED = "; keep it --as rejected"
_WIDTH = 100
# What is wrong no more is a test all the same: of the implementation, by its choices.
_KEEP_THE_RUN = "which is gone; keep the run instead (.json) --as accepted"


def keep(trace: Trace, kind: str, reason: str, tags: tuple[str, ...], root: Path) -> Stored:
    """Store a trace in the corpus ``root`` as one of ``KINDS``, and return its entry.

    The specs at hand judge it, whatever text of them it carries; only if they lack its spec, its
    own text does. ``KraflaError`` if the trace comes
    to something else than its kind says (with what it comes to), if the corpus has it already (with
    the row), or if the reason or a tag cannot be listed.
    """
    check_words(reason, tags)
    _refuse_twin(trace, entries_of(root), root)
    try:
        kept = by_specs_at_hand(trace) if is_at_hand(trace) else trace
        entry, remark = _judged(kept, Entry(root, kind, reason, tags))
    except KraflaError as error:
        by = " (by the specs at hand, not by the text that it carries)" if trace.text else ""
        said, remedy, _ = error.message.partition(_AS_REJECTED)
        raise KraflaError(f"{said}{by}{remedy}", error.place) from error
    room = kept.spec if kept.text is not None else find_module(kept.spec, None).parent.name
    path = root / kind / room / f"{_name(kept, entry)}.ndjson"
    return Stored(stored(entry, path, root, partial(write_trace, kept)), remark)


def _refuse_twin(trace: Trace, entries: tuple[Entry, ...], root: Path) -> None:
    content = _content(trace)
    for entry in entries:
        if not entry.is_run and _content(read_whole_trace(entry.path)) == content:
            file = entry.path.relative_to(root).as_posix()
            raise KraflaError(f"has this trace already: {file}: {entry.reason}", str(root))


def _content(trace: Trace) -> str:
    """Return what makes two traces one: not where they came from, nor which model it was."""
    return dumps(replace(trace, origin=None, model=None, text=None))


def _judged(trace: Trace, entry: Entry) -> tuple[Entry, str]:
    """Return the entry with what is to be expected of the trace."""
    report = check_trace(trace)
    rejection = report.rejection
    if entry.kind == _REJECTED:
        if rejection is None:
            mended = "; the implementation may have been mended since"
            hint = f"; it claims: {trace.claim}" if trace.claims_violation else mended
            if trace.claim is not None and trace.claim.kind is ClaimKind.DIVERGENCE:
                hint += f", {_KEEP_THE_RUN}"
            raise KraflaError(f"not rejected: the spec has every step{hint}")
        text = next((name for name in rejection.names if name.strip()), rejection.step.action)
        entry = replace(entry, step=rejection.index, names=_piece(text))
        try:
            done = still_done(trace, rejection.index, _machine_of(trace, entry))
        except Inconclusive as doubt:
            return entry, str(doubt)
        return entry, "" if done is None else STILL_DONE
    if rejection is not None:
        raise KraflaError(f"not {_one(entry.kind)}: rejected at {rejection}{_AS_REJECTED}")
    try:
        if entry.kind == _COUNTEREXAMPLES:
            entry = replace(entry, names=_piece(violation_of(trace).reasons[0].text))
        wrong = objection(entry, trace, report)
    except KraflaError as error:
        wrong = str(error)
    if wrong is not None:
        raise KraflaError(f"not {_one(entry.kind)}: {wrong}")
    machine = _machine_of(trace, entry)
    if machine is None and not is_of_tree(trace.spec):
        return entry, ""
    try:
        lags = does_not_follow(trace, machine)
    except KraflaError as error:
        lags = str(error)
    if lags is None:
        return replace(entry, implementation=True), "the implementation takes the same steps"
    return entry, f"not listed as one that the implementation takes: {lags}"


def _one(kind: str) -> str:
    return next(word for word, folder in AS.items() if folder == kind)


def _piece(text: str) -> str:
    """Return the part of a formula that the index lists: its first line, if need be a part."""
    return text.strip().splitlines()[0][:_NAMES_MAX]


def _name(trace: Trace, entry: Entry) -> str:
    """Return what it shows, how long it is, and the start of its digest."""
    last = trace.steps[-1 if entry.step is None else entry.step].action
    claim = trace.claim
    if entry.kind == _COUNTEREXAMPLES and claim is not None and claim.property is not None:
        last = claim.property
    digest = hashlib.sha256(_content(trace).encode()).hexdigest()[:8]
    more = f"{len(trace.steps) - 1}-steps-{digest}"
    return name_of("start" if last == INITIAL else last, more)


class NotAsListed(Exception):  # noqa: N818 - a finding about the corpus, not an error of this program
    """A recording does not come to what the index says; ``trace`` is what was replayed, if any."""

    def __init__(self, objection: str, trace: Trace | None = None) -> None:
        super().__init__(objection)
        self.trace = trace


class Checked(NamedTuple):
    """How many steps the spec accepted, and whether a machine refused the one that it denies."""

    steps: int
    is_refused: bool = False


def check_kept(entry: Entry) -> Checked:
    """Return what was checked of a kept recording; ``NotAsListed`` if not all is as listed.

    ``Inconclusive`` if the code of a machine went another way, which the spec allows;
    ``KraflaError`` if the file cannot be read or the spec cannot be asked.
    """
    if entry.is_run:
        found = objection_to(entry.path, entry.names)
        if found is not None:
            raise NotAsListed(found)
        return Checked(0)
    kept = CorpusResult.judged(entry)
    objection, is_rejected = kept.objection, entry.kind == _REJECTED
    machine = None
    if objection is None and (entry.implementation or is_rejected):
        machine = _machine_of(kept.trace, entry)
        objection = (
            still_done(kept.trace, entry.step, machine)
            if is_rejected
            else does_not_follow(kept.trace, machine)
        )
    if objection is not None:
        raise NotAsListed(objection, kept.trace)
    return Checked(kept.steps, is_rejected and machine is not None)


def _machine_of(trace: Trace, entry: Entry) -> type | None:
    """Return the machine of a project for a trace that is no run of the simulator."""
    if trace.origin is not None and trace.origin.plan is not None:
        return None
    return machine_for(trace, entry.path)


def check_corpus(
    folder: Path,
    progress: Callable[[str], None] = lambda _: None,
    *,
    within: Path | None = None,
) -> Corpus:
    """Return whether every trace of a corpus, or those within a folder, is as its index says.

    ``KraflaError`` if the index and the files do not match each other.
    """
    chosen = (within or folder).resolve()
    entries = tuple(
        entry for entry in read_index(folder) if entry.path.resolve().is_relative_to(chosen)
    )
    steps, refused, reasons, doubts = 0, 0, [], []
    for entry in entries:
        progress(f"replaying {entry.path.name}")
        try:
            checked = check_kept(entry)
            steps += checked.steps
            refused += checked.is_refused
        except NotAsListed as found:
            reasons.append(f"{entry.path.name}: {found}")
        except Inconclusive as doubt:
            doubts.append(f"{entry.path.name}: {doubt}")
    return Corpus(entries, steps, tuple(reasons), tuple(doubts), refused)


def still_done(trace: Trace, denied: int | None = None, machine: type | None = None) -> str | None:
    """Return what the spec has against a run of the implementation that is to be mended.

    A trace that a run of the simulator left behind holds the choices of that run. Once the
    implementation is mended, the same choices give a run that the spec agrees to: ``None``. Any
    other is driven on ``machine``, which must refuse the step ``denied``.
    """
    if trace.origin is None or trace.origin.plan is None:
        if machine is None or not denied:
            return None
        # The spec denies it, whatever the trace claims.
        claim = Claim(ClaimKind.DIVERGENCE, trace.steps[denied].action)
        return _on_machine(replace(trace, steps=trace.steps[: denied + 1], claim=claim), machine)
    _, run = play_plan(trace, "the plan of the trace")
    return None if run.finding is None else f"the implementation does it still\n{run.detail}"


def _on_machine(trace: Trace, machine: type) -> str | None:
    """Return what the code of a machine did wrongly; ``Inconclusive`` if it went another way."""
    found = replay_on_machine(trace, machine)
    if found.verdict is Verdict.INCONCLUSIVE:
        raise Inconclusive(found.sentence)
    if found.verdict is Verdict.HELD:
        return None
    lines = () if found.account is None else account_lines(found.account, _WIDTH)
    return "\n".join((found.sentence, *(text.rstrip() for text, _ in lines)))


def does_not_follow(trace: Trace, machine: type | None = None) -> str | None:
    """Return why the implementation does not take the steps of a trace; ``None`` if it does.

    It is the code of ``machine``, or else the lease. If the trace claims a violation, the
    implementation must come to it, too.
    """
    if machine is not None:
        found = replay_on_machine(trace, machine)
        return None if found.verdict is Verdict.HELD else found.sentence
    followed = follow(trace)
    if followed.verdict is Verdict.HELD or followed.is_as_claimed:
        return None
    why = followed.finding or followed.apart
    return followed.sentence if why is None else f"{followed.sentence}\n{why}"
