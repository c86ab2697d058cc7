"""Logs that break a dependency of a feature, or lose metadata by a downgrade, at every level."""

from __future__ import annotations

import pytest
from tests.krafla.audit.breaking import (
    ELECTED_AGAIN,
    Broken,
    checkpoint,
    feature,
    from_start,
    register,
    registrations,
    written,
)

from krafla.audit.image import ELR_FEATURE, METADATA_VERSION
from krafla.audit.invariants_features import dependency_objection
from krafla.audit.result import Weight
from krafla.audit.run import audit
from kraft.image.versions import is_metadata_lost

BEGIN, END, ABORT = (
    (23, 0, {"name": "Bootstrap records"}),
    (24, 0, {}),
    (25, 0, {"reason": "Controller failover"}),
)


def version(level):
    return feature(METADATA_VERSION, level)


def first(folder, loading):
    """Return kind and offset of the first violation, None if there is none."""
    found = audit([folder], loading=loading).clusters[0].all_findings()
    broken = [(f.kind, f.offset) for f in found if f.weight is Weight.VIOLATION]
    return broken[0] if broken else None


ELR = feature(ELR_FEATURE, 1)
LACKING = {
    "eligible leader replicas at 4.0-IV0": ([version(22), ELR], 2),
    "eligible leader replicas at 3.9-IV0": ([version(21), ELR], 2),
    "eligible leader replicas before the version": ([ELR, version(22)], 1),
    "groups at 3.3-IV2": ([version(6), feature("group.version", 1)], 2),
    "transactions at 3.3-IV0": ([version(4), feature("transaction.version", 1)], 2),
    "transactions, newest, at 3.3-IV2": ([version(6), feature("transaction.version", 2)], 2),
    "share groups at 3.3-IV1": ([version(5), feature("share.version", 1)], 2),
}


@pytest.mark.parametrize("what", LACKING)
def test_a_feature_without_what_it_needs_is_refused_at_its_record(tmp_path, loading, what):
    records, offset = LACKING[what]
    from_start(tmp_path, records)
    assert first(tmp_path, loading) == ("F1", offset)


def test_a_later_update_is_judged_with_the_version_in_force(tmp_path, loading):
    from_start(tmp_path, [version(22)], [feature("group.version", 1)], [ELR])
    assert first(tmp_path, loading) == ("F1", 3)


def test_an_update_in_one_batch_may_stand_in_any_order(tmp_path, loading):
    from_start(tmp_path, [version(22)], [ELR, version(23)])
    assert first(tmp_path, loading) is None


def test_bootstrap_records_are_judged_when_their_transaction_ends(tmp_path, loading):
    from_start(tmp_path / "ended", [BEGIN], [version(22)], [ELR], [END])
    assert first(tmp_path / "ended", loading) == ("F1", 3)
    from_start(tmp_path / "met", [BEGIN], [ELR], [version(27)], [END])
    assert first(tmp_path / "met", loading) is None


def test_features_of_an_aborted_transaction_are_not_judged(tmp_path, loading):
    from_start(tmp_path, [BEGIN], [version(22), ELR], ELECTED_AGAIN, [ABORT])
    assert first(tmp_path, loading) is None


def test_a_checkpoint_with_a_feature_that_lacks_what_it_needs_is_refused(tmp_path, loading):
    target = from_start(tmp_path)
    (target / "00000000000000000000.log").unlink()
    (target / f"{9:020}-{1:010}.checkpoint").write_bytes(checkpoint([version(22), ELR]))
    assert first(tmp_path, loading) == ("F1", 9)


@pytest.mark.parametrize(
    ("before", "after"),
    [(27, 22), (25, 22), (23, 22), (27, 7), (19, 16), (17, 16), (15, 14), (14, 13), (13, 12),
     (12, 10), (11, 10), (8, 7), (7, 6), (6, 5), (5, 4)],
)  # fmt: skip
def test_a_downgrade_that_loses_metadata_is_refused_at_its_record(tmp_path, loading, before, after):
    from_start(tmp_path, [version(before)], [version(after)])
    assert first(tmp_path, loading) == ("F2", 2)


@pytest.mark.parametrize(
    ("before", "after"),
    [(27, 25), (27, 23), (25, 24), (22, 17), (21, 20), (19, 17), (16, 15), (12, 11), (10, 8)],
)
def test_a_downgrade_that_loses_nothing_is_held(tmp_path, loading, before, after):
    from_start(tmp_path, [version(before)], [version(after)])
    assert first(tmp_path, loading) is None


def test_audit_and_controller_agree_which_downgrades_lose_metadata():
    from krafla.audit.invariants_features import _CHANGED

    for source in range(7, 28):
        for target in range(7, source):
            lost = any(target < level <= source for level in _CHANGED)
            assert lost is is_metadata_lost(source, target), (source, target)


@pytest.mark.parametrize(
    ("record", "kind"),
    [
        (version(0), "F2"),
        (version(-1), "F2"),
        (feature("group.version", -1), "F3"),
        (feature("kraft.version", 1), "F3"),
    ],
    ids=str,
)
def test_a_record_that_is_no_level_of_a_feature_is_refused(tmp_path, loading, record, kind):
    from_start(tmp_path, [version(27)], [record])
    assert first(tmp_path, loading) == (kind, 2)


def test_a_feature_that_is_off_needs_nothing():
    from krafla.audit.image import Image

    image = Image()
    image.features = {METADATA_VERSION: 6}
    assert dependency_objection(image, ELR_FEATURE) is None


@pytest.mark.parametrize(("least", "held"), [(0, True), (1, False)])
def test_a_broker_supports_level_0_of_a_feature_that_is_not_finalized(
    tmp_path, loading, least, held
):
    unknown = {"name": "new.version", "minSupportedVersion": least, "maxSupportedVersion": 1}
    known = registrations()[0]["features"]
    record = register(0, fenced=False, features=(*known, unknown))
    log, offset = written(tmp_path, Broken([[record]], (0, 0)))
    found = audit([log], loading=loading).clusters[0].all_findings()
    assert [(f.kind, f.offset) for f in found] == ([] if held else [("B8", offset)])
