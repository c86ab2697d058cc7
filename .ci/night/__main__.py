"""One night: `make nightly`, or `python -m night` where `.ci` is on the path.

Asks every stage of `stages.py`, one after another, each as processes with a limit of time. A stage
that fails is a row that says so; the others go on. After each stage the folder of the night has
`report.md`, one page, and `report.json`, with which a later night is compared. Started again on the
same day, with the same code and options, a night that was cut off goes on where it was. With
--over-commits it also goes on where the code has changed since, in as many sittings as it takes:
what held is kept, and what did not hold is asked again.

Exit status: the worst of the stages: 1 if something was violated, 4 if a command crashed, 2 if one
could not run, 3 if something is not known, or time ran out; 130 after Ctrl-C.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shlex
import subprocess
import sys
import time
from pathlib import Path

from night import outcomes, process, report
from night.answers import Answer, AnswerError, last_lines, worst
from night.outcomes import Outcome, Record, RecordError
from night.stages import ROOT, Command, Night, Stage, limit_seconds, stages

from krafla.verdict import ExitCode

# After one of these the next command of a stage has nothing to work on.
GOES_ON = {int(ExitCode.HELD), int(ExitCode.VIOLATED), int(ExitCode.INCONCLUSIVE)}

# A longer line of a command is cut.
LINE_MAX = 110
# In the name of a folder of which the code or the options were others.
ASIDE = "-until-"


def main(arguments: list[str]) -> int:
    """Return the exit status of the night."""
    options = parsed(arguments)
    if not 0 < options.scale <= 1:
        print("nightly: --scale is a part of a night: above 0, at most 1", file=sys.stderr)
        return ExitCode.COULD_NOT_RUN
    # The commands run in the checkout; the report shows short paths where it can.
    folder = options.folder if Path.cwd() == ROOT else options.folder.resolve()
    night = Night(
        folder, options.seed, options.scale, options.fuzz_seconds, options.graph_states,
        tuple(shlex.split(options.pytest)),
    )  # fmt: skip
    table = {stage.name: stage for stage in stages(night)}
    names = options.stages.split(",") if options.stages else list(table)
    unknown = [name for name in names if name not in table]
    if unknown:
        print(
            f"nightly: no stage {', '.join(unknown)}; there are: {', '.join(table)}",
            file=sys.stderr,
        )
        return ExitCode.COULD_NOT_RUN
    if options.list:
        show(table.values(), night)
        return ExitCode.HELD
    try:
        before = earlier(options.against, night)
        record = resumed(night, over_commits=options.over_commits)
        (night.folder / "logs").mkdir(parents=True, exist_ok=True)
    except (RecordError, OSError) as error:
        print(f"nightly: {error}", file=sys.stderr)
        return ExitCode.COULD_NOT_RUN
    return asked([table[name] for name in names], night, record, before)


def parsed(arguments: list[str]) -> argparse.Namespace:
    """Return the options."""
    today = int(time.strftime("%Y%m%d"))
    parser = argparse.ArgumentParser(
        prog="make nightly", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--folder", type=Path, required=True, help="the folder of this night")
    parser.add_argument("--seed", type=int, default=today, help="another one each day")
    parser.add_argument("--scale", type=float, default=1.0, help="0.01: a hundredth of a night")
    parser.add_argument("--fuzz-seconds", type=float, default=600, help="of a whole night")
    parser.add_argument("--graph-states", type=int, default=200_000, help="of a whole night")
    parser.add_argument("--stages", metavar="A,B", help="only these")
    parser.add_argument("--against", type=Path, metavar="FILE", help="the report.json of a night")
    parser.add_argument(
        "--over-commits", action="store_true",
        help="keep what held before the code changed; ask again what did not; rows have commits",
    )  # fmt: skip
    parser.add_argument(
        "--pytest", default=os.environ.get("PYTEST_ARGS", ""),
        help="more arguments of pytest, as one word; by default PYTEST_ARGS",
    )  # fmt: skip
    parser.add_argument("--list", action="store_true", help="print the commands and stop")
    return parser.parse_args(arguments)


def show(table, night: Night) -> None:
    """Print each stage with its limit and its commands."""
    for stage in table:
        print(f"{stage.name}: {stage.asked}; at most {limit_seconds(stage, night) / 60:.0f} min")
        for command in stage.commands:
            print(f"    {told(command)}")


def told(command: Command) -> str:
    """Return a command as one would type it."""
    names = {"krafla": "krafla", Path(sys.executable).name: "python"}
    program = names.get(Path(command.words[0]).name, command.words[0])
    variables = [f"{name}={value}" for name, value in command.environment.items()]
    return " ".join([*variables, shlex.join([program, *command.words[1:]])])


def earlier(against: Path | None, night: Night) -> Record | None:
    """Return the night to compare with: the one named, else the last of this scale beside it."""
    if against is not None:
        return outcomes.read(against)
    for path in sorted(night.folder.parent.glob("nightly-*/report.json"), reverse=True):
        if path.parent.name >= night.folder.name or ASIDE in path.parent.name:
            continue
        try:
            record = outcomes.read(path)
        except RecordError as error:
            print(f"nightly: not compared with {error}", file=sys.stderr)
            continue
        if record.settings.get("scale") == night.scale:
            return record
    return None


def resumed(night: Night, *, over_commits: bool) -> Record:
    """Return the record of this night, with what is known already if the night was cut off.

    The folder of another question, or of other code unless that is asked for, is moved aside.
    """
    settings = {
        "seed": night.seed, "scale": night.scale, "fuzz_seconds": night.fuzz_seconds,
        "graph_states": night.graph_states, "pytest": list(night.pytest_arguments),
    }  # fmt: skip
    record = Record(settings, machine(), code_digest(night.folder))
    path = night.folder / "report.json"
    if path.exists():
        known = outcomes.read(path)
        if known.settings == record.settings and (over_commits or known.code == record.code):
            record.outcomes = known.outcomes
            return record
        aside = night.folder.with_name(
            f"{night.folder.name}{ASIDE}{time.strftime('%H%M%S')}.{time.time_ns() % 1000:03}"
        )
        night.folder.rename(aside)
        print(f"nightly: options or code have changed; what was there is in {aside}")
    return record


def machine() -> dict[str, str]:
    """Return the machine, the versions, the commit and the date."""
    words = [sys.executable, str(ROOT / "bench" / "machine.py")]
    facts: dict[str, str] = json.loads(
        subprocess.run(words, check=True, capture_output=True).stdout
    )
    return facts


def code_digest(folder: Path) -> str:
    """Return a digest of the commit and of all edits; outside a checkout one that means nothing.

    Whatever lies in the folder of the night is no code.
    """

    def git(*words: str) -> bytes:
        ended = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, check=False)
        return ended.stdout

    digest = hashlib.sha256(git("rev-parse", "HEAD") + git("diff", "HEAD"))
    for name in git("ls-files", "--others", "--exclude-standard", "-z").split(b"\0"):
        path = ROOT / os.fsdecode(name)
        if path.is_file() and not path.resolve().is_relative_to(folder.resolve()):
            digest.update(name + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def asked(chosen: list[Stage], night: Night, record: Record, before: Record | None) -> int:
    """Ask the stages that have no answer yet; print and keep each; return the exit status."""
    known = {**(before.seconds if before else {}), **record.seconds}
    is_whole = True
    for number, stage in enumerate(chosen, start=1):
        head = f"[{number}/{len(chosen)}] {stage.name}"
        outcome = record.answered(stage.name)
        if outcome is not None:
            print(f"{head}: {outcome.answer.word}, asked before", flush=True)
            continue
        left = [one for one in chosen[number - 1 :] if record.answered(one.name) is None]
        seconds = sum(known.get(one.name, limit_seconds(one, night)) for one in left)
        about = "about" if all(one.name in known for one in left) else "at most"
        print(f"{head}: {stage.asked}; {about} {report.duration(seconds)} left", flush=True)
        try:
            outcome = ask(stage, night)
            outcome.commit = record.machine.get("commit", "")
            outcome.date = time.strftime("%Y-%m-%d")
        except KeyboardInterrupt:
            is_whole = False
            break
        record.replace(outcome)
        keep(record, night, len(chosen), before)
        told_why = f": {outcome.problem}" if outcome.problem else ""
        took = report.duration(outcome.seconds)
        print(f"    {outcome.answer.word} in {took}{told_why}", flush=True)
    keep(record, night, len(chosen), before, is_whole=is_whole)
    print((night.folder / "report.md").read_text(encoding="utf-8"))
    print(f"written: {night.folder / 'report.md'}, {night.folder / 'report.json'}")
    return record.exit_status if is_whole else int(ExitCode.INTERRUPTED)


def keep(
    record: Record, night: Night, chosen_count: int, before: Record | None, *, is_whole: bool = True
) -> None:
    """Write the record and its page."""
    record.write(night.folder / "report.json")
    # An earlier run of this night may have asked other stages.
    stage_count = max(chosen_count, len(record.outcomes))
    lines = report.page(record, stage_count, before, is_whole=is_whole)
    (night.folder / "report.md").write_text("".join(f"{line}\n" for line in lines))


def ask(stage: Stage, night: Night) -> Outcome:
    """Run the commands of a stage until one cannot; return what they answered together."""
    began = time.monotonic()
    limit = limit_seconds(stage, night)
    whole, problem = Answer(0), ""
    for number, command in enumerate(stage.commands, start=1):
        logs = night.folder / "logs" / f"{stage.name}-{number}"
        for path in command.made:
            # Of an earlier run, whose answer it would give.
            path.unlink(missing_ok=True)
        left = max(1.0, limit - (time.monotonic() - began))
        ended = process.run(command.words, command.environment, logs, ROOT, left, tell)
        answer, problem = read(command, ended, limit)
        whole = joined(whole, answer)
        if problem or answer.exit_status not in GOES_ON:
            break
    return Outcome(
        stage.name, stage.asked, told(command), round(time.monotonic() - began, 1),
        whole, problem,
    )  # fmt: skip


def tell(line: str) -> None:
    """Print how far a command is."""
    print(f"    {time.strftime('%H:%M')} {line[:LINE_MAX]}", flush=True)


def read(command: Command, ended: process.Ended, limit: float) -> tuple[Answer, str]:
    """Return the answer of a process, and why it has none or only a part."""
    if ended.is_late:
        return Answer(int(ExitCode.INCONCLUSIVE)), f"stopped after {report.duration(limit)}"
    try:
        answer = command.answer(ended.status, ended.output)
        crashed = answer.exit_status not in GOES_ON
        return answer, f"exit status {ended.status}: {last_lines(ended.errors)}" if crashed else ""
    except (AnswerError, LookupError, TypeError, ValueError, AttributeError) as error:
        why = f"{error}" if isinstance(error, AnswerError) else f"its output lacks {error!r}"
        # A command that could not run printed no document, and says why elsewhere.
        if ended.status:
            why = f"exit status {ended.status}: {last_lines(ended.errors or ended.output)}"
        could_not = ended.status == ExitCode.COULD_NOT_RUN
        return Answer(int(ExitCode.COULD_NOT_RUN if could_not else ExitCode.CRASHED)), why


def joined(one: Answer, other: Answer) -> Answer:
    """Return two answers of a stage as one."""
    return Answer(
        worst([one.exit_status, other.exit_status]), one.facts + other.facts,
        one.findings + other.findings, one.verdicts | other.verdicts, one.seconds | other.seconds,
    )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
