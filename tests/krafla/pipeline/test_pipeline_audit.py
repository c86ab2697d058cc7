"""The audit of an ingest says word for word what the audit of its sources says."""

from __future__ import annotations

import shutil

import pytest
from tests.krafla.audit.editing import (
    CHANGE_BROKER,
    CHANGE_PARTITION,
    LOG,
    METADATA,
    edited,
    no_op_after,
    records,
    to,
    with_fields,
)
from tests.krafla.pipeline.conftest import REAL_LOGS
from tests.krafla.pipeline.executors import Here

from krafla.audit.render import document
from krafla.audit.run import audit
from krafla.pipeline.audit import audit_ingest, read_audit
from krafla.pipeline.ingest import ingest, plan_ingest
from krafla.pipeline.restore import place_below
from krafla.verdict import KraflaError

pytestmark = pytest.mark.xdist_group("spark")


def spoil(logs):
    """Break a copy of real logs in every way that an audit tells apart."""
    crash = logs / "crash" / "n3000" / METADATA / LOG
    change = records(crash, CHANGE_BROKER)[0]
    idle = to(CHANGE_PARTITION, 2, partitionId=1, topicId="Qthx3pPDREyXSAv41ulXxQ", isr=(0, 1, 2))
    stuck = edited(crash, {no_op_after(crash, 40): idle})
    wrong = edited(crash, {change.offset: with_fields(brokerEpoch=999)})
    (logs / "unread").mkdir()
    for name, content in (("torn", crash.read_bytes()[:-9]), ("wrong", wrong), ("stuck", stuck),
                          ("corrupt", crash.read_bytes()[:-9] + b"\xff" * 9)):  # fmt: skip
        node = logs / "unread" / name / "n1"
        (node / METADATA).mkdir(parents=True)
        (node / METADATA / LOG).write_bytes(content)
        meta = (logs / "crash" / "n3000" / "meta.properties").read_text()
        kept = [line for line in meta.splitlines() if not line.startswith("cluster.id")]
        (node / "meta.properties").write_text("\n".join([*kept, f"cluster.id={name}"]))
    (logs / "empty" / METADATA).mkdir(parents=True)
    (logs / "crash" / "n3000" / METADATA / f"{LOG}.deleted").touch()
    (logs / "combined" / "n1" / METADATA / "quorum-state").write_text("{")


def test_every_verdict_and_every_finding_is_that_of_the_single_process(spark, tmp_path):
    logs = tmp_path / "logs"
    shutil.copytree(REAL_LOGS, logs)
    spoil(logs)
    alone = document(audit([logs]))
    verdicts = {one["verdict"] for cluster in alone["clusters"] for one in cluster["directories"]}
    assert verdicts == {"held", "violated", "inconclusive"}
    kinds = {
        finding["kind"] for cluster in alone["clusters"] for one in cluster["directories"]
        for finding in one["findings"]
    }  # fmt: skip
    assert {"E7", "UntimedLease!UnfenceBroker"} <= kinds
    ingest(plan_ingest([logs], tmp_path / "out"), spark)
    shutil.rmtree(logs)
    report = audit_ingest(tmp_path / "out", spark)
    assert report == alone
    assert read_audit(tmp_path / "out") == alone
    assert not list((tmp_path / "out").glob(".audit-s*"))


def test_a_link_to_a_node_is_noted_as_in_the_single_process(logs, tmp_path):
    (logs / "n3001").symlink_to(shutil.copytree(logs / "n3000", tmp_path / "n3001"))
    (logs / "again").symlink_to("n3000")
    alone = document(audit([logs]))
    assert [one["path"] for one in alone["findings"]] == [str(logs / "n3001")]
    ingest(plan_ingest([logs], tmp_path / "out"), Here())
    (logs / "n3001").unlink()
    assert audit_ingest(tmp_path / "out", Here()) == alone


def test_a_directory_asked_for_by_itself_knows_its_node(spark, logs, tmp_path):
    folder = logs / "n3000" / METADATA
    ingest(plan_ingest([folder], tmp_path / "out"), spark)
    assert audit_ingest(tmp_path / "out", spark) == document(audit([folder]))


def test_an_output_without_a_log_or_without_a_manifest_cannot_be_audited(spark, tmp_path):
    (tmp_path / "one.log").write_text("a line\n")
    ingest(plan_ingest([tmp_path / "one.log"], tmp_path / "out"), spark)
    with pytest.raises(KraflaError, match="no directory of a metadata log"):
        audit_ingest(tmp_path / "out", spark)
    (tmp_path / "out" / "_manifest.json").unlink()
    with pytest.raises(KraflaError, match="not a finished output"):
        audit_ingest(tmp_path / "out", spark)


@pytest.mark.parametrize("path", ["/a/../../etc/passwd", "etc/passwd", "", "/a\0b"])
def test_no_path_in_a_table_leads_out_of_the_folder(tmp_path, path):
    with pytest.raises(KraflaError, match="no absolute path"):
        place_below(tmp_path, path)


def test_a_path_in_a_table_is_a_place_below_the_folder(tmp_path):
    assert place_below(tmp_path, "/a/b") == tmp_path / "a" / "b"
