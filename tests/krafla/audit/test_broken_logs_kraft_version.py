"""Brokers that register in a dynamic quorum support its level of kraft.version."""

from __future__ import annotations

import pytest
from tests.krafla.audit.breaking import OTHER, register
from tests.krafla.audit.control_records import (
    DYNAMIC,
    STATIC,
    A,
    B,
    C,
    checkpoint_of,
    continued,
    control,
    data,
    leads,
    level,
    voters,
    written,
)

from krafla.audit.run import audit

THREE = ((3000, A), (3001, B), (3002, C))
WINS = leads(3001, STATIC, STATIC[:2])
UPGRADE = control(1, level(1), voters(*THREE))
END = sum(len(records) for _, _, records in DYNAMIC)


def kinds(folder, loading):
    found = audit([folder], loading=loading).clusters[0].all_findings()
    return [(one.kind, one.offset) for one in found]


def joins(offset, most, incarnation=OTHER):
    """Return the registration of a new broker that supports kraft.version up to a level, or none.

    Its features are those of a real broker of Kafka 4.1, and so is all else.
    """
    _, version, fields = register(0)
    others = tuple(one for one in fields["features"] if one["name"] != "kraft.version")
    supported = {"name": "kraft.version", "minSupportedVersion": 0, "maxSupportedVersion": most}
    features = others if most is None else (*others, supported)
    new = {"brokerEpoch": offset, "incarnationId": incarnation, "features": features}
    return (0, version, {**fields, **new})


@pytest.mark.parametrize(("most", "held"), [(1, True), (0, False), (None, False)])
def test_a_broker_of_a_dynamic_quorum_supports_its_level(tmp_path, loading, most, held):
    written(tmp_path, [data(1, joins(END, most))], dynamic=True)
    assert kinds(tmp_path, loading) == ([] if held else [("B8", END)])


@pytest.mark.parametrize("most", [1, 0, None])
def test_a_broker_of_a_static_quorum_needs_no_level(tmp_path, loading, most):
    (start,) = written(tmp_path, [data(1)], dynamic=False)
    batches = [
        data(1, joins(start, most)),
        control(2, WINS),
        data(2, joins(start + 2, most, A)),
    ]
    (tmp_path / "again").mkdir()
    written(tmp_path / "again", batches, dynamic=False)
    assert kinds(tmp_path / "again", loading) == []


@pytest.mark.parametrize(("most", "held"), [(1, True), (0, False), (None, False)])
def test_an_upgrade_counts_from_the_next_leader_on(tmp_path, loading, most, held):
    (start,) = written(tmp_path, [data(1)], dynamic=False)
    again = leads(3000, STATIC, STATIC)
    batches = [
        UPGRADE,
        data(1, joins(start + 2, most)),
        control(2, again),
        data(2, joins(start + 4, most, A)),
    ]
    (tmp_path / "again").mkdir()
    written(tmp_path / "again", batches, dynamic=False)
    assert kinds(tmp_path / "again", loading) == ([] if held else [("B8", start + 4)])


def test_a_history_from_a_checkpoint_knows_no_level(tmp_path, loading):
    records = [(12, 0, {"name": "metadata.version", "featureLevel": 27})]
    described = checkpoint_of(level(1), voters(*THREE), records=records)
    continued(tmp_path, 50, described, [data(1, joins(50, 0))])
    assert kinds(tmp_path, loading) == []
