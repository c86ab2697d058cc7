"""What the stages of a night came to, kept as JSON, and compared with another night."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from night.answers import Answer, Finding, worst

from krafla.verdict import ExitCode

if TYPE_CHECKING:
    from pathlib import Path

SCHEMA = 1
HELD = int(ExitCode.HELD)
# A time that doubled is told if that cost more than this.
SECONDS_LEAST = 5.0
TIMES = 2.0


class RecordError(Exception):
    """Says why a file is no record of a night."""


@dataclass
class Outcome:
    """What one stage came to, at which commit and on which day.

    ``problem`` says why it has no answer, or only part of one. ``gone`` has what the stage found
    at earlier commits of this night and finds no more: by key a sentence with that commit.
    """

    stage: str
    asked: str
    again: str
    seconds: float
    answer: Answer
    problem: str = ""
    commit: str = ""
    date: str = ""
    gone: dict[str, str] = field(default_factory=dict)

    @property
    def exit_status(self) -> int:
        """Return the exit status of the stage."""
        return self.answer.exit_status


@dataclass
class Record:
    """A night: what it was asked with, on which machine and code, and its outcomes so far.

    A night that went on over commits has the machine and the code of its last run.
    """

    settings: dict[str, Any]
    machine: dict[str, str]
    code: str
    outcomes: list[Outcome] = field(default_factory=list)

    @property
    def exit_status(self) -> int:
        """Return the worst exit status of its stages."""
        return worst([one.exit_status for one in self.outcomes])

    @property
    def seconds(self) -> dict[str, float]:
        """Return how long each stage took."""
        return {one.stage: one.seconds for one in self.outcomes}

    @property
    def commits(self) -> list[str]:
        """Return at which commits its stages were asked, in their order, each once."""
        return list(dict.fromkeys(one.commit for one in self.outcomes))

    def findings(self) -> dict[tuple[str, str], Finding]:
        """Return every finding by its stage and key."""
        return {
            (one.stage, finding.key): finding
            for one in self.outcomes
            for finding in one.answer.findings
        }

    def answered(self, stage: str) -> Outcome | None:
        """Return the outcome of a stage that need not be asked again.

        What did not hold at another commit may be mended by now.
        """
        one = self.latest(stage)
        if one is None or one.problem:
            return None
        is_of_this_code = one.commit == self.machine.get("commit", "")
        return one if is_of_this_code or one.exit_status == HELD else None

    def latest(self, stage: str) -> Outcome | None:
        """Return the last outcome of a stage, if it was asked."""
        return next((one for one in self.outcomes if one.stage == stage), None)

    def replace(self, outcome: Outcome) -> None:
        """Put the outcome of a stage in the place of an earlier one, whose findings it keeps."""
        earlier = self.latest(outcome.stage)
        if earlier is not None:
            found = {one.key: f"{earlier.commit}: {one.text}" for one in earlier.answer.findings}
            still = {one.key for one in outcome.answer.findings}
            outcome.gone = {
                key: told for key, told in {**earlier.gone, **found}.items() if key not in still
            }
        self.outcomes = [one for one in self.outcomes if one is not earlier] + [outcome]

    def write(self, path: Path) -> None:
        """Write the record, whole or not at all."""
        draft = path.with_name(f".{path.name}.draft")
        draft.write_text(json.dumps({"schema": SCHEMA, **asdict(self)}, indent=1) + "\n")
        draft.replace(path)


def read(path: Path) -> Record:
    """Return the record in a file; raises `RecordError` if it has none."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if data.pop("schema") != SCHEMA:
            raise RecordError(f"{path}: this is of another schema than {SCHEMA}")
        outcomes = []
        for one in data.pop("outcomes"):
            answer = one.pop("answer")
            findings = [Finding(**finding) for finding in answer.pop("findings")]
            outcomes.append(Outcome(**one, answer=Answer(**answer, findings=findings)))
        return Record(**data, outcomes=outcomes)
    except OSError as error:
        raise RecordError(f"{path}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise RecordError(f"{path}: this is no record of a night: {error!r}") from error


@dataclass
class Comparison:
    """What differs from another night, each as a sentence."""

    findings: list[str] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    verdicts: list[str] = field(default_factory=list)
    times: list[str] = field(default_factory=list)


def compare(now: Record, before: Record) -> Comparison:
    """Return new findings, those that are gone, changed verdicts, and times that doubled.

    Only stages that both nights asked are compared; times only if both are of the same scale.
    """
    found = Comparison()
    earlier = {one.stage: one for one in before.outcomes}
    old, new = before.findings(), now.findings()
    # A stage that was cut off may have missed what the other night has found.
    known = {one.stage for one in before.outcomes if not one.problem}
    answered = {one.stage for one in now.outcomes if not one.problem}
    found.findings = [
        f"{key[0]}: {one.text}" for key, one in new.items() if key not in old and key[0] in known
    ]
    found.gone = [
        f"{key[0]}: {one.text}" for key, one in old.items() if key not in new and key[0] in answered
    ]
    is_comparable = now.settings.get("scale") == before.settings.get("scale")
    for outcome in now.outcomes:
        other = earlier.get(outcome.stage)
        if other is None:
            continue
        verdicts = {**outcome.answer.verdicts, "the stage": outcome.answer.word}
        was = {**other.answer.verdicts, "the stage": other.answer.word}
        found.verdicts += [
            f"{outcome.stage}: {name} was {was[name]}, is {verdict}"
            for name, verdict in verdicts.items()
            if was.get(name, verdict) != verdict
        ]
        if is_comparable:
            found.times += [
                f"{outcome.stage}: {name} took {before_s:,.1f} s, takes {seconds:,.1f} s"
                for name, before_s, seconds in times_of(outcome, other)
                if seconds >= TIMES * before_s and seconds - before_s >= least(name)
            ]
    return found


def times_of(now: Outcome, before: Outcome) -> list[tuple[str, float, float]]:
    """Return what both nights timed: its name, and the seconds then and now."""
    new = {**now.answer.seconds, "the stage": now.seconds}
    old = {**before.answer.seconds, "the stage": before.seconds}
    return [(name, old[name], new[name]) for name in new if name in old]


def least(name: str) -> float:
    """Return how many seconds more are worth telling; a single run is short."""
    return 0.0 if name == "a run" else SECONDS_LEAST
