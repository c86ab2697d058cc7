"""What ``krafla validate`` suggests about a log that has no behaviour."""

from __future__ import annotations

import pytest
from tests.krafla.cli.lock_spec import krafla, write_log

SEATS = """---- MODULE Seats ----
CONSTANTS Seat
VARIABLES seat
Init == seat = [s \\in Seat |-> "free"]
Hold(s) == seat[s] = "free" /\\ seat' = [seat EXCEPT ![s] = "held"]
Expire(s) == seat[s] = "held" /\\ seat' = [seat EXCEPT ![s] = "free"]
Next == \\E s \\in Seat : Hold(s) \\/ Expire(s)
Spec == Init /\\ [][Next]_seat
====
"""
HELD = {"action": "Hold", "parameters": ["s1"]}


@pytest.fixture
def validated(tmp_path):
    """The answer to a log of seats, of which one is held, as one line of words."""
    spec = tmp_path / "Seats.tla"
    spec.write_text(SEATS)
    spec.with_suffix(".cfg").write_text("SPECIFICATION Spec\nCONSTANT Seat = {s1, s2}\n")

    def answer(*lines, options=()):
        log = write_log(tmp_path / "seats.log", {"action": "Init"}, *lines)
        done = krafla("validate", log, "--spec", spec, *options)
        assert done.exit_code == 1, done.output
        return " ".join(done.stdout.split())

    return answer


def test_a_part_of_a_function_that_was_taken_for_the_whole_is_told_how_to_write(validated):
    said = validated({**HELD, "seen": {"seat": {"s1": "held"}}})
    assert (
        'a whole seat was seen; to show a part of it, write "seen": [[["seat", "s1"], "..."]]'
        in said
    )
    assert "a whole seat" not in validated({**HELD, "seen": {"seat": {"s1": "free", "s2": "free"}}})


def test_the_step_that_leads_to_what_was_seen_is_the_one_to_hide(validated):
    free = {"action": "Hold", "parameters": ["s2"], "seen": {"seat": {"s1": "free", "s2": "free"}}}
    said = validated(HELD, free)
    assert "the spec has another step to this state: Expire(s1)" in said
    assert "seats.log --hidden Expire --spec " in said
    assert "seats.log --any-hidden --spec " in validated(HELD, free, options=("--hidden", "Expire"))
