"""Answers as SARIF 2.1.0, the form in which code scanning reads results."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from krafla.report.entries import FilePlace, Rule, shown_path, writable
from krafla.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from krafla.report.entries import Entry, EntryStep

__all__ = ["sarif_document"]

_SCHEMA: Final = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_ROOT: Final = "SRCROOT"
# Code scanning takes at most so many steps of a result.
_STEPS_MAX: Final = 1_000


def sarif_document(version: str, entries: Sequence[Entry], root: Path, exit_status: int) -> str:
    """Return the answers of one command as a SARIF log with one run.

    Each rule that was asked about is listed with its sentence. A violated answer is a result of
    kind ``fail``, an inconclusive one of kind ``open``; its steps are a code flow. What could not
    be asked is a notification, and then the execution was not successful. Answers that held have
    no result. Files below ``root`` are relative to it.
    """
    rules = _rules(entries)
    numbers = {name: number for number, name in enumerate(rules)}
    answered = [one for one in entries if one.verdict is not Verdict.HELD and one.could_run]
    faults = [one for one in entries if not one.could_run]
    invocation: dict[str, Any] = {
        "executionSuccessful": not faults,
        "exitCode": exit_status,
    }
    if faults:
        invocation["toolExecutionNotifications"] = [
            {"level": "error", "message": _message(f"{one.name}: {_told(one)}")} for one in faults
        ]
    run: dict[str, Any] = {
        "tool": {
            "driver": {
                "name": "krafla",
                "semanticVersion": version,
                "rules": [_rule(name, sentence) for name, sentence in rules.items()],
            }
        },
        "invocations": [invocation],
        "originalUriBaseIds": {_ROOT: {"uri": f"{root.as_uri().rstrip('/')}/"}},
        "results": [_result(one, numbers, root) for one in answered],
    }
    log = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=2) + "\n"


def _rules(entries: Iterable[Entry]) -> dict[str, str]:
    """Return the sentence of each rule, by its id, in the order of the ids."""
    found: dict[str, str] = {}
    for entry in entries:
        is_result = entry.verdict is not Verdict.HELD and entry.could_run
        for rule in (*entry.asked, *((_broken(entry),) if is_result else ())):
            found[rule.id] = found.get(rule.id) or rule.sentence
    return dict(sorted(found.items()))


def _broken(entry: Entry) -> Rule:
    """Return the rule of a result; every result has one, if only the sort of its question."""
    sentence = f"The answer about each {entry.kind} is the expected one."
    return entry.broken or Rule(f"krafla/{entry.kind.replace(' ', '-')}", sentence)


def _rule(name: str, sentence: str) -> dict[str, Any]:
    module, _, own = name.rpartition("!")
    told = _message(sentence or f"{own} holds.")
    where = f"{own} is about the spec {module}." if module else f"krafla asks about {own}."
    # Code scanning wants all of these texts.
    return {
        "id": name,
        "name": own.replace("/", "-"),
        "shortDescription": told,
        "fullDescription": told,
        "help": _message(where),
    }


def _result(entry: Entry, numbers: dict[str, int], root: Path) -> dict[str, Any]:
    rule = _broken(entry)
    is_violated = entry.verdict is Verdict.VIOLATED
    result: dict[str, Any] = {
        "ruleId": rule.id,
        "ruleIndex": numbers[rule.id],
        # Any kind but "fail" has the level "none".
        "kind": "fail" if is_violated else "open",
        "level": "error" if is_violated else "none",
        "message": _message(f"{entry.name}: {_told(entry)}"),
        "partialFingerprints": {"krafla/v1": _fingerprint(entry, rule, root)},
    }
    # Code scanning refuses a result that is nowhere.
    first, *others = entry.places or (FilePlace(root),)
    result["locations"] = [_location(first, root)]
    if others:
        result["relatedLocations"] = [_location(one, root) for one in others]
    if entry.steps:
        flow = {"locations": list(_flow(entry.steps[-_STEPS_MAX:], root))}
        result["codeFlows"] = [{"threadFlows": [flow]}]
    return result


def _told(entry: Entry) -> str:
    return "\n".join(dict.fromkeys((entry.title, *entry.reasons)))


def _fingerprint(entry: Entry, rule: Rule, root: Path) -> str:
    """Return what stays the same when lines move: the rule, the question, the file."""
    file = shown_path(entry.places[0].path, root) if entry.places else ""
    return hashlib.sha256("\0".join((rule.id, entry.name, file)).encode()).hexdigest()[:32]


def _flow(steps: Sequence[EntryStep], root: Path) -> Iterator[dict[str, Any]]:
    for number, step in enumerate(steps, start=1):
        place = {} if step.place is None else _location(step.place, root)
        is_last = number == len(steps)
        yield {
            "location": {**place, "message": _message(step.text)},
            "executionOrder": number,
            "importance": "essential" if is_last else "important",
        }


def _location(place: FilePlace, root: Path) -> dict[str, Any]:
    shown = shown_path(place.path, root)
    is_below = not shown.startswith("/")
    uri: dict[str, Any] = {"uri": quote(shown), "uriBaseId": _ROOT}
    if not is_below:
        uri = {"uri": place.path.resolve().as_uri()}
    found: dict[str, Any] = {"artifactLocation": uri}
    if place.line is not None:
        found["region"] = {"startLine": place.line}
    elif place.byte is not None:
        found["region"] = {"byteOffset": place.byte}
    return {"physicalLocation": found}


def _message(text: str) -> dict[str, str]:
    """Return a message; SARIF reads one brace as the begin of a placeholder, and two as one."""
    return {"text": writable(text).replace("{", "{{").replace("}", "}}")}
