"""Plain logs: what is read, what is refused with its line, and the order of merged ones."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.krafla.cli.lock_spec import ACQUIRE, ENQUEUE, INIT, RELEASE, RUN, write_log

from krafla.traces import TraceFormatError, TruncatedTraceError
from krafla.traces.limits import MAX_LINE
from krafla.traces.log_merge import merged
from krafla.traces.plain_log import PlainLog, is_plain_log, read_log
from krafla.values import Function


def read(tmp_path, *lines, end="\n"):
    return read_log(write_log(tmp_path / "run.log", *lines, end=end))


def actions(log):
    return [one.action for one in log.observations]


def test_each_line_is_an_observation_with_its_place(tmp_path):
    log = read(tmp_path, *RUN)

    assert actions(log) == ["Init", "Acquire", "Enqueue", "Release"]
    assert [one.place.rpartition(":")[2] for one in log.observations] == ["1", "2", "3", "4"]
    assert log.observations[3].parameters == ("c1",)
    assert log.observations[3].seen == ((("holder",), "c2"), (("queue",), ()))
    assert log.cut is None


@pytest.mark.parametrize("end", ["", "\n", "\r\n", "\n\n"])
def test_line_ends_of_any_program_are_read(tmp_path, end):
    log = read(tmp_path, json.dumps(ACQUIRE) + "\r", ENQUEUE, end=end)

    assert actions(log) == ["Acquire", "Enqueue"]
    assert log.cut is None


def test_what_was_not_seen_may_be_left_out(tmp_path):
    log = read(tmp_path, {"seen": {"holder": "c1"}}, {"action": "Tick"}, {"parameters": [None, 1]})

    assert actions(log) == [None, "Tick", None]
    assert [one.parameters for one in log.observations] == [None, None, (None, 1)]


def test_a_part_of_a_variable_is_seen_by_its_path(tmp_path):
    log = read(tmp_path, {"seen": [[["queue", 1], "c2"]]}, {"seen": {"votes": {"a": [1]}}})

    assert log.observations[0].seen == ((("queue", 1), "c2"),)
    assert log.observations[1].seen == ((("votes",), Function({"a": (1,)})),)


def test_a_line_may_be_of_a_stay_or_of_a_refusal(tmp_path):
    refused = {"kind": "refusal", "action": "Acquire", "parameters": ["c2"]}
    log = read(tmp_path, ACQUIRE, {"kind": "stay", "seen": {"holder": "c1"}}, refused)

    assert [one.kind for one in log.observations] == ["step", "stay", "refusal"]
    assert actions(log) == ["Acquire", None, "Acquire"]


def test_what_is_seen_with_a_refusal_is_of_a_stay_after_it(tmp_path):
    line = {"kind": "refusal", "action": "Acquire", "seen": {"holder": "c1"}}
    log = read(tmp_path, at(line, time_ms=7, lamport=1), ENQUEUE)

    refusal, stay, _ = log.observations
    assert (refusal.kind, refusal.action, refusal.seen) == ("refusal", "Acquire", ())
    assert (stay.kind, stay.action, stay.seen) == ("stay", None, ((("holder",), "c1"),))
    assert (refusal.place, refusal.time_ms) == (stay.place, stay.time_ms)
    assert [one.lamport for one in log.entries] == [1, 1, None]


def test_a_last_line_that_was_cut_short_is_left_out_and_told(tmp_path):
    log = read(tmp_path, ACQUIRE, '{"action": "Rel', end="")

    assert actions(log) == ["Acquire"]
    assert log.cut == f"{tmp_path / 'run.log'}:2"


def test_only_the_last_line_can_have_been_cut_short(tmp_path):
    with pytest.raises(TraceFormatError, match=r"run\.log:2: not JSON"):
        read(tmp_path, ACQUIRE, '{"action": "Rel', '{"action": "Rel', end="")


def test_a_log_that_ends_in_its_first_line_is_cut_short(tmp_path):
    with pytest.raises(TruncatedTraceError, match=r"run\.log:1: ends within its first line"):
        read(tmp_path, '{"action": "Rel', end="")


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("not JSON", "not JSON"),
        ('{"action": "Rel', "not JSON"),
        ("[1]", "expected an object, found list"),
        ({"acton": "Acquire"}, "no field 'acton' of a log; did you mean action"),
        ({"action": "rm -rf"}, "action: a name has letters"),
        ({"action": 7}, "action: Expected"),
        ({"parameters": "c1"}, "parameters: Expected"),
        ({"seen": {"holder": None}}, "'holder': null stands for no TLA\\+ value: leave out"),
        ({"seen": {"holder": {}}}, "'holder': an object without fields"),
        ({"seen": {"holder": 2**31}}, "'holder': 2147483648 is outside the 32 bits"),
        ('{"seen": {"holder": 1.5}}', "1.5 is no whole number"),
        ('{"seen": {"holder": 1, "holder": 2}}', "gives the key 'holder' twice"),
        ({"seen": [[[1], 2]]}, "begins with the name of a variable"),
        ({"seen": [[[], 2]]}, "seen"),
        ({"time_ms": -1}, "time_ms: Expected"),
        (INIT, "Init is the first line of a log or none"),
        ({"kind": "refuse", "action": "Acquire"}, "kind: Invalid enum value 'refuse'"),
        ({"kind": "stay", "action": "Acquire"}, "a stay has no action and no parameters: of an"),
        ({"kind": "stay", "parameters": []}, "a stay has no action and no parameters: of an"),
        ({"kind": "refusal", "seen": {}}, "a refusal names the action that was refused"),
        pytest.param("x" * (MAX_LINE + 1), "a line of 4,194,305 characters", id="too long"),
    ],
)
def test_a_wrong_line_is_refused_with_its_number(tmp_path, line, wrong):
    with pytest.raises(TraceFormatError, match=rf"run\.log:2: .*{wrong}"):
        read(tmp_path, ACQUIRE, line, ENQUEUE)


def test_a_log_without_a_line_is_refused(tmp_path):
    with pytest.raises(TraceFormatError, match="a log without a line"):
        read(tmp_path, "")


def test_a_plain_log_is_known_by_its_first_field():
    assert is_plain_log(json.dumps(ACQUIRE))
    assert is_plain_log(json.dumps({"lamport": 1}))
    assert is_plain_log(json.dumps({"kind": "stay"}))
    assert not is_plain_log('{"krafla_trace": 3, "spec": "Lock"}')
    assert not is_plain_log('{"vars": [], "states": []}')


def logs_of(tmp_path, *several):
    return [
        read_log(write_log(tmp_path / f"p{number}.log", *lines))
        for number, lines in enumerate(several)
    ]


def at(line, **clock):
    return {**line, **clock}


def test_logs_are_merged_by_the_clock_that_all_lines_have(tmp_path):
    first = [at(ACQUIRE, time_ms=5, lamport=1), at(RELEASE, time_ms=6, lamport=3)]
    second = [at(ENQUEUE, time_ms=1, lamport=2)]

    assert actions(merged(logs_of(tmp_path, first, second))) == ["Acquire", "Enqueue", "Release"]
    second[0].pop("lamport")
    assert actions(merged(logs_of(tmp_path, first, second))) == ["Enqueue", "Acquire", "Release"]


@given(st.lists(st.lists(st.integers(0, 9), min_size=1), min_size=1, max_size=4))
def test_merged_logs_keep_the_order_of_each_and_of_the_clock(tmp_path_factory, times):
    folder = tmp_path_factory.mktemp("logs")
    lines = [[{"action": f"P{n}", "time_ms": one} for one in sorted(log)]
             for n, log in enumerate(times)]  # fmt: skip
    found = merged(logs_of(folder, *lines)).observations

    assert all(one.time_ms <= other.time_ms for one, other in pairwise(found))
    for number, log in enumerate(times):
        own = [one for one in found if one.action == f"P{number}"]
        assert [one.time_ms for one in own] == sorted(log)
        assert [one.place.rpartition(":")[2] for one in own] == [
            str(n + 1) for n in range(len(log))
        ]


def test_each_process_tells_a_part_of_the_initial_state(tmp_path):
    holder, queue = (
        {"action": "Init", "seen": {"holder": "Free"}},
        {"action": "Init", "seen": {"queue": []}},
    )
    log = merged(logs_of(tmp_path, [holder, at(ACQUIRE, time_ms=1)], [queue]))

    assert actions(log) == ["Init", "Acquire"]
    assert log.observations[0].seen == ((("holder",), "Free"), (("queue",), ()))


@pytest.mark.parametrize(
    ("lines", "wrong"),
    [
        ([ENQUEUE], r"p1\.log:1: has no time_ms, and not all lines have lamport"),
        ([at(ENQUEUE, time_ms=3), at(RELEASE, time_ms=2)], r"p1\.log:2: time_ms goes back from 3"),
    ],
)
def test_a_line_whose_place_is_not_known_is_refused(tmp_path, lines, wrong):
    with pytest.raises(TraceFormatError, match=wrong):
        merged(logs_of(tmp_path, [at(ACQUIRE, time_ms=1)], lines))


def test_nothing_is_taken_behind_the_end_of_a_log_that_was_cut_short(tmp_path):
    first = write_log(
        tmp_path / "a.log", at(ACQUIRE, time_ms=1), at(RELEASE, time_ms=5), '{"ac', end=""
    )
    second = write_log(tmp_path / "b.log", at(ENQUEUE, time_ms=3), at(ACQUIRE, time_ms=9))
    log = merged([read_log(first), read_log(second)])

    assert actions(log) == ["Acquire", "Enqueue", "Release"]
    assert log.cut == f"{first}:3"
    assert isinstance(log, PlainLog)


def test_of_two_logs_that_were_cut_short_the_first_end_counts(tmp_path):
    first = write_log(
        tmp_path / "a.log", at(ACQUIRE, time_ms=1), at(RELEASE, time_ms=5), "{", end=""
    )
    second = write_log(tmp_path / "b.log", at(ENQUEUE, time_ms=3), "{", end="")
    log = merged([read_log(first), read_log(second)])

    assert actions(log) == ["Acquire", "Enqueue"]
    assert log.cut == f"{second}:2"


def test_nothing_is_taken_that_may_come_behind_the_end_of_a_log(tmp_path):
    first = write_log(
        tmp_path / "a.log", at(ACQUIRE, time_ms=1), at(RELEASE, time_ms=3), "{", end=""
    )
    second = write_log(tmp_path / "b.log", at(ENQUEUE, time_ms=3))

    assert actions(merged([read_log(first), read_log(second)])) == ["Acquire"]


def test_a_log_that_was_cut_short_says_nothing_of_others_without_clocks(tmp_path):
    first = write_log(tmp_path / "a.log", ACQUIRE, "{", end="")
    second = write_log(tmp_path / "b.log", ENQUEUE)

    with pytest.raises(TraceFormatError, match=r"a\.log:2: was cut short, and without lamport"):
        merged([read_log(first), read_log(second)])


def test_nothing_is_taken_if_a_log_that_was_cut_short_has_only_its_beginning(tmp_path):
    first = write_log(tmp_path / "a.log", INIT, '{"ac', end="")
    second = write_log(tmp_path / "b.log", at(ENQUEUE, time_ms=0))

    assert actions(merged([read_log(first), read_log(second)])) == ["Init"]
