"""``krafla convert`` as a user meets it: any format to any other, and what is lost is said."""

from __future__ import annotations

import gzip
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from krafla.cli import application
from krafla.traces import (
    Claim,
    ClaimKind,
    Observation,
    Origin,
    PartialTrace,
    Step,
    Trace,
    dumps,
    read_whole_trace,
    write_trace,
)
from krafla.traces.tlc_json import dumps_tlc_json
from krafla.values import ModelValue, function, record

R1 = ModelValue("r1")
STEPS = (
    Step("Init", (), record(seen=frozenset(), log=(), at=function({R1: 0}))),
    Step("Up", (R1,), record(seen=frozenset({1}), log=(1,), at=function({R1: 1})), "S:7"),
)
TRACE = Trace("S", STEPS, (("Node", frozenset({R1})),), Claim(ClaimKind.INVARIANT, "Inv"), lasso=0)
RECORDED = Path(__file__).resolve().parents[3] / "traces/accepted/lease/late-copy-amends.ndjson"


@pytest.fixture
def convert(tmp_path, monkeypatch, capsys):
    """Return a function that runs the command in a folder; it returns status, output, errors."""
    monkeypatch.chdir(tmp_path)
    write_trace(TRACE, tmp_path / "trace.ndjson")

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["krafla", "convert", *arguments])
        with pytest.raises(SystemExit) as left:
            application("convert")()
        captured = capsys.readouterr()
        return left.value.code, captured.out, captured.err

    return run


def test_a_trace_goes_to_itf_and_back_without_loss(convert, tmp_path):
    assert convert("trace.ndjson", "trace.itf.json") == (
        0,
        "1 step of S, ndjson -> itf: trace.itf.json\n",
        "",
    )
    assert convert("trace.itf.json", "again.ndjson")[0] == 0
    assert read_whole_trace(tmp_path / "again.ndjson") == TRACE


@pytest.mark.parametrize("name", ["trace.json", "trace.txt", "trace.json.gz", "trace.out.gz"])
def test_a_trace_goes_to_a_format_of_tlc_and_back_by_what_is_known(convert, tmp_path, name):
    status, said, _ = convert("trace.ndjson", name)

    assert status == 0
    assert "has no place for: constants" in said
    assert convert(name, "again.ndjson", "--like", "trace.ndjson")[0] == 0
    again = read_whole_trace(tmp_path / "again.ndjson")
    assert replace(again, claim=TRACE.claim, lasso=0, back="") == TRACE


def test_what_a_format_has_no_place_for_is_said(convert, tmp_path):
    write_trace(replace(TRACE, origin=Origin("tlc"), claim=None), tmp_path / "other.ndjson")

    assert convert("other.ndjson", "o.txt")[1].endswith("no place for: constants, its origin\n")
    assert "its claim, the types of values" in convert("trace.ndjson", "o.json")[1]


def test_a_trace_is_printed_on_request(convert):
    status, printed, _ = convert("trace.ndjson", "-", "--to", "ndjson")

    assert (status, printed) == (0, dumps(TRACE))


def test_a_compressed_trace_is_unpacked(convert, tmp_path):
    (tmp_path / "packed.ndjson.gz").write_bytes(gzip.compress(dumps(TRACE).encode()))

    assert convert("packed.ndjson.gz", "plain.ndjson")[0] == 0
    assert (tmp_path / "plain.ndjson").read_text() == dumps(TRACE)


def test_a_trace_cut_short_is_inconclusive_and_its_beginning_can_be_taken(convert, tmp_path):
    (tmp_path / "cut.ndjson").write_text(dumps(TRACE)[:-10])

    status, _, said = convert("cut.ndjson", "whole.ndjson")
    assert status == 3
    assert said == "krafla: cut.ndjson:3: the file ends too early: 1 of 2 steps are whole\n"
    assert not (tmp_path / "whole.ndjson").exists()

    assert convert("cut.ndjson", "whole.ndjson", "--salvage")[0] == 3
    assert read_whole_trace(tmp_path / "whole.ndjson").steps == STEPS[:1]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("none.ndjson", "o.ndjson"), "none.ndjson: there is no such file"),
        (("trace.ndjson", "o.xml"), "o.xml: its name tells no format: say --to FORMAT"),
        (("trace.ndjson", "-"), "say --to FORMAT"),
        (("trace.ndjson", "o.json", "--to", "xml"), "--to is one of ndjson, itf, tlc-json, tlc"),
        (("trace.json", "o.ndjson"), "say --model, --like or --spec"),
        (("trace.json", "o.ndjson", "--spec", "S"), "has no types: say --model or --like"),
        (("trace.json", "o.ndjson", "--model", "NoSuch"), "no model 'NoSuch'"),
        (("trace.txt", "o.ndjson"), "say --model, --like or --spec"),
        (("partial.ndjson", "o.itf.json"), "cannot be written as itf, only as ndjson"),
        (("cut.json.gz", "o.ndjson"), "the compressed data ends too early"),
        (("trace.ndjson", "no/o.ndjson"), "there is no such folder"),
    ],
)
def test_what_cannot_be_converted_is_said_in_one_line(convert, tmp_path, arguments, problem):
    (tmp_path / "trace.json").write_text(dumps_tlc_json(TRACE))
    (tmp_path / "trace.txt").write_text("State 1: <Initial predicate>\n/\\ x = 1\n")
    (tmp_path / "cut.json.gz").write_bytes(gzip.compress(b"{}" * 99)[:-9])
    write_trace(PartialTrace("S", (Observation("Up"),)), tmp_path / "partial.ndjson")

    status, printed, said = convert(*arguments)
    assert (status, printed) == (2, "")
    assert problem in said


def test_a_file_that_tlc_dumped_of_a_model_becomes_a_trace_of_its_spec(convert, tmp_path):
    from krafla.manifest import load
    from krafla.oracle import Spec, explore

    (model,) = load().select(("NoSelfFence",))
    bounded = Spec.load(
        model.module.stem, cfg=model.config, path=model.module, search_path=model.search_path
    )
    path = explore(bounded).violation.path
    # TLC names the part of Next that it evaluates, and then knows no parameters.
    steps = [Step("Init", (), path[0][1].as_function())]
    steps += [Step("BrokerNext", None, state.as_function()) for _, state in path[1:]]
    (tmp_path / "dumped.json").write_text(dumps_tlc_json(Trace("MC", tuple(steps))))

    assert convert("dumped.json", "found.ndjson", "--model", "NoSelfFence")[0] == 0
    found = read_whole_trace(tmp_path / "found.ndjson")
    assert found.spec == "BrokerLeaseProperties"
    assert dict(found.constants)["SelfFence"] is False
    assert [step.action for step in found.steps[1:]] == [name for name, _ in path[1:]]
    assert all(step.parameters is not None for step in found.steps)
    assert [step.state["messages"] for step in found.steps] == [
        state["messages"] for _, state in path
    ]


def test_a_trace_that_begins_in_the_middle_is_said_to(convert, tmp_path):
    label = "<Up line 6, col 7 to line 6, col 66 of module S>"
    text = "".join(f"State {n}: {label}\n/\\ x = {n}\n\n" for n in (35, 36))
    (tmp_path / "middle.txt").write_text(text)

    status, printed, _ = convert("middle.txt", "o.ndjson", "--spec", "S")
    assert (status, "it begins in the middle" in printed) == (0, True)
    assert [step.state["x"] for step in read_whole_trace(tmp_path / "o.ndjson").steps] == [35, 36]


def test_a_recorded_trace_is_the_same_after_every_format(convert, tmp_path):
    recorded = read_whole_trace(RECORDED)
    for name in ("one.itf.json", "two.json", "three.txt"):
        assert convert(str(RECORDED), name)[0] == 0
        assert convert(name, "again.ndjson", "--like", str(RECORDED))[0] == 0
        again = read_whole_trace(tmp_path / "again.ndjson")

        assert [step.state for step in again.steps] == [step.state for step in recorded.steps]
        assert [step.action for step in again.steps] == [step.action for step in recorded.steps]
