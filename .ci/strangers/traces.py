"""Recorded traces under their trace specs: `python -m strangers.traces --checkouts FOLDER`.

The traces of etcd's raft were recorded by others, with a spec that reads a trace as JSON and takes
the steps that each line allows. Java reads the JSON there. Here the lines become values of TLA+
in a module of the same name, so the oracle needs no Java. Three things differ in the copy: two
assumptions about TLC's own settings are left out, which the pinned TLC cannot evaluate; FoldBag
takes its arguments in the order of its Java, which is not that of its definition; and TLC is asked
for a behaviour that reaches the end, because the spec's own property asks for TLC's queue.

For each trace the oracle searches how far its lines can be followed: to the end, or to the line
that no step of the spec allows; and whether each step to there is one of the spec behind the trace
spec, which takes some by rules of its own. TLC must find a behaviour to the end, too. With --broken
the term at which a replica becomes leader is changed: the trace must end there, and TLC find no
behaviour to the end.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

from strangers.page import is_followed
from strangers.version import version

from krafla.manifest import Model
from krafla.oracle import Spec, explore
from krafla.scratch import scratch_folder
from krafla.tlc.config import read_config
from krafla.tlc.outcome import describe
from krafla.tlc.run import run
from krafla.values import fmt, freeze, record
from krafla.verdict import ExitCode, KraflaError

COMMUNITY = "tlaplus/CommunityModules"
REPOSITORY = "specula-org/specula-case-studies"
COMMIT = "0545df7c237978cf38e5876054fc3d08ebf4a8a2"
SCENARIO = "etcd-raft/scenarios/snapshot"
SPEC = "Traceetcdraft"
# The property by which the trace spec names the spec behind it.
BEHIND = "etcdSpec"
END = "KraflaNotAtEndInv"
_SETTINGS = re.compile(r'^ASSUME TLCGet\("config"\).*$', re.MULTILINE)
JSON_MODULE = """---- MODULE Json ----
EXTENDS Sequences
ndJsonDeserialize(file) == <<
{lines}
>>
====
"""
_FOLD = re.compile(r"^FoldBag\(.*?(?=^\()", re.MULTILINE | re.DOTALL)
FOLD = """FoldBag(op(_, _), base, B) ==
  LET rest[S \\in SUBSET DOMAIN B] ==
        IF S = {} THEN base
        ELSE LET x == CHOOSE x \\in S : TRUE
                 with[n \\in Nat] == IF n = 0 THEN rest[S \\ {x}] ELSE op(with[n - 1], x)
             IN  with[B[x]]
  IN  rest[DOMAIN B]

"""
IO_MODULE = """---- MODULE IOUtils ----
IOEnv == [JSON |-> "the trace in module Json"]
atoi(text) == CHOOSE number : TRUE
====
"""


def main(arguments: list[str]) -> int:
    """Return the exit status: 0 if each trace ends as it must, 1 if one does not."""
    parser = argparse.ArgumentParser(prog="python -m strangers.traces", description=__doc__)
    parser.add_argument("--checkouts", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--only", default="", help="part of the names of traces")
    parser.add_argument("--seconds", type=float, default=120.0, help="time for TLC on each")
    parser.add_argument("--broken", action="store_true", help="break a line of each trace")
    options = parser.parse_args(arguments)
    scenario = options.checkouts / REPOSITORY.replace("/", "+") / SCENARIO
    community = options.checkouts / COMMUNITY.replace("/", "+")
    if community.is_dir():
        os.environ["KRAFLA_COMMUNITY_MODULES"] = str(community.resolve())
    traces = sorted(scenario.glob("traces/*.ndjson"), key=lambda path: path.stat().st_size)
    chosen = [one for one in traces if options.only in one.name]
    if not chosen:
        print(f"no traces in {scenario}: check out {REPOSITORY} at {COMMIT}", file=sys.stderr)
        return ExitCode.COULD_NOT_RUN
    answers = []
    for path in chosen:
        answer = judged(
            path, scenario / "spec", community, options.seconds, is_broken=options.broken
        )
        print(json.dumps(answer), flush=True)
        answers.append(answer)
    return ExitCode.HELD if all(map(is_followed, answers)) else ExitCode.VIOLATED


def judged(
    path: Path, specs: Path, community: Path, seconds: float, *, is_broken: bool
) -> dict[str, Any]:
    """Return what oracle and TLC say of one trace."""
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    events = [line for line in lines if "event" in line]
    answer: dict[str, Any] = {
        "trace": path.stem, "lines": len(events), "must_follow": len(events),
        "krafla": version(),
    }  # fmt: skip
    if is_broken:
        answer["must_follow"] = broken(events)
    with scratch_folder("traces") as folder:
        module = laid_out(folder, specs, community, lines)
        began = time.monotonic()
        try:
            answer |= followed(module)
            answer["oracle_seconds"] = round(time.monotonic() - began, 1)
            answer["tlc"] = checked(module, seconds)
        except KraflaError as error:
            answer["error"] = " ".join(str(error).split())[:400]
    answer["seconds"] = round(time.monotonic() - began, 1)
    return answer


def broken(events: list[dict[str, Any]]) -> int:
    """Change the term that a leader writes into the log; return how many lines go before it."""
    number = next(
        number for number, line in enumerate(events) if line["event"]["name"] == "BecomeLeader"
    )
    events[number]["event"]["state"]["term"] += 1
    return number


def laid_out(folder: Path, specs: Path, community: Path, lines: list[dict[str, Any]]) -> Path:
    """Write the spec and the trace into a folder; return the module to check."""
    for path in specs.glob("*etcdraft.*"):
        text = _SETTINGS.sub("", path.read_text(encoding="utf-8"))
        if path.name == f"{SPEC}.tla":
            text = text.replace("TraceView ==", f"{END} == l <= Len(TraceLog)\nTraceView ==")
        (folder / path.name).write_text(text, encoding="utf-8")
    bags = community / "modules" / "BagsExt.tla"
    text = _FOLD.sub(lambda _: FOLD, bags.read_text(encoding="utf-8"))
    (folder / bags.name).write_text(text, encoding="utf-8")
    values = ",\n".join(fmt(value_of(line), 10**9) for line in lines)
    (folder / "Json.tla").write_text(JSON_MODULE.format(lines=values), encoding="utf-8")
    (folder / "IOUtils.tla").write_text(IO_MODULE, encoding="utf-8")
    return folder / f"{SPEC}.tla"


def value_of(read: Any) -> Any:
    """Return a value of TLA+ for one of JSON."""
    if isinstance(read, dict):
        return record(**{name: value_of(value) for name, value in read.items()})
    if isinstance(read, list):
        return tuple(map(value_of, read))
    return freeze("null" if read is None else read)


def followed(module: Path) -> dict[str, int]:
    """Return how many lines of the trace the spec can take, and what its own steps make of that.

    The trace spec takes steps by rules of its own. ``foreign`` of the ``steps`` to the last line
    are no steps of the spec behind it.
    """
    spec = Spec.load(module.stem, path=module, cfg=module.with_suffix(".cfg"))
    found = explore(spec)
    lines = [int(str(state["l"])) - 1 for state in found.states]
    path = [state for _, state in found.path(lines.index(max(lines)))]
    foreign = sum(
        not spec.check_action_property(BEHIND, before, after) for before, after in pairwise(path)
    )
    return {"followed": max(lines), "steps": len(path) - 1, "foreign": foreign}


def checked(module: Path, seconds: float) -> str:
    """Return what TLC says of the claim that no behaviour reaches the end of the trace."""
    config = module.with_suffix(".cfg")
    asked = read_config(config).without(["PROPERTIES"]).with_line(f"INVARIANT {END}")
    config.write_text(asked.text, encoding="utf-8")
    model = Model(
        name=SPEC, module=module, config=config, search_path=(module.parent,), spec=SPEC
    )  # fmt: skip
    return describe(run(model, timeout=seconds, coverage=False).outcome)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
