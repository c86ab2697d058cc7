"""Texts that TLC printed: read with -tool and without, and written."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from tests.krafla.traces.trace_strategies import traces

from krafla.tlc.printout import dumps_printed, loads_printed
from krafla.traces import (
    Claim,
    ClaimKind,
    Step,
    Trace,
    TraceFormatError,
    TruncatedTraceError,
)
from krafla.values import ModelValue, function, record

PLAIN = """TLC2 Version 2.19 of 08 August 2024
Parsing file /etc/passwd.tla
Error: Invariant Small is violated.
Error: The behavior up to this point is:
State 1: <Initial predicate>
/\\ log = <<>>
/\\ x = 0

State 2: <Up(r1, <<1, 2>>) line 6, col 7 to line 6, col 66 of module passwd>
/\\ log = << [ type |-> "a",
      by |-> r1 ] >>
/\\ x = 1

3 states generated, 3 distinct states found, 0 states left on queue.
"""
STEPS = (
    Step("Init", (), record(x=0, log=())),
    Step(
        "Up",
        (ModelValue("r1"), (1, 2)),
        record(x=1, log=(record(type="a", by=ModelValue("r1")),)),
        "passwd:6",
    ),
)


def message(code, kind, text):
    return f"@!@!@STARTMSG {code}:{kind} @!@!@\n{text}\n@!@!@ENDMSG {code} @!@!@\n"


def test_a_text_for_people_is_read_with_its_claim():
    trace = loads_printed(PLAIN, "tlc.out", spec="S", constants=(("N", 1),))

    claim = Claim(ClaimKind.INVARIANT, "Small")
    assert trace == Trace("S", STEPS, (("N", 1),), claim)
    assert loads_printed(PLAIN.replace("\n", "\r\n"), "tlc.out", spec="S").steps == STEPS


def test_a_text_of_tool_mode_is_read():
    parts = PLAIN.split("State ")
    states = [message(2217, 4, part.strip().split("\n\n")[0]) for part in parts[1:]]
    text = message(2110, 1, "Invariant Small is violated.") + "".join(states)

    assert loads_printed(text, "tlc.out", spec="S").steps == STEPS
    assert loads_printed(text, "tlc.out", spec="S").claim == Claim(ClaimKind.INVARIANT, "Small")


@pytest.mark.parametrize(
    ("line", "lasso", "back"),
    [
        ("Back to state 1: <Down line 7, col 9 to line 7, col 57 of module S>", 0, "Down"),
        ("Back to state 2", 1, "Next"),
        ("State 3: Stuttering", 1, ""),
    ],
)
def test_the_end_of_a_behaviour_is_read(line, lasso, back):
    text = PLAIN.replace("\n3 states", f"\n{line}\n\n3 states")
    trace = loads_printed(text, "tlc.out", spec="S")

    assert (trace.lasso, trace.back) == (lasso, back)


@pytest.mark.parametrize(
    ("sentence", "kind", "name"),
    [
        ("Action property Up is violated.", ClaimKind.ACTION_PROPERTY, "Up"),
        ("Temporal property Live was violated.", ClaimKind.TEMPORAL_PROPERTY, "Live"),
        ("Temporal properties were violated.", ClaimKind.TEMPORAL_PROPERTY, None),
        ("Deadlock reached.", ClaimKind.DEADLOCK, None),
    ],
)
def test_each_kind_of_claim_is_read(sentence, kind, name):
    text = PLAIN.replace("Invariant Small is violated.", sentence)

    assert loads_printed(text, "tlc.out", spec="S").claim == Claim(kind, name)


def test_a_violated_initial_state_and_the_first_of_several_behaviours_are_read():
    initial = "Error: Invariant Small is violated by the initial state:\n/\\ x = 1\n\n"
    first = Step("Init", (), record(x=1))

    assert loads_printed(initial, "tlc.out", spec="S").steps == (first,)
    assert loads_printed(PLAIN + PLAIN, "tlc.out", spec="S").steps == STEPS


MIDDLE = """/\\ x = 33

State 35: <Up(r1) line 6, col 7 to line 6, col 66 of module S>
/\\ x = 34

State 36: <Down line 7, col 9 to line 7, col 57 of module S>
/\\ x = 33

"""


@pytest.mark.parametrize(
    ("end", "lasso", "back"),
    [
        ("", None, ""),
        ("Back to state 35: <Up line 6, col 7 to line 6, col 66 of module S>\n", 0, "Up"),
        ("Back to state 34: <Up line 6, col 7 to line 6, col 66 of module S>\n", None, ""),
        ("State 37: Stuttering\n", 1, ""),
    ],
)
def test_a_text_pasted_from_the_middle_gives_that_part(end, lasso, back):
    trace = loads_printed(MIDDLE + end, "tlc.out", spec="S")
    assert trace.steps == (
        Step("Up", (ModelValue("r1"),), record(x=34), "S:6"),
        Step("Down", None, record(x=33), "S:7"),
    )
    assert (trace.lasso, trace.back) == (lasso, back)
    assert loads_printed(dumps_printed(trace), "tlc.out", spec="S") == trace


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "no behaviour"),
        ("Model checking completed. No error has been found.\n", "no behaviour"),
        (PLAIN.replace("State 2", "State 3"), "missing before state 3"),
        (PLAIN.replace("State 1", "State 2"), "missing before state 2"),
        (PLAIN.replace("State 1", "State 9").replace("State 2", "State 11"), "before state 11"),
        (PLAIN.replace("/\\ x = 1", "/\\ y = 1"), "state 2: has other variables"),
        (PLAIN.replace("/\\ x = 1", "/\\ x = 1 +"), "state 2"),
        (PLAIN.replace("/\\ x = 1\n", "/\\ x = <<"), "state 2"),
        ("State 1: <Initial predicate>\n\n", "state 1"),
    ],
)
def test_a_text_without_a_whole_behaviour_is_refused(text, problem):
    with pytest.raises(TraceFormatError, match=problem) as refused:
        loads_printed(text, "tlc.out", spec="S")
    assert refused.value.place.startswith("tlc.out")


@pytest.mark.parametrize(
    "end", ["by |-> r", "/\\ log = << [ type", "<Up(r1, <<1, 2>>) line 6, col"]
)
def test_a_text_that_was_cut_short_gives_what_is_whole(end):
    cut = PLAIN[: PLAIN.rindex(end) + len(end)]
    with pytest.raises(TruncatedTraceError, match="cut short: 1 states are whole") as found:
        loads_printed(cut, "tlc.out", spec="S")
    assert found.value.place == "tlc.out: state 2"
    assert found.value.trace.steps == STEPS[:1]
    with pytest.raises(TruncatedTraceError, match="cut short: no state is whole") as found:
        loads_printed(PLAIN[: PLAIN.index("<<>>") + 1], "tlc.out", spec="S")
    assert found.value.trace is None


def test_a_last_state_that_is_wrong_in_a_whole_text_is_not_cut_short():
    wrong = PLAIN.replace("x = 1", "x = ?")
    with pytest.raises(TraceFormatError, match="cannot read what TLC printed") as found:
        loads_printed(wrong, "tlc.out", spec="S")
    assert not isinstance(found.value, TruncatedTraceError)


@given(traces())
def test_what_is_printed_is_read_back_but_for_what_has_no_place_in_it(trace):
    again = loads_printed(dumps_printed(trace), "any", spec=trace.spec)

    assert [step.state for step in again.steps] == [step.state for step in trace.steps]
    assert again.lasso == trace.lasso
    for step, printed in zip(trace.steps[1:], again.steps[1:], strict=True):
        assert printed.action == step.action
        # Without arguments TLC prints no brackets, whether it knows that there are none or not.
        assert printed.parameters == (step.parameters or None)


@pytest.mark.parametrize(
    ("claim", "read"),
    [
        (Claim(ClaimKind.INVARIANT, "Small"), True),
        (Claim(ClaimKind.ACTION_PROPERTY, "Up"), True),
        (Claim(ClaimKind.TEMPORAL_PROPERTY, "Live"), True),
        (Claim(ClaimKind.DEADLOCK), True),
        (Claim(ClaimKind.BEHAVIOUR), False),
        (Claim(ClaimKind.INVARIANT), False),
        (None, False),
    ],
)
def test_the_claims_that_tlc_makes_are_printed(claim, read):
    text = dumps_printed(Trace("S", STEPS, claim=claim))

    assert loads_printed(text, "any", spec="S").claim == (claim if read else None)


def test_a_trace_of_functions_and_strings_is_printed_as_tlc_does():
    state = record(f=function({ModelValue("p1"): 1}), s=frozenset({"a\n"}))
    text = dumps_printed(Trace("S", (Step("Init", (), state),)))

    assert 'State 1: <Initial predicate>\n/\\ f = (p1 :> 1)\n/\\ s = {"a\\n"}\n' in text


@pytest.mark.parametrize("location", ["::", "\n:", "any words", "M:x", ":7"])
def test_a_location_that_tlc_has_no_form_for_is_not_printed(location):
    step = replace(STEPS[1], location=location)

    text = dumps_printed(Trace("S", (STEPS[0], step)))

    assert "line 0, col 0 to line 0, col 0 of module S>" in text
    assert loads_printed(text, "any", spec="S").steps[1].action == step.action
