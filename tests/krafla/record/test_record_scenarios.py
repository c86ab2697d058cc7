"""Scenarios: what is read, what is refused and where, what a seed draws."""

from __future__ import annotations

import subprocess
import sys

import pytest

from krafla.record.check import check
from krafla.record.draw import draw
from krafla.record.scenario import load, parse, shipped, with_controllers
from krafla.record.verbs import VERBS
from krafla.verdict import KraflaError

HEAD = "sentence: A test.\ncontrollers: 3\nbrokers: 3\n"
SEEDS = range(300)


def test_every_shipped_scenario_can_be_run():
    assert set(shipped()) == {
        "calm", "combined", "crash", "dynamic-quorum", "elr", "failover", "reassign", "upgrade",
    }  # fmt: skip
    for name in shipped():
        scenario = load(name)
        check(scenario)
        assert scenario.steps
        assert scenario.sentence.endswith(".")


def test_every_verb_is_shown_by_some_shipped_scenario_or_is_the_reverse_of_one():
    taken = {step.verb for name in shipped() for step in load(name).steps}

    assert set(VERBS) - taken == {"downgrade"}


def test_a_step_is_read_with_its_arguments_options_and_place():
    steps = parse(HEAD + "\ntry reassign t 0=1,2 throttle=9  # why\n", "n", "f").steps

    (step,) = steps
    assert (step.verb, step.arguments, step.may_fail) == ("reassign", ("t",), True)
    assert step.options == {"0": "1,2", "throttle": "9"}
    assert step.place == "f:5"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("controllers: 1\nbrokers: 1", r"f: a scenario begins with `sentence: `"),
        ("sentence: x\nbrokers: 1", r"f: a cluster has controllers"),
        ("sentence: x\ncontrollers: 1", r"f: a cluster has brokers"),
        ("sentence: x\ncombined: 1\nbrokers: 1", r"f: combined nodes stand alone"),
        ("sentence: x\ncontrollers: many", r"f:2: controllers is a number"),
        ("sentence: x\ncontrollers: 1\ncontrollers: 2", r"f:3: 'controllers' is said twice"),
        ("sentence: x\ncontrolers: 1", r"f:2: 'controlers' is no word"),
        ("sentence: x\nquorum: loose", r"f:2: a quorum is static or dynamic"),
        ("sentence: x\nmetadata-version: new", r"f:2: a metadata version is like"),
        ("sentence: x\ncontrollers: 9\nbrokers: 9", r"f: a cluster has at most"),
        ("sentence: x\nbrokers: 1\ncontrollers: 3 ours", r"f:3: controllers are .*not 'ours'"),
        ("sentence: x\nbrokers: 1\ncontrollers: 3 kraft:3000", r"f:3: controllers are .*not 'kr"),
        ("sentence: x\nbrokers: 1\ncontrollers: 1 mixed", r"f:3: one controller alone is"),
        (
            "sentence: x\nbrokers: 1\ncontrollers: 2 mixed:3002",
            r"f:3: no controller '3002'; .*3001",
        ),
        ("sentence: x\nbrokers: 1\ncontrollers: 2 mixed:3001,3000", r"f:3: .* say kraft"),
    ],
)
def test_a_head_that_is_wrong_is_refused_with_its_line(text, message):
    with pytest.raises(KraflaError, match=message):
        parse(text, "n", "f")


@pytest.mark.parametrize(
    ("kind", "ids"),
    [
        ("", ()),
        ("java", ()),
        ("kraft", (3000, 3001, 3002)),
        ("mixed", (3000,)),
        ("mixed:3002,3001", (3001, 3002)),
    ],
)
def test_a_scenario_says_which_controllers_are_kraft(kind, ids):
    said = parse(f"sentence: x\nbrokers: 1\ncontrollers: 3 {kind}\nkill 0", "n", "f")
    other = parse("sentence: x\nbrokers: 1\ncontrollers: 3 java\nkill 0", "n", "f")

    assert said.shape.kraft_ids == ids
    if kind:
        assert with_controllers(other, kind) == said


def test_combined_nodes_have_no_other_controllers():
    with pytest.raises(KraflaError, match="combined: combined nodes run Kafka"):
        with_controllers(load("combined"), "kraft")
    assert with_controllers(load("combined"), "java") == load("combined")


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ("destroy 1", r"f:4: no step 'destroy'"),
        ("create-topic t", r"f:4: the form is: create-topic NEW-TOPIC COUNT"),
        ("create-topic t 1 replicas=4", r"f:4: 1 to 3 replicas"),
        ("create-topic t 1\ncreate-topic t 1", r"f:5: topic 't' exists already"),
        ("delete-topic t", r"f:4: there is no topic 't' by then"),
        ("create-topic t 2\nadd-partitions t 2", r"f:5: 't' has 2 partitions already"),
        ("create-topic t 2\nreassign t 2=0", r"f:5: 't' has no partition '2'"),
        ("create-topic t 2\nreassign t 0=0,0", r"f:5: a broker is named twice"),
        ("create-topic t 2\nreassign t 0=7", r"f:5: no broker '7'"),
        ("create-topic t 2\ncancel t", r"f:5: 't' was not reassigned"),
        ("kill 1\nkill 1", r"f:5: node 1 is down by then"),
        ("start 1", r"f:4: node 1 is running by then"),
        ("resume 1", r"f:4: node 1 is not paused by then"),
        ("wipe 1", r"f:4: node 1 is running by then"),
        ("unregister 1", r"f:4: broker 1 is running by then"),
        ("kill 0\nkill 1\nkill 2\ncreate-topic t 1", r"f:7: no broker is running"),
        ("kill 3000\nkill 3001\nwait leader", r"f:6: no majority"),
        ("kill active\npause active\nkill active", r"f:6: no majority"),
        ("kill active\nkill 3000", r"f:5: whether 3000 was the active controller"),
        ("wait fenced 1", r"f:4: broker 1 will never be fenced"),
        ("wait leader 1", r"f:4: wait leader, or wait"),
        ("add-voter 3001", r"f:4: the voters of a static quorum"),
        ("alter-config planet x a=1", r"f:4: configs hang on"),
        ("kill 1 now=yes", r"f:4: kill has no option 'now'"),
        ("wait 'fenced", r"f:4: this line cannot be read"),
    ],
)
def test_a_step_that_makes_no_sense_is_refused_with_its_line(steps, message):
    with pytest.raises(KraflaError, match=message):
        check(parse(HEAD + steps, "n", "f"))


def test_what_is_down_is_up_again_after_start_all():
    text = HEAD + "kill active\nkill 0\nwait fenced 0\n{}kill 3000\nwait leader\nkill 0\n"

    with pytest.raises(KraflaError, match="f:7: whether 3000 was the active controller"):
        check(parse(text.format(""), "n", "f"))
    assert check(parse(text.format("start all\n"), "n", "f")) is None


def test_what_a_seed_draws_can_be_run_and_reads_back():
    for seed in SEEDS:
        scenario = draw(seed)
        check(scenario)
        assert parse(scenario.text, scenario.name, "f").shape == scenario.shape


def test_seeds_draw_every_kind_of_cluster_and_fault():
    drawn = [draw(seed) for seed in SEEDS]

    assert {(s.shape.dynamic, bool(s.shape.combined)) for s in drawn} == {
        (False, False), (False, True), (True, False),
    }  # fmt: skip
    verbs = {step.verb for scenario in drawn for step in scenario.steps}
    assert {"kill", "stop", "pause", "reassign", "cancel", "upgrade", "elect", "scram"} <= verbs


def test_a_seed_is_the_same_plan_under_any_hashing():
    program = "from krafla.record.draw import draw; print([draw(s).text for s in range(20)])"
    printed = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1")
    }

    assert printed == {f"{[draw(seed).text for seed in range(20)]}\n"}
