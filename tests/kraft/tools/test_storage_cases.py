"""The storage tool refuses what Kafka's refuses, and goes on where it goes on."""

from __future__ import annotations

import re

import pytest
from tests.kraft.kafka_tools import answer
from tests.kraft.tools.storage_cases import CASES, Case
from typer.testing import CliRunner

from kraft.node.java_properties import parse_properties
from kraft.tools import application

BY_NAME = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
TRACE = re.compile(
    r"^(?:[\d:.]+ \[main\] ERROR |[\w.]+(?:Error|Exception): |\tat |Caused by: |\t\.\.\. ).*\n",
    re.MULTILINE,
)
"""The lines of a log and of a stack trace, which Kafka's tool prints among its answer."""


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Run both tools in the folder of the case, so that what they format there is seen."""
    monkeypatch.chdir(tmp_path)


def formatted(folder):
    return sorted(path.parent.name for path in folder.rglob("bootstrap.checkpoint"))


@BY_NAME
def test_the_tool_answers_as_kafkas_did(case, tmp_path):
    asked = CliRunner().invoke(application(), ["storage", *case.arguments(tmp_path)])
    printed = case.printed.format(d=tmp_path)
    assert (asked.exit_code, asked.stdout) == (case.status, printed)
    assert asked.stderr.count("\n") == (case.status == 1 and case.options[0] == "format")
    named = re.findall(r"^Formatting .*/(d\d) with", printed, re.MULTILINE)
    assert formatted(tmp_path) == sorted(named)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ({"log_directories": "log.dirs="}, "At least one log directory must be defined via log."),
        ({"node": ""}, "node.id is not set"),
        ({"node": "node.id="}, "node.id is not a number from 0 on: ''"),
    ],
)
def test_the_reason_of_a_refusal_names_what_is_missing(tmp_path, lines, said):
    case = Case("", ("info",), 1, is_static=True, **lines)
    asked = CliRunner().invoke(application(), ["storage", *case.arguments(tmp_path)])
    assert f"{tmp_path}/server.properties: {said}" in asked.stderr


@pytest.mark.nightly
# One process fetches Kafka's jars; another would only wait for it.
@pytest.mark.xdist_group("kafka-jars")
@BY_NAME
def test_kafkas_tool_answers_so(case, tmp_path):
    asked = answer("kafka.tools.StorageTool", *case.arguments(tmp_path))
    # Kafka formats directories in the order of a hash table.
    lines, expected = (
        sorted(text.splitlines())
        for text in (TRACE.sub("", asked.stdout), case.printed.format(d=tmp_path))
    )
    assert (asked.returncode, lines) == (case.status, expected)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("a=1\r\nb:2\rc 3", {"a": "1", "b": "2", "c": "3"}),
        ("a\\ b\\=c=\\t\\u00e9\\q\\\\", {"a b=c": "\té" + "q\\"}),
        ("a=1\\\n   2\\\\\nb=3", {"a": "12\\", "b": "3"}),
        ("# no\\\n! no\n \t\f\na = = b ", {"a": "= b "}),
        ("a=1\na=2\nb\nc=\\", {"a": "2", "b": "", "c": ""}),
        ("a=\x0b\x1c\u2028", {"a": "\x0b\x1c\u2028"}),
        ("a=1\\\n#2", {"a": "1#2"}),
    ],
)
def test_properties_are_read_as_java_reads_them(text, values):
    assert parse_properties(text) == values


def test_an_escape_without_four_digits_is_refused():
    with pytest.raises(ValueError, match="malformed"):
        parse_properties("a=\\u12")
