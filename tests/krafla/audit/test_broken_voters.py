"""Voters whose endpoints or ranges no controller writes so."""

from __future__ import annotations

import pytest
from tests.krafla.audit.breaking import LISTENER, NOTHING, checkpoint_name
from tests.krafla.audit.control_records import (
    METADATA_VERSION,
    A,
    B,
    C,
    D,
    checkpoint_of,
    continued,
    control,
    data,
    leads,
    level,
    voters,
    written,
)
from tests.krafla.audit.editing import METADATA

from krafla.audit.run import audit

THREE = ((1, A), (2, B), (3, C))
ELSEWHERE = ({**LISTENER, "host": "elsewhere"},)
TWO = ({**LISTENER, "name": "OTHER"}, LISTENER)
WRITE, READ = "RaftLog!WriteVoters", "RaftLog!ReadCheckpoint"
WINS = leads(2, (1, 2, 3), (2, 3))


def found_in(folder, loading):
    found = audit([folder], loading=loading).clusters[0].all_findings()
    return [(one.kind, one.offset) for one in found]


def told(*keys, **changes):
    """Return a KRaftVotersRecord of these voters; `changes` has other fields by voter, as v1."""
    kind, fields = voters(*keys)
    listed = tuple({**one, **changes.get(f"v{one['voterId']}", {})} for one in fields["voters"])
    return (kind, {**fields, "voters": listed})


def supports(low, high):
    return {"kRaftVersionFeature": {"minSupportedVersion": low, "maxSupportedVersion": high}}


MOVED = {"endpoints": ELSEWHERE}
RECORDS = {
    "new endpoints of one voter": (told(*THREE, v2=MOVED), True),
    "new endpoints of two voters": (told(*THREE, v1=MOVED, v2=MOVED), False),
    "a new range of one voter": (told(*THREE, v3=supports(0, 2)), True),
    "new endpoints and a new range of two": (told(*THREE, v1=MOVED, v3=supports(0, 2)), False),
    "a voter joins": (told(*THREE, (4, D)), True),
    "a voter joins, and another one moves": (told(*THREE, (4, D), v1=MOVED), False),
    "a voter leaves": (told(*THREE[:2]), True),
    "a voter leaves, and another one moves": (told(*THREE[:2], v1=MOVED), False),
    "a voter without endpoints": (told(*THREE, v2={"endpoints": ()}), False),
    "a voter that supports no level": (told(*THREE, v2=supports(0, 0)), False),
    "a voter that supports only the next level": (told(*THREE, v2=supports(2, 3)), False),
    "a voter that joins without endpoints": (told(*THREE, (4, D), v4={"endpoints": ()}), False),
}


@pytest.mark.parametrize("what", RECORDS)
def test_a_record_changes_one_voter(tmp_path, loading, what):
    record, held = RECORDS[what]
    (offset,) = written(tmp_path, [control(1, record)], dynamic=True)
    assert found_in(tmp_path, loading) == ([] if held else [(WRITE, offset)])


@pytest.mark.parametrize(("moved", "held"), [({"v2": MOVED}, True),
                                             ({"v1": MOVED, "v3": MOVED}, False)])  # fmt: skip
def test_a_leader_begins_with_its_own_new_endpoints(tmp_path, loading, moved, held):
    begun = control(2, WINS, level(1), told(*THREE, **moved))
    (offset,) = written(tmp_path, [begun], dynamic=True)
    assert found_in(tmp_path, loading) == ([] if held else [(WRITE, offset + 2)])


CHECKPOINTS = {
    "as in the log": (told(*THREE, v2={"endpoints": TWO}), True),
    "in another order": (told(*THREE, v2={"endpoints": TWO[::-1]}), True),
    "another host": (told(*THREE, v2={"endpoints": ELSEWHERE}), False),
    "one endpoint less": (told(*THREE), False),
    "another range": (told(*THREE, v2={"endpoints": TWO, **supports(0, 2)}), False),
    "no endpoints": (told(*THREE, v2={"endpoints": ()}), False),
}


@pytest.mark.parametrize("what", CHECKPOINTS)
def test_a_checkpoint_tells_of_voters_what_the_log_tells(tmp_path, loading, what):
    record, held = CHECKPOINTS[what]
    updated = control(1, told(*THREE, v2={"endpoints": TWO}))
    end = written(tmp_path, [updated, data(1)], dynamic=True)[1]
    made = checkpoint_of(level(1), record, records=[METADATA_VERSION])
    (tmp_path / METADATA / checkpoint_name(end)).write_bytes(made)
    assert found_in(tmp_path, loading) == ([] if held else [(READ, end)])


@pytest.mark.parametrize(("moved", "held"), [({"v2": MOVED}, True),
                                             ({"v1": MOVED, "v2": MOVED}, False)])  # fmt: skip
def test_a_history_starts_with_what_its_checkpoint_tells(tmp_path, loading, moved, held):
    made = checkpoint_of(level(1), voters(*THREE), records=[METADATA_VERSION])
    batches = [data(1, NOTHING), control(1, told(*THREE, **moved))]
    _, offset = continued(tmp_path, 50, made, batches)
    assert found_in(tmp_path, loading) == ([] if held else [(WRITE, offset)])
