from __future__ import annotations

from itertools import permutations
from pathlib import Path

import pytest

from kraft.sim.raft.configuration import (
    Knobs,
    RaftConfiguration,
    RaftConfigurationError,
    draw_knobs,
)
from kraft.sim.raft.faults import Fault, draw_plan, target_of
from kraft.sim.raft.kinds import ALL_PROMISES, DEFAULT_KINDS, KINDS, kinds_of
from kraft.sim.raft.links import network_rules
from kraft.sim.raft.network import Latency, Network

ALL = RaftConfiguration(kinds=tuple(KINDS))
SECOND = 10**9


def test_a_plan_without_a_kind_has_all_other_faults_unchanged():
    rates = tuple((name, SECOND) for name in sorted(KINDS))
    whole = draw_plan(7, ALL, Knobs(rates=rates))
    less = draw_plan(7, ALL, Knobs(rates=tuple(r for r in rates if r[0] != "kill")))

    assert less == tuple(fault for fault in whole if fault.kind != "kill")
    assert len(less) < len(whole)


@pytest.mark.parametrize(
    ("kind", "target", "said"),
    [
        ("kill", -1, "the leader"),
        ("kill", 5, "node 5"),
        ("partition", 0, "no node"),
        ("bridge", 4, "node 2"),
        ("one-way-partition", 43, "nodes 0, 1, 3 and 5"),
    ],
)
def test_the_target_of_a_fault_is_named_in_words(kind, target, said):
    assert target_of(Fault(0, kind, target, 0)) == said


def test_faults_happen_in_the_chaos_only_and_in_order():
    plan = draw_plan(3, ALL, Knobs(rates=(("kill", SECOND), ("loss", SECOND))))

    assert list(plan) == sorted(plan)
    assert all(ALL.calm <= fault.time < ALL.calm + ALL.chaos for fault in plan)
    assert {fault.kind for fault in plan} == {"kill", "loss"}


def test_seeds_switch_kinds_on_and_off():
    drawn = [frozenset(name for name, _ in draw_knobs(seed, ALL).rates) for seed in range(200)]

    assert frozenset() in drawn
    assert frozenset(KINDS) in drawn
    for name in KINDS:
        assert 40 < sum(name in kinds for kinds in drawn) < 160


def test_many_kinds_make_each_rarer():
    a_second = [sum(SECOND / gap for _, gap in draw_knobs(n, ALL).rates) for n in range(100)]

    assert 4.9 < max(a_second) < 5.1, "one fault each 200 ms, if a seed likes them most"


def test_lists_of_kinds_are_names_groups_and_profiles():
    assert kinds_of("default") == DEFAULT_KINDS
    assert kinds_of("all") == tuple(KINDS)
    assert kinds_of("kill, loss") == ("loss", "kill")
    assert set(kinds_of("voters")) == {
        "add-voter",
        "new-port",
        "newcomer-isolation",
        "remove-voter",
    }
    assert kinds_of("") == ()
    with pytest.raises(ValueError, match="no fault is called 'earthquake'; there are loss, "):
        kinds_of("loss,earthquake")


OF_CLUSTERS = {"broker-shutdown", "gray-link", "lost-directory", "quick-restart"}
"""Kinds that keep all promises and are off: without brokers they do nothing, or came later."""


def test_only_kinds_that_keep_all_promises_are_defaults():
    kinds = {name: kind for name, kind in KINDS.items() if name not in OF_CLUSTERS}
    assert not any(KINDS[name].is_default for name in OF_CLUSTERS)
    assert {name for name, kind in kinds.items() if not kind.is_default} == {
        "bit-rot",
        "misdirected-write",
        "old-image",
        "cloned-disk",
    }
    assert all((kind.promised == ALL_PROMISES) == kind.is_default for kind in kinds.values())


def test_a_gray_link_loses_most_messages_of_one_direction_and_no_other():
    ways = set()
    for chance in range(40):
        (rule,) = network_rules(Fault(0, "gray-link", 2, chance, SECOND), 4, None)
        ways.add(rule.link.index(2))
        network = Network(5, Latency())
        network.add((0, 0), rule)
        lost = {
            link: sum(network.fate(0, *link).arrival is None for _ in range(200))
            for link in permutations(range(4), 2)
        }
        assert lost.pop(rule.link) > 60
        assert not any(lost.values())
    assert ways == {0, 1}


def test_a_gray_link_of_the_leader_needs_a_leader_and_another_machine():
    assert network_rules(Fault(0, "gray-link", -1, 1, SECOND), 4, None) == ()
    assert network_rules(Fault(0, "gray-link", 0, 1, SECOND), 1, None) == ()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("voters", 0),
        ("voters", 33),
        ("observers", -1),
        ("kraft_version", 2),
        ("calm", -1),
        ("chaos", -1),
        ("kinds", ("kill", "earthquake")),
    ],
)
def test_an_impossible_configuration_is_refused_by_its_field(field, value):
    with pytest.raises(RaftConfigurationError, match=f"^{field}: "):
        RaftConfiguration(**{field: value})


def test_the_page_on_the_simulator_has_every_kind_with_its_remaining_promises():
    page = (Path(__file__).parents[4] / "docs/internals/raft-simulator.md").read_text()
    before, after = page.split("Under these, less:")
    above = ""
    for kind in KINDS.values():
        off = "" if kind.is_default else " (off)"
        row = f"| `{kind.name}`{off} | {kind.sentence[:-1]} |"
        if kind.promised == ALL_PROMISES:
            assert f"{row}\n" in before
        else:
            promised = "the same" if kind.promised == above else kind.promised
            assert f"{row} {promised} |\n" in after
            above = kind.promised
