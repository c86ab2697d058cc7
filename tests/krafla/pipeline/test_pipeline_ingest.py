"""An ingest: every file counted once, what is broken in quarantine, nothing read by halves."""

from __future__ import annotations

import gzip
import os
import shutil
from collections import Counter
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.krafla.pipeline.poison import BOMB_BYTES, LOG, TRACE, poison
from tests.kraft.records.samples import leader_change

from krafla.pipeline import ingest as ingest_module
from krafla.pipeline import load as load_module
from krafla.pipeline.file_copy import copied
from krafla.pipeline.ingest import ingest, open_store
from krafla.pipeline.known_files import current_files, last_number, listed_places
from krafla.pipeline.sources import find_sources
from krafla.pipeline.storage import storage_of
from krafla.pipeline.store import Commit, Store
from krafla.pipeline.tables import CONTENT, SCHEMAS, spark_schema
from krafla.verdict import KraflaError, Verdict
from kraft.log.directory import find_metadata_logs, read_metadata_log
from kraft.records.builder import metadata_batch
from kraft.records.limits import DEFAULT_LIMITS

pytestmark = pytest.mark.xdist_group("spark")


def table(spark, out, name):
    """Return the rows of a table in a new look at a store."""
    return [row.asDict() for row in open_store(spark, str(out)).read(name).collect()]


def rows_without(rows, *columns):
    return sorted(str(sorted((k, v) for k, v in row.items() if k not in columns)) for row in rows)


def test_the_tables_hold_what_a_single_process_decodes(spark, logs, tmp_path):
    out = str(tmp_path / "out")
    done = ingest(spark, [str(logs)], out)
    (log,) = find_metadata_logs(logs)
    batches = list(read_metadata_log(log))
    expected = sorted(
        r.offset for b in batches for r in [*b.metadata_records(), *b.control_records()]
    )
    assert done.verdict is Verdict.HELD
    segments = [row["file_id"] for row in table(spark, out, "files") if row["kind"] == "segment"]
    of_log = [row for row in table(spark, out, "records") if row["file_id"] in segments]
    assert sorted(row["offset"] for row in of_log) == expected
    crcs = [row["crc"] for row in table(spark, out, "batches") if row["file_id"] in segments]
    assert sorted(crcs) == sorted(b.crc for b in batches)
    files = table(spark, out, "files")
    assert {row["status"] for row in files} == {"good"}
    paths = [one.path for one in find_sources([logs]).sources]
    assert sorted(row["path"] for row in files) == paths
    for name, count in done.rows.items():
        assert sum(row[name] for row in files) == count == len(table(spark, out, name))
    for name in SCHEMAS:
        read = open_store(spark, out).read(name).schema.fieldNames()
        assert read == [*spark_schema(name).fieldNames(), "load"]


def test_every_poison_goes_to_quarantine_with_its_reason_and_the_rest_is_untouched(
    spark, logs, tmp_path
):
    alone = ingest(spark, [str(logs)], str(tmp_path / "alone"))
    found = poison(logs.parent / "poison", logs / "n3000" / "__cluster_metadata-0" / LOG)
    out = str(tmp_path / "out")
    done = ingest(spark, [str(logs.parent)], out, file_bytes_max=BOMB_BYTES // 2)
    reasons = dict(done.quarantined)
    assert sorted(reasons) == sorted(map(str, found))
    for path, word in found.items():
        assert word in reasons[str(path)], path
    assert done.files == done.good + len(found)
    assert (done.good, done.rows) == (alone.good, alone.rows)
    assert done.verdict is Verdict.INCONCLUSIVE
    rows = table(spark, out, "quarantine")
    assert Counter(row["stage"] for row in rows) == {"decode": len(found) - 2, "open": 2}
    again = ingest(spark, [str(logs.parent)], out, file_bytes_max=BOMB_BYTES // 2)
    assert (again.new, again.quarantined) == (0, done.quarantined)


@pytest.mark.nightly
def test_a_poisoned_file_among_a_thousand_is_the_one_in_quarantine(spark, tmp_path):
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(999):
        (folder / f"{number}.log").write_text(f"[2026-01-01 00:00:00,000] INFO n {number} (k.K)\n")
    (folder / "bad.log.gz").write_bytes(gzip.compress(b"x" * 100)[:20])
    done = ingest(spark, [str(folder)], str(tmp_path / "out"))
    assert (done.files, done.good, done.rows["events"]) == (1000, 999, 999)
    ((path, reason),) = done.quarantined
    assert path == str(folder / "bad.log.gz")
    assert "gzip" in reason


class DiedError(Exception):
    """A driver dies."""


@pytest.mark.nightly  # it starts a Spark of its own
def test_what_a_killed_driver_left_is_taken_up_and_gives_the_same_tables(
    spark, logs, tmp_path, monkeypatch
):
    monkeypatch.setattr(ingest_module, "_LOAD_FILES", 3)
    whole = ingest(spark, [str(logs)], str(tmp_path / "whole"))
    out = str(tmp_path / "out")
    commit = Store.commit

    def dies(store, load, kind, facts):
        if len(store.commits()) == 1:
            raise DiedError
        return commit(store, load, kind, facts)

    with monkeypatch.context() as patched:
        patched.setattr(Store, "commit", dies)
        with pytest.raises(DiedError):
            ingest(spark, [str(logs)], out)
    # The load that was at its last step has written its rows, and nobody sees them.
    assert len(table(spark, out, "files")) == 3
    assert len(list(Path(out, "files").glob("load=*"))) == 2
    done = ingest(spark, [str(logs)], out)
    assert (done.new, done.files) == (whole.files - 3, whole.files)
    for name in SCHEMAS:
        ours, theirs = (table(spark, place, name) for place in (out, tmp_path / "whole"))
        assert rows_without(ours, "milliseconds") == rows_without(theirs, "milliseconds"), name


def test_equal_contents_are_stored_and_decoded_once(spark, logs, tmp_path):
    for node in logs.iterdir():
        if node.name != "n3000":
            shutil.rmtree(node)
    shutil.copytree(logs / "n3000", logs / "n3001")
    out = str(tmp_path / "out")
    done = ingest(spark, [str(logs)], out)
    files = table(spark, out, "files")
    ids = {row["file_id"] for row in files}
    assert done.files == len(files) == 2 * len(ids)
    assert len(table(spark, out, "content")) == len(ids)
    shutil.copytree(logs / "n3000", logs / "n3002")
    again = ingest(spark, [str(logs)], out)
    assert (again.new, again.rows) == (len(ids), dict.fromkeys(done.rows, 0))
    assert len(table(spark, out, "content")) == len(ids)
    counts = [(row["status"], row["records"]) for row in table(spark, out, "files")]
    assert Counter(counts) == Counter([c for c in counts[: len(ids)] for _ in range(3)])


def test_a_file_that_has_grown_is_read_again_and_its_last_state_counts(spark, logs, tmp_path):
    out = str(tmp_path / "out")
    log = logs / "n3000" / "__cluster_metadata-0" / LOG
    whole = log.read_bytes()
    log.write_bytes(whole[:-9])
    ingest(spark, [str(logs)], out)
    log.write_bytes(whole)
    done = ingest(spark, [str(logs)], out)
    assert done.new == 1
    files = current_files(open_store(spark, out)).where(f"path = '{log}'").collect()
    assert [(row["bytes"], row["note"]) for row in files] == [(len(whole), "")]
    assert len(table(spark, out, "files")) == done.files + 1


def test_secrets_stay_out_of_every_table_but_the_bytes_of_the_log(spark, tmp_path):
    path = tmp_path / "logs" / "__cluster_metadata-0" / LOG
    path.parent.mkdir(parents=True)
    secret = (4, 0, {"name": "ssl.key.password", "value": "CANARY", "resourceName": "x"})
    path.write_bytes(leader_change() + metadata_batch(1, 1, 0, [secret]))
    ingest(spark, [str(path.parent)], str(tmp_path / "out"))
    for name in SCHEMAS:
        found = table(spark, tmp_path / "out", name)
        assert ("CANARY" in str(found)) == (name == "content"), name
    assert "(redacted)" in str(table(spark, tmp_path / "out", "records"))


def test_a_torn_tail_is_a_note_and_a_log_entry_keeps_its_further_lines(spark, logs, tmp_path):
    log = logs / "n3000" / "__cluster_metadata-0" / LOG
    log.write_bytes(log.read_bytes()[:-7])
    (logs / "controller.log").write_text(
        "[2026-01-01 00:00:00,001] WARN [C id=1] gone (org.apache.C)\n\tat A\n\tat B\n"
        "[2026-01-01 00:00:00,002] INFO [BrokerLifecycleManager id=1] Successfully registered"
        " broker 1 with broker epoch 7 (kafka.server.BrokerLifecycleManager)\n"
    )
    done = ingest(spark, [str(logs)], str(tmp_path / "out"))
    assert done.verdict is Verdict.HELD
    files = table(spark, tmp_path / "out", "files")
    (torn,) = [row["path"] for row in files if "torn tail" in row["note"]]
    assert torn == str(log)
    name = str(logs / "controller.log")
    (own,) = [f["file_id"] for f in files if f["path"] == name]
    events = [e for e in table(spark, tmp_path / "out", "events") if e["file_id"] == own]
    first, second = sorted(events, key=lambda event: event["line"])
    assert (first["line"], first["level"], first["source"]) == (1, "WARN", "org.apache.C")
    assert first["detail"].splitlines()[0] == "[C id=1] gone"
    assert len(first["detail"].splitlines()) == 3
    assert first["action"] is None
    assert second["line"] == 4
    assert second["action"] == "a process learns its epoch"


@pytest.mark.parametrize("change", [5, 15, None])
def test_a_file_that_changes_while_it_is_read_gives_the_bytes_that_it_had(tmp_path, change):
    path = tmp_path / "one.log"
    path.write_bytes(b"0123456789")
    with storage_of(str(path), {}).open(str(path)) as file:
        if change is not None:
            os.truncate(path, change)
        with copied(file, DEFAULT_LIMITS) as copy:
            content = copy.stream.read()
    assert content == b"0123456789"[:change]
    assert (copy.size, copy.sha256) == (len(content), sha256(content).hexdigest())
    assert copy.has_changed == (change is not None)


@pytest.mark.parametrize("path", ["nowhere", "empty"])
def test_nothing_to_read_is_said_at_once(spark, tmp_path, path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(KraflaError, match=r"no such file|no file that this reads"):
        ingest(spark, [str(tmp_path / path)], str(tmp_path / "out"))


def test_the_output_must_not_lie_in_what_is_read(spark, logs):
    with pytest.raises(KraflaError, match="must not lie in"):
        ingest(spark, [str(logs)], str(logs / "out"))


@pytest.mark.nightly
def test_what_is_gone_when_its_source_is_listed_again_is_not_audited(spark, logs, tmp_path):
    out = str(tmp_path / "out")
    again = Path(shutil.copytree(logs, tmp_path / "logs" / "again"))
    ingest(spark, [str(tmp_path / "logs")], out)
    store = open_store(spark, out)
    count, places = current_files(store).count(), listed_places(store).logs
    shutil.rmtree(again)
    assert ingest(spark, [str(tmp_path / "logs")], out).new == 0
    store = open_store(spark, out)
    left = {row["path"] for row in current_files(store).collect()}
    assert left
    assert 2 * len(left) == count
    assert not any(path.startswith(str(again)) for path in left)
    logs_left = [place for place in places if not place.startswith(str(again))]
    assert listed_places(store).logs == logs_left
    shutil.copytree(logs, again)
    assert ingest(spark, [str(tmp_path / "logs")], out).new == len(left)
    store = open_store(spark, out)
    assert current_files(store).count() == count
    assert listed_places(store).logs == places
    contents = store.read(CONTENT).where("number = 0").groupBy("file_id").count()
    assert contents.where("count > 1").count() == 0


def test_the_ingests_of_a_store_before_they_had_numbers_come_first():
    facts = {"roots": ["/a"], "links": []}
    loads = [
        Commit("1", "ingest", (), facts | {"logs": ["/a/new"], "number": 1}),
        Commit("2", "ingest", (), facts | {"logs": ["/a/old"]}),
    ]
    store = SimpleNamespace(commits=lambda *_: loads)
    assert last_number(store) == 1
    assert listed_places(store).logs == ["/a/new"]
    loads.pop(0)
    assert last_number(store) == 0
    assert listed_places(store).logs == ["/a/old"]


@pytest.mark.nightly
def test_an_ingest_beside_another_one_commits_nothing(spark, logs, tmp_path, monkeypatch):
    out = str(tmp_path / "out")
    check = load_module._check

    def meanwhile(*known):
        open_store(spark, out).commit("other", "ingest", {"number": 1, "roots": []})
        check(*known)

    monkeypatch.setattr(load_module, "_check", meanwhile)
    with pytest.raises(KraflaError, match="another ingest has added files meanwhile"):
        ingest(spark, [str(logs)], out)
    assert [one.load for one in open_store(spark, out).commits()] == ["other"]


def test_a_content_that_changed_after_it_was_listed_is_not_called_good(
    spark, logs, tmp_path, monkeypatch
):
    stored = load_module._stored

    def lost(*known):
        lines, new = stored(*known)
        return lines, new | {"0" * 32}

    monkeypatch.setattr(load_module, "_stored", lost)
    with pytest.raises(KraflaError, match="a file changed between two readings of it"):
        ingest(spark, [str(logs)], str(tmp_path / "out"))


@pytest.mark.nightly
def test_a_file_that_comes_back_as_it_was_is_there_again(spark, logs, tmp_path):
    out, trace = str(tmp_path / "out"), logs / "kept.ndjson"
    ingest(spark, [str(logs)], out)
    shutil.copy(TRACE, trace)
    assert ingest(spark, [str(logs)], out).new == 1
    trace.rename(tmp_path / "kept.ndjson")
    assert ingest(spark, [str(logs)], out).new == 0
    (tmp_path / "kept.ndjson").rename(trace)
    assert ingest(spark, [str(logs)], out).new == 1
    assert current_files(open_store(spark, out)).where(f"path = '{trace}'").count() == 1
