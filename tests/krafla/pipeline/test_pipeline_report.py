"""The report on logs: one content as a page, as Markdown and as Parquet."""

from __future__ import annotations

import shutil

import pytest
from tests.browser import faults
from tests.krafla.audit.editing import LOG, METADATA
from tests.krafla.pipeline.conftest import CANARY

from krafla.audit.statements import STATEMENTS
from krafla.pipeline.audit import audit_store
from krafla.pipeline.ingest import ingest, open_store
from krafla.pipeline.report.run import make_report, write_report
from krafla.pipeline.report.tables import check_apart
from krafla.verdict import KraflaError
from kraft.log.segment import iter_batches

pytestmark = pytest.mark.xdist_group("spark")


def summary_of(made):
    return {row["name"]: row["value"] for row in made.tables["summary"]}


def test_the_three_forms_of_a_report_have_what_the_audit_found_and_no_secret(
    spark, audited, tmp_path
):
    said, _, store = audited
    made = make_report(spark, store.uri)
    made.tables.write(str(tmp_path / "tables"))
    _tables_agree(made.tables, summary_of(made), said)
    _findings_are_told(made)
    stored = {}
    for path in sorted((tmp_path / "tables").iterdir()):
        stored[path.name] = [row.asDict() for row in spark.spark.read.parquet(str(path)).collect()]
        assert stored[path.name] == made.tables[path.name]
    assert len(stored) == 17
    assert "(redacted)" in str(stored["findings"])
    assert CANARY not in made.html + made.markdown + str(stored)
    assert faults({"the logs": made.html}, tmp_path) == []
    unfolded = made.html.replace("<details", "<details open")
    assert faults({"the logs": unfolded}, tmp_path, dark=True) == []


def _tables_agree(tables, summary, said):
    """Compare the tables with each other and with what the audit said."""
    assert (summary["in quarantine"], summary["files since the audit"]) == (3, 0)
    assert sum(row["read"] for row in tables["kinds"]) == summary["files read"]
    assert sum(row["bytes"] for row in tables["kinds"]) == summary["bytes"]
    assert sum(row["records"] for row in tables["types"]) == summary["records"] > 0
    assert sum(row["records"] for row in tables["times"]) == summary["records"]
    widths = {row["width_ms"] for row in tables["times"]}
    starts = [row["start_ms"] for row in tables["times"]]
    assert len(widths) == 1
    assert starts == [*range(starts[0], starts[-1] + 1, *widths)]
    ingested, judged = tables["loads"]
    assert (ingested["files"], ingested["quarantined"]) == (summary["files"], 3)
    verdicts = [one["verdict"] for one in said["clusters"]]
    for verdict in ("held", "violated", "inconclusive"):
        assert judged[verdict] == verdicts.count(verdict) > 0
    told = [(row["folder"], row["verdict"]) for row in tables["clusters"]]
    assert sorted(told) == sorted((one["folder"], one["verdict"]) for one in said["clusters"])
    worst_first = sorted(verdicts, key=lambda one: "vih".index(one[0]))
    assert [verdict for _, verdict in told] == worst_first
    assert len(tables["directories"]) == said["counts"]["directories"]
    asked = {row["rule"]: row["asked"] for row in tables["asked"]}
    assert [*asked] == [*STATEMENTS]
    assert sum(asked.values()) == sum(sum(one["asked"].values()) for one in said["clusters"])
    assert sum(row["findings"] for row in tables["rules"]) == len(tables["findings"])
    assert {row["reason"]: row["files"] for row in tables["reasons"]}[
        "CRC-32C is N, the header says N"
    ] == 2  # fmt: skip


def _findings_are_told(made):
    """Find a broken rule, its sentence and its place on the page and in Markdown."""
    found = {row["rule"]: row for row in made.tables["findings"] if row["weight"] == "violation"}
    assert {"E7", "O5", "W3", "UntimedLease!UnfenceBroker"} <= found.keys()
    broken = found["O5"]
    assert (broken["statement"], broken["cluster_id"]) == (STATEMENTS["O5"], "secret")
    assert all(row["statement"] for row in found.values())
    assert made.document.verdict == "violated"
    assert made.document.title.startswith("Violated: ")
    place = f"unread/secret/n1/{METADATA}/{LOG}"
    for text in (made.html, made.markdown):
        assert f"{place}, offset {broken['offset']:,}, byte {broken['byte']:,}" in text
        assert STATEMENTS["O5"] in text
        assert "(redacted)" in text
    assert f"unread/&lt;b&gt;/n1/{METADATA}" in made.html


@pytest.mark.nightly
def test_a_store_is_reported_before_its_audit_and_when_a_log_has_grown(spark, logs, tmp_path):
    log = logs / "n3000" / METADATA / LOG
    whole = log.read_bytes()
    # Two replicas with equal files, and one more whose log ends earlier.
    for name in ("a", "b"):
        shutil.copytree(log.parent, logs / name / METADATA)
    log.write_bytes(whole[: [*iter_batches(log)][99].position])
    out = str(tmp_path / "out")
    ingest(spark, [str(logs.parent)], out)
    log.write_bytes(whole)
    before = make_report(spark, out)
    assert before.document.verdict == "inconclusive"
    assert before.document.title == "out: every file was read, and none was audited"
    for text in (before.html, before.markdown):
        assert "not audited yet" in text
        assert f"krafla pipeline audit {out}" in text
    assert "clusters" not in before.tables
    assert faults({"the logs": before.html}, tmp_path) == []
    audit_store(spark, open_store(spark, out))
    ingest(spark, [str(logs.parent)], out)
    made = make_report(spark, out)
    # What the log was before it grew is counted no more; equal files count once each.
    for table in ("types", "times"):
        assert sum(row["records"] for row in made.tables[table]) == 3 * 587
    assert summary_of(made)["records"] == 3 * 587
    loads = [(row["kind"], row["files"], row["new_records"]) for row in made.tables["loads"]]
    assert loads[1:] == [("audit", None, None), ("ingest", 1, 0)]
    assert summary_of(made)["files since the audit"] == 1
    # The audit held, but says nothing of that file.
    assert made.tables["audit"][0]["verdict"] == "held"
    assert made.document.verdict == "inconclusive"
    assert made.document.title == "out: 1 file came after the audit"
    assert "1 file came after this audit" in made.html
    assert "1 file came after this audit" in made.markdown


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
