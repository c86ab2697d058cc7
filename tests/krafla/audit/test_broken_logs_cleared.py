"""Eligible leader replicas are cleared with a new min.insync.replicas, and enabled with one."""

from __future__ import annotations

import pytest
from tests.krafla.audit.breaking import Broken, feature, from_start, partition, topic, written
from tests.krafla.audit.old_logs import ELR, OldLog
from tests.krafla.audit.test_broken_logs_elr import every, minimum, node

from krafla.audit.run import audit

MADE = [topic("old"), partition()]
OFF = feature(ELR[2]["name"], 0)


def kinds(folder, loading):
    found = audit([folder], loading=loading).clusters[0].all_findings()
    return [(one.kind, one.offset) for one in found]


def cleared(name=""):
    return (28, 0, {"topicName": name})


def of_topic(value, name="old"):
    return minimum(2, name, value)


@pytest.mark.parametrize(
    ("batches", "refused"),
    [
        ([MADE, [of_topic("2"), cleared("old")]], None),
        ([MADE, [of_topic("2"), every("1"), cleared("old"), cleared()]], None),
        ([[every("2"), cleared()], [every("1"), cleared()]], None),
        ([[MADE[0], of_topic("2"), cleared("old"), MADE[1]]], None),
        ([[node(None, 0), cleared()]], None),
        ([MADE, [of_topic("2")]], ("W4", 0)),
        ([[every("2")]], ("W4", 0)),
        ([MADE, [of_topic("2"), cleared()]], ("W4", 1)),
        ([MADE, [cleared("old")]], ("W4", 0)),
        ([MADE, [cleared("old"), of_topic("2")]], ("W4", 0)),
        ([[cleared(), every("2")]], ("W4", 0)),
        ([MADE, [of_topic("2"), every("1"), cleared(), cleared("old")]], None),
        ([MADE, [of_topic("2"), cleared("old"), of_topic("1"), cleared("old")]], None),
        ([MADE, [of_topic("2"), cleared("new")]], ("T5", 1)),
        ([[OFF], [every("2")]], None),
        ([[OFF], [cleared()]], ("W4", 0)),
        ([MADE, [of_topic("2"), cleared("old"), OFF]], None),
        ([MADE, [OFF, of_topic("2")]], None),
        ([[OFF], [every("2")], [ELR]], None),
        ([[OFF], [ELR, every("2")]], None),
        ([[OFF], [every(None)], [ELR]], ("W3", 0)),
        ([[OFF], [every("2"), node("1")], [ELR]], ("W3", 0)),
        ([[OFF], [every("2"), node("1")], [ELR, node(None)]], None),
    ],
)  # fmt: skip
def test_at_4_1_a_new_minimum_and_no_other_record_clears(tmp_path, loading, batches, refused):
    kind, place = refused or ("", 0)
    log, offset = written(tmp_path, Broken(batches, (len(batches) - 1, place)))
    assert kinds(log, loading) == ([] if refused is None else [(kind, offset)])


@pytest.mark.parametrize(
    ("set_before", "said"),
    [
        ([every(None)], "without the cluster-wide default min.insync.replicas"),
        ([every("2"), node("1")], "while node 3000 has its own min.insync.replicas"),
    ],
)
def test_enabling_says_which_minimum_is_wrong(tmp_path, loading, set_before, said):
    log, _ = written(tmp_path, Broken([[OFF], set_before, [ELR]], (2, 0)))
    (found,) = audit([log], loading=loading).clusters[0].all_findings()
    assert found.detail == f"eligible leader replicas are enabled {said}"


@pytest.mark.parametrize(("level", "held"), [(25, True), (26, False)])
@pytest.mark.parametrize("records", [[every("2")], [cleared()]], ids=["minimum", "clear"])
def test_before_4_1_neither_needs_the_other(tmp_path, loading, level, held, records):
    log = OldLog(level, 27, (ELR,))
    offset = log.add(*records)
    log.write(tmp_path)
    assert kinds(tmp_path, loading) == ([] if held else [("W4", offset)])


BEGIN, END = (23, 0, {"name": "Bootstrap records"}), (24, 0, {})


@pytest.mark.parametrize(
    ("level", "more", "held"),
    [(27, [every("1")], True), (27, [], False), (26, [], False), (25, [], True)],
)
@pytest.mark.parametrize("in_transaction", [True, False])
def test_bootstrap_records_that_enable_the_feature_set_a_minimum(
    tmp_path, loading, level, more, held, in_transaction
):
    records = [feature("metadata.version", level), ELR, *more]
    from_start(tmp_path, [BEGIN, *records, END] if in_transaction else records)
    found = [one for one in kinds(tmp_path, loading) if one[0] == "W3"]
    assert found[:1] == ([] if held else [("W3", 2 + in_transaction)])
