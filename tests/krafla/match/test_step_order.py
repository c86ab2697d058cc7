"""The order of several processes' steps: found where clocks leave it open, and only there."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.krafla.cli.lock_spec import ACQUIRE, ENQUEUE, INIT, LOCK, RELEASE, krafla, write_log

from krafla.match import match, step_order
from krafla.match.step_order import find_order
from krafla.oracle import Spec
from krafla.traces import Observation, PartialTrace
from krafla.values import ModelValue

THIRD = {"action": "Enqueue", "parameters": ["c3"]}
STOLEN = {"action": "Release", "parameters": ["c3"], "seen": {"holder": "Free"}}


@pytest.fixture(scope="module")
def spec():
    return Spec.load(LOCK)


def merged(tmp_path, *logs, options=()):
    files = [write_log(tmp_path / f"p{number}.log", *lines) for number, lines in enumerate(logs)]
    return krafla("validate", "--merge", *files, "--spec", LOCK, *options)


def at(time, *lines):
    return [{**line, "time_ms": time} for line in lines]


@pytest.mark.parametrize(
    ("logs", "status"),
    [
        (([INIT, ACQUIRE, RELEASE], [ENQUEUE]), 0),
        (([ENQUEUE], [INIT, ACQUIRE, RELEASE]), 0),
        (([INIT, RELEASE, ACQUIRE], [ENQUEUE]), 1),
        (([INIT, ACQUIRE, RELEASE], [STOLEN]), 1),
        (([INIT, *at(1, ACQUIRE, RELEASE)], at(1, ENQUEUE)), 0),
        (([INIT, *at(1, ACQUIRE), *at(2, RELEASE)], at(2, ENQUEUE)), 0),
        (([INIT, *at(1, ACQUIRE), *at(2, RELEASE)], at(3, ENQUEUE)), 1),
        (([INIT, *at(2, ACQUIRE), *at(3, RELEASE)], at(1, ENQUEUE)), 1),
        (([INIT, *at(1, ACQUIRE), *at(2, RELEASE), *at(3, THIRD)], at(3, ENQUEUE)), 1),
    ],
)
def test_steps_change_places_only_where_the_clocks_leave_that_open(tmp_path, logs, status):
    assert merged(tmp_path, *logs).exit_code == status


@pytest.mark.parametrize(("formula", "status"), [("Len(queue) < 2", 0), ("queue = <<>>", 1)])
def test_the_order_keeps_the_invariants_if_one_does(tmp_path, formula, status):
    config, module = tmp_path / "strict.cfg", tmp_path / "Lock.tla"
    config.write_text(LOCK.with_suffix(".cfg").read_text() + "INVARIANT MoreInv\n")
    module.write_text(LOCK.read_text().replace("Spec ==", f"MoreInv == {formula}\nSpec =="))
    logs = [
        write_log(tmp_path / "a.log", INIT, ACQUIRE, ENQUEUE),
        write_log(tmp_path / "b.log", THIRD),
        write_log(tmp_path / "c.log", {"action": "Release", "parameters": ["c1"]}),
    ]
    result = krafla("validate", "--merge", *logs, "--spec", module, "--cfg", config)

    assert result.exit_code == status


# From 0 the order is First, Second; from 5, which the invariant forbids, it is the other one.
TWO_WAYS = """---- MODULE Ways ----
EXTENDS Naturals
VARIABLE x
Init == x \\in {0, 5}
First == x \\in {0, 6} /\\ x' = x + 1
Second == x \\in {1, 5} /\\ x' = x + 1
Next == First \\/ Second
Spec == Init /\\ [][Next]_x
FewInv == x # 5
====
"""


@pytest.mark.parametrize("names", [("First", "Second"), ("Second", "First")])
def test_the_order_begins_where_the_invariants_hold(tmp_path, names):
    module = tmp_path / "Ways.tla"
    module.write_text(TWO_WAYS)
    module.with_suffix(".cfg").write_text("SPECIFICATION Spec\nINVARIANT FewInv\n")
    logs = [write_log(tmp_path / f"{name}.log", {"action": name}) for name in names]
    result = krafla("validate", "--merge", *logs, "--spec", module)

    assert result.exit_code == 0, result.output


def test_hidden_steps_may_lie_between_them(tmp_path):
    logs = ([INIT, RELEASE], [ENQUEUE])

    assert merged(tmp_path, *logs).exit_code == 1
    assert merged(tmp_path, *logs, options=["--hidden", "Acquire"]).exit_code == 0
    limited = ["--hidden", "Acquire", "--max-hidden", "0"]
    assert merged(tmp_path, *logs, options=limited).exit_code == 1


def test_a_search_that_was_cut_off_is_no_violation(tmp_path, monkeypatch):
    monkeypatch.setattr(step_order, "STATES_MOST", 1)
    result = merged(tmp_path, [INIT, ACQUIRE, RELEASE], [ENQUEUE])

    assert result.exit_code == 3
    assert "only some were tried" in result.output


def test_the_order_that_goes_furthest_is_shown(tmp_path):
    result = merged(tmp_path, [INIT, ACQUIRE, RELEASE], [ENQUEUE, STOLEN, STOLEN])

    assert result.exit_code == 1
    assert "observation 5 of 6, Release(c3)" in result.output
    assert "p1.log:2" in " ".join(result.output.split())


CALLS = st.lists(st.tuples(st.integers(1, 3), st.booleans()), min_size=1, max_size=14)


def run_of(calls):
    """Return the steps of a lock server: the client, and the observation."""
    holder, queue, found = None, [], []
    for client, is_release in calls:
        if is_release and holder == client:
            holder = queue.pop(0) if queue else None
            action = "Release"
        elif not is_release and holder is None:
            holder, action = client, "Acquire"
        elif not is_release and client not in (holder, *queue):
            queue.append(client)
            action = "Enqueue"
        else:
            continue
        found.append((client, Observation(action, (ModelValue(f"c{client}"),))))
    return found


@given(CALLS, st.booleans())
@settings(max_examples=30)
def test_some_order_of_the_clients_of_a_lock_is_found(spec, calls, is_first_init):
    steps = run_of(calls)
    # Each client has its own log.
    apart = sorted(steps, key=lambda step: step[0])
    begun = [Observation("Init")] if is_first_init else []
    trace = PartialTrace("Lock", (*begun, *(one for _, one in apart)))
    moments = [(-1, -1)] * len(begun) + [(client, 0) for client, _ in apart]
    if not trace.observations:
        return
    found = find_order(spec, trace, moments)

    assert sorted(found.numbers) == list(range(len(trace)))
    assert not found.was_cut
    ordered = replace(trace, observations=tuple(trace.observations[n] for n in found.numbers))
    assert match(spec, ordered).accepted == len(trace)
    for client in {1, 2, 3}:
        own = [n for n in found.numbers if moments[n][0] == client]
        assert own == sorted(own)
