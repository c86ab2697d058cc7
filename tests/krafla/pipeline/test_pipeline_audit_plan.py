"""Which clusters are judged in pieces: only what gains time, and only what would last longest."""

from __future__ import annotations

import shutil

import pytest
from tests.krafla.audit.editing import LOG, METADATA
from tests.krafla.pipeline.conftest import REAL_LOGS

from krafla.audit.clusters import find_logs
from krafla.audit.inventory import take_inventory
from krafla.audit.pieces import REPLAY_SHARE
from krafla.pipeline import audit_plan
from krafla.pipeline.audit_plan import EXTRA_RECORDS, Division, judged_records, plan
from kraft.log.segment import iter_batches

LONG = 50 * EXTRA_RECORDS


@pytest.mark.parametrize(
    ("records", "slots"),
    [
        ([], 4),
        ([0], 4),
        ([LONG], 1),
        ([EXTRA_RECORDS], 4),
        ([LONG] * 4, 4),
        ([LONG] * 2, 2),
        ([LONG // 10] * 40, 4),
        ([LONG, *[LONG // 10] * 40], 4),
    ],
)
def test_clusters_stay_whole_where_pieces_gain_nothing(records, slots):
    assert plan(records, slots) == {}


@pytest.mark.parametrize(
    ("records", "slots", "most"),
    [
        ([LONG], 2, 0.73),
        ([LONG], 4, 0.67),
        # Replay is what no number of tasks makes quicker.
        ([LONG], 100, REPLAY_SHARE + 0.02),
        ([9 * LONG, LONG], 2, 0.77),
    ],
)
def test_a_cluster_that_keeps_the_others_waiting_is_judged_in_pieces(records, slots, most):
    divided = plan(records, slots)
    assert 0 in divided
    assert sum(one.pieces for one in divided.values()) <= slots + 1
    done = audit_plan._done(records, divided, slots)
    assert done < (most + 0.02) * audit_plan._makespan(records, slots)


def test_only_the_long_cluster_is_cut():
    assert list(plan([LONG // 100, LONG, LONG // 50], 8)) == [1]


def test_the_records_of_equal_logs_count_once_and_cuts_rise_between_batches(logs):
    shutil.copytree(logs / "n3000", logs / "n3001")
    log = logs / "n3001" / METADATA / LOG
    whole = list(iter_batches(log))
    log.write_bytes(b"".join(batch.raw for batch in whole[:-7]))
    members = [take_inventory(one) for one in find_logs([logs])[0]]
    member = max(members, key=lambda one: one.end)
    assert judged_records(members) == member.end == whole[-1].next_offset
    other = take_inventory(find_logs([REAL_LOGS / "failover"])[0][0])
    begin = other.log.checkpoints[0].end_offset
    assert judged_records([*members, other]) == member.end + other.end - begin
    cuts = Division(0.5, 3).cuts(member)
    assert len(cuts) == 3
    assert all(cut in member.offsets for cut in cuts)
    shares = [cut / member.end for cut in cuts]
    assert shares == pytest.approx([1 / 2, 2 / 3, 5 / 6], abs=0.05)
