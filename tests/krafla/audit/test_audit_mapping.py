"""Records become actions: a coalesced run has the same effect as a step for every record."""

from __future__ import annotations

import pytest
from tests.krafla.audit.editing import CHANGE_PARTITION, LOG, METADATA

from krafla.audit.history import History
from krafla.audit.image import Image
from krafla.audit.lease_steps import LeaseRun
from krafla.audit.mapping import STATE_API_KEYS, LogStep, OtherRecords, lease_step
from kraft.log.segment import iter_batches
from kraft.records.builder import metadata_batch
from kraft.records.lease import lease_record


def every_step(batch):
    """Yield, for each record of a batch, its step if it is outside the lease, else the record."""
    yield LogStep("BeginBatch", (("base_offset", batch.base_offset),), batch.base_offset)
    metadata = {record.offset: record for record in batch.metadata_records()}
    for offset in range(batch.base_offset, batch.next_offset):
        record = metadata.get(offset)
        if record is not None and record.api_key in STATE_API_KEYS:
            yield record
        else:
            changes = record is not None and record.api_key == CHANGE_PARTITION
            yield LogStep(
                "OtherRecord", (("changes_partition", changes), ("offset", offset)), offset
            )


class Recorded(LeaseRun):
    """Keeps the steps it is given, and the state before each record of the lease."""

    def __init__(self, loading):
        super().__init__(loading, 0, {})
        self.given = []
        self.before = []

    def take(self, steps):
        for step in steps:
            if step.place is not None:
                self.before.append((step, self.state()))
            self.given.append(step)
            assert super().take([step]) is None
        return


def uncoalesced(path, loading):
    """Return the states before each record of the lease when every record is a step of its own."""
    image, run = Image(), Recorded(loading)
    for batch in iter_batches(path):
        for step in every_step(batch):
            if isinstance(step, LogStep):
                run.take([step])
                continue
            broker = step.fields.get("brokerId", step.fields.get("id"))
            run.take([lease_step(step, image.registrations.get(broker), path)])
            image.apply_lease(lease_record(step.api_key, step.fields))
    return run


def coalesced(path, loading):
    """Return the same states with coalesced steps, as in the audit."""
    history = History(loading, 0, Image(), {})
    run = history._specs.lease = Recorded(loading)
    for batch in iter_batches(path):
        history.add(batch)
    assert history.outcome().findings == ()
    return run


def mixed_batch(path, target):
    """Join the batches around the record at 115: a NoOpRecord, changes, a registration."""
    parts = []
    for batch in iter_batches(path):
        if batch.base_offset in (111, 112):
            plain = [(r.api_key, r.version, r.fields) for r in batch.metadata_records()]
            if batch.base_offset == 111:
                joined = plain
                continue
            parts.append(metadata_batch(111, batch.leader_epoch, 1, joined + plain))
        else:
            parts.append(batch.raw)
    target.write_bytes(b"".join(parts))
    return target


@pytest.mark.parametrize("cluster", ["crash/n3000", "combined/n1", "mixed"])
def test_a_coalesced_run_leads_to_the_same_states(tmp_path, real_logs, loading, cluster):
    if cluster == "mixed":
        path = mixed_batch(real_logs / "crash/n3000" / METADATA / LOG, tmp_path / LOG)
    else:
        path = real_logs / cluster / METADATA / LOG
    one_by_one, together = uncoalesced(path, loading), coalesced(path, loading)
    assert len(together.before) > 10
    for (step, before), (same_step, same_before) in zip(
        one_by_one.before, together.before, strict=True
    ):
        assert step.parameters == same_step.parameters
        assert before == same_before, step
    assert len(together.given) < len(one_by_one.given) / 2


def said(others):
    return [(step.action, *dict(step.parameters).values()) for step in others.take()]


def test_the_next_batch_drops_the_records_of_a_batch():
    others = OtherRecords()
    others.begin_batch(3)
    others.add(5, 0, 3)
    others.begin_batch(6)
    others.add(7, 2, 2)
    assert said(others) == [("BeginBatch", 6), ("OtherRecord", True, 7)]
    assert said(others) == []


def test_partition_changes_after_another_record_are_a_step_of_their_own():
    others = OtherRecords()
    others.begin_batch(0)
    others.add(4, 2, 5)
    assert said(others) == [
        ("BeginBatch", 0),
        ("OtherRecord", False, 2),
        ("OtherRecord", True, 4),
    ]


def test_partition_changes_before_another_record_share_its_step():
    others = OtherRecords()
    others.add(4, 4, 4)
    others.add(5, 0, 1)
    assert said(others) == [("OtherRecord", False, 5)]
