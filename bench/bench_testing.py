"""What `krafla.testing` costs a test of Python code, beside the ways of other tools.

The code is a lock server with nine clients. Its steps are judged by `Judge` alone, with all of the
state shown or only the holder, and by a `SpecMachine`; the same machine without a judge tells what
Hypothesis takes by itself. Then how soon a new process has judged its first step.

quint-connect replays traces that a process of a simulator makes; tla-connect asks a process of a
model checker about each. Neither runs here: a process of TLC for each trace of 30 steps stands for
both, one that makes a random trace and one that follows a given one. All times but that of the
import are processor time: wall-clock time says less on a machine that others use too.
"""

from __future__ import annotations

import random
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from figures import Figures, benchmark
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from krafla.scratch import scratch_folder
from krafla.testing import Judge, Refused, Spec, SpecMachine, action
from krafla.tlc.jar import find_jar
from krafla.tlc.jre import find_jre
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Callable

LOCK = Path(__file__).resolve().parents[1] / "tests" / "krafla" / "testing" / "specs" / "Lock.tla"
CLIENTS = tuple(f"c{number}" for number in range(1, 10))
NOBODY = "Nobody"
STEPS = 30
RUNS, WARM_RUNS = 200, 100
EXAMPLES = 60
TLC_RUNS = 5
STARTS = 5
GOAL_OF_STEPS = 5_000
GOAL_OF_IMPORT_MS = 200
GOAL_OF_FIRST_S = 1.5
GOAL_OF_TRACES = 20

Step = tuple[str, str, dict[str, Any]]

IMPORT = (
    "import time; t = time.perf_counter(); import krafla.testing; print(time.perf_counter() - t)"
)
FIRST = """
import sys
from krafla.testing import Judge, Spec
judge = Judge(Spec.load(sys.argv[1]))
judge.start({"holder": "Nobody", "queue": []})
judge.step("Acquire", "c1", seen={"holder": "c1", "queue": []})
"""


class Lock:
    """The code under test."""

    def __init__(self) -> None:
        self.holder = NOBODY
        self.queue: list[str] = []

    def acquire(self, client: str) -> None:
        """Give the client the lock, or a place in the queue."""
        if client == self.holder or client in self.queue:
            raise Refused
        if self.holder == NOBODY:
            self.holder = client
        else:
            self.queue.append(client)

    def release(self, client: str) -> None:
        """Take the lock from the client."""
        if client != self.holder:
            raise Refused
        self.holder = self.queue.pop(0) if self.queue else NOBODY


def steps_of(seed: int) -> list[Step]:
    """Return steps of the lock server, each with the state after it."""
    chance, lock = random.Random(seed), Lock()
    found: list[Step] = []
    while len(found) < STEPS:
        client = chance.choice(CLIENTS)
        name = "Release" if client == lock.holder else "Acquire"
        try:
            (lock.release if name == "Release" else lock.acquire)(client)
        except Refused:
            continue
        found.append((name, client, {"holder": lock.holder, "queue": list(lock.queue)}))
    return found


def judged(judge: Judge, steps: list[Step], shown: Callable[[dict[str, Any]], Any]) -> None:
    """Judge a run of the lock server."""
    judge.start({"holder": NOBODY, "queue": []})
    for name, client, state in steps:
        judge.step(name, client, seen=shown(state))


def rate(judge: Judge, first: int, shown: Callable[[dict[str, Any]], Any]) -> float:
    """Return how many new steps are judged in a second."""
    runs = [steps_of(first + number) for number in range(RUNS)]
    started = time.process_time()
    for steps in runs:
        judged(judge.fresh(), steps, shown)
    return RUNS * STEPS / (time.process_time() - started)


def alone(figures: Figures, spec: Spec) -> None:
    """Measure the judge by itself."""
    judge = Judge(spec, invariants=["HolderInv"], properties=["InTurnProp"])
    for number in range(WARM_RUNS):
        judged(judge.fresh(), steps_of(-number), dict)
    whole = rate(judge, 1_000, dict)
    part = rate(judge, 2_000, lambda state: {"holder": state["holder"]})
    figures.add("steps, all of the state shown", whole, "steps/s", least=GOAL_OF_STEPS)
    figures.add("steps, part of the state shown", part, "steps/s", least=GOAL_OF_STEPS)


class PlainMachine(RuleBasedStateMachine):
    """The lock server, driven and not judged."""

    def __init__(self) -> None:
        super().__init__()
        self.lock, self.count = Lock(), 0

    def call(self, method: Callable[[str], None], client: str) -> None:
        """Call the code."""
        counted[0] += 1
        try:
            method(client)
        except Refused:
            return

    @rule(client=st.sampled_from(CLIENTS))
    def acquire(self, client: str) -> None:
        """Ask for the lock."""
        self.call(self.lock.acquire, client)

    @rule(client=st.sampled_from(CLIENTS))
    def release(self, client: str) -> None:
        """Give the lock back."""
        self.call(self.lock.release, client)


class JudgedMachine(SpecMachine):
    """The lock server, driven and judged."""

    spec = LOCK
    constants = {"Client": set(CLIENTS), "Nobody": NOBODY}  # noqa: RUF012 - never changed
    spec_invariants = ("HolderInv",)
    properties = ("InTurnProp",)

    def __init__(self) -> None:
        super().__init__()
        self.lock = Lock()

    def observe(self) -> dict[str, Any]:
        """Return all of the state."""
        return {"holder": self.lock.holder, "queue": self.lock.queue}

    @action("Acquire", client=st.sampled_from(CLIENTS))
    def acquire(self, client: str) -> None:
        """Ask for the lock."""
        counted[0] += 1
        self.lock.acquire(client)

    @action("Release", client=st.sampled_from(CLIENTS))
    def release(self, client: str) -> None:
        """Give the lock back."""
        counted[0] += 1
        self.lock.release(client)


counted = [0]


def seconds_a_step(machine: type[RuleBasedStateMachine], number: int) -> float:
    """Return how long a step of a machine takes under Hypothesis, in runs of their own.

    The class is new, so nothing is known yet of what the spec answers.
    """
    given = settings(
        max_examples=EXAMPLES, database=None, deadline=None,
        phases=[Phase.generate], suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    new = seed(number)(type(machine.__name__, (machine,), {"__module__": __name__}))
    counted[0] = 0
    started = time.process_time()
    run_state_machine_as_test(new, settings=given)
    return (time.process_time() - started) / counted[0]


def under_hypothesis(figures: Figures) -> None:
    """Measure a machine, and what of its time is Hypothesis's own."""
    for machine in (JudgedMachine, PlainMachine):
        seconds_a_step(machine, 0)
    pairs = [
        (seconds_a_step(JudgedMachine, number), seconds_a_step(PlainMachine, number))
        for number in range(1, 6)
    ]
    both, plain = (statistics.median(column) for column in zip(*pairs, strict=True))
    own = max(both - plain, 1e-9)
    figures.add("a machine's steps, without Hypothesis", 1 / own, "steps/s", least=GOAL_OF_STEPS)
    figures.add("a machine's steps, with Hypothesis", 1 / both, "steps/s")
    figures.add("Hypothesis alone", 1 / plain, "steps/s")


def of_children() -> float:
    """Return the processor time of all processes that this one has waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def beginnings(figures: Figures) -> None:
    """Measure the import, and the first judged step of a process."""
    imports, firsts = [], []
    for _ in range(STARTS):
        asked = subprocess.run([sys.executable, "-c", IMPORT], capture_output=True, check=True)
        imports.append(float(asked.stdout))
        started = of_children()
        subprocess.run([sys.executable, "-c", FIRST, str(LOCK)], check=True)
        firsts.append(of_children() - started)
    figures.add("import", min(imports) * 1e3, "ms", most=GOAL_OF_IMPORT_MS)
    figures.add("first judged step", min(firsts), "s", most=GOAL_OF_FIRST_S)


def module(steps: list[Step]) -> str:
    """Return a module by which TLC follows a run, and stops where it cannot."""
    lines = []
    for number, (name, client, state) in enumerate(steps):
        queue = ", ".join(f'"{one}"' for one in state["queue"])
        after = f"holder' = \"{state['holder']}\" /\\ queue' = <<{queue}>>"
        lines.append(
            f'  \\/ line = {number} /\\ {name}("{client}") /\\ line\' = {number + 1} /\\ {after}'
        )
    clients = ", ".join(f'"{one}"' for one in CLIENTS)
    follow = "\n".join(lines)
    return rf"""---- MODULE Follow ----
EXTENDS Lock
VARIABLE line
Clients == {{{clients}}}
None == "{NOBODY}"
FollowInit == line = 0 /\ Init
FollowNext ==
{follow}
  \/ line = {len(steps)} /\ UNCHANGED <<holder, queue, line>>
====
"""


CONSTANTS = "CONSTANTS Client <- Clients Nobody <- None\nINVARIANT HolderInv\n"
FOLLOW = f"INIT FollowInit NEXT FollowNext CHECK_DEADLOCK TRUE\n{CONSTANTS}"
MAKE = f"INIT MakeInit NEXT MakeNext CHECK_DEADLOCK FALSE\n{CONSTANTS}"
MAKER = rf"""---- MODULE Make ----
EXTENDS Lock
Clients == {{{", ".join(f'"{one}"' for one in CLIENTS)}}}
None == "{NOBODY}"
MakeInit == Init
MakeNext == Next
====
"""


def seconds_of_tlc(name: str, text: str, cfg: str, *options: str) -> float:
    """Return how long a fresh process of TLC takes; it must find nothing wrong."""
    with scratch_folder("bench") as folder:
        (folder / f"{name}.tla").write_text(text, encoding="utf-8")
        (folder / f"{name}.cfg").write_text(cfg, encoding="utf-8")
        command = [
            str(find_jre().java), "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto",
            f"-DTLA-Library={LOCK.parent}", "-cp", str(find_jar().path), "tlc2.TLC",
            "-workers", "1", *options, "-config", f"{name}.cfg", name,
        ]  # fmt: skip
        started = of_children()
        finished = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        elapsed = of_children() - started
    if finished.returncode:
        raise KraflaError(f"TLC did not end well:\n{finished.stdout[-3000:]}")
    return elapsed


def beside_processes(figures: Figures, spec: Spec) -> None:
    """Measure a process for each trace beside a trace judged here."""
    judge = Judge(spec, invariants=["HolderInv"], properties=["InTurnProp"])
    here, follow, make = [], [], []
    for number in range(TLC_RUNS):
        steps = steps_of(3_000 + number)
        follow.append(seconds_of_tlc("Follow", module(steps), FOLLOW))
        simulated = ("-simulate", "num=1", "-depth", str(STEPS + 1))
        make.append(seconds_of_tlc("Make", MAKER, MAKE, *simulated))
        started = time.process_time()
        judged(judge.fresh(), steps, dict)
        here.append(time.process_time() - started)
    ours = statistics.median(here)
    figures.add(f"a trace of {STEPS} steps", ours * 1e3, "ms")
    for what, found in (("follows", follow), ("makes", make)):
        theirs = statistics.median(found)
        print(f"  a process that {what} a trace: {theirs * 1e3:.0f} ms")
        figures.add(
            f"a process that {what} it / here", theirs / ours, "times", least=GOAL_OF_TRACES
        )


def main(_: list[str], figures: Figures) -> None:
    """Measure the judge, the machine, the beginning of a process, and other ways."""
    spec = Spec.load(LOCK, {"Client": set(CLIENTS), "Nobody": NOBODY})
    alone(figures, spec)
    under_hypothesis(figures)
    beginnings(figures)
    beside_processes(figures, spec)


if __name__ == "__main__":
    sys.exit(benchmark(main))
