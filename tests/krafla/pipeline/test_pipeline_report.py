"""The page of an ingest, as a browser shows it."""

from __future__ import annotations

import re

import pytest
from tests.browser import dom, faults
from tests.krafla.pipeline.poison import LOG

from krafla.pipeline.audit import audit_store
from krafla.pipeline.ingest import ingest, open_store
from krafla.pipeline.report import write_report
from krafla.verdict import KraflaError

pytestmark = pytest.mark.xdist_group("spark")


def shown(page, fragment=""):
    """Return the text of a page as it stands after its scripts."""
    body = dom(page, fragment).partition("<body>")[2]
    body = re.sub(r"<script.*?</script>", "", body, flags=re.DOTALL)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", body))


def test_an_ingest_shows_what_is_in_quarantine_and_what_the_audit_said(spark, logs, tmp_path):
    bad = logs / "n1" / "__cluster_metadata-0" / LOG
    bad.parent.mkdir(parents=True)
    bad.write_bytes(b"<b>&" * 50)
    out = str(tmp_path / "out")
    done = ingest(spark, [str(logs)], out)
    before = shown(write_report(spark, out))
    assert "Not audited yet" in before
    audit_store(spark, open_store(spark, out))
    page = write_report(spark, out)
    assert page == tmp_path / "out" / "report.html"
    assert faults({"the ingest": page.read_text("utf-8")}, tmp_path) == []
    assert "<title>1 unreadable file in out</title>" in page.read_text("utf-8")
    text = shown(page)
    assert str(bad) in text
    assert f"{done.rows['records']:,} records" in text
    assert "REGISTER_BROKER_RECORD" in text
    assert "unreadable: corrupt" in text


def test_a_place_without_results_has_no_report(spark, tmp_path):
    with pytest.raises(KraflaError, match="no ingest and no finished campaign"):
        write_report(spark, str(tmp_path / "nowhere"))


def test_a_store_that_is_no_folder_needs_a_name_for_its_page(spark):
    with pytest.raises(KraflaError, match="--page FILE"):
        write_report(spark, "s3a://bucket/store")
