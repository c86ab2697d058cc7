"""``docs/exit-statuses.md`` of commands on a machine: each of its statuses, with the word of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from krafla.testing import ModelValue
from krafla.traces import Claim, ClaimKind, Step, read_whole_trace, write_trace

WORDS = {0: "HELD  ", 1: "VIOLATED  ", 2: "krafla: ", 3: "INCONCLUSIVE  "}
FUZZ = "fuzz lock --examples 20 --quiet"
# A client is told that it need not be given a place in the queue, and is given none.
SHY = (
    ('@action("Ask", client=member_of("Client"))',
     '@action("Ask", client=member_of("Client"), may_refuse=True)'),
    ("if not self.server.ask(client):", "if True:"),
)  # fmt: skip
# What is changed of the project that `krafla init` writes, the command, its status and sentence.
CASES = {
    "steps were judged": ((), FUZZ, 0, "nothing was found"),
    "a bug": ((("not self.queue:", "False:"),), FUZZ, 1, "the code raised IndexError"),
    "code that leaves": (
        (("self.queue.append(client)", "raise SystemExit(0)"),),
        FUZZ, 1, "the code raised SystemExit: 0",
    ),
    "a module that leaves": (
        (("class LockServer:", "raise SystemExit(0)\nclass LockServer:"),),
        FUZZ, 2, "cannot be imported: SystemExit: 0",
    ),
    "no such machine": ((), "fuzz locks", 2, "nothing is called 'locks' here"),
    "no step was judged": (SHY, FUZZ, 3, "no action was taken, the code only refused"),
    "every step of a trace": ((), "replay way --impl", 0, "LockMachine takes 2 steps"),
    "a step that the spec forbids": ((), "replay denied --impl", 0, "rightly refuses Release(c2)"),
    "a step that the code takes all the same": (
        (("if client != self.holder:", "if False:"),),
        "replay denied --impl", 1, "LockMachine does what Lock does not allow",
    ),
    "a method that is missing": (
        (('"Grant"', '"Release"'),), "replay way --impl", 2, "has no method for Grant"
    ),
    "a trace without a step": ((), "replay still --impl", 3, "without a step shows nothing"),
    "no step of a trace": (
        SHY, "replay way --impl", 3, "the code took no step of the trace; the first is Ask(c1)"
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_command_on_a_machine_comes_to_each_status_of_its_row(case, lock, krafla):
    changes, line, status, sentence = CASES[case]
    for path in lock.glob("*.py"):
        text = path.read_text()
        for old, new in changes:
            text = text.replace(old, new)
        path.write_text(text)
    assert krafla("explore Lock --to 'holder = c1' --save way").exit_code == 0
    way = read_whole_trace(lock / "way")
    write_trace(way.with_steps(way.steps[:1]), lock / "still")
    denied = Step("Release", (ModelValue("c2"),), way.steps[-1].state)
    claim = Claim(ClaimKind.DIVERGENCE, "Release")
    write_trace(replace(way, steps=(*way.steps, denied), claim=claim), lock / "denied")

    done = krafla(line)

    assert done.exit_code == status, done.output
    assert WORDS[status] in done.output
    assert sentence in " ".join(done.output.split())
