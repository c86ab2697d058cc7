"""``krafla audit``: follow the metadata logs of real Kafka clusters against the spec."""

from __future__ import annotations

import json
import sys
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import Annotated

import typer

from krafla.verdict import ExitCode  # noqa: TC001 - typer reads the annotations

__all__ = ["command"]


def command(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="PATH...", help="A node's directory, a cluster's, or many of them."),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Only what did not hold, and the verdict.")
    ] = False,
) -> ExitCode:
    r"""Audit metadata logs: whether the history of a real cluster follows the spec.

    Finds every __cluster_metadata-0 directory at or below PATH, reads its segments and
    checkpoints strictly (.log, .checkpoint, also gzipped), compares the nodes of a cluster,
    steps through UntimedLease.tla with each record of registration and fencing, and checks
    what these mean for partitions. Each distinct history is judged once.

    Exit status: 1 if anything is violated; else 2 if anything could not be read or does not
    belong together; else 3 if anything remained in doubt (an empty log); else 0. A torn tail,
    which a crash leaves behind, is a note: the verdict is about what is there before it.

    \b
    Examples:
      krafla audit /var/lib/kafka/metadata
      krafla audit cluster-a cluster-b --quiet
      krafla audit backups --json > report.json

    With --json: {"schema": 1, "verdict", "exit_code", "paths", "clusters", "findings",
    "counts"}; each cluster has "cluster_id", "folder", "verdict", "findings", "directories";
    each directory "path", "node_id", "verdict", "batches", "records", the offsets judged and
    its "findings"; each finding "weight", "kind", "detail", "path", "byte", "offset" and
    "evidence", which for a violation holds the rule, the record, the action with its
    parameters, the false conjuncts with their values, the state before and what was legal.
    """
    from krafla.audit.judge import LoadingSpec

    loading = LoadingSpec()
    from krafla.audit.render import document, text_lines
    from krafla.audit.run import audit
    from krafla.cli import screen

    with screen.LiveLine(quiet=quiet) as live:
        report = audit(paths, live.show, loading)
    if as_json:
        sys.stdout.write(json.dumps(document(report), indent=2) + "\n")
    else:
        console = screen.stdout()
        styles = {verdict.name: style for verdict, style in screen.VERDICT_STYLES.items()}
        for text in text_lines(report, quiet=quiet):
            word, separator, rest = text.partition("  ")
            if word in styles:
                screen.line(console, (word, styles[word]), separator + rest)
            else:
                screen.line(console, text)
    return report.exit_code
