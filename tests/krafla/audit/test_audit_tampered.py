"""Logs tampered with at random: each is judged, and none ends in a stack trace."""

from __future__ import annotations

import os
from collections import Counter
from random import Random
from typing import TYPE_CHECKING

from tests.conftest import AT_NIGHT
from tests.krafla.audit.editing import LOG, METADATA
from tests.krafla.audit.tampering import batches, tampered
from tests.kraft.records.samples import every_record

from krafla.audit.render import document
from krafla.audit.report_text import report_lines
from krafla.audit.run import audit

if TYPE_CHECKING:
    from pathlib import Path

    from krafla.audit.specs import LoadingSpec

# At night ten of them for each example of a property: 100,000 in a whole night, in an hour.
COUNT = 10 * int(os.environ.get("KRAFLA_NIGHTLY_EXAMPLES", "10000")) if AT_NIGHT else 60
SEED = 20_261_128


def test_each_tampered_log_is_judged(loading: LoadingSpec, tmp_path: Path, real_logs: Path):
    logs = [batches(path) for path in sorted(real_logs.glob(f"*/*/{METADATA}/{LOG}"))]
    assert len(logs) >= 2
    samples = [record for seed in range(8) for record in every_record(seed)]
    real = [record for log in logs for batch in log for record in batch.records or ()]
    target = tmp_path / METADATA / LOG
    target.parent.mkdir()
    originals = [b"".join(batch.raw for batch in log) for log in logs]
    statuses: Counter[int] = Counter()
    for number in range(COUNT):
        chance = Random(f"{SEED}-{number}")
        try:
            data = tampered(chance.choice(logs), (*samples, *real), chance)
        except (TypeError, ValueError):
            # The drawn value is none of the field's type.
            statuses[-1] += 1
            continue
        if any(original.startswith(data) for original in originals):
            statuses[-2] += 1
            continue
        target.write_bytes(data)
        report = audit([target.parent], lambda _: None, loading, None)
        statuses[report.exit_code] += 1
        assert list(report_lines(report, 100, quiet=False, coverage=False)), number
        assert document(report)["exit_code"] == report.exit_code, number
    assert set(statuses) <= {-2, -1, 0, 1, 3}, statuses
    # Some mutants are legal, and some draws are none.
    assert statuses[1] > COUNT // 5, statuses
    assert statuses[0] > COUNT // 50, statuses
    assert statuses[-1] + statuses[-2] < COUNT // 2, statuses
