"""The tables of a storage's files: what an ingest has, file by file, without Spark."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest
from tests.krafla.pipeline.poison import BOMB_BYTES, LOG, poison
from tests.kraft.records.samples import leader_change

from krafla.pipeline.decode import RecordChoice
from krafla.pipeline.sources import FileKind, Source
from krafla.pipeline.storage import storage_of
from krafla.spark import source_tables
from krafla.spark.source_tables import LOG_SCHEMAS, Share, TableQuestion, file_batches
from krafla.verdict import KraflaError
from kraft.log.segment import iter_batches
from kraft.records.builder import metadata_batch
from kraft.records.limits import Limits

REAL = Path(__file__).parents[3] / "traces" / "kafka-4.1"


def listed(folder):
    storage = storage_of(str(folder), {})
    return storage, storage.list(str(folder)).sources


def table(folder, name, **question):
    storage, sources = listed(folder)
    asked = TableQuestion(name, **question)
    found = [b for one in sources for b in file_batches(storage, Share(one), asked)]
    assert all(batch.schema == LOG_SCHEMAS[name] for batch in found)
    return [row for batch in found for row in batch.to_pylist()]


@pytest.fixture
def logs(tmp_path):
    return Path(shutil.copytree(REAL / "crash", tmp_path / "logs" / "crash"))


def test_the_counts_of_files_are_the_rows_of_the_other_tables(logs):
    files = table(logs, "files")
    assert {row["status"] for row in files} == {"good"}
    for name in ("records", "batches", "events"):
        rows = table(logs, name)
        assert rows
        assert Counter(row["path"] for row in rows) == Counter(
            {row["path"]: row[name] for row in files if row[name]}
        )
        assert {row["file_id"] for row in rows} <= {row["file_id"] for row in files}
    assert table(logs, "quarantine") == []
    (log,) = logs.glob("*/__cluster_metadata-0/*.log")
    content = [row for row in table(logs, "content") if row["path"] == str(log)]
    assert b"".join(row["content"] for row in content) == log.read_bytes()


def test_equal_files_of_one_name_have_one_key(logs):
    shutil.copytree(logs, logs.parent / "backup")
    files = table(logs.parent, "files")
    assert len({row["path"] for row in files}) == len(files)
    assert all(count == 2 for count in Counter(row["file_id"] for row in files).values())


def test_a_file_with_a_fault_has_no_rows_but_in_the_tables_of_files(logs):
    found = poison(logs.parent / "poison", next(logs.glob("*/__cluster_metadata-0/*.log")))
    limits = Limits(file_bytes=BOMB_BYTES // 2)
    bad = table(logs.parent, "quarantine", limits=limits)
    assert {row["path"] for row in bad} == set(map(str, found))
    for row in bad:
        assert found[Path(row["path"])] in row["reason"], row["path"]
    assert Counter(row["stage"] for row in bad) == {"decode": len(found) - 2, "open": 2}
    for name in ("records", "batches", "events"):
        assert table(logs.parent, name, limits=limits) == table(logs, name)
    files = {row["path"]: row for row in table(logs.parent, "files", limits=limits)}
    assert {path for path, row in files.items() if row["status"] == "quarantined"} == {
        row["path"] for row in bad
    }
    assert all(files[row["path"]]["records"] == 0 for row in bad)


def test_a_fault_is_an_error_with_its_place_where_that_is_asked_for(logs):
    (log,) = logs.glob("*/__cluster_metadata-0/*.log")
    raw = bytearray(log.read_bytes())
    raw[-1] ^= 1
    log.write_bytes(raw)
    for name in ("records", "batches"):
        with pytest.raises(KraflaError, match="CRC-32C") as caught:
            table(logs, name, fails=True)
        assert caught.value.place == str(log)
        assert "byte" in caught.value.message
    assert len(table(logs, "quarantine", fails=True)) == 1
    os.mkfifo(logs / "x.log")
    with pytest.raises(KraflaError, match="not a regular file"):
        table(logs / "x.log", "events", fails=True)


def rows_of_parts(storage, source, parts, **question):
    """Return the rows of each part of a file."""
    asked = TableQuestion("records", **question)
    return [
        [
            row
            for batch in file_batches(storage, Share(source, part, parts), asked)
            for row in batch.to_pylist()
        ]
        for part in range(parts)
    ]


@pytest.mark.parametrize("parts", [1, 2, 5])
@pytest.mark.parametrize(("fails", "in_memory"), [(True, 0), (False, 0), (False, 10**9)])
def test_the_parts_of_a_file_have_its_rows_once(logs, parts, fails, in_memory, monkeypatch):
    monkeypatch.setattr(source_tables, "_IN_MEMORY", in_memory)
    monkeypatch.setattr(source_tables, "PART_PIECE_BYTES", 900)
    (log,) = logs.glob("*/__cluster_metadata-0/*.log")
    storage, (source,) = listed(log)
    wanted = table(log, "records")
    found = rows_of_parts(storage, source, parts, fails=fails)
    assert [row for rows in found for row in rows] == wanted
    assert all(0 < len(rows) <= 2 * len(wanted) // parts for rows in found)
    assert {row["file_id"] for rows in found for row in rows} == {wanted[0]["file_id"]}


def test_no_part_of_a_file_with_a_fault_has_rows(logs, monkeypatch):
    monkeypatch.setattr(source_tables, "PART_PIECE_BYTES", 900)
    (log,) = logs.glob("*/__cluster_metadata-0/*.log")
    whole = bytearray(log.read_bytes())
    for at in (-1, 90):
        raw = bytearray(whole)
        raw[at] ^= 1
        log.write_bytes(raw)
        storage, (source,) = listed(log)
        assert rows_of_parts(storage, source, 4) == [[]] * 4


def test_parts_of_a_log_that_grows_meanwhile_see_what_was_listed(logs):
    (log,) = logs.glob("*/__cluster_metadata-0/*.log")
    storage, (source,) = listed(log)
    wanted = table(log, "records")
    whole = log.read_bytes()
    log.write_bytes(whole + metadata_batch(10_000, 99, 0, [(20, 0, {})]))
    asked = TableQuestion("records", fails=True)
    found = [
        row
        for part in (0, 1)
        for batch in file_batches(storage, Share(source, part, 2), asked)
        for row in batch.to_pylist()
    ]
    assert found == wanted
    log.write_bytes(whole[:-100])
    with pytest.raises(KraflaError, match="shorter"):
        list(file_batches(storage, Share(source, 0, 2), asked))


def test_a_name_that_is_not_utf_8_is_a_fault_of_its_own(tmp_path):
    (tmp_path / os.fsdecode(b"\xff.log")).write_text("x")
    (row,) = table(tmp_path, "quarantine")
    assert (row["stage"], row["path"]) == ("name", f"{tmp_path}/\\udcff.log")
    assert table(tmp_path, "events") == []
    (file,) = table(tmp_path, "files")
    assert (file["status"], file["file_id"]) == ("quarantined", None)


def test_what_is_unfinished_is_named_and_not_read(logs):
    folder = next(logs.glob("*/__cluster_metadata-0"))
    (folder / "00000000000000000009.log.deleted").write_bytes(b"x")
    rows = [row for row in table(logs, "files") if row["kind"] == FileKind.UNFINISHED.value]
    assert [(row["note"], row["sha256"]) for row in rows] == [
        ("unfinished or being removed: not read", None)
    ]


def test_a_file_above_the_cap_is_not_even_copied(logs):
    (log,) = logs.glob("*/__cluster_metadata-0/*.log")
    (row,) = table(log, "quarantine", limits=Limits(file_bytes=100))
    assert (row["stage"], row["file_id"]) == ("open", None)
    assert row["reason"] == "the file has more than 100 bytes"
    assert table(log, "content", limits=Limits(file_bytes=100)) == []


def test_secrets_are_in_no_row_unless_they_are_asked_for(tmp_path):
    secret = (4, 0, {"name": "ssl.key.password", "value": "CANARY", "resourceName": "x"})
    (tmp_path / LOG).write_bytes(leader_change() + metadata_batch(1, 1, 0, [secret]))
    for name in LOG_SCHEMAS:
        assert ("CANARY" in str(table(tmp_path, name))) == (name == "content"), name
    assert "CANARY" in str(table(tmp_path, "records", choice=RecordChoice(secrets=True)))


def test_batches_stay_small_whatever_the_file(logs, monkeypatch):
    monkeypatch.setattr(source_tables, "_BATCH_ROWS", 10)
    (log,) = logs.glob("*/__cluster_metadata-0/*.log")
    storage, (source,) = listed(log)
    sizes = [b.num_rows for b in file_batches(storage, Share(source), TableQuestion("records"))]
    assert max(sizes) == 10
    assert sum(sizes) == sum(batch.count for batch in iter_batches(log))
    assert isinstance(source, Source)
    assert pa.schema(LOG_SCHEMAS["records"]).names[-2:] == ["path", "generation"]
