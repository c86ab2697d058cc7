"""The page of an ingest, as a browser shows it."""

from __future__ import annotations

import re
import shutil

import pytest
from tests.browser import dom, faults
from tests.krafla.pipeline.poison import LOG

from krafla.pipeline.audit import audit_ingest
from krafla.pipeline.ingest import ingest, plan_ingest
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
    out = tmp_path / "out"
    done = ingest(plan_ingest([logs], out), spark)
    before = shown(write_report(out))
    assert "Not audited yet" in before
    audit_ingest(out, spark)
    page = write_report(out)
    assert faults({"the ingest": page.read_text("utf-8")}, tmp_path) == []
    assert "<title>1 unreadable file in out</title>" in page.read_text("utf-8")
    text = shown(page)
    assert str(bad) in text
    assert f"{done.rows['records']:,} records" in text
    assert "REGISTER_BROKER_RECORD" in text
    assert "unreadable: corrupt" in text


def test_a_folder_that_is_not_finished_has_no_report(tmp_path):
    with pytest.raises(KraflaError, match="no such directory"):
        write_report(tmp_path / "nowhere")
    (tmp_path / "half").mkdir()
    with pytest.raises(KraflaError, match="not a finished output"):
        write_report(tmp_path / "half")
    shutil.rmtree(tmp_path / "half")
