"""Every place in the judge that reports a violation is reached by some history by hand."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

from tests.krafla.fuzz.quorum import (  # noqa: F401 - they note their histories
    breaking_commits,
    breaking_elections,
    breaking_leading,
    breaking_listener,
    breaking_logs,
    breaking_voters,
)
from tests.krafla.fuzz.quorum.breaking import HISTORIES

import krafla.fuzz.quorum
from krafla.fuzz.quorum.violation import Violated

JUDGE = Path(krafla.fuzz.quorum.__file__).parent


def places():
    """Return (file, first line) of each statement that raises Violated."""
    found = set()
    for path in JUDGE.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            raised = node.exc if isinstance(node, ast.Raise) else None
            if isinstance(raised, ast.Call) and getattr(raised.func, "id", None) == "Violated":
                found.add((path.name, node.lineno))
    return found


def test_every_place_that_reports_a_violation_is_reached_by_a_history(monkeypatch):
    reached = set()
    right = Violated.__init__

    def watched(self, *arguments):
        caller = sys._getframe(1)
        reached.add((Path(caller.f_code.co_filename).name, caller.f_lineno))
        right(self, *arguments)

    monkeypatch.setattr(Violated, "__init__", watched)
    for _, history in HISTORIES.values():
        history()

    assert len(places()) > 70
    assert sorted(places() - reached) == []
