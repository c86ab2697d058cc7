"""Growing logs as a stream: each batch once, whatever comes when, and whoever dies between."""

from __future__ import annotations

import json
import os
import pickle
import shutil
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krafla.spark.log_source import KraftLogSource
from krafla.verdict import KraflaError
from kraft.log.checkpoint import read_checkpoint
from kraft.log.segment import iter_batches
from kraft.records.builder import metadata_batch

pytest.importorskip("pyspark", reason="the extra `spark` is not installed")

REAL = Path(__file__).parents[3] / "traces" / "kafka-4.1" / "failover" / "n3002"
FOLDER = "__cluster_metadata-0"
SEGMENTS = sorted((REAL / FOLDER).glob("*.log"))
CHECKPOINTS = sorted((REAL / FOLDER).glob("*.checkpoint"))


class Query:
    """What Spark does with a stream: offsets to disk, then the rows between two of them."""

    def __init__(self, root, table="batches", **options):
        self.options = {"path": str(root), "table": table, "settleSeconds": "0", **options}
        self.log = []
        self.rows = []
        self.start()

    def start(self):
        """Start the query, again after a death: all that is kept are the offsets."""
        source = KraftLogSource(self.options)
        self.reader = source.streamReader(source.schema())
        if not self.log:
            self.log.append(json.dumps(self.reader.initialOffset()))

    def batch(self, limit=None):
        """Play one batch; return its rows, None without a new offset."""
        start = json.loads(self.log[-1])
        end = self.reader.latestOffset(start, limit or self.reader.getDefaultReadLimit())
        if json.dumps(end) == self.log[-1]:
            return None
        self.log.append(json.dumps(end))
        found = self.replay(-1)
        self.rows += found
        return found

    def replay(self, number):
        """Return the rows between two offsets of the log, as a query that starts again has them."""
        start, end = (json.loads(self.log[at]) for at in (number - 1, number))
        rows = []
        for partition in self.reader.partitions(start, end):
            for batch in self.reader.read(pickle.loads(pickle.dumps(partition))):
                rows += batch.to_pylist()
        return rows

    def all(self):
        """Play batches until there is nothing new; return all rows since the query began."""
        while self.batch() is not None:
            pass
        return self.rows


def crcs(rows):
    return Counter((row["path"], row["generation"], row["crc"]) for row in rows)


def truth(*paths, generation=0):
    found = Counter()
    for path in paths:
        read = read_checkpoint if path.suffix == ".checkpoint" else iter_batches
        found += Counter((str(path), generation, batch.crc) for batch in read(path))
    return found


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / FOLDER
    place.mkdir()
    return place


def test_all_files_that_are_there_are_given_once(folder):
    for path in [*SEGMENTS, *CHECKPOINTS]:
        shutil.copy(path, folder)
    query = Query(folder.parent)
    query.all()
    assert crcs(query.rows) == truth(*folder.iterdir())
    assert query.batch() is None


@given(data=st.data())
def test_each_batch_is_given_once_however_logs_grow_and_queries_die(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("logs") / FOLDER
    folder.mkdir()
    contents = {folder / path.name: path.read_bytes() for path in SEGMENTS}
    written = dict.fromkeys(contents, 0)
    query = Query(folder.parent, **data.draw(
        st.sampled_from([{}, {"maxBytesPerTrigger": "700"}, {"maxBytesPerTrigger": "20000"}])
    ))  # fmt: skip
    for _ in range(data.draw(st.integers(1, 6))):
        path = data.draw(st.sampled_from(sorted(contents)))
        content = contents[path]
        more = min(written[path] + data.draw(st.integers(1, 30_000)), len(content))
        path.write_bytes(content[:more])
        written[path] = more
        if data.draw(st.booleans()):
            query.batch()
        if data.draw(st.booleans()):
            # The query dies after its offset was written: its rows are asked for again.
            last = query.replay(-1) if len(query.log) > 1 else []
            query.start()
            assert last == (query.replay(-1) if len(query.log) > 1 else [])
    for path, content in contents.items():
        path.write_bytes(content)
        os.utime(path)
    assert crcs(query.all()) == truth(*contents)
    positions = [(row["path"], row["position"]) for row in query.rows]
    for path in contents:
        own = [at for place, at in positions if place == str(path)]
        assert own == sorted(own)


def test_a_torn_tail_waits_and_a_batch_is_not_given_before_it_is_whole(folder):
    path, content = folder / SEGMENTS[0].name, SEGMENTS[0].read_bytes()
    batches = list(iter_batches(SEGMENTS[0]))
    query = Query(folder.parent)
    for cut in (10, 40, 90, batches[0].size, batches[1].position + 61, batches[2].position - 1):
        path.write_bytes(content[:cut])
        query.batch()
        whole = [batch.crc for batch in batches if batch.position + batch.size <= cut]
        assert [row["crc"] for row in query.rows] == whole
    # The byte that is missing is a zero.
    path.write_bytes(content[:cut] + bytes(5_000))
    assert [row["crc"] for row in query.all()] == [batch.crc for batch in batches[:2]]
    assert len(Query(folder.parent, "content", secrets="show").all()) == 2
    path.write_bytes(content)
    assert crcs(query.all()) == truth(path)
    assert Query(folder.parent, "quarantine").all() == []


def test_a_limit_on_bytes_is_kept_to_the_batch_and_every_batch_still_comes(folder):
    shutil.copy(SEGMENTS[0], folder)
    query = Query(folder.parent, maxBytesPerTrigger="2000")
    largest = max(batch.size for batch in iter_batches(SEGMENTS[0]))
    while (found := query.batch()) is not None:
        assert sum(row["size"] for row in found) <= 2000 + largest
    assert len(query.log) > 5
    assert crcs(query.rows) == truth(folder / SEGMENTS[0].name)


def test_available_now_takes_what_is_there_and_nothing_that_comes_later(folder):
    path = folder / SEGMENTS[0].name
    content = SEGMENTS[0].read_bytes()
    path.write_bytes(content[:5_000])
    query = Query(folder.parent, maxBytesPerTrigger="1000")
    query.reader.prepareForTriggerAvailableNow()
    query.batch()
    path.write_bytes(content)
    shutil.copy(SEGMENTS[1], folder)
    query.all()
    assert max(row["position"] + row["size"] for row in query.rows) <= 5_000
    query.start()
    assert crcs(query.all()) == truth(*folder.iterdir())


def test_late_repeated_and_reordered_files_are_given_once(folder):
    query = Query(folder.parent)
    shutil.copy(SEGMENTS[1], folder)
    query.all()
    shutil.copy(SEGMENTS[0], folder)
    shutil.copy(CHECKPOINTS[0], folder)
    query.all()
    for path in [*SEGMENTS, *CHECKPOINTS[:1]]:
        place = folder / path.name
        place.unlink()
        query.all()
        shutil.copyfile(path, place)
        os.utime(place, ns=(1, 1))
        assert query.all()
    assert crcs(query.rows) == truth(*folder.iterdir())


def test_a_log_that_was_cut_back_is_given_again_as_another_generation(folder):
    path = folder / SEGMENTS[0].name
    batches = list(iter_batches(SEGMENTS[0]))
    path.write_bytes(b"".join(batch.raw for batch in batches[:10]))
    query = Query(folder.parent)
    query.all()
    before = truth(path)
    other = metadata_batch(batches[9].base_offset, 99, 0, [(20, 0, {})] * batches[9].count)
    path.write_bytes(b"".join(batch.raw for batch in batches[:9]) + other * 3)
    query.all()
    kept = Counter({(str(path), 1, b.crc): 1 for b in batches[:9]})
    again = {key: n for key, n in crcs(query.rows).items() if key[1] == 1}
    assert crcs(query.rows) - Counter(again) == before
    assert kept <= Counter(again)
    path.write_bytes(b"")
    query.all()
    shutil.copy(SEGMENTS[0], path)
    assert {row["generation"] for row in query.all()} == {0, 1, 2}


@pytest.mark.parametrize("shorter", [True, False])
def test_a_log_that_is_cut_back_between_look_and_read_is_given_from_its_beginning(folder, shorter):
    path, batches = folder / SEGMENTS[0].name, list(iter_batches(SEGMENTS[0]))
    path.write_bytes(b"".join(batch.raw for batch in batches[:10]))
    query = Query(folder.parent, "content", secrets="show")
    query.all()
    path.write_bytes(b"".join(batch.raw for batch in batches[:20]))
    start = json.loads(query.log[-1])
    query.log.append(
        json.dumps(query.reader.latestOffset(start, query.reader.getDefaultReadLimit()))
    )
    # The leader of a later epoch has other batches, of other sizes.
    other = metadata_batch(batches[9].base_offset, 99, 0, [(20, 0, {})] * batches[9].count)
    path.write_bytes(b"".join(batch.raw for batch in batches[:9]) + other * (1 if shorter else 90))
    assert query.replay(-1) == []
    again = query.all()
    assert [row["generation"] for row in again[10:]] == [1] * len(again[10:])
    assert b"".join(row["content"] for row in again[10:]) == path.read_bytes()


def test_a_tampered_batch_is_in_quarantine_and_the_others_are_given_in_any_stretches(folder):
    path = folder / SEGMENTS[0].name
    batches = list(iter_batches(SEGMENTS[0]))
    raw = bytearray(SEGMENTS[0].read_bytes())
    bad = batches[7]
    raw[bad.position + bad.size - 1] ^= 1
    found = []
    for options in ({}, {"maxBytesPerTrigger": "300"}):
        path.write_bytes(raw)
        query = Query(folder.parent, **options)
        expected = Counter(
            (str(path), 0, batch.crc) for batch in batches if batch is not bad
        )  # fmt: skip
        assert crcs(query.all()) == expected
        (fault,) = Query(folder.parent, "quarantine", **options).all()
        assert "CRC-32C" in fault["reason"]
        assert f"batch at offset {bad.base_offset}" in fault["place"]
        assert f"byte {bad.position + 17}" in fault["place"]
        found.append(fault)
        content = Query(folder.parent, "content", secrets="show", **options).all()
        assert b"".join(row["content"] for row in content) == bytes(raw)
    assert found[0] == found[1]
    with pytest.raises(KraflaError, match="CRC-32C"):
        Query(folder.parent, mode="FAILFAST").all()


def test_a_gap_across_stretches_is_told_as_in_the_whole_file(folder):
    path = folder / SEGMENTS[0].name
    batches = list(iter_batches(SEGMENTS[0]))
    query = Query(folder.parent, "quarantine")
    path.write_bytes(b"".join(batch.raw for batch in batches[:5]))
    assert query.all() == []
    path.write_bytes(b"".join(batch.raw for batch in [*batches[:5], *batches[6:9]]))
    (fault,) = query.all()
    assert "offset gap" in fault["reason"]
    assert fault["place"].startswith(f"byte {batches[5].position}")


def test_what_is_no_batch_is_given_over_once_and_what_follows_a_closed_log_is_not_awaited(folder):
    path = folder / SEGMENTS[0].name
    whole = SEGMENTS[0].read_bytes()
    path.write_bytes(whole + b"\xff" * 100)
    content = Query(folder.parent, "content", secrets="show")
    assert b"".join(row["content"] for row in content.all()) == whole + b"\xff" * 100
    assert content.batch() is None
    (fault,) = Query(folder.parent, "quarantine").all()
    assert "length" in fault["reason"]
    waiting = Query(folder.parent, "content", secrets="show", settleSeconds="9999")
    assert b"".join(row["content"] for row in waiting.all()) == whole
    path.write_bytes(whole[:-7])
    torn = Query(folder.parent, "content", secrets="show")
    assert len(b"".join(row["content"] for row in torn.all())) < len(whole) - 7
    shutil.copy(SEGMENTS[1], folder)
    torn.all()
    own = b"".join(row["content"] for row in torn.rows if row["path"] == str(path))
    assert own == whole[:-7]


def test_a_checkpoint_comes_when_it_has_settled_and_faults_come_as_of_the_whole(folder):
    shutil.copy(CHECKPOINTS[0], folder)
    assert Query(folder.parent, settleSeconds="9999999999").all() == []
    query = Query(folder.parent)
    assert crcs(query.all()) == truth(folder / CHECKPOINTS[0].name)
    (folder / CHECKPOINTS[1].name).write_bytes(CHECKPOINTS[1].read_bytes()[:-30])
    assert len(query.all()) == truth(folder / CHECKPOINTS[0].name).total()
    (fault,) = Query(folder.parent, "quarantine").all()
    assert fault["path"].endswith(CHECKPOINTS[1].name)


def test_a_stretch_that_is_gone_is_an_error_and_no_loss(folder):
    path = folder / SEGMENTS[0].name
    shutil.copy(SEGMENTS[0], path)
    query = Query(folder.parent)
    query.batch()
    path.write_bytes(path.read_bytes()[:-500])
    with pytest.raises(KraflaError, match="cut back since it was listed"):
        query.replay(-1)


@pytest.mark.parametrize("table", ["batches", "records", "content"])
def test_a_segment_that_kafka_removes_before_it_is_read_ends_no_stream(folder, table):
    first, second = (folder / one.name for one in SEGMENTS[:2])
    shutil.copy(SEGMENTS[0], first)
    shutil.copy(SEGMENTS[1], second)
    query = Query(folder.parent, table, secrets="show")
    start = json.loads(query.log[-1])
    end = query.reader.latestOffset(start, query.reader.getDefaultReadLimit())
    query.log.append(json.dumps(end))
    first.unlink()
    assert {row["path"] for row in query.replay(-1)} == {str(second)}
    assert query.batch() is None


def test_a_file_that_cannot_be_opened_is_told_once(folder):
    os.mkfifo(folder / SEGMENTS[0].name)
    query = Query(folder.parent, "quarantine")
    (fault,) = query.all()
    assert (fault["stage"], fault["reason"]) == ("open", "not a regular file")
    assert query.batch() is None


def test_a_stream_has_no_table_of_whole_files(folder):
    for table in ("files", "events"):
        with pytest.raises(KraflaError, match="a stream has no table"):
            Query(folder.parent, table)
    with pytest.raises(KraflaError, match="secrets=show"):
        Query(folder.parent, "content")
