"""Server logs are untrusted: any file is read within bounds or rejected."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import pytest

from krafla.audit.result import Weight
from krafla.audit.server_logs import lines as reading
from krafla.audit.server_logs.events import EventKind, UnintelligibleLineError, event_of
from krafla.audit.server_logs.files import find_server_logs, unknown_line_notes
from krafla.audit.server_logs.lines import Extent, read_lines
from kraft.errors import UnreadableFileError

if TYPE_CHECKING:
    from pathlib import Path

LOGGER = "(kafka.server.BrokerLifecycleManager)"
REGISTERED = (
    "[2026-11-21 12:37:41,948] INFO [BrokerLifecycleManager id=0] Successfully registered broker 0"
    f" with broker epoch 17 {LOGGER}\n"
)
HUGE = "9" * 20
UNFENCED = (
    "[2026-11-21 12:37:42,592] INFO [BrokerLifecycleManager id=0] The broker has been unfenced."
    f" Transitioning from RECOVERY to RUNNING. {LOGGER}\n"
)


def written(path: Path, *parts: bytes | str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(p.encode() if isinstance(p, str) else p for p in parts))
    return path


def test_a_line_has_a_place_a_time_and_a_text(tmp_path: Path) -> None:
    path = written(tmp_path / "server.log", "no stamp\n", REGISTERED)
    (line,) = read_lines(path)
    assert line.place == f"{path}:2"
    assert line.time_ms == 1795264661948
    assert line.level == "INFO"
    event = event_of(line)
    assert event is not None
    assert (event.kind, event.node, event.broker, event.epoch) == (EventKind.REGISTERED, 0, 0, 17)


def test_stack_traces_bytes_and_other_loggers_are_skipped(tmp_path: Path) -> None:
    path = written(
        tmp_path / "server.log",
        "[2026-11-21 12:37:41,000] ERROR it broke (kafka.server.KafkaApis)\n",
        "java.lang.Exception: it broke\n\tat kafka.Kafka.main(Kafka.scala)\n",
        b"\xff\xfe\x00 not text\n",
        REGISTERED,
        "[2026-99-99 99:99:99,999] INFO [BrokerLifecycleManager id=0] no such day " + LOGGER + "\n",
    )
    extent = Extent()
    assert [line.number for line in read_lines(path, extent)] == [5]
    assert extent.lines == 6
    assert extent.first_ms == 1795264661000


def test_bytes_that_are_not_text_are_replaced_in_a_line(tmp_path: Path) -> None:
    path = written(
        tmp_path / "server.log",
        b"[2026-11-21 12:37:41,948] INFO [BrokerLifecycleManager id=0] \xff " + LOGGER.encode(),
    )
    (line,) = read_lines(path)
    with pytest.raises(UnintelligibleLineError, match="no sentence"):
        event_of(line)


def test_an_overlong_line_is_cut_and_the_next_is_read(tmp_path: Path) -> None:
    long = "[2026-11-21 12:37:41,000] INFO " + "x" * (3 * reading.MAX_LINE_BYTES) + f" {LOGGER}\n"
    extent = Extent()
    path = written(tmp_path / "server.log", long, REGISTERED)
    assert [line.number for line in read_lines(path, extent)] == [2]
    assert extent.overlong == 1


def test_a_gzipped_log_is_read_and_a_broken_one_is_rejected(tmp_path: Path) -> None:
    whole = gzip.compress(REGISTERED.encode())
    path = written(tmp_path / "server.log.gz", whole)
    assert len(list(read_lines(path))) == 1
    for spoiled in (whole[:-5], b"no gzip", whole[:12] + b"\xff" * 20):
        written(path, spoiled)
        with pytest.raises(UnreadableFileError):
            list(read_lines(path))


def test_a_log_that_unpacks_to_too_much_is_rejected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "MAX_LOG_BYTES", 10_000)
    path = written(tmp_path / "server.log.gz", gzip.compress(b"x\n" * 20_000))
    with pytest.raises(UnreadableFileError, match="bytes of log"):
        list(read_lines(path))
    written(path, gzip.compress(b"x" * 3 * reading.MAX_LINE_BYTES))
    with pytest.raises(UnreadableFileError, match="bytes of log"):
        list(read_lines(path))


@pytest.mark.parametrize(
    "text",
    [
        "[BrokerLifecycleManager id=0] Succesfully registered broker 0 with broker epoch 17",
        "[BrokerLifecycleManager id=0] Successfully registered broker 1 with broker epoch 17",
        f"[BrokerLifecycleManager id=0] Successfully registered broker 0 with broker epoch {HUGE}",
        "[BrokerLifecycleManager id=x] Beginning controlled shutdown.",
        "Beginning controlled shutdown.",
    ],
)
def test_a_line_of_the_lease_that_is_not_understood_raises_an_error(
    text: str, tmp_path: Path
) -> None:
    path = written(tmp_path / "server.log", f"[2026-11-21 12:37:41,948] INFO {text} {LOGGER}\n")
    (line,) = read_lines(path)
    with pytest.raises(UnintelligibleLineError):
        event_of(line)
    (logs,), findings = find_server_logs([tmp_path])
    assert not findings
    (note,) = unknown_line_notes(logs)
    assert (note.weight, note.line) == (Weight.NOTE, 1)


def test_rotated_logs_are_put_in_the_order_they_were_written(tmp_path: Path) -> None:
    written(tmp_path / "n0/logs/server.log", UNFENCED)
    written(tmp_path / "n0/logs/server.log.2026-11-21-12", REGISTERED)
    (logs,), _ = find_server_logs([tmp_path])
    assert [event.kind for event in logs.events] == [EventKind.REGISTERED, EventKind.UNFENCED]
    assert len(logs.files) == 2


def test_a_log_and_its_gzipped_copy_count_once(tmp_path: Path) -> None:
    written(tmp_path / "n0/logs/server.log", REGISTERED)
    written(tmp_path / "n0/logs/server.log.gz", gzip.compress(REGISTERED.encode()))
    (logs,), _ = find_server_logs([tmp_path])
    assert len(logs.events) == 1


def test_a_broken_file_is_a_finding_and_the_others_are_read(tmp_path: Path) -> None:
    written(tmp_path / "n0/logs/server.log", REGISTERED)
    written(tmp_path / "n0/logs/server.log.1.gz", b"no gzip")
    (logs,), (finding,) = find_server_logs([tmp_path])
    assert len(logs.events) == 1
    assert finding.weight is Weight.UNREADABLE
    assert finding.path == tmp_path / "n0/logs/server.log.1.gz"


def test_debug_lines_of_the_lease_need_not_be_understood(tmp_path: Path) -> None:
    path = written(
        tmp_path / "server.log",
        f"[2026-11-21 12:37:41,948] TRACE [BrokerLifecycleManager id=0] a heartbeat {LOGGER}\n",
    )
    (line,) = read_lines(path)
    assert event_of(line) is None
