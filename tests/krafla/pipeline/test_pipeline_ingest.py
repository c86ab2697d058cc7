"""An ingest: every file counted once, what is broken in quarantine, nothing read by halves."""

from __future__ import annotations

import gzip
import shutil
from collections import Counter

import pyarrow.parquet as pq
import pytest
from tests.krafla.pipeline.poison import BOMB_BYTES, LOG, poison
from tests.kraft.records.samples import leader_change

from krafla.pipeline.folders import MANIFEST, opened
from krafla.pipeline.ingest import ingest, plan_ingest
from krafla.pipeline.ingest_task import read_slice
from krafla.pipeline.sources import FileKind, Source, slices
from krafla.pipeline.tables import SCHEMAS
from krafla.verdict import KraflaError, Verdict
from kraft.log.directory import find_metadata_logs, read_metadata_log
from kraft.records.builder import metadata_batch

pytestmark = pytest.mark.xdist_group("spark")


def table(out, name):
    return pq.read_table(out / name, partitioning=None).to_pylist()


def test_the_tables_hold_what_a_single_process_decodes(spark, logs, tmp_path):
    out = tmp_path / "out"
    done = ingest(plan_ingest([logs], out), spark)
    (log,) = find_metadata_logs(logs)
    batches = list(read_metadata_log(log))
    expected = sorted(
        r.offset for b in batches for r in [*b.metadata_records(), *b.control_records()]
    )
    assert done.verdict is Verdict.HELD
    assert sorted(row["offset"] for row in table(out, "records")) == expected
    assert sorted(row["crc"] for row in table(out, "batches")) == sorted(b.crc for b in batches)
    files = table(out, "files")
    assert {row["status"] for row in files} == {"good"}
    for name, count in done.rows.items():
        assert sum(row[name] for row in files) == count == len(table(out, name))
    for name, schema in SCHEMAS.items():
        assert pq.read_table(out / name, partitioning=None).schema.equals(schema)


@pytest.mark.nightly
def test_spark_reads_the_tables_and_joins_them_by_their_keys(spark, logs, tmp_path):
    from pyspark.sql import SparkSession

    out = tmp_path / "out"
    done = ingest(plan_ingest([logs], out), spark)
    sql = SparkSession(spark.context)
    sql.conf.set("spark.sql.shuffle.partitions", "1")
    records, batches = (sql.read.parquet(str(out / name)) for name in ("records", "batches"))
    keys = (records.file_id == batches.file_id) & (records.batch_position == batches.position)
    assert records.join(batches, keys).count() == done.rows["records"]


def test_every_poison_goes_to_quarantine_with_its_reason_and_the_rest_is_untouched(
    spark, logs, tmp_path
):
    alone = ingest(plan_ingest([logs], tmp_path / "alone"), spark)
    found = poison(logs.parent / "poison", logs / "n3000" / "__cluster_metadata-0" / LOG)
    plan = plan_ingest([logs.parent], tmp_path / "out", file_bytes_max=BOMB_BYTES // 2)
    done = ingest(plan, spark)
    reasons = dict(done.quarantined)
    assert sorted(reasons) == sorted(map(str, found))
    for path, word in found.items():
        assert word in reasons[str(path)], path
    assert done.files == done.good + len(found)
    assert (done.good, done.rows) == (alone.good, alone.rows)
    assert done.verdict is Verdict.INCONCLUSIVE
    rows = table(tmp_path / "out", "quarantine")
    assert Counter(row["stage"] for row in rows) == {"decode": len(found) - 2, "open": 2}


def test_a_poisoned_file_among_a_thousand_is_the_one_in_quarantine(spark, tmp_path):
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(999):
        (folder / f"{number}.log").write_text(f"[2026-01-01 00:00:00,000] INFO n {number} (k.K)\n")
    (folder / "bad.log.gz").write_bytes(gzip.compress(b"x" * 100)[:20])
    done = ingest(plan_ingest([folder], tmp_path / "out"), spark)
    assert (done.files, done.good, done.rows["events"]) == (1000, 999, 999)
    ((path, reason),) = done.quarantined
    assert path == str(folder / "bad.log.gz")
    assert "gzip" in reason


def test_what_a_killed_driver_left_is_taken_up_and_gives_the_same_tables(spark, logs, tmp_path):
    out = tmp_path / "out"
    whole = ingest(plan_ingest([logs], tmp_path / "whole"), spark)
    plan = plan_ingest([logs], out)
    with pytest.raises(DiedError):
        ingest(plan, Dying(1))
    assert not out.exists()
    remembered = Dying(99)
    done = ingest(plan, remembered)
    assert remembered.played < len(plan.listing.sources)
    assert done.rows == whole.rows
    for name in SCHEMAS:
        assert table(out, name) == table(tmp_path / "whole", name)


class DiedError(Exception):
    pass


class Dying:
    """A session in this process that dies after so many tasks, without a word."""

    def __init__(self, tasks):
        self.left = tasks
        self.played = 0

    def map(self, function, items, _progress=None):
        for item in items:
            if not self.left:
                raise DiedError
            self.left -= 1
            self.played += 1
            function(item)


def test_an_output_that_is_not_whole_is_refused(spark, logs, tmp_path):
    out = tmp_path / "out"
    ingest(plan_ingest([logs], out), spark)
    opened(out, "ingest")
    part = next((out / "records").glob("part-*"))
    for spoil, said in (
        (lambda copy: (copy / MANIFEST).unlink(), "not a finished output"),
        (lambda copy: (copy / MANIFEST).write_text("{"), "cannot be read"),
        (lambda copy: (copy / "records" / part.name).unlink(), "is missing"),
        (lambda copy: shutil.copy(part, copy / "records" / "part-9.parquet"), "not of this output"),
        (lambda copy: (copy / "records" / part.name).write_bytes(b"PAR1"), "not what was written"),
    ):
        copy = tmp_path / "copy"
        shutil.copytree(out, copy)
        spoil(copy)
        with pytest.raises(KraflaError, match=said):
            opened(copy, "ingest")
        shutil.rmtree(copy)


def test_the_same_files_are_not_read_twice_and_others_are_refused(spark, logs, tmp_path):
    out = tmp_path / "out"
    first = ingest(plan_ingest([logs], out), spark)
    again = ingest(plan_ingest([logs], out), Dying(0))
    assert (first.new, again.new) == (True, False)
    assert first.rows == again.rows
    (logs / "n3000" / "more.log").write_text("a line\n")
    with pytest.raises(KraflaError, match="other files"):
        ingest(plan_ingest([logs], out), spark)


def test_secrets_stay_out_of_every_table_but_the_bytes_of_the_log(spark, tmp_path):
    path = tmp_path / "logs" / "__cluster_metadata-0" / LOG
    path.parent.mkdir(parents=True)
    secret = (4, 0, {"name": "ssl.key.password", "value": "CANARY", "resourceName": "x"})
    path.write_bytes(leader_change() + metadata_batch(1, 1, 0, [secret]))
    ingest(plan_ingest([path.parent], tmp_path / "out"), spark)
    for name in SCHEMAS:
        assert ("CANARY" in str(table(tmp_path / "out", name))) == (name == "content"), name
    assert "(redacted)" in str(table(tmp_path / "out", "records"))
    assert (tmp_path / "out").stat().st_mode & 0o077 == 0


def test_a_torn_tail_is_a_note_and_a_log_entry_keeps_its_further_lines(spark, logs, tmp_path):
    log = logs / "n3000" / "__cluster_metadata-0" / LOG
    log.write_bytes(log.read_bytes()[:-7])
    (logs / "controller.log").write_text(
        "[2026-01-01 00:00:00,001] WARN [C id=1] gone (org.apache.C)\n\tat A\n\tat B\n"
        "[2026-01-01 00:00:00,002] INFO [BrokerLifecycleManager id=1] Successfully registered"
        " broker 1 with broker epoch 7 (kafka.server.BrokerLifecycleManager)\n"
    )
    done = ingest(plan_ingest([logs], tmp_path / "out"), spark)
    assert done.verdict is Verdict.HELD
    notes = [row["note"] for row in table(tmp_path / "out", "files") if row["note"]]
    assert len(notes) == 1
    assert "torn tail" in notes[0]
    name = str(logs / "controller.log")
    (own,) = [f["file_id"] for f in table(tmp_path / "out", "files") if f["path"] == name]
    first, second = [e for e in table(tmp_path / "out", "events") if e["file_id"] == own]
    assert (first["line"], first["level"], first["source"]) == (1, "WARN", "org.apache.C")
    assert first["detail"].splitlines()[0] == "[C id=1] gone"
    assert len(first["detail"].splitlines()) == 3
    assert first["action"] is None
    assert second["line"] == 4
    assert second["action"] == "a process learns its epoch"


def test_a_file_with_more_rows_than_fit_in_memory_is_kept_or_dropped_whole(
    logs, tmp_path, monkeypatch
):
    from krafla.pipeline import parts

    monkeypatch.setattr(parts, "_IN_MEMORY", 50)
    good = logs / "n3000" / "__cluster_metadata-0" / LOG
    bad = logs / "n3001" / "__cluster_metadata-0" / LOG
    bad.parent.mkdir(parents=True)
    bad.write_bytes(good.read_bytes() + b"\xff" * 100)
    plan = plan_ingest([logs], tmp_path / "out")
    done = ingest(plan, Dying(99))
    assert [path for path, _ in done.quarantined] == [str(bad)]
    ids = {row["file_id"] for row in table(tmp_path / "out", "records")}
    assert ids == {source.id for source in plan.listing.sources if source.path == str(good)}


@pytest.mark.parametrize("paths", [["nowhere"], ["empty"]])
def test_nothing_to_read_is_said_at_once(tmp_path, paths):
    (tmp_path / "empty").mkdir()
    with pytest.raises(KraflaError, match=r"no such file|no file that this reads"):
        plan_ingest([tmp_path / path for path in paths], tmp_path / "out")


def test_the_output_must_not_lie_in_what_is_read(logs):
    with pytest.raises(KraflaError, match="must not lie in"):
        plan_ingest([logs], logs / "out")


def test_slices_have_every_source_once_and_about_the_same_size():
    sources = [Source(f"/{n}", FileKind.TRACE, n * 1000, 0) for n in range(100)]
    parts = slices(sources, 7)
    assert sorted(s.path for part in parts for s in part) == sorted(s.path for s in sources)
    sizes = [sum(s.bytes for s in part) for part in parts]
    assert max(sizes) < 1.2 * min(sizes)
    assert parts == slices(sources[::-1], 7)


def test_a_task_that_was_done_is_not_done_again(logs, tmp_path):
    from krafla.pipeline.ingest_task import Slice
    from kraft.records.limits import DEFAULT_LIMITS

    for name in (*SCHEMAS, "slices"):
        (tmp_path / "s" / name).mkdir(parents=True)
    sources = plan_ingest([logs], tmp_path / "out").listing.sources
    work = Slice(0, sources, str(tmp_path / "s"), DEFAULT_LIMITS)
    read_slice(work)
    ledger = (tmp_path / "s" / "slices" / "000000.json").stat().st_mtime_ns
    assert read_slice(work) == 0
    assert (tmp_path / "s" / "slices" / "000000.json").stat().st_mtime_ns == ledger
