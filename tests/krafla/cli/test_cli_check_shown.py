"""What ``krafla check`` shows: coverage by conjunct, the false conjunct, how far it has come."""

from __future__ import annotations

import json
import re

import pytest
from tests.krafla.cli.lamp_room import edit, krafla, lay_out

from krafla.cli.check_run import _told
from krafla.manifest import load
from krafla.tlc.output import Progress
from krafla.tlc.pace import Pace


@pytest.fixture
def specs(tmp_path):
    return lay_out(tmp_path)


@pytest.fixture
def long(specs):
    (model,) = load(specs).select(("LampLong",))
    return model


def test_coverage_tells_of_each_guard_how_often_it_was_asked_and_true(specs):
    lines = krafla(specs, "check", "LampShort", "--coverage").stdout.splitlines()

    press = next(line.split() for line in lines if "presses < Limit" in line)
    assert press[:5] == ["3", "2", "presses", "<", "Limit"]
    worn = next(line for line in lines if "presses > 2" in line)
    assert worn.split()[:2] == ["1", "0"]
    assert any("0 taken" in line and "Burn" in line for line in lines)


def test_what_was_never_reached_or_never_false_is_marked(specs):
    module = specs / "lamp" / "Lamp.tla"
    edit(module, "  /\\ presses < Limit\n", "  /\\ presses < Limit\n  /\\ presses >= 0\n")
    edit(module, "  /\\ presses > 2\n", "  /\\ presses > 2\n  /\\ presses < 9\n")
    finished = krafla(specs, "check", "LampShort", "--coverage")

    marked = [line for line in finished.stdout.splitlines() if "<-" in line]
    assert [line.split("<-")[0].split()[-3:] for line in marked] == [
        ["presses", ">=", "0"],
        ["presses", "<", "9"],
    ]
    assert marked[0].endswith("<- never false  Lamp:14")
    assert marked[1].endswith("<- never reached  Lamp:22")


@pytest.mark.nightly
def test_coverage_is_in_the_json_if_asked_for(specs):
    (model,) = json.loads(krafla(specs, "check", "LampLong", "--coverage", "--json").stdout)[
        "models"
    ]

    guards = [one for one in model["actions"]["Press"]["conjuncts"] if one["kind"] == "guard"]
    assert [(one["text"], one["evaluated"], one["held"]) for one in guards] == [
        ("presses < Limit", 7, 5)
    ]
    plain = json.loads(krafla(specs, "check", "LampLong", "--json").stdout)["models"][0]
    assert "conjuncts" not in plain["actions"]["Press"]
    assert plain["properties_checked"] == ["PressesInv", "OffAtFirstInv"]


@pytest.mark.nightly
def test_the_whole_of_a_tier_is_in_the_json(specs):
    document = json.loads(krafla(specs, "check", "--json").stdout)

    assert document["doubts"] == []
    assert document["specs"] == [
        {
            "spec": "Lamp",
            "actions": ["Press", "Burn"],
            "actions_lent": [],
            "actions_missed": [],
            "witnesses": ["OnReach"],
            "witnesses_missed": [],
        }
    ]


FAILURE = """\
HELD  LampOn: NeverOnInv failed, as it must
  A lamp is never on.
  NeverOnInv is false in the state after step 1
    LampProperties.tla:9
        ~is_on
      is false
      is_on = TRUE

  the one step that leads there (+ enters, - leaves, x: a -> b was a and is now b)
  0 Init
      is_on = FALSE
      presses = 0
  1 Press   <- NeverOnInv is false here   Lamp:12
      is_on: FALSE -> TRUE
      presses: 0 -> 1

    2 distinct states, 2 generated, ... s
    bounds: two presses

  go on with
"""
KEPT = """\
    krafla explain on.ndjson                      # every step, node by node; --html FILE: as a page
    krafla replay on.ndjson                       # the same steps, judged by the spec again
    krafla shrink on.ndjson                       # as few steps as show the same
    krafla check LampOn --workers 2               # the same search (--workers 1: the same steps)
"""
NOT_KEPT = """\
    krafla check LampOn --workers 2 --trace FILE   # save it, for krafla explain, shrink and replay
    krafla check LampOn --workers 2    # the same search (--workers 1: the same steps)
"""


@pytest.mark.parametrize(
    ("options", "commands"), [((), NOT_KEPT), (("--trace", "on.ndjson"), KEPT)],
    ids=["not kept", "kept"],
)  # fmt: skip
def test_a_failure_is_sentence_conjunct_steps_and_commands(specs, tmp_path, options, commands):
    text = krafla(specs, "check", "LampOn", "--workers", "2", *options, cwd=tmp_path).stdout
    # The folder of specs and the seconds are not the same on any machine.
    text = text.replace(f"KRAFLA_SPECS={specs} ", "")
    text = re.sub(r"(?m)(?<=generated, )[\d.]+(?= s$)", "...", text)
    text, expected = (re.sub(r" +#", " #", one) for one in (text, FAILURE + commands))
    assert text == expected


@pytest.mark.nightly
def test_a_selection_by_tag_is_asked_about_whole_only_if_it_is(specs):
    models = specs / "lamp" / "models.toml"
    edit(models, 'bounds = "four presses"', 'bounds = "four presses"\ntags = ["long"]')
    text = krafla(specs, "check", "--tag", "long").stdout
    assert "actions taken," not in text.splitlines()[-1]
    assert krafla(specs, "check", "--tag", "long").returncode == 0
    text = krafla(specs, "check", "--tag", "lamp").stdout
    assert "Lamp: 2 of 2 actions taken, 1 of 1 witnesses reached" in text


@pytest.mark.parametrize(
    ("first", "second", "text"),
    [
        (Progress(1, 1, 1), Progress(3, 1, 2), "42% of 7 states, depth 2, 1/s, about 4 s left"),
        (Progress(1, 9, 1), Progress(9, 1, 2), "9 states, 1 queued, depth 2, 4/s, about 0 s left "
         "if the queue keeps shrinking like this"),
        (Progress(6, 1, 1), Progress(7, 0, 2, is_temporal=True),
         "100% of 7 states, depth 2, checking temporal properties"),
        (Progress(1, 1, 1), Progress(-1, -1, -1, 2500), "2,500 states in random behaviours"),
    ],
    ids=["share", "beyond the pin", "temporal", "simulation"],
)  # fmt: skip
def test_progress_is_told_as_a_share_of_the_pinned_states(long, first, second, text):
    pace = Pace(long.distinct)
    _told(pace, long, 0.0, first)

    assert _told(pace, long, 2.0, second) == text


JOINED = r"""---- MODULE Joined ----
EXTENDS Naturals
VARIABLES a, b
Init == a = 0 /\ b = 0
Up(n) == a + n < 4 /\ a' = a + n
Down == a > 0 /\ a' = a - 1
Next == (\/ \E n \in {1, 2} : Up(n)
         \/ Down) /\ b' = b + 1
Spec == Init /\ [][Next]_<<a, b>>
FewInv == a < 3
====
"""


def test_the_steps_of_a_failure_have_the_names_that_its_trace_has(tmp_path):
    (tmp_path / "Joined.tla").write_text(JOINED)
    (tmp_path / "Joined.cfg").write_text("SPECIFICATION Spec\nINVARIANT FewInv\n")
    arguments = ("check", "Joined.tla", "--workers", "1", "--trace", "few.ndjson")
    told = [
        [line for line in one.splitlines() if line.startswith(("  1 ", "  2 "))]
        for one in (
            krafla(None, *arguments, cwd=tmp_path).stdout,
            krafla(None, "explain", "few.ndjson", cwd=tmp_path).stdout,
        )
    ]
    assert told[0] == told[1]
    assert [line.split("   ")[0] for line in told[0]] == ["  1 Up(1)", "  2 Up(2)"]
