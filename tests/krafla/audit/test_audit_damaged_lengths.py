"""A flipped bit in a batch's length, which no CRC covers, hides no part of a log from the audit."""

from __future__ import annotations

import pytest
from tests.krafla.audit.editing import LOG, METADATA, copied

from krafla.audit.result import Weight
from krafla.audit.run import audit
from krafla.verdict import ExitCode, Verdict
from kraft.log.segment import iter_batches


@pytest.mark.parametrize("index", [20, -2, -1])
def test_a_flipped_bit_in_a_length_is_unreadable_not_held(tmp_path, real_logs, loading, index):
    node = copied(real_logs / "crash" / "n3000", tmp_path / "n3000")
    log = node / METADATA / LOG
    damaged = list(iter_batches(log))[index]
    raw = bytearray(log.read_bytes())
    raw[damaged.position + 8] ^= 1
    log.write_bytes(bytes(raw))
    report = audit([node], loading=loading)
    assert report.exit_code is ExitCode.INCONCLUSIVE
    (directory,) = report.clusters[0].directories
    assert directory.verdict is Verdict.INCONCLUSIVE
    assert directory.judged_to == damaged.base_offset
    (found,) = directory.findings
    assert (found.weight, found.kind, found.path) == (Weight.UNREADABLE, "corrupt", log)
    assert (found.position, found.offset) == (damaged.position + 8, damaged.base_offset)
    assert found.detail.endswith(f"; {len(raw) - damaged.position} bytes were not read")
