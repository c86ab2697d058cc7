"""Logs of real clusters hold: in the repository and in KRAFLA_CORPUS."""

from __future__ import annotations

import json

from krafla.audit.render import document
from krafla.audit.report_text import text_lines
from krafla.audit.run import audit
from krafla.verdict import ExitCode, Verdict


def test_the_real_logs_of_the_repository_hold(real_logs, loading):
    report = audit([real_logs], loading=loading)
    assert report.exit_code is ExitCode.HELD
    assert report.histories == 3
    judged = {c.folder.parent.name: c.directories[0].judged_to for c in report.clusters}
    assert judged == {"combined": 117, "crash": 587, "failover": 1552}
    assert report.steps > 100


def test_every_directory_of_a_corpus_holds(corpus, loading):
    report = audit([corpus], loading=loading)
    assert report.clusters, "the corpus has no metadata logs"
    for cluster in report.clusters:
        assert cluster.verdict is Verdict.HELD, "\n".join(text_lines(report))
        for directory in cluster.directories:
            assert directory.judged_to > directory.judged_from, directory.path
    assert report.exit_code is ExitCode.HELD
    assert report.steps >= 2 * report.histories


def test_directories_of_a_cluster_share_a_history_wherever_their_logs_agree(corpus, loading):
    report = audit([corpus], loading=loading)
    assert report.histories <= len(report.clusters) + sum(
        len({d.first_offset for d in c.directories}) - 1 for c in report.clusters
    )


def test_the_same_audit_gives_the_same_report(real_logs, loading):
    first, second = (json.dumps(document(audit([real_logs], loading=loading))) for _ in range(2))
    assert first == second
