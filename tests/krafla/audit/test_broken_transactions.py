"""Transactions of a log, and records that a controller never writes into one."""

from __future__ import annotations

import pytest
from tests.krafla.audit.breaking import NOTHING, feature, from_start
from tests.krafla.audit.old_logs import continued
from tests.krafla.audit.test_broken_logs_written import acl, config, controller, quota, scram

from krafla.audit.run import audit


def found_in(folder, loading):
    return [(f.kind, f.offset) for f in audit([folder], loading=loading).clusters[0].all_findings()]


def cluster_config(name, value):
    return config(resourceType=4, resourceName="", name=name, value=value)


def bootstrap(*records):
    """Return the batches of a log that begins in a transaction with these records."""
    return [[(23, 0, {"name": "Bootstrap records"})], list(records)]


VERSION = feature("metadata.version", 14)
ENDED = (24, 0, {})


@pytest.mark.parametrize(
    ("reason", "held"), [("Controller failover", True), ("controller failover", False),
                         (None, False), ("", False)],
)  # fmt: skip
def test_a_transaction_is_aborted_for_one_reason(tmp_path, loading, reason, held):
    begin, again = bootstrap(VERSION, ENDED)
    from_start(tmp_path, begin, [(25, 0, {"reason": reason}), *begin, *again])
    found = audit([tmp_path], loading=loading).clusters[0].all_findings()
    # The leader is the one that began it, which RaftLog refuses whatever the reason.
    assert [(f.kind, f.offset) for f in found if f.kind == "W3"] == ([("W3", 2)] * (not held))


@pytest.mark.parametrize(
    ("name", "state", "held"),
    [("ZK Migration", 2, True), ("ZK Migration", 0, False), ("ZK Migration", None, False),
     ("Bootstrap records", 2, False), ("Bootstrap records", 0, False)],
)  # fmt: skip
def test_a_transaction_begins_where_a_controller_begins_one(tmp_path, loading, name, state, held):
    states = [] if state is None else [(21, 0, {"zkMigrationState": state})]
    begun = [VERSION, *states, ENDED, (23, 0, {"name": name})]
    from_start(tmp_path, *bootstrap(*begun), [NOTHING, ENDED])
    found = audit([tmp_path], loading=loading).clusters[0].all_findings()
    refused = [] if held else [("W3", 1 + len(begun))]
    assert [(f.kind, f.offset) for f in found] == refused


@pytest.mark.parametrize(
    ("value", "held"),
    [("1", True), ("2147483647", True), ("0", False), ("abc", False), ("-1", False),
     (" 1", False), ("01", False), ("2147483648", False), (None, False)],
)  # fmt: skip
def test_the_minimum_among_bootstrap_records_is_that_of_a_node(tmp_path, loading, value, held):
    from_start(tmp_path, *bootstrap(VERSION, cluster_config("min.insync.replicas", value), ENDED))
    assert found_in(tmp_path, loading) == ([] if held else [("W3", 3)])


STRANGERS = {
    "nothing": (NOTHING, False),
    "a controller": (controller(controllerId=7), False),
    "an ACL": (acl(), False),
    "a credential": (scram(), True),
    "the cluster-wide minimum": (cluster_config("min.insync.replicas", "1"), True),
    "another cluster-wide configuration": (cluster_config("background.threads", "5"), False),
    "the minimum of a node": (
        config(name="min.insync.replicas", value="1", resourceName="3000"),
        False,
    ),
    "a configuration of a group": (
        config(
            resourceType=32, resourceName="g", name="consumer.session.timeout.ms", value="45000"
        ),
        False,
    ),
    "another feature": (feature("kraft.feature", 0), True),
}


@pytest.mark.parametrize("what", STRANGERS)
@pytest.mark.parametrize("cut", [False, True])
def test_a_record_that_is_no_bootstrap_record_stands_behind_them(tmp_path, loading, what, cut):
    record, held = STRANGERS[what]
    level = 15
    begin, more = bootstrap(feature("metadata.version", level), record)
    from_start(tmp_path / "in", *([begin, more] if cut else [[*begin, *more]]), [ENDED])
    from_start(tmp_path / "behind", begin, [more[0], ENDED], [record])
    found = audit([tmp_path / "in"], loading=loading).clusters[0].all_findings()
    assert [(f.kind, f.offset) for f in found] == ([] if held else [("W3", 3)])
    assert audit([tmp_path / "behind"], loading=loading).clusters[0].all_findings() == ()


@pytest.mark.parametrize("cut", [False, True])
def test_no_record_is_copied_among_bootstrap_records(tmp_path, loading, cut):
    begin, more = bootstrap(VERSION, (21, 0, {"zkMigrationState": 2}), quota(), ENDED)
    from_start(tmp_path, *([begin, more] if cut else [[*begin, *more]]))
    assert found_in(tmp_path, loading) == [("W3", 4)]


def test_a_migration_copies_records_in_its_transaction_until_it_ends(tmp_path, loading):
    states = [(21, 0, {"zkMigrationState": state}) for state in (2, 1)]
    begin, more = bootstrap(VERSION, states[0], ENDED)
    copies = [(23, 0, {"name": "ZK Migration"}), quota()]
    from_start(tmp_path / "held", [*begin, *more], copies, [states[1], ENDED])
    assert found_in(tmp_path / "held", loading) == []
    from_start(tmp_path / "ended", [*begin, *more], copies, [states[1], quota(value=2.0), ENDED])
    assert found_in(tmp_path / "ended", loading) == [("W3", 8)]


NAMELESS = scram(name="")
NAMELESS_LOGS = {
    "bootstrap records in a transaction": (14, lambda v: [*bootstrap(v, NAMELESS, ENDED)], None),
    "bootstrap records without transactions": (12, lambda v: [[v, NAMELESS]], None),
    "the first batch, where transactions are": (14, lambda v: [[v, NAMELESS]], 2),
    "a batch behind the transaction": (14, lambda v: [*bootstrap(v, ENDED), [NAMELESS]], 4),
    "the same batch, behind the transaction": (
        14, lambda v: [[*bootstrap()[0], v, ENDED, NAMELESS]], 4
    ),
    "the second batch": (12, lambda v: [[v], [NAMELESS]], 2),
}  # fmt: skip


@pytest.mark.parametrize("what", NAMELESS_LOGS)
def test_only_bootstrap_records_have_a_user_without_a_name(tmp_path, loading, what):
    level, batches, refused = NAMELESS_LOGS[what]
    from_start(tmp_path, *batches(feature("metadata.version", level)), [NOTHING])
    assert found_in(tmp_path, loading) == ([] if refused is None else [("W3", refused)])


def test_a_checkpoint_may_have_a_user_without_a_name(tmp_path, loading):
    continued(tmp_path, [VERSION, NAMELESS])
    assert found_in(tmp_path, loading) == []
