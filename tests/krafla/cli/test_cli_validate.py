"""``krafla validate``: what it prints, and its exit statuses."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from krafla.cli import application
from krafla.traces import partial, read_whole_trace, write_trace

CORPUS = Path(__file__).parents[3] / "traces"
LIFE = CORPUS / "accepted" / "lease" / "register-and-unfence.ndjson"
EARLY = CORPUS / "rejected" / "lease" / "fenced-at-the-timeout.ndjson"
AMENDED = CORPUS / "rejected" / "lease" / "amended-and-fenced.ndjson"


def run(*arguments):
    return CliRunner().invoke(application("validate"), ["validate", *map(str, arguments)])


@pytest.mark.parametrize(
    ("arguments", "status", "shown"),
    [
        ([LIFE], 0, "HELD"),
        ([LIFE, "--only", "status"], 0, "17 observations"),
        ([AMENDED, "--only", "registrations"], 1, "VIOLATED"),
        ([AMENDED, "--only", "regstrations"], 2, "regstrations: no variable of BrokerLease"),
        ([AMENDED, "--only", "regstrations"], 2, "it has registrations, log_end"),
        ([LIFE, EARLY], 1, "matched    13 of 14 observations, 1 candidate state"),
        ([EARLY], 1, "fenced-at-the-timeout.ndjson:15"),
        ([EARLY, "--hidden", "Tick"], 0, "1 hidden step between them"),
        ([EARLY, "--hidden", "Tick", "--max-hidden", "0"], 1, "no hidden steps"),
        ([EARLY, "--hidden", "Tick,SendRegistration"], 0, "1 hidden step between them"),
        ([EARLY, "--hidden", "Nothing"], 2, "Nothing: no action"),
        ([CORPUS / "nowhere.ndjson"], 2, "nowhere.ndjson"),
    ],
)
def test_validate_says_what_it_found_and_exits_accordingly(arguments, status, shown):
    result = run(*arguments)
    assert result.exit_code == status
    assert shown in result.output


def test_a_partial_trace_says_itself_what_is_hidden(tmp_path):
    path = tmp_path / "seen.ndjson"
    seen = partial(read_whole_trace(LIFE), ("StartBroker", "SendRegistration"))
    write_trace(replace(seen, observations=(seen.observations[0], *seen.observations[3:])), path)
    result = run(path)
    assert result.exit_code == 0, result.output
    assert "2 hidden steps" in result.output


def test_a_trace_that_shows_nothing_is_inconclusive(tmp_path):
    path = tmp_path / "seen.ndjson"
    whole = partial(read_whole_trace(LIFE))
    first, then, *_ = whole.observations
    status = tuple(pair for pair in then.seen if pair[0] == ("status",))
    seen = (first, replace(then, action=None, parameters=None, seen=status))
    write_trace(replace(whole, observations=seen), path)
    assert run(path, "--only", "status").exit_code == 0
    result = run(path, "--only", "log_end")
    assert result.exit_code == 0, "the first state shows its log"
    write_trace(replace(whole, observations=(replace(first, seen=()), seen[1])), path)
    result = run(path, "--only", "log_end")
    assert result.exit_code == 3
    assert "INCONCLUSIVE" in result.output
    assert "no observation shows an action or a value" in result.output
    assert json.loads(run(path, "--only", "log_end", "--json").output)["exit_status"] == 3


@pytest.mark.parametrize("is_partial", [False, True])
def test_a_trace_of_an_initial_state_is_inconclusive(is_partial, tmp_path):
    whole = read_whole_trace(LIFE)
    begun = whole.with_steps(whole.steps[:1])
    write_trace(partial(begun, ("Tick",)) if is_partial else begun, tmp_path / "begun.ndjson")
    result = run(tmp_path / "begun.ndjson")
    assert result.exit_code == 3
    assert "the trace shows no step" in result.output


def test_the_document_has_the_reasons_as_data():
    result = run(EARLY, "--json")
    document = json.loads(result.output)
    assert document["exit_status"] == result.exit_code == 1
    (stuck,) = document["files"][0]["stuck"]
    assert stuck["reasons"][0]["text"] == "contact_age[b] > SessionTimeout"
    assert stuck["nearest"]["action"] == "UnregisterBroker"


def test_quiet_prints_verdicts_alone():
    assert run(EARLY, "-q").output.split() == ["VIOLATED", str(EARLY)]
