"""Recorded traces: `krafla replay`, `krafla validate` and pytest give one verdict on each."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from tests.forked import PYTEST, forked
from tests.krafla.cli.lock_spec import krafla
from tests.krafla.testing import recorded_corpus as corpus

from krafla.testing import ModelValue, Spec, SpecViolation
from krafla.testing.recorded_trace import judge_recorded
from krafla.traces import Step, Trace, write_trace
from krafla.values import Function
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

ENDING = ".trace.ndjson"
# A line with a verdict, in what the commands print.
VERDICT = re.compile(rf"^([A-Z]+)  ([\w-]+){re.escape(ENDING)}", re.MULTILINE)
# The line above what pytest tells of a test.
HEAD = re.compile(rf"^_+ ([\w-]+){re.escape(ENDING)} _+$", re.MULTILINE)


@dataclass(frozen=True)
class Told:
    """What the tools say: the verdict of the command, the word of pytest, and all the words."""

    rows: Mapping[str, corpus.Row]
    commands: Mapping[str, tuple[str, str]]
    tests: Mapping[str, tuple[str, str]]
    folder: Path


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Told:
    folder = tmp_path_factory.mktemp("recorded")
    spec = corpus.project(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KRAFLA_FOUND", str(tmp_path_factory.mktemp("found")))
        patch.chdir(folder)
        rows = {
            **corpus.plain_rows(spec), **corpus.claims_of_states(spec),
            **corpus.claims_of_steps(spec), **corpus.partial_rows(spec),
            **corpus.judged_rows(spec, tmp_path_factory.mktemp("judged")),
        }  # fmt: skip
        for name, row in rows.items():
            write_trace(row.trace, folder / f"{name}{ENDING}")
        write_trace(corpus.carried(spec), folder / f"carried{ENDING}")
        wholes = [f"{name}{ENDING}" for name, row in rows.items() if isinstance(row.trace, Trace)]
        partials = [f"{name}{ENDING}" for name in rows if f"{name}{ENDING}" not in wholes]
        commands = {
            **_pieces(VERDICT, krafla("replay", *wholes).output),
            **_pieces(VERDICT, krafla("validate", *partials).output),
        }
        finished = forked(PYTEST).run(folder, "-v", "-p", "no:randomly", "-p", "no:xdist")
    told = _pieces(HEAD, finished.stdout.partition("= short test summary")[0])
    words = dict(
        re.findall(rf"^([\w-]+){re.escape(ENDING)}::trace (\w+)", finished.stdout, re.MULTILINE)
    )
    assert finished.returncode == 1, finished.stdout
    tests = {name: (word, told.get(name, ("", ""))[1]) for name, word in words.items()}
    return Told(rows, commands, tests, folder)


def _pieces(head: re.Pattern[str], output: str) -> dict[str, tuple[str, str]]:
    """Return by name of a file the word before it, and the text up to the next head."""
    found = [*head.finditer(output), None]
    return {
        str(one[one.re.groups]): (str(one[1]), output[one.start() : other and other.start()])
        for one, other in pairwise(found)
        if one is not None
    }


def test_each_file_gets_one_verdict_from_the_command_and_from_pytest(told: Told) -> None:
    assert {name: word for name, (word, _) in told.commands.items()} == {
        name: row.verdict.name for name, row in told.rows.items()
    }
    assert {name: told.tests[name][0] for name in told.rows} == {
        name: "PASSED" if row.passes else "FAILED" for name, row in told.rows.items()
    }


def test_each_says_the_same_of_it(told: Told) -> None:
    for name, row in told.rows.items():
        for text in (told.commands[name][1], told.tests[name][1]):
            assert row.words in " ".join(text.split()), name


def test_the_spec_here_judges_the_claim_of_a_trace_that_carries_an_older_one(
    told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(told.folder)
    name = f"carried{ENDING}"
    assert krafla("replay", name).output.startswith("VIOLATED")
    now = krafla("replay", name, "--at-hand").output
    assert "invariant ShortInv, which it claims, is gone" in " ".join(now.split())
    word, text = told.tests["carried"]
    assert word == "FAILED"
    assert "does not violate ShortInv at its end, as it claims" in " ".join(text.split())


def of_another_tool(*steps: tuple[str, str, tuple[str, ...] | None]) -> Trace:
    """Return a trace with the action, the holder and the queue of each step, if it shows them."""
    found = (
        Step(action, None, Function({"holder": ModelValue(holder), **queue_of(queue)}))
        for action, holder, queue in steps
    )
    return Trace("Lock", tuple(found))


def queue_of(names: tuple[str, ...] | None) -> dict[str, tuple[ModelValue, ...]]:
    return {} if names is None else {"queue": tuple(map(ModelValue, names))}


@pytest.mark.parametrize("queue", [(), None])
def test_what_a_trace_of_another_tool_lacks_is_the_specs_to_choose(
    lock_spec: Spec, queue: tuple[str, ...] | None
) -> None:
    begun = ("Init", "Nobody", queue)
    judge_recorded(of_another_tool(begun, ("Next", "c1", queue), ("", "Nobody", queue)), lock_spec)
    with pytest.raises(SpecViolation, match="a step of any action, is no step of the"):
        judge_recorded(of_another_tool(begun, ("Next", "c1", queue), ("", "c2", queue)), lock_spec)
    with pytest.raises(KraflaError, match="Aquire: no action of Lock"):
        judge_recorded(of_another_tool(begun, ("Aquire", "c1", queue)), lock_spec)
