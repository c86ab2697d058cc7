"""The published JSON Schemas: the shipped files, and the lines that they accept and refuse."""

from __future__ import annotations

import json

import pytest
from tests.krafla.cli.lock_spec import RUN
from tests.krafla.traces.schema_validator import Validator

from krafla.testing.schemas import SCHEMA_FOLDER, SCHEMAS

VALIDATORS = {name: Validator(json.loads(text())) for name, text in SCHEMAS.items()}


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_shipped_file_is_the_schema_of_the_types(name):
    file = SCHEMA_FOLDER / f"{name}.schema.json"

    assert file.read_text(encoding="utf-8") == SCHEMAS[name](), (
        f"krafla judge --schema {name} > {file}"
    )


def test_no_other_schema_is_shipped():
    files = {path.name.removesuffix(".schema.json") for path in SCHEMA_FOLDER.iterdir()}

    assert files - {"__pycache__"} == set(SCHEMAS)


@pytest.mark.parametrize(
    ("name", "line"),
    [
        *(("log", line) for line in RUN),
        ("log", {}),
        ("log", {"action": None, "parameters": [None, 1], "time_ms": 7, "lamport": 1}),
        ("log", {"seen": [[["queue", 1], "c2"]]}),
        ("log", {"kind": "stay", "seen": {"holder": "c1"}}),
        ("log", {"kind": "refusal", "action": "Acquire", "parameters": ["c2"]}),
        ("request", {"start": {}}),
        ("request", {"start": {"seen": {"holder": "Free"}}, "judge": "one"}),
        ("request", {"step": "Acquire", "parameters": ["c1", None], "seen": {"holder": "c1"}}),
        ("request", {"step": None, "seen": [[["queue", 1], {"#set": [1]}]]}),
        ("request", {"stay": {"seen": {"holder": "Free"}}, "judge": "one"}),
        ("request", {"refuse": "Acquire"}),
        ("request", {"refuse": "Acquire", "seen": {"holder": "c1"}}),
        ("request", {"enabled": "Acquire"}),
        ("request", {"states": True}),
        ("request", {"save": "found.ndjson"}),
    ],
)
def test_a_line_satisfies_its_schema(name, line):
    assert VALIDATORS[name].accepts(line)


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("log", {"acton": "Acquire"}),
        ("log", {"action": "rm -rf"}),
        ("log", {"seen": {"holder": None}}),
        ("log", {"seen": {"holder": 1.5}}),
        ("log", {"lamport": -1}),
        ("log", {"kind": "refuse", "action": "Acquire"}),
        ("log", {"krafla_trace": 3, "spec": "Lock", "steps": 1}),
        ("request", {}),
        ("request", {"start": 1}),
        ("request", {"states": False}),
        ("request", {"stay": True}),
        ("request", {"stay": {}, "seen": {}}),
        ("request", {"step": "Acquire", "refuse": "Acquire"}),
        ("request", {"refuse": None}),
        ("request", {"step": "Acquire", "time_ms": 1}),
        ("answer", {"verdict": "maybe", "candidates": 1, "line": 1}),
        ("answer", {"verdict": "held", "candidates": -1, "line": 1}),
    ],
)
def test_another_line_does_not(name, line):
    assert not VALIDATORS[name].accepts(line)
