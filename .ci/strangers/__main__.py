"""Specs of strangers under the engine: `python -m strangers --checkouts FOLDER`.

`.ci` must be on the path. `specs.csv` beside this file names specs of other repositories: the
module, the cfg, the result and the number of distinct states that their authors publish, and the
SHA-256 of both files. Nothing of them is part of this repository. FOLDER has a checkout of each
repository, in a folder called OWNER+NAME, at the commit that `REPOSITORIES` tells:

    git clone https://github.com/tlaplus/Examples FOLDER/tlaplus+Examples
    git -C FOLDER/tlaplus+Examples checkout COMMIT

With a checkout of tlaplus/CommunityModules beside them, specs that use its modules are read, too.

Each spec is loaded in the oracle, checked by TLC, explored by the oracle, and broken: by a mutant,
or by a false property, which must be explained. docs/strangers.md says what each of these demands.
The answers are written to --results, so that a run that was cut off goes on where it was, the
smallest specs first. An answer about other files or other published numbers than those of the table
does not count, and what an older krafla or TLC answered is asked again. --page writes
docs/strangers.md from the answers; --known asks nothing for it, and takes older answers, too.

Exit status: 0 if every spec did all that it should, and each trace of --traces is followed as far
as it must be; 1 if one did not, or is not; 2 if a file is missing or another one, or there is no
answer at all; 3 if specs have no answer yet, or an older one; 130 after Ctrl-C.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import os
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from strangers.page import is_followed, page, shortcomings
from strangers.version import version

from krafla.scratch import scratch_folder
from krafla.verdict import ExitCode

ROOT = Path(__file__).resolve().parents[2]
TABLE = Path(__file__).with_name("specs.csv")
COMMUNITY = "tlaplus/CommunityModules"
# Of each repository the commit at which its files have the digests of the table.
REPOSITORIES = {
    "tlaplus/Examples": "32a32c7b0b97562da2dd4b2e55b7f81cd6fea2b9",
    "Vanlightly/raft-tlaplus": "69ad9d6092f1ff32536726e4dd945e306bc1b73d",
    "Vanlightly/vsr-tlaplus": "7566e8af7bb4f5e323bb5601340c7d8192a1fab8",
    "Vanlightly/bookkeeper-tlaplus": "fe199dc717b5723f5308aca74eda6ab3b03917e5",
    "Vanlightly/table-formats-tlaplus": "a827e63451c24c16b0602ba9e884735d9949d0f8",
    "Vanlightly/kafka-tlaplus": "823615e8a0962d0160c11d9affb2576c56b7c054",
}


COMMITS = {**REPOSITORIES, COMMUNITY: "a8068a4c21ed76b339b9a2aa6de69d78f64f6422"}


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    repository: str
    module: str
    cfg: str
    result: str
    distinct: int | None
    module_sha256: str
    cfg_sha256: str

    @property
    def name(self) -> str:
        """Return a name for a file and for the command line."""
        return f"{self.repository}/{self.module}:{self.cfg}".replace("specifications/", "")


def main(arguments: list[str]) -> int:
    """Return the exit status."""
    options = parsed(arguments)
    rows = [row for row in table() if all(word in row.name for word in options.only)]
    rows.sort(key=lambda row: (row.result == "large", row.distinct or 0))
    wrong = [sentence for row in rows for sentence in mismatches(row, options.checkouts)]
    if wrong or not rows:
        print("\n".join(wrong[:10]) or "strangers: no spec has such a name", file=sys.stderr)
        return ExitCode.COULD_NOT_RUN
    options.results.mkdir(parents=True, exist_ok=True)
    try:
        for number, row in enumerate(rows, 1):
            known = known_answer(row, options.results)
            is_answered = known is not None and not is_older(known) and not options.again
            if options.known or is_answered:
                continue
            began = time.monotonic()
            answers = tried(row, options)
            seconds = round(time.monotonic() - began, 1)
            answer = {
                "row": asdict(row), "krafla": version(), "seconds": seconds, "stages": answers,
            }  # fmt: skip
            path = answer_file(row, options.results)
            draft = path.with_suffix(".draft")
            draft.write_text(json.dumps(answer, indent=1), encoding="utf-8")
            draft.replace(path)
            print(f"{number}/{len(rows)} {row.name}: {seconds} s", flush=True)
            for one in answers:
                print(f"    {one}", flush=True)
    except KeyboardInterrupt:
        print("strangers: interrupted; the same command goes on", file=sys.stderr)
        return ExitCode.INTERRUPTED
    return told([known_answer(row, options.results) for row in rows], options)


def told(answers: list[dict[str, Any] | None], options: Any) -> int:
    """Write the page, if it is asked for, and return the exit status."""
    known = [one for one in answers if one is not None]
    if not known:
        print(f"strangers: {options.results} has no answer to this table", file=sys.stderr)
        return ExitCode.COULD_NOT_RUN
    lines = [line for path in options.traces for line in path.read_text("utf-8").splitlines()]
    traces = [json.loads(line) for line in lines]
    if options.page is not None:
        options.page.write_text(page(known, traces, len(answers)), encoding="utf-8")
    lost = [one["trace"] for one in traces if not is_followed(one)]
    older = [one for one in (*known, *traces) if is_older(one)]
    missing = len(answers) - len(known)
    for count, what in (
        (missing, f"of {len(answers)} specs have no answer"),
        (
            len(older),
            f"of {len(known) + len(traces)} answers are older than this krafla or its TLC",
        ),
        (len(lost), f"of {len(traces)} traces are not followed as they must be: {', '.join(lost)}"),
    ):
        if count:
            print(f"strangers: {count} {what}", file=sys.stderr)
    if lost or any(reason for one in known for reason in shortcomings(one).values()):
        return ExitCode.VIOLATED
    return ExitCode.INCONCLUSIVE if missing or older else ExitCode.HELD


def known_answer(row: Row, results: Path) -> dict[str, Any] | None:
    """Return the answer about a row; None if there is none, or one about another row."""
    path = answer_file(row, results)
    if not path.is_file():
        return None
    answer: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return answer if answer["row"] == asdict(row) else None


def is_older(answer: dict[str, Any]) -> bool:
    """Return whether another krafla, or another TLC, gave an answer about a spec or a trace."""
    return answer.get("krafla") != version()


def answer_file(row: Row, results: Path) -> Path:
    """Return the file for the answer about a row."""
    return results / f"{hashlib.sha256(row.name.encode()).hexdigest()[:16]}.json"


def parsed(arguments: list[str]) -> Any:
    """Return the options."""
    parser = argparse.ArgumentParser(
        prog="python -m strangers", description=__doc__,
        epilog="\n".join(["commits:", *(f"  {one} {at}" for one, at in COMMITS.items())]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--checkouts", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--results", type=Path, default=ROOT / ".strangers", metavar="FOLDER")
    parser.add_argument("--only", action="append", default=[], help="part of the names to run")
    parser.add_argument("--known", action="store_true", help="ask nothing: write what is known")
    parser.add_argument("--again", action="store_true", help="ask also what was answered before")
    parser.add_argument(
        "--traces", type=Path, action="append", default=[], metavar="FILE",
        help="what strangers.traces printed, for the page and the status; may be repeated",
    )  # fmt: skip
    parser.add_argument("--page", type=Path, metavar="FILE", help="write the table")
    parser.add_argument("--seconds", type=float, default=120.0, help="time for each spec")
    return parser.parse_args(arguments)


def table() -> list[Row]:
    """Return the lines of the table."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        found = [Row(**one) for one in csv.DictReader(file)]
    return [replace(row, distinct=int(row.distinct) if row.distinct else None) for row in found]


def mismatches(row: Row, checkouts: Path) -> list[str]:
    """Return what is wrong with the files of a row: nothing if they are those of the table."""
    folder = checkouts / row.repository.replace("/", "+")
    module = folder / row.module
    wrong = []
    for path, digest in ((module, row.module_sha256), (module.parent / row.cfg, row.cfg_sha256)):
        if not path.is_file():
            commit = REPOSITORIES[row.repository]
            wrong.append(f"{path} is not there: check out {row.repository} at {commit}")
        elif hashlib.sha256(path.read_bytes()).hexdigest() != digest:
            wrong.append(f"{path} is another file than that of {REPOSITORIES[row.repository]}")
    return wrong


def tried(row: Row, options: Any) -> list[dict[str, Any]]:
    """Return the answers of the stages; that which time or a crash has ended says so."""
    module = (options.checkouts / row.repository.replace("/", "+") / row.module).resolve()
    with scratch_folder("trial") as folder:
        case = {
            "module": str(module), "cfg": str(module.parent / row.cfg),
            "seconds": options.seconds / (4 if row.result == "large" else 2),
            "result": row.result, "distinct": row.distinct, "total": options.seconds,
        }  # fmt: skip
        (folder / "case.json").write_text(json.dumps(case), encoding="utf-8")
        process = subprocess.Popen(
            [sys.executable, "-m", "strangers.trial", str(folder / "case.json")],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
            cwd=folder, env=environment(options.checkouts, folder),
        )  # fmt: skip
        try:
            out, errors = process.communicate(timeout=options.seconds)
            ended = f"exit status {process.returncode}: {errors.strip()[-300:]}"
        except subprocess.TimeoutExpired:
            process.kill()
            out, _ = process.communicate()
            ended = f"not within {options.seconds:g} s"
        finally:
            process.kill()
            process.wait()
    answers = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
    if process.returncode:
        answers.append({"stage": "end", "ok": False, "text": ended})
    return answers


def environment(checkouts: Path, folder: Path) -> dict[str, str]:
    """Return the environment of a trial, with CommunityModules if there is a checkout of them."""
    community = checkouts.resolve() / COMMUNITY.replace("/", "+")
    found = {"KRAFLA_COMMUNITY_MODULES": str(community)} if community.is_dir() else {}
    path = os.pathsep.join(filter(None, sys.path))
    return {**os.environ, **found, "TMPDIR": str(folder), "PYTHONPATH": path}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
