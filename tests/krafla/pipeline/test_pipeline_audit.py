"""The audit of an ingest says word for word what the audit of its sources says."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import pytest
from tests.krafla.audit.editing import (
    LOG,
    METADATA,
)

from krafla.audit.render import document
from krafla.audit.run import audit
from krafla.audit.server_logs.settings import ServerLogOptions
from krafla.pipeline import audit as audit_module
from krafla.pipeline.audit import audit_store
from krafla.pipeline.audit_tables import latest_audit, read_audit
from krafla.pipeline.carry import packed, place_below, told_path, unpacked
from krafla.pipeline.ingest import ingest, open_store
from krafla.verdict import KraflaError

# The cluster's id, as its logs tell it.
ID = "WoW1dGiETNalGVhHhVOyHg"

pytestmark = pytest.mark.xdist_group("spark")


def test_every_verdict_and_every_finding_is_that_of_the_single_process(spark, audited):
    report, alone, store = audited
    verdicts = {one["verdict"] for cluster in alone["clusters"] for one in cluster["directories"]}
    assert verdicts == {"held", "violated", "inconclusive"}
    kinds = {
        finding["kind"] for cluster in alone["clusters"] for one in cluster["directories"]
        for finding in one["findings"]
    }  # fmt: skip
    assert {"E7", "UntimedLease!UnfenceBroker"} <= kinds
    assert report == alone
    again = open_store(spark, store.uri)
    assert read_audit(again, latest_audit(again).load) == alone
    _tables_tell_the_report(store, alone)


def _tables_tell_the_report(store, report):
    directories = [one for cluster in report["clusters"] for one in cluster["directories"]]
    rows = store.read("verdicts").where("path IS NOT NULL").collect()
    told = {(row["path"], row["verdict"], row["judged_to"]) for row in rows}
    assert told == {(one["path"], one["verdict"], one["judged_to"]) for one in directories}
    found = [f for one in directories for f in one["findings"]]
    found += [f for cluster in report["clusters"] for f in cluster["findings"]]
    found += report["findings"]
    kinds = store.read("findings").groupBy("weight", "kind").count().collect()
    assert {(row["weight"], row["kind"]): row["count"] for row in kinds} == Counter(
        (one["weight"], one["kind"]) for one in found
    )
    asked = store.read("coverage").where("what = 'invariant asked'").selectExpr("sum(count) n")
    expected = sum(sum(cluster["asked"].values()) for cluster in report["clusters"])
    assert asked.collect()[0]["n"] == expected


def test_the_same_files_are_not_judged_twice(spark, logs, tmp_path, monkeypatch):
    ingest(spark, [str(logs)], str(tmp_path / "out"))
    store = open_store(spark, str(tmp_path / "out"))
    first = audit_store(spark, store)
    with monkeypatch.context() as patched:
        patched.setattr(audit_module, "_Audit", None)
        assert audit_store(spark, open_store(spark, store.uri)) == first
    (logs / "n3000" / METADATA / LOG).write_bytes(b"\xff" * 100)
    ingest(spark, [str(logs)], store.uri)
    again = audit_store(spark, open_store(spark, store.uri))
    assert again == document(audit([logs]))
    assert again != first


@pytest.mark.nightly
def test_server_logs_are_judged_as_in_the_single_process(spark, logs, tmp_path):
    (logs / "n3000" / "server.properties").write_text(
        "process.roles=controller\nbroker.session.timeout.ms=8999\nssl.key.password=CANARY\n"
    )
    stray = logs.parent / "other" / "server.log"
    stray.parent.mkdir()
    stray.write_text((logs / "n0" / "logs" / "server.log").read_text().replace(ID, ID[::-1]))
    options = ServerLogOptions(skew_ms=101)
    alone = document(audit([logs.parent], server_logs=options))
    judged = alone["clusters"][0]["server_logs"]
    assert (judged["session_timeout_ms"], judged["clock_skew_ms"]) == (8999, 101)
    assert judged["records_explained"] > 0
    assert [one["kind"] for one in alone["findings"]] == ["not judged"]
    ingest(spark, [str(logs.parent)], str(tmp_path / "out"))
    store = open_store(spark, str(tmp_path / "out"))
    assert audit_store(spark, store, options) == alone
    assert audit_store(spark, store)["clusters"][0]["server_logs"] is None
    assert "CANARY" not in str([bytes(row["content"]) for row in store.read("content").collect()])


@pytest.mark.nightly  # the day has every verdict and finding
def test_a_link_to_a_node_is_noted_as_in_the_single_process(spark, logs, tmp_path):
    (logs / "n3001").symlink_to(shutil.copytree(logs / "n3000", tmp_path / "n3001"))
    (logs / "again").symlink_to("n3000")
    alone = document(audit([logs]))
    assert [one["path"] for one in alone["findings"]] == [str(logs / "n3001")]
    ingest(spark, [str(logs)], str(tmp_path / "out"))
    (logs / "n3001").unlink()
    assert audit_store(spark, open_store(spark, str(tmp_path / "out"))) == alone


@pytest.mark.nightly  # the day has every verdict and finding
def test_a_directory_asked_for_by_itself_knows_its_node(spark, logs, tmp_path):
    folder = logs / "n3000" / METADATA
    ingest(spark, [str(folder)], str(tmp_path / "out"))
    report = audit_store(spark, open_store(spark, str(tmp_path / "out")))
    assert report == document(audit([folder]))


def test_a_store_without_a_log_cannot_be_audited(spark, tmp_path):
    (tmp_path / "one.log").write_text("a line\n")
    ingest(spark, [str(tmp_path / "one.log")], str(tmp_path / "out"))
    for out in (tmp_path / "out", tmp_path / "nowhere"):
        with pytest.raises(KraflaError, match="no directory of a metadata log"):
            audit_store(spark, open_store(spark, str(out)))


BAD = ["/a/../../etc/passwd", "etc/passwd", "", "/a\0b", "s3a://b/../x", "a/b://c", "/"]


@pytest.mark.parametrize("path", BAD)
def test_no_path_in_a_table_leads_out_of_the_folder(tmp_path, path):
    with pytest.raises(KraflaError, match="no absolute path"):
        place_below(tmp_path, path)


def test_a_path_in_a_table_is_a_place_below_the_folder_and_told_as_it_was(tmp_path):
    assert place_below(tmp_path, "/a/b") == tmp_path / "a" / "b"
    for path in ("/a/b", "s3a://bucket/a/b", "hdfs://host:9000/a"):
        place = place_below(tmp_path, path)
        assert place.is_relative_to(tmp_path)
        assert told_path(f"in {place}: bad", tmp_path) == f"in {path}: bad"


def test_what_is_carried_names_places_below_the_other_root(tmp_path):
    one, other = tmp_path / "one", tmp_path / "other"
    value = [one / "a" / "b", one, f"see {one}/x", Path("/etc"), {"n": 1}]
    there = unpacked(packed(value, one), other)
    assert there == [other / "a" / "b", other, f"see {other}/x", Path("/etc"), {"n": 1}]
