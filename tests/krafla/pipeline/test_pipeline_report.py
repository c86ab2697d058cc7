"""The report on logs: one content as a page, as Markdown and as Parquet."""

from __future__ import annotations

import shutil

import pytest
from tests.browser import faults
from tests.krafla.audit.editing import LOG, METADATA, edited, no_op_after, to

from krafla.audit.statements import STATEMENTS
from krafla.pipeline.audit import audit_store
from krafla.pipeline.ingest import ingest, open_store
from krafla.pipeline.report.run import make_report, write_report
from krafla.pipeline.report.tables import check_apart
from krafla.verdict import KraflaError
from kraft.log.segment import iter_batches

pytestmark = pytest.mark.xdist_group("spark")

CONFIG, TOPIC = 4, 2
SECRET = {"resourceType": TOPIC, "resourceName": "gone", "name": "ssl.key.password"}


@pytest.fixture
def store(spark, logs, tmp_path):
    """The store of an ingest: a log that will grow, one that breaks O5 and W3, two corrupt ones."""
    log = logs / "n3000" / METADATA / LOG
    whole = log.read_bytes()
    bad = to(CONFIG, 0, **SECRET, value="CANARY")
    spoiled = shutil.copytree(logs, logs.parent / "spoiled") / "n3000"
    (spoiled / METADATA / LOG).write_bytes(edited(log, {no_op_after(log, 40): bad}))
    identity = spoiled / "meta.properties"
    identity.write_text(identity.read_text().replace("cluster.id=", "cluster.id=x"))
    for number, name in enumerate(("<b>", "c")):
        corrupt = logs.parent / name / METADATA / LOG
        corrupt.parent.mkdir(parents=True)
        corrupt.write_bytes(whole[: -9 - number] + b"\xff" * (9 + number))
    (logs.parent / "n.txt").touch()
    log.write_bytes(whole[: [*iter_batches(log)][99].position])
    out = str(tmp_path / "out")
    ingest(spark, [str(logs.parent)], out)
    log.write_bytes(whole)
    return open_store(spark, out)


def test_logs_are_reported_before_and_after_their_audit_and_when_they_have_grown(
    spark, store, logs, tmp_path
):
    before = make_report(spark, store.uri)
    assert before.document.verdict == "inconclusive"
    assert before.document.title == "2 unreadable files in out"
    for text in (before.html, before.markdown):
        assert "not audited yet" in text
        assert f"krafla pipeline audit {store.uri}" in text
    assert "clusters" not in before.tables
    said = audit_store(spark, store)
    ingest(spark, [str(logs.parent)], store.uri)
    made = make_report(spark, store.uri)
    made.tables.write(str(tmp_path / "tables"))
    _tables_agree(made.tables, said)
    _forms_agree(spark, made, tmp_path / "tables")
    assert faults({"the logs": made.html}, tmp_path) == []
    assert faults({"the logs": made.html}, tmp_path, dark=True) == []


def _tables_agree(tables, said):
    """Compare the tables with each other and with what the audit said."""
    summary = {row["name"]: row["value"] for row in tables["summary"]}
    assert summary["files since the audit"] == 1
    assert (summary["in quarantine"], summary["left out"]) == (2, 1)
    assert sum(row["read"] for row in tables["kinds"]) == summary["files read"]
    assert sum(row["bytes"] for row in tables["kinds"]) == summary["bytes"]
    # What the log was before it grew is counted no more.
    assert summary["records"] == 2 * 587
    assert sum(row["records"] for row in tables["types"]) == 2 * 587
    assert sum(row["records"] for row in tables["times"]) == 2 * 587
    widths = {row["width_ms"] for row in tables["times"]}
    starts = [row["start_ms"] for row in tables["times"]]
    assert len(widths) == 1
    assert starts == [*range(starts[0], starts[-1] + 1, *widths)]
    assert [(row["kind"], row["files"]) for row in tables["loads"]] == [
        ("ingest", 20), ("audit", None), ("ingest", 1),
    ]  # fmt: skip
    assert [row["new_records"] for row in tables["loads"]][2] == 587
    verdicts = {one["folder"]: one["verdict"] for one in said["clusters"]}
    assert {row["folder"]: row["verdict"] for row in tables["clusters"]} == verdicts
    assert tables["clusters"][0]["verdict"] == "violated"
    asked = {row["rule"]: row["asked"] for row in tables["asked"]}
    assert [*asked] == [*STATEMENTS]
    assert sum(asked.values()) == sum(sum(one["asked"].values()) for one in said["clusters"])
    assert min(asked.values()) == 0
    (reason,) = tables["reasons"]
    assert reason["files"] == 2
    assert reason["reason"] == "CRC-32C is N, the header says N"


def _forms_agree(spark, made, folder):
    """Find the broken rule in each form, and the secret in none."""
    broken, other = [row for row in made.tables["findings"] if row["weight"] == "violation"]
    assert [one["rule"] for one in (broken, other)] == ["O5", "W3"]
    assert broken["statement"] == STATEMENTS["O5"]
    assert made.document.title == f"Violated: {STATEMENTS['O5']}, and 1 more rule"
    place = "spoiled/n3000/__cluster_metadata-0/00000000000000000000.log"
    for text in (made.html, made.markdown):
        assert f"{place}, offset {broken['offset']:,}, byte {broken['byte']:,}" in text
        assert STATEMENTS["O5"] in text
        assert "(redacted)" in text
        assert "1 file came after this audit" in text
    assert "&lt;b&gt;/__cluster_metadata-0" in made.html
    stored = {}
    for path in sorted(folder.iterdir()):
        stored[path.name] = [row.asDict() for row in spark.spark.read.parquet(str(path)).collect()]
        assert stored[path.name] == made.tables[path.name]
    assert len(stored) == 17
    everything = made.html + made.markdown + str(stored)
    assert "(redacted)" in str(stored)
    assert "CANARY" not in everything


def test_a_place_without_results_has_no_report(spark, tmp_path):
    with pytest.raises(KraflaError, match="no ingest and no finished campaign"):
        write_report(spark, str(tmp_path / "nowhere"))


def test_a_store_that_is_no_folder_needs_a_name_for_its_page(spark):
    with pytest.raises(KraflaError, match="--page FILE"):
        write_report(spark, "s3a://bucket/store")


@pytest.mark.parametrize("place", ["/data/store", "/data/store/report", "/data", "file:/data/"])
def test_tables_of_a_report_overwrite_none_of_a_store(place):
    with pytest.raises(KraflaError, match="outside the store"):
        check_apart(place, "/data/store")
    assert check_apart("/data/store-report", "/data/store") == "/data/store-report"
    assert check_apart("s3a://b/report/", "s3a://b/store") == "s3a://b/report"
