"""What validating a trace costs in a warm process, beside a process of TLC for each trace.

A trace is judged as `krafla replay` judges it: each step must be one of its action, and keep every
property of BrokerLease. TLC, which checks TypeOK alone, gets a module that holds the trace: a fresh
process loads the spec, and goes from each state to the next by the action that the trace names. So
neither side has anything to search for. Both are measured in this run, by turns, in processor time:
wall-clock time says less on a machine that others use too. No trace is judged twice, but where it
says so.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from figures import Figures, benchmark

from krafla.fuzz.engine.choice_run import play_seed
from krafla.fuzz.lease.system import SYSTEM
from krafla.manifest import find_specs
from krafla.match.trace_check import check_trace
from krafla.scratch import scratch_folder
from krafla.tlc.jar import find_jar
from krafla.tlc.jre import find_jre
from krafla.values import ModelValue, fmt
from krafla.verdict import KraflaError, Verdict

if TYPE_CHECKING:
    from krafla.traces import Step, Trace
    from krafla.values import Value

STEPS = 30
WARMING = 300
TRACES = 100
TLC_RUNS = 5
GOAL = 100
LONG, LONGER = 1_000, 10_000
# Twice the time for each step is no longer linear.
LINEAR = 2.0
PROFILE = "kafka-4.1"


def traces(count: int, kind: str) -> list[Trace]:
    """Return new traces of 30 steps: twelve processes of three brokers, in milliseconds."""
    profile = SYSTEM.profile(PROFILE)
    seeds = (f"{kind} {number}" for number in range(count))
    return [SYSTEM.trace(play_seed(SYSTEM, profile, seed, STEPS)) for seed in seeds]


def seconds(trace: Trace) -> float:
    """Return how long a trace takes to be judged; it must hold."""
    started = time.process_time()
    report = check_trace(trace)
    elapsed = time.process_time() - started
    assert report.verdict is Verdict.HELD, str(report.rejection)
    return elapsed


def module(trace: Trace) -> str:
    """Return a module by which TLC follows a trace, and stops with an error where it cannot."""
    first = trace.steps[0].state
    states = ",\n  ".join(
        f"[{', '.join(f'{name} |-> {fmt(value)}' for name, value in step.state.items())}]"
        for step in trace.steps
    )
    here = " /\\ ".join(f"{name} = States[line].{name}" for name in first)
    there = " /\\ ".join(f"{name}' = States[line + 1].{name}" for name in first)
    constants = "\n".join(
        f"Const_{name} == {fmt(value)}"
        for name, value in trace.constants
        if not isinstance(value, ModelValue)
    )
    # Each line names its action and parameters: TLC has nothing to search for.
    follow = "\n".join(
        rf"  \/ line = {line} /\ {call(step)} /\ line' = {line + 1} /\ {there}"
        for line, step in enumerate(trace.steps[1:], 1)
    )
    return rf"""---- MODULE Follow ----
EXTENDS BrokerLeaseProperties, Sequences
VARIABLE line
{constants}
States == <<
  {states}
>>
FollowInit == line = 1 /\ {here}
FollowNext ==
{follow}
  \/ line = Len(States) /\ UNCHANGED <<vars, line>>
====
"""


def call(step: Step) -> str:
    """Return a step as TLA+ text."""
    if not step.parameters:
        return step.action
    return f"{step.action}({', '.join(map(fmt, step.parameters))})"


def configuration(constants: tuple[tuple[str, Value], ...]) -> str:
    """Return the configuration of that module: a deadlock is a step that the spec has not."""
    lines = ["INIT FollowInit", "NEXT FollowNext", "CHECK_DEADLOCK TRUE", "INVARIANT TypeOK"]
    for name, value in constants:
        is_model = isinstance(value, ModelValue)
        lines.append(
            f"CONSTANT {name} = {name}" if is_model else f"CONSTANT {name} <- Const_{name}"
        )
    return "\n".join(lines)


def of_children() -> float:
    """Return the processor time of all processes that this one has waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def seconds_of_tlc(trace: Trace) -> float:
    """Return how long a fresh process of TLC takes for a trace; it must follow it to its end."""
    specs = find_specs()
    with scratch_folder("bench") as folder:
        (folder / "Follow.tla").write_text(module(trace), encoding="utf-8")
        (folder / "Follow.cfg").write_text(configuration(trace.constants), encoding="utf-8")
        command = [
            str(find_jre().java), "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto",
            f"-DTLA-Library={specs / 'lease'}:{specs / 'lib'}", "-cp", str(find_jar().path),
            "tlc2.TLC", "-workers", "1", "-config", "Follow.cfg", "Follow",
        ]  # fmt: skip
        started = of_children()
        finished = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        elapsed = of_children() - started
    if finished.returncode or f"{len(trace)} distinct states" not in finished.stdout:
        raise KraflaError(f"TLC did not follow the trace:\n{finished.stdout[-3000:]}")
    return elapsed


def beside_tlc(figures: Figures) -> None:
    """Measure a process of TLC beside a trace judged here."""
    for trace in traces(WARMING, "warm"):
        seconds(trace)
    fresh = traces(TRACES, "bench")
    share = TRACES // TLC_RUNS
    here, there = [], []
    for turn in range(TLC_RUNS):
        there.append(seconds_of_tlc(fresh[turn * share]))
        here += [seconds(trace) for trace in fresh[turn * share : (turn + 1) * share]]
    again = [seconds(trace) for trace in fresh]
    ours, theirs = statistics.median(here), statistics.median(there)
    print(f"  a process of TLC: {theirs * 1e3:.0f} ms")
    figures.add(f"a trace of {STEPS} steps", ours * 1e3, "ms")
    figures.add("TLC's process / a trace here", theirs / ours, "times", least=GOAL)
    figures.add("judged again / judged", statistics.median(again) / ours, "times", most=1)


def growth(figures: Figures) -> None:
    """Measure what a step of a long and of a longer trace costs."""
    profile = SYSTEM.profile(PROFILE)
    costs = []
    for steps in (LONG, LONGER):
        trace = SYSTEM.trace(play_seed(SYSTEM, profile, f"long {steps}", steps))
        costs.append(seconds(trace) / len(trace))
        print(f"  {len(trace):6,} steps             {costs[-1] * 1e6:8.1f} us each")
    name = f"a step of {LONGER:,} / a step of {LONG:,}"
    figures.add(name, costs[1] / costs[0], "times", most=LINEAR)


def main(_: list[str], figures: Figures) -> None:
    """Measure traces beside TLC, then long ones."""
    beside_tlc(figures)
    growth(figures)


if __name__ == "__main__":
    sys.exit(benchmark(main))
