"""A module or a predicate that is at fault, as the commands tell it."""

from __future__ import annotations

import re

import pytest


@pytest.mark.parametrize("command", ["check", "explore", "mutate"])
def test_each_command_names_the_form_that_does_not_parse_with_its_line(folder, krafla, command):
    module = folder / "Lock.tla"
    lines = module.read_text().splitlines()
    begun = next(n for n, line in enumerate(lines, 1) if line.startswith("Next =="))
    lines[begun - 1] = "Next == << Init"
    module.write_text("\n".join(lines) + "\n")

    told = krafla(f"{command} Lock.tla")
    assert told.exit_code == 2
    said = " ".join(told.output.split())
    assert re.search(r'Encountered "\S[^"]*" at line \d+, column 1 and token "Init", in', said)
    assert f"starting at line {begun}, column 9: Next == << Init" in said
    assert "ExtendableExpr" not in said


@pytest.mark.usefixtures("folder")
def test_a_predicate_without_a_value_at_the_start_is_told_with_the_state_and_a_guard(krafla):
    asked = krafla("explore Lock.tla --to '(CHOOSE c \\in holder : TRUE) \\in Client'")

    assert asked.exit_code == 2
    said = " ".join(asked.output.split())
    assert "cannot be evaluated in an initial state (holder = {}): " in said
    assert "as in holder # {} /\\ (CHOOSE c \\in holder : TRUE) \\in Client" in said
    assert "is no state predicate" not in said
