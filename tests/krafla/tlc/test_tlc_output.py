"""Reading what TLC prints: by code, whole or not at all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krafla.tlc.messages import Message, MessageReader
from krafla.tlc.outcome import (
    ActionPropertyViolated,
    ConfigError,
    Deadlock,
    EvaluationError,
    Finished,
    InvariantViolated,
    Killed,
    OutOfMemory,
    TemporalPropertyViolated,
    TooManyStates,
    Unknown,
)
from krafla.tlc.output import Count, Output, Progress
from krafla.tlc.run_end import outcome_of


def message(code, text="", kind=0):
    return f"@!@!@STARTMSG {code}:{kind} @!@!@\n{text}\n@!@!@ENDMSG {code} @!@!@\n"


HEAD = message(2262, "TLC2 Version 2.18 of 20 March 2023") + message(2187, "Running")
INIT = message(2190, "Finished computing initial states: 1 distinct state generated at noon.")
SUCCESS = message(
    2193, "Model checking completed.\n  calculated (optimistic):  val = 9.7E-11\n  val = 2.0E-9"
)
STATS = message(
    2199, "126,136 states generated, 16,293 distinct states found, 0 states left on queue."
)
TAIL = STATS + message(2194, "The depth of the complete state graph search is 19.")
END = message(2186, "Finished in 677ms at (2026-11-21 14:15:44)")
GOOD = HEAD + INIT + SUCCESS + TAIL + END


def read(text):
    output = Output()
    for line in text.splitlines(keepends=True):
        output.feed(line)
    output.close()
    return output


def failing(code, text, kind=1):
    return HEAD + INIT + message(code, text, kind) + TAIL + END


def test_a_complete_success_finishes_with_its_counts():
    output = read(GOOD)

    assert outcome_of(output, 0) == Finished(2.0e-9)
    assert (output.stats, output.depth) == ((126136, 16293, 0), 19)


@pytest.mark.parametrize(
    ("code", "text", "status", "outcome"),
    [
        (2110, "Invariant TypeOK is violated.", 12, InvariantViolated("TypeOK")),
        (2112, "Action property Up is violated.", 13, ActionPropertyViolated("Up")),
        (
            2112,
            "Action property line 6, col 17 to line 6, col 26 of module Abs is violated.",
            13,
            ActionPropertyViolated(None, "Abs:6"),
        ),
        (2114, "Deadlock reached.", 11, Deadlock()),
        (2116, "Temporal properties were violated.", 13, TemporalPropertyViolated()),
        (2184, "Attempted to apply Head.", 255, EvaluationError("Attempted to apply Head.")),
        (2222, "The constant N has no value.", 151, ConfigError("The constant N has no value.")),
        (1001, "Java ran out of memory.", 153, OutOfMemory("Java ran out of memory.")),
        (2172, "Too many next states.", 255, TooManyStates("Too many next states.")),
    ],
    ids=lambda value: str(value)[:24],
)  # fmt: skip
def test_an_error_is_known_by_its_code(code, text, status, outcome):
    assert outcome_of(read(failing(code, text)), status) == outcome


@pytest.mark.parametrize("status", [0, 1, 13, 255])
def test_an_exit_status_that_contradicts_the_messages_makes_the_outcome_unknown(status):
    output = read(failing(2110, "Invariant TypeOK is violated."))

    assert isinstance(outcome_of(output, status), Unknown)


def test_success_with_a_failing_exit_status_is_unknown():
    assert isinstance(outcome_of(read(GOOD), 12), Unknown)


def test_an_error_of_an_unheard_code_is_unknown_and_quoted():
    outcome = outcome_of(read(failing(9999, "Something new.")), 255)

    assert isinstance(outcome, Unknown)
    assert "9999" in outcome.reason
    assert "Something new." in outcome.reason


def test_a_bug_of_tlc_is_never_success():
    assert isinstance(outcome_of(read(failing(2128, "TLC bug.", kind=2)), 0), Unknown)


@pytest.mark.parametrize("missing", [SUCCESS, STATS, INIT, END])
def test_success_needs_every_part_of_the_report(missing):
    assert isinstance(outcome_of(read(GOOD.replace(missing, "")), 0), Unknown)


def test_success_with_states_left_on_the_queue_is_unknown():
    text = GOOD.replace("0 states left", "7 states left")

    assert isinstance(outcome_of(read(text), 0), Unknown)


def test_a_signal_is_told_apart_from_every_answer():
    assert outcome_of(read(GOOD), -9) == Killed(9)


@given(st.integers(0, len(GOOD) - 2))
def test_output_cut_anywhere_is_never_success(length):
    assert not isinstance(outcome_of(read(GOOD[:length]), 0), Finished)


@given(st.integers(0, 3_000), st.binary(max_size=60))
def test_garbage_anywhere_never_raises_and_never_turns_failure_into_success(at, garbage):
    text = failing(2110, "Invariant TypeOK is violated.")
    junk = garbage.decode("utf-8", errors="replace")

    outcome = outcome_of(read(text[:at] + junk + text[at:]), 12)

    assert not isinstance(outcome, Finished)


def test_colours_and_noise_between_messages_change_nothing():
    noisy = GOOD.replace("@!@!@STARTMSG 2199", "\x1b[31mnoise\x1b[0m\n\x1b[1m@!@!@STARTMSG 2199")

    assert outcome_of(read(noisy), 0) == Finished(2.0e-9)


def test_a_nested_message_belongs_to_the_one_around_it():
    reader = MessageReader()
    lines = (
        "@!@!@STARTMSG 1000:1 @!@!@\nIt was\n: @!@!@STARTMSG 5006:0 @!@!@\nline 3\n"
        "@!@!@ENDMSG 5006 @!@!@\n@!@!@ENDMSG 1000 @!@!@\n"
    ).splitlines()

    found = [item for line in lines for item in reader.feed(line)]

    assert found == [Message(1000, 1, "It was\n: ".strip(), (Message(5006, 0, "line 3"),))]


def test_an_end_without_its_beginning_damages_the_output():
    reader = MessageReader()
    reader.feed("@!@!@ENDMSG 2110 @!@!@")

    assert reader.damaged


def test_an_error_in_the_cfg_keeps_its_line():
    nested = message(5006, "error at line 3\nIt was expecting a keyword")
    outcome = outcome_of(read(failing(1000, f"unexpected\n{nested}")), 255)

    assert isinstance(outcome, ConfigError)
    assert outcome.line == 3


@pytest.mark.parametrize("article", ["a", "the"], ids=["pinned", "newer"])
def test_an_endless_set_is_an_error_of_the_spec_in_the_words_of_any_tlc(article):
    said = f"TLC encountered {article} non-enumerable quantifier bound\nSeq({{1}})"
    outcome = outcome_of(read(failing(1000, said)), 255)

    assert outcome == EvaluationError(said, None, None)


def test_progress_is_reported_as_it_comes():
    seen = []
    output = Output(on_progress=seen.append)
    text = (
        "Progress(11) at 2026-11-21 14:14:49: 42,296 states generated (42,296 s/min), "
        "8,637 distinct states found (8,637 ds/min), 2,900 states left on queue."
    )
    for line in message(2200, text).splitlines():
        output.feed(line)
    output.feed('<<"krafla progress", 9000, 2700, 12>>')

    assert seen == [Progress(8637, 2900, 11, 42296), Progress(9000, 2700, 12)]


@pytest.mark.parametrize("end", [2202, 2777], ids=["end", "end after five minutes"])
def test_only_the_last_whole_coverage_report_counts(end):
    first = message(2772, "<Up line 7, col 1 to line 7, col 2 of module Counter>: 1:2")
    second = message(2772, "<Up line 7, col 1 to line 7, col 2 of module Counter>: 5:9")
    output = read(message(2201) + first + message(end) + message(2201) + second + message(end))

    assert output.coverage_complete
    (covered,) = output.coverage
    assert (covered.distinct, covered.taken) == (5, 9)


def test_counts_of_parts_belong_to_the_action_before_them():
    label = "<{} line 7, col 1 to line 7, col 2 of module Counter>"
    part = "line 8, col 6 to line 8, col 9 of module Counter: 12"
    output = read(
        message(2201)
        + message(2773, label.format("Init") + ": 1:1")
        + message(2221, f"  {part}")
        + message(2772, label.format("Up") + ": 5:9")
        + message(2221, f"  {part}")
        + message(2775, f"  ||{part}:340")
        + message(2774, label.format("Inv"))
        + message(2221, f"  {part}")
        + message(2202)
    )

    (covered,) = output.coverage
    span = ("Counter", 8, 6, 8, 9)
    assert covered.counts == [Count(0, span, 12), Count(2, span, 12)]


def test_a_coverage_report_that_breaks_off_is_not_complete():
    output = read(message(2201) + message(2202) + message(2201))

    assert not output.coverage_complete
