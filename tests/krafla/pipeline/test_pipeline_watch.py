"""A watch of growing logs: it says of each directory what an audit of the same files says."""

from __future__ import annotations

import struct
import zlib
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st
from tests.krafla.audit.breaking import checkpoint, checkpoint_name, feature
from tests.krafla.audit.tampering import batches, tampered
from tests.krafla.pipeline.watches import (
    CRASH,
    FOLDER,
    NO_OP,
    REAL,
    Watch,
    audited,
    log_of,
    node,
    raw,
)

from krafla.audit.specs import LoadingSpec
from krafla.pipeline.watch import cells, shelf
from kraft.log.segment import iter_batches
from kraft.records.batch import CRC_START
from kraft.records.builder import metadata_batch

if TYPE_CHECKING:
    from pathlib import Path

    from kraft.records.batch import RecordBatch

pytest.importorskip("pyspark", reason="the extra `spark` is not installed")

FAILOVER = REAL / "failover" / "n3002"


@pytest.fixture(scope="module")
def loading() -> LoadingSpec:
    return LoadingSpec()


def contents(source: Path) -> dict[str, bytes]:
    files = sorted((source / FOLDER).iterdir())
    return {one.name: one.read_bytes() for one in files if one.suffix in {".log", ".checkpoint"}}


def in_epoch(batch: RecordBatch, epoch: int) -> bytes:
    """Return a batch under another epoch: its CRC does not cover that."""
    changed = bytearray(batch.raw)
    struct.pack_into(">i", changed, 12, epoch)
    return bytes(changed)


def kinds(row: dict[str, Any]) -> list[str]:
    return [one["kind"] for one in row["findings"]]


@given(data=st.data())
@settings(max_examples=8, phases=[Phase.explicit, Phase.generate])
def test_a_watch_says_what_an_audit_says_however_a_log_grows_and_triggers_die(
    tmp_path_factory: pytest.TempPathFactory, loading: LoadingSpec, data: st.DataObject
) -> None:
    root = tmp_path_factory.mktemp("logs")
    source = data.draw(st.sampled_from([CRASH, FAILOVER]))
    folder, files = node(root, source), contents(source)
    if data.draw(st.booleans()):
        name = data.draw(st.sampled_from([one for one in files if one.endswith(".log")]))
        spoiled = bytearray(files[name])
        at = data.draw(st.integers(0, len(spoiled) - 1))
        log = [one for one in iter_batches(source / FOLDER / name) if one.position <= at]
        # With another length a batch is one that is still being written.
        assume(not 8 <= at - log[-1].position < 12)
        # An audit judges nothing behind a fault, were it before the start.
        assume(source is CRASH or log[-1].base_offset > 523)
        spoiled[at] ^= 1 << data.draw(st.integers(0, 7))
        files[name] = bytes(spoiled)
    size = data.draw(st.sampled_from(["2000", "20000", "1000000"]))
    watch = Watch(root, loading, maxBytesPerTrigger=size)
    for name, content in files.items():
        cut = data.draw(st.integers(0, len(content)))
        for part in (content[:cut], content) if name.endswith(".log") else (content,):
            (folder / name).write_bytes(part)
            if data.draw(st.booleans()):
                watch.trigger(dies=data.draw(st.integers(0, 1)))
    found, expected = watch.all().view(), audited(root, loading)
    for path, one in expected.items():
        if one["verdict"] != "held":
            # Where reading ends behind a finding is up to the reader.
            for name in ("judged_from", "judged_on", "judged_to"):
                found[path][name] = one[name]
    assert found == expected
    assert watch.whole()["verdict"] == "held"


@pytest.mark.parametrize("seed", range(6))
def test_a_tampered_batch_is_named_as_an_audit_names_it(
    tmp_path: Path, loading: LoadingSpec, seed: int
) -> None:
    chance = Random(seed)
    path = CRASH / FOLDER / f"{0:020d}.log"
    log = batches(path)
    others = tuple(record for batch in log for record in batch.records or ())
    folder = node(tmp_path, CRASH)
    content = b""
    while not content:
        try:
            content = tampered(log, others, chance)
        except (TypeError, ValueError):
            continue
    (folder / path.name).write_bytes(content)
    watch = Watch(tmp_path, loading, maxBytesPerTrigger="1500").all()
    found, expected = watch.view(), audited(tmp_path, loading)
    assert [one["findings"] for one in found.values()] == [
        one["findings"] for one in expected.values()
    ]
    assert [one["verdict"] for one in found.values()] == [
        one["verdict"] for one in expected.values()
    ]


def test_a_log_starts_on_its_checkpoint_and_later_ones_are_compared(
    tmp_path: Path, loading: LoadingSpec
) -> None:
    folder, files = node(tmp_path, FAILOVER), contents(FAILOVER)
    late = max(name for name in files if name.endswith(".checkpoint"))
    wrong = bytearray(files.pop(late))
    watch = Watch(tmp_path, loading)
    for name, content in files.items():
        (folder / name).write_bytes(content)
        watch.all()
    row = watch.of(folder)
    assert (row["judged_from"], row["verdict"], row["judged_to"]) == (523, "held", 1552)
    # One ends inside a batch, one has other records than the log.
    end, epoch = log_of(FAILOVER)[-3].next_offset, log_of(FAILOVER)[-3].leader_epoch
    false_content = checkpoint([feature("metadata.version", 20)], epoch)
    (folder / checkpoint_name(end, epoch)).write_bytes(false_content)
    wrong_name = late.replace("1326", "1327")
    (folder / wrong_name).write_bytes(wrong)
    watch.all()
    assert watch.view() == audited(tmp_path, loading)
    violations = [one for one in watch.of(folder)["findings"] if one["weight"] == "violation"]
    assert len(violations) == 2
    # The bench of a trigger is not there in the next one.
    states = [own for name, own in watch.kept() if name.endswith("/state")]
    assert states
    assert not any(b"krafla-scratch" in zlib.decompress(own[32:]) for own in states)
    # What was found stays when the log goes on.
    last = log_of(FAILOVER)[-1]
    with (folder / max(name for name in files if name.endswith(".log"))).open("ab") as file:
        file.write(metadata_batch(last.next_offset, last.leader_epoch, 0, [NO_OP]))
    watch.all()
    assert all(one in watch.of(folder)["findings"] for one in violations)
    assert watch.of(folder)["judged_to"] == last.next_offset + 1


def test_a_segment_that_comes_before_its_predecessor_waits(
    tmp_path: Path, loading: LoadingSpec
) -> None:
    folder, files = node(tmp_path, FAILOVER), contents(FAILOVER)
    segments = sorted(name for name in files if name.endswith(".log"))
    last, late = segments[-1], files.pop(segments[0])
    watch = Watch(tmp_path, loading)
    (folder / last).write_bytes(files[last])
    watch.all()
    row = watch.of(folder)
    assert (row["judged_to"], row["waiting"], row["verdict"]) == (None, 5, "inconclusive")
    assert "no checkpoint has come that it continues" in row["findings"][0]["detail"]
    for name, content in files.items():
        (folder / name).write_bytes(content)
    watch.all()
    assert watch.of(folder)["judged_from"] == 1326
    # The log's beginning comes too late to be judged, and changes nothing.
    (folder / f"{504:020d}.log").write_bytes(late)
    watch.all()
    assert watch.of(folder)["verdict"] == "held"
    before = sum(one.base_offset < 1326 for one in log_of(FAILOVER))
    assert (watch.of(folder)["repeated"], watch.of(folder)["unjudged"]) == (0, before)


def test_a_gap_between_segments_waits_for_the_one_that_is_missing(
    tmp_path: Path, loading: LoadingSpec
) -> None:
    folder, log = node(tmp_path, CRASH), log_of(CRASH)
    parts = [log[:50], log[50:90], log[90:200], log[200:]]
    paths = [folder / f"{part[0].base_offset:020d}.log" for part in parts]
    watch = Watch(tmp_path, loading)
    for number in (0, 3, 2):
        paths[number].write_bytes(raw(parts[number]))
        watch.all()
    row = watch.of(folder)
    assert row["waiting"] == len(parts[2] + parts[3])
    first, last = parts[1][0].base_offset, parts[1][-1].last_offset
    assert row["findings"][0]["detail"] == f"offsets {first} to {last} have not come"
    paths[1].write_bytes(raw(parts[1]))
    watch.all()
    assert watch.view() == audited(tmp_path, loading)
    assert watch.of(folder)["waiting"] == 0


def test_a_segment_of_another_name_is_named_as_an_audit_names_it(
    tmp_path: Path, loading: LoadingSpec
) -> None:
    folder, log = node(tmp_path, CRASH), log_of(CRASH)
    (folder / f"{0:020d}.log").write_bytes(raw(log[:50]))
    (folder / f"{log[50].base_offset:020d}.log").write_bytes(raw(log[51:60]))
    watch = Watch(tmp_path, loading).all()
    assert watch.of(folder)["verdict"] == "violated"
    assert watch.view() == audited(tmp_path, loading)


def test_an_epoch_that_falls_from_one_segment_to_the_next_is_a_violation(
    tmp_path: Path, loading: LoadingSpec
) -> None:
    folder, log = node(tmp_path, FAILOVER), log_of(FAILOVER)
    for name, content in contents(FAILOVER).items():
        (folder / name).write_bytes(content)
    following = log[-1].next_offset
    last = metadata_batch(following, log[-1].leader_epoch - 1, 0, [NO_OP])
    (folder / f"{following:020d}.log").write_bytes(last)
    watch = Watch(tmp_path, loading).all()
    assert watch.of(folder)["verdict"] == "violated"
    assert watch.view() == audited(tmp_path, loading)


def test_a_file_that_comes_again_without_its_fault_is_judged(
    tmp_path: Path, loading: LoadingSpec
) -> None:
    folder, log = node(tmp_path, CRASH), log_of(CRASH)
    spoiled = bytearray(raw(log[:60]))
    spoiled[log[59].position + CRC_START] ^= 1
    path = folder / f"{0:020d}.log"
    path.write_bytes(spoiled)
    (folder / f"{log[60].base_offset:020d}.log").write_bytes(raw(log[60:]))
    watch = Watch(tmp_path, loading).all()
    row = watch.of(folder)
    assert (row["verdict"], row["phase"], row["waiting"]) == (
        "inconclusive", cells.STOPPED, len(log[60:]),
    )  # fmt: skip
    path.write_bytes(raw(log[:60]))
    assert watch.all().view() == audited(tmp_path, loading)
    row = watch.of(folder)
    assert (row["verdict"], row["waiting"], row["unjudged"]) == ("held", 0, 0)


def test_more_than_may_wait_ends_the_judging_with_a_word(
    tmp_path: Path, loading: LoadingSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("krafla.pipeline.watch.directory.WAITING_BYTES", 3000)
    folder, log = node(tmp_path, CRASH), log_of(CRASH)
    (folder / f"{log[50].base_offset:020d}.log").write_bytes(raw(log[50:]))
    row = Watch(tmp_path, loading).all().of(folder)
    assert (row["phase"], row["verdict"], kinds(row)) == (
        cells.LOST,
        "inconclusive",
        ["not judged"],
    )
    assert row["unjudged"] == len(log[50:])


@pytest.mark.parametrize("behind", [shelf.HELD_BYTES, 2_000])
def test_a_suffix_that_a_later_epoch_replaces_is_judged_in_its_place(
    tmp_path: Path, loading: LoadingSpec, monkeypatch: pytest.MonkeyPatch, behind: int
) -> None:
    monkeypatch.setattr(shelf, "HELD_BYTES", behind)
    folder, files = node(tmp_path, FAILOVER), contents(FAILOVER)
    log = log_of(FAILOVER)
    # The leader of the epoch before has written more, which was never committed.
    at = next(n for n, one in enumerate(log) if one.leader_epoch > 10)
    uncommitted = metadata_batch(log[at].base_offset, 10, 0, [NO_OP, NO_OP, NO_OP])
    name, following = sorted(one for one in files if one.endswith(".log"))
    own = [one for one in log if one.base_offset < int(following[:20])]
    start = next(one for one in files if one.endswith("08.checkpoint"))
    (folder / start).write_bytes(files[start])
    (folder / name).write_bytes(raw(own[:at]) + uncommitted)
    watch = Watch(tmp_path, loading, maxBytesPerTrigger="1000").all()
    assert watch.of(folder)["judged_to"] == log[at].base_offset + 3
    for file, content in files.items():
        (folder / file).write_bytes(content)
    watch.all()
    row = watch.of(folder)
    cut = [one for one in row["findings"] if one["kind"] == "cut back"]
    assert [one["offset"] for one in cut] == [log[at].base_offset]
    assert (row["verdict"], row["judged_to"]) == ("held", 1552)
    assert watch.whole()["verdict"] == "held"


def test_a_log_that_is_cut_back_too_far_is_not_judged_rather_than_wrongly(
    tmp_path: Path, loading: LoadingSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shelf, "HELD_BYTES", 2_000)
    folder, log = node(tmp_path, CRASH), log_of(CRASH)
    path = folder / f"{0:020d}.log"
    path.write_bytes(raw(log))
    watch = Watch(tmp_path, loading, maxBytesPerTrigger="1000").all()
    later = b"".join(in_epoch(one, 50) for one in log[40:])
    path.write_bytes(raw(log[:40]) + later)
    row = watch.all().of(folder)
    assert (row["phase"], row["verdict"]) == (cells.LOST, "inconclusive")
    # What lies behind the older of the two saved histories is not kept.
    assert sum(map(len, (own for name, own in watch.kept() if "/kept/" in name))) < 6_000
    assert f"cut back to offset {log[40].base_offset}" in row["findings"][-1]["detail"]


def test_other_bytes_at_a_judged_offset_are_a_violation_and_equal_ones_are_none(
    tmp_path: Path, loading: LoadingSpec
) -> None:
    folder, log = node(tmp_path, CRASH), log_of(CRASH)
    path = folder / f"{0:020d}.log"
    path.write_bytes(raw(log))
    watch = Watch(tmp_path, loading).all()
    path.write_bytes(raw(log[:-1]))
    watch.all()
    assert (watch.of(folder)["verdict"], watch.of(folder)["repeated"]) == ("held", len(log) - 1)
    last = log[-1]
    other = metadata_batch(last.base_offset, last.leader_epoch, 5, [NO_OP] * last.count)
    path.write_bytes(raw(log[:-1]) + other)
    row = watch.all().of(folder)
    assert row["verdict"] == "violated"
    (found,) = row["findings"]
    assert (found["kind"], found["offset"]) == ("divergence", last.base_offset)
    assert found["byte"] == last.position


def test_two_replicas_with_other_bytes_at_one_offset_of_one_epoch_are_named(
    tmp_path: Path, loading: LoadingSpec
) -> None:
    log = log_of(CRASH)
    at = next(n for n, one in enumerate(log) if n > 60 and not one.is_control and one.count == 1)
    epoch = log[at].leader_epoch
    other = metadata_batch(log[at].base_offset, epoch, 7, [NO_OP])
    folders = [node(tmp_path, CRASH, name) for name in ("a", "b", "c")]
    for folder in folders:
        parts = [*(one.raw for one in log[:at]), log[at].raw]
        if folder == folders[1]:
            parts[-1:] = [other, metadata_batch(log[at].next_offset, epoch, 9, [NO_OP])]
        else:
            parts.append(metadata_batch(log[at].next_offset, epoch, 8, [NO_OP]))
        (folder / f"{0:020d}.log").write_bytes(b"".join(parts))
    watch = Watch(tmp_path, loading).all()
    (found,) = watch.whole()["findings"]
    assert found["offset"] == log[at].base_offset
    assert found["path"] == str(folders[1])
    assert f"{folders[0]} and {folders[1]} differ from offset" in found["detail"]
    assert watch.of(folders[2])["verdict"] == "held"
