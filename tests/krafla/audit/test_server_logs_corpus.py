"""The server logs of all clusters of the corpus are explained by the spec."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.krafla.audit.log_editing import findings, judged, notes

from krafla.audit.server_logs.counts import Counts
from krafla.verdict import Verdict

if TYPE_CHECKING:
    from pathlib import Path

    from krafla.audit.specs import LoadingSpec

SEEN = {
    "a_calm": (40, 13),
    "b_reassign": (69, 23),
    "c_crash": (119, 43),
    "d_failover": (27, 10),
    "f_combined": (39, 14),
    "rpc_debug": (73, 25),
}


@pytest.mark.by_day(2)
@pytest.mark.parametrize("name", sorted(SEEN))
def test_server_logs_of_the_corpus_hold(name: str, corpus: Path, loading: LoadingSpec) -> None:
    if not (corpus / name).is_dir():
        pytest.skip(f"this corpus has no {name}")
    report = judged(corpus / name, loading)
    assert report.verdict is Verdict.HELD, findings(report)
    found = [c.server_logs for c in report.clusters if c.server_logs is not None]
    total = sum((judgement.counts for judgement in found), Counts())
    assert (total.lines_explained, total.records_explained) == SEEN[name]
    assert not any(note.kind == "line not understood" for note in notes(report))
