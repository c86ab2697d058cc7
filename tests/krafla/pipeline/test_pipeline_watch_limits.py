"""What a watch says where it keeps, compares or reads no more; what later comes to that."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest
from tests.krafla.pipeline.watches import CRASH, NO_OP, Cells, Watch, at_offset, log_of, node, raw

from krafla.audit.specs import LoadingSpec
from krafla.pipeline import storage
from krafla.pipeline.watch import cells, marks
from krafla.verdict import KraflaError
from kraft.errors import UnreadableFileError
from kraft.records.batch import CRC_START
from kraft.records.builder import metadata_batch

pytest.importorskip("pyspark", reason="the extra `spark` is not installed")


@pytest.fixture(scope="module")
def loading() -> LoadingSpec:
    return LoadingSpec()


def test_marks_are_forgotten_far_behind_the_newest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(marks, "_BLOCKS", 2)
    own = Cells()
    known = marks.Marks(own, 0)
    first, near, far = at_offset(0), at_offset(4096), at_offset(3 * 4096)
    assert known.note(first, 0).is_new
    assert known.note(near, 0).is_new
    known.put()
    again = marks.Marks(own, known.newest)
    assert again.note(first, 1) == marks.Sighting()
    assert again.note(far, 0).is_new
    assert again.note(first, 1).is_forgotten
    again.put()
    assert sorted(own) == ["marks/3"]


def test_what_waits_is_kept_between_triggers(tmp_path: Path, loading: LoadingSpec) -> None:
    folder, log = node(tmp_path, CRASH), log_of(CRASH)
    (folder / f"{log[20].base_offset:020d}.log").write_bytes(raw(log[20:40]))
    watch = Watch(tmp_path, loading).all()
    (folder / f"{0:020d}.log").write_bytes(raw(log[:20]))
    row = watch.all().of(folder)
    assert row["judged_to"] == log[39].next_offset


def test_more_than_may_wait_behind_a_fault_ends_the_judging_and_the_fault_stays_said(
    tmp_path: Path, loading: LoadingSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("krafla.pipeline.watch.directory.WAITING_BYTES", 3000)
    folder, log = node(tmp_path, CRASH), log_of(CRASH)
    spoiled = bytearray(raw(log[:21]))
    spoiled[log[20].position + CRC_START] ^= 1
    (folder / f"{0:020d}.log").write_bytes(spoiled)
    (folder / f"{log[21].base_offset:020d}.log").write_bytes(raw(log[21:]))
    row = Watch(tmp_path, loading).all().of(folder)
    assert [one["kind"] for one in row["findings"]] == ["corrupt", "not judged"]
    assert row["findings"][1]["detail"].startswith("a fault is not mended, and more than")
    assert (row["phase"], row["judged_to"]) == (cells.LOST, log[20].base_offset)
    assert (row["waiting"], row["unjudged"]) == (0, len(log[21:]))


def test_a_batch_too_old_to_be_compared_is_a_doubt_about_its_cluster(
    tmp_path: Path, loading: LoadingSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(marks, "_BLOCKS", 2)
    folders = [node(tmp_path, CRASH, name) for name in ("n1", "n2")]
    (folders[0] / f"{0:020d}.log").write_bytes(
        b"".join(metadata_batch(4096 * number, 1, 0, [NO_OP] * 4096) for number in range(4))
    )
    watch = Watch(tmp_path, loading).all()
    assert watch.whole()["verdict"] == "held"
    (folders[1] / f"{0:020d}.log").write_bytes(metadata_batch(0, 1, 7, [NO_OP] * 4096))
    (doubt,) = watch.all().whole()["findings"]
    assert (doubt["weight"], doubt["kind"]) == ("inconclusive", "not compared")
    assert (doubt["path"], doubt["offset"]) == (str(folders[1]), 0)


def test_a_violation_stays_said_when_a_later_epoch_replaces_its_batch(
    tmp_path: Path, loading: LoadingSpec
) -> None:
    folder, log = node(tmp_path, CRASH), log_of(CRASH)
    unfence = (17, 0, {"brokerId": 0, "brokerEpoch": 999, "fenced": -1})
    at, epoch = log[10].next_offset, log[10].leader_epoch
    segment = folder / f"{0:020d}.log"
    segment.write_bytes(raw(log[:11]) + metadata_batch(at, epoch, 8, [unfence]))
    watch = Watch(tmp_path, loading).all()
    violated = [one for one in watch.of(folder)["findings"] if one["weight"] == "violation"]
    assert violated
    segment.write_bytes(raw(log[:11]) + metadata_batch(at, epoch + 1, 9, [NO_OP]))
    row = watch.all().of(folder)
    assert (row["verdict"], row["judged_to"]) == ("violated", at + 1)
    assert all(one in row["findings"] for one in violated)


def test_what_cannot_be_read_ends_a_watch_and_what_is_gone_does_not(
    tmp_path: Path, loading: LoadingSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, log = node(tmp_path, CRASH), log_of(CRASH)
    segment = folder / f"{0:020d}.log"
    segment.write_bytes(raw(log[:20]))
    watch = Watch(tmp_path, loading)
    opened = storage._LocalStorage.open

    def unreadable(own: Any, path: str, *rest: Any) -> Any:
        if path.endswith(".log"):
            raise UnreadableFileError(Path(path), "Permission denied")
        return opened(own, path, *rest)

    with monkeypatch.context() as patched:
        patched.setattr(storage._LocalStorage, "open", unreadable)
        with pytest.raises(KraflaError, match="Permission denied"):
            watch.trigger()
    end = watch.reader.latestOffset(watch.offset, watch.reader.getDefaultReadLimit())
    segment.rename(tmp_path / "removed")
    assert [row for part in watch.reader.partitions(watch.offset, end)
            for batch in watch.reader.read(part) for row in batch.to_pylist()] == []  # fmt: skip
    (tmp_path / "removed").rename(segment)
    assert watch.all().of(folder)["judged_to"] == log[19].next_offset


@pytest.mark.parametrize("once", [True, False])
def test_a_watch_of_what_is_there_now_waits_for_nothing_to_settle(
    monkeypatch: pytest.MonkeyPatch, once: bool
) -> None:
    from krafla.pipeline.watch import stream

    session, conf = MagicMock(parallelism=2), "spark.hadoop.fs.s3a.endpoint=http://here:9"
    monkeypatch.setattr(stream, "_judged", lambda content: content)
    reader = session.spark.readStream.format.return_value
    reader.option.return_value = reader
    settings = stream.storage_settings(["spark.ui.enabled=false", conf])
    stream._started(session, ["s3a://logs"], "out", stream.WatchOptions(5, once, settings=settings))
    asked = {call.args for call in reader.option.call_args_list}
    assert tuple(conf.split("=")) in asked
    assert not any(name.startswith("spark.ui") for name, _ in asked)
    assert (("settleSeconds", "0") in asked) is once
