"""What the commands of a night answer, each read from what it prints for programs."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from krafla.verdict import ExitCode

ROOT = Path(__file__).resolve().parents[2]
LINES = 12
# A finding of the audit, as a line of its text.
FOUND = re.compile(r"\s*(?:violation|inconclusive|unreadable)  ")
WORDS = {
    ExitCode.HELD: "held",
    ExitCode.VIOLATED: "violated",
    ExitCode.COULD_NOT_RUN: "could not run",
    ExitCode.INCONCLUSIVE: "inconclusive",
    ExitCode.CRASHED: "crashed",
    ExitCode.INTERRUPTED: "interrupted",
}
# How the seeds of a campaign are counted.
SEEDS = ("seeds", "held", "violated", "inconclusive")
# The worst first: a violation was found, whatever else is unknown.
ORDER = [*map(int, (
    ExitCode.INTERRUPTED, ExitCode.VIOLATED, ExitCode.CRASHED, ExitCode.COULD_NOT_RUN,
    ExitCode.INCONCLUSIVE, ExitCode.HELD,
))]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that did not hold: a key that is the same each night, a sentence, a command."""

    key: str
    text: str
    again: str = ""


@dataclass
class Answer:
    """What a command has found.

    ``verdicts`` and ``seconds`` are by the name of what was asked about; a later night compares
    them. ``facts`` are sentences about what was seen.
    """

    exit_status: int
    facts: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    verdicts: dict[str, str] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def word(self) -> str:
        """Return the exit status in words."""
        return word_of(self.exit_status)


def word_of(status: int) -> str:
    """Return an exit status in words; one that no command of ours has is a crash."""
    return WORDS[ExitCode(status)] if status in ORDER else f"crashed ({status})"


def worst(statuses: list[int]) -> int:
    """Return the worst of some exit statuses; 0 of none."""
    return min(statuses or [0], key=lambda one: ORDER.index(one) if one in ORDER else 1.5)


class AnswerError(Exception):
    """Says why an output is no answer."""


def document(output: str) -> dict[str, Any]:
    """Return the JSON that a command printed; raises `AnswerError` if it is none."""
    try:
        # Another checkout has the same files in another place.
        found = json.loads(output.replace(f"{ROOT}/", ""))
    except ValueError as error:
        raise AnswerError(f"its output is no JSON: {error}") from error
    if not isinstance(found, dict):
        raise AnswerError("its output is no JSON object")
    return found


def models(status: int, output: str) -> Answer:
    """Read `krafla check --json`."""
    data = document(output)
    answer, states, kept = Answer(status), 0, 0
    for one in data["models"]:
        if "error" in one:
            answer.findings.append(Finding(f"{one['place']}", f"{one['place']}: {one['error']}"))
            continue
        name = one["model"]
        states += one["distinct"] or 0
        kept += one["earlier_run"]
        answer.verdicts[name] = one["verdict"]
        answer.seconds[name] = one["seconds"]
        if one["verdict"] != "held":
            why = "; ".join(one["reasons"]) or one["outcome_text"]
            answer.findings.append(Finding(name, f"{name}: {why}", one["reproduce"]))
    answer.findings += [Finding(doubt, doubt) for doubt in data["doubts"]]
    earlier = f", {kept} of them held before the night was cut off" if kept else ""
    answer.facts.append(f"{len(data['models'])} models, {states:,} distinct states{earlier}")
    return answer


def graphs(status: int, output: str, data: Path) -> Answer:
    """Read what `krafla explore --report` wrote beside its page."""
    try:
        survey = json.loads(data.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise AnswerError(last_lines(output)) from error
    answer = Answer(status)
    for one in survey["rows"]:
        name = one["model"]
        answer.verdicts[name] = one["verdict"]
        answer.seconds[name] = one["seconds"]
        if one["verdict"] != "held":
            again = f"krafla explore {name}"
            answer.findings.append(Finding(name, f"{name}: {'; '.join(one['reasons'])}", again))
    states = sum(one["states"] for one in survey["rows"])
    unasked = len(survey["unasked"])
    answer.facts.append(f"{len(survey['rows'])} graphs, {states:,} states; {unasked} not asked")
    return answer


def fuzz(status: int, output: str) -> Answer:
    """Read `krafla fuzz --json`."""
    data = document(output)
    answer, failure = Answer(status), data["failure"]
    answer.verdicts[data["system"]] = data["verdict"]
    if failure is not None:
        saved = "".join(f"; krafla replay {name}" for name in failure["saved"][:1])
        text = f"{data['system']}: {failure['property']}: {first_line(failure['detail'])}"
        key = f"{data['system']}: {failure['property']}"
        answer.findings.append(Finding(key, text, f"{data['reproduce']}{saved}"))
    answer.findings += missed(data["doubts"], data["reproduce"])
    if data["runs"]:
        answer.seconds["a run"] = data["seconds"] / data["runs"]
    answer.facts.append(f"{data['runs']:,} runs, {played(data)}")
    return answer


def played(counts: dict[str, Any]) -> str:
    """Return how much was judged, and by what: by the spec, or by properties after each step."""
    if "acknowledged" not in counts:
        return f"{counts['judged']:,} steps judged by the spec"
    by_spec = f", {counts['judged']:,} judged by the spec" if counts["judged"] else ""
    properties = f"{counts['properties']} properties checked after each"
    return f"{counts['steps']:,} steps, {properties}{by_spec}"


def missed(doubts: list[str], again: str) -> list[Finding]:
    """Return what a search missed as findings."""
    return [Finding(re.sub(r"[\d,]+", "N", doubt), doubt, again) for doubt in doubts]


def campaign(status: int, output: str) -> Answer:
    """Read `krafla campaign --json`."""
    data = document(output)
    answer = Answer(status, verdicts={data["system"]: data["verdict"]})
    for one in data["findings"]:
        kind = " ".join(one["kind"])
        saved = f"krafla replay {data['out']}/found/{one['saved'][0]}" if one["saved"] else ""
        text = f"{kind}: {one['seeds']:,} seeds: {first_line(one['detail'])}"
        answer.findings.append(
            Finding(f"{data['system']}: {kind}", text, saved or data["reproduce"])
        )
    answer.findings += missed(data["doubts"], data["reproduce"])
    seeds = [f"{data['counts'][name]:,} {name}" for name in SEEDS if data["counts"][name]]
    answer.facts.append(f"{', '.join(seeds)}: {played(data['counts'])}")
    return answer


def ingest(status: int, output: str) -> Answer:
    """Read `krafla pipeline ingest --json`."""
    data = document(output)
    answer = Answer(
        status, [f"{data['files']:,} files, {data['rows'].get('records', 0):,} records"]
    )
    for one in data["quarantined"]:
        text = f"{one['path']} is in quarantine: {one['reason']}"
        answer.findings.append(Finding(one["path"], text))
    return answer


def audit(status: int, output: str) -> Answer:
    """Read `krafla pipeline audit --json`, which is that of `krafla audit`."""
    data = document(output)
    answer = Answer(status)
    weighed = list(data["findings"])
    for cluster in data["clusters"]:
        answer.verdicts[cluster["folder"]] = cluster["verdict"]
        weighed += cluster["findings"]
        for directory in cluster["directories"]:
            weighed += directory["findings"]
    for one in weighed:
        if one["weight"] != "note":
            text = f"{one['path']}: {one['kind']}: {one['detail']}"
            answer.findings.append(Finding(f"{one['path']}: {one['kind']}", text))
    counts = ", ".join(f"{count:,} {name}" for name, count in data["counts"].items())
    answer.facts.append(counts)
    return answer


def recording(status: int, output: str) -> Answer:
    """Read the last lines of `krafla record`: its verdict, and before that what it found."""
    answer = Answer(status)
    lines = [line for line in output.splitlines() if line.strip()]
    found = [line.strip() for line in lines if FOUND.match(line)]
    answer.findings = [Finding(re.sub(r"\d+", "N", line), line) for line in found]
    answer.facts += [line for line in lines if re.match(r"(HELD|VIOLATED|INCONCLUSIVE)  \d", line)]
    if not answer.facts and status:
        raise AnswerError(last_lines(output))
    return answer


def tests(status: int, output: str, results: Path) -> Answer:
    """Read pytest's JUnit file; its exit status becomes one of ours."""
    try:
        cases = list(ElementTree.parse(results).getroot().iter("testcase"))
    except (OSError, ElementTree.ParseError) as error:
        raise AnswerError(last_lines(output)) from error
    answer = Answer({0: 0, 1: 1}.get(status, int(ExitCode.COULD_NOT_RUN)))
    bad, by_file = [], {}
    for case in cases:
        file = case.get("classname", "")
        by_file[file] = by_file.get(file, 0.0) + float(case.get("time", 0))
        wrong = [one for one in case if one.tag in ("failure", "error")]
        if wrong:
            name = f"{file}::{case.get('name')}"
            bad.append(name)
            text = f"{name}: {first_line(wrong[0].get('message') or wrong[0].text or '')}"
            answer.findings.append(Finding(name, text))
    answer.seconds = {name: round(seconds, 1) for name, seconds in by_file.items()}
    skipped = sum(one.tag == "skipped" for case in cases for one in case)
    answer.facts.append(f"{len(cases):,} tests, {len(bad)} failed, {skipped} skipped")
    return answer


def mutants(status: int, output: str) -> Answer:
    """Read `krafla mutate specs --json`."""
    data = document(output)
    answer = Answer(status, verdicts={one["id"]: one["fate"] for one in data["mutants"]})
    for one in data["mutants"]:
        if one["fate"] in ("survived", "no difference", "unknown") and not one["reason"]:
            text = f"{one['id']} {one['fate']}: {one['what']}"
            answer.findings.append(
                Finding(one["id"], text, f"krafla mutate specs --only {one['id']}")
            )
    answer.findings += [Finding(f"{one['id']} is stale", one["why"]) for one in data["stale"]]
    answer.findings += [Finding(name, f"{name}: {why}") for name, why in data["broken"].items()]
    answer.facts.append(
        f"{data['noticed']:,} of {data['total']:,} mistakes noticed, {data['killed']:,} by name"
    )
    return answer


def done(status: int, output: str) -> Answer:
    """Read what is only done."""
    if status:
        raise AnswerError(last_lines(output))
    return Answer(status)


def first_line(text: str) -> str:
    """Return the first line of a text that says something."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")[:300]


def last_lines(output: str) -> str:
    """Return the end of an output as one line."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return " / ".join(lines[-LINES:])[-600:] or "it said nothing"
