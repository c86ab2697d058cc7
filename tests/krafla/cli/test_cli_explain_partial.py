"""``krafla explain`` of a partial trace: the behaviour that the spec has for what was seen."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from krafla.cli import application
from krafla.testing import Judge, Spec, SpecViolation
from krafla.traces import Observation, write_trace

MAIL = Path(__file__).parents[1] / "testing" / "specs" / "Mail.tla"


@pytest.fixture(scope="module")
def spec():
    return Spec.load(MAIL, {"Person": {"ann", "bob"}, "Letter": {1, 2}})


@pytest.fixture
def judge(spec):
    """A judge of two letters. The post delivered the second one unseen, and ann read it."""
    judge = Judge(spec, hidden=["Deliver"])
    judge.start({"post": set()})
    judge.step("Send", "ann", 1)
    judge.step("Send", "ann", 2)
    judge.step("Read", "ann", 2)
    return judge


def explained(trace, folder, *options):
    path = folder / "seen.ndjson"
    write_trace(trace, path)
    result = CliRunner().invoke(application("explain"), ["explain", str(path), *options])
    return result.exit_code, result.output


def test_a_trace_that_has_a_behaviour_is_shown_with_its_hidden_steps(judge, tmp_path):
    status, said = explained(judge.trace, tmp_path)
    assert status == 0
    assert "matched: 4 observations, 1 hidden step between them" in said
    assert "never seen: inbox" in said
    assert "  - Deliver([letter 2, to ann])   hidden" in said
    assert "  3 Read(ann, 2)" in said
    assert f"krafla validate {tmp_path}/seen.ndjson" in said


def test_a_trace_that_has_none_ends_with_what_does_not_fit(judge, tmp_path):
    with pytest.raises(SpecViolation) as caught:
        judge.step("Read", "ann", 2)
    status, said = explained(caught.value.trace, tmp_path)
    assert status == 0
    assert "observation 5 of 5, Read(ann, 2), is no step of the spec here" in said
    assert "inbox[p] # <<>>" in said
    assert "  4 Read(ann, 2)   <- the spec does not have this step" in said


def test_steps_are_chosen_by_the_numbers_that_are_shown(judge, tmp_path):
    status, said = explained(judge.trace, tmp_path, "--steps", "2-3")
    shown = [line for line in said.splitlines() if line[:2] == "  " and line[2:3] in "0123-"]
    assert status == 0
    assert [line.split()[0] for line in shown] == ["2", "-", "3"]
    status, said = explained(judge.trace, tmp_path, "--steps", "4")
    assert (status, "the trace has steps 0 to 3" in said) == (2, True)


def test_its_page_and_its_markdown_name_the_command_that_judges_it(judge, tmp_path):
    page = tmp_path / "seen.html"
    assert explained(judge.trace, tmp_path, "--html", str(page))[0] == 0
    status, markdown = explained(judge.trace, tmp_path, "--markdown", "-")
    for text in (page.read_text(encoding="utf-8"), markdown):
        assert f"krafla validate {tmp_path}/seen.ndjson" in text
        assert "krafla replay" not in text
        assert "hidden" in text
    assert status == 0


def test_what_cannot_be_shown_is_refused_with_the_reason(judge, tmp_path):
    status, said = explained(judge.trace, tmp_path, "--no-ask")
    assert (status, "only the spec knows" in said) == (2, True)
    first = Observation("Init", (), ((("post",), frozenset({1})),))
    status, said = explained(replace(judge.trace, observations=(first,)), tmp_path)
    assert status == 2
    assert "no initial state of the spec fits its first observation: `krafla validate" in said
