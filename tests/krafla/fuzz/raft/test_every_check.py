"""A history reaches every place that reports a violation, and common runs check it often."""

from __future__ import annotations

import ast
import sys
from collections import Counter
from pathlib import Path

import pytest
from tests.krafla.fuzz.raft.histories import HISTORIES

import krafla.fuzz.raft
from krafla.fuzz.engine.violation import Violated
from krafla.fuzz.raft.checks import PROPERTIES
from krafla.fuzz.raft.system import SYSTEM, raft_case_of

JUDGE = Path(krafla.fuzz.raft.__file__).parent
# These are checked only where something is wrong already: a replica does not start, a log differs
# from what its effects say, a leader has led without a majority for too long.
ALARMS = {"AlwaysRestartsInv", "CheckQuorumProp", "PermittedLogChangesProp"}


def places():
    """Return (file, first line) of each statement that raises Violated: its name, its condition.

    The name is the property's, the condition is the first line of the ``if`` around the statement.
    """
    found = {}
    for path in JUDGE.glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        above = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
        for node in ast.walk(tree):
            raised = node.exc if isinstance(node, ast.Raise) else None
            if isinstance(raised, ast.Call) and getattr(raised.func, "id", None) == "Violated":
                around = above[node]
                while not isinstance(around, ast.If | ast.FunctionDef):
                    around = above[around]
                asked = around.test if isinstance(around, ast.If) else around.body[0]
                name = _value(raised.args[0], tree)
                found[path.name, node.lineno] = (name, (path.name, asked.lineno))
    return found


def _value(name, tree):
    """Return the text of a constant, or of a name to which the module assigns one."""
    if isinstance(name, ast.Constant):
        return name.value
    for node in tree.body:
        if isinstance(node, ast.Assign) and node.targets[0].id == name.id:
            return node.value.value
    raise AssertionError(f"what {ast.unparse(name)} is cannot be read")


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
    assert sorted(set(places()) - reached) == []


def lines_of(examples):
    """Return how often each line of the judge ran while these runs were played."""
    lines = Counter()
    files = {str(path): path.name for path in JUDGE.glob("*.py")}

    def in_judge(frame, event, _argument):
        if event == "line":
            lines[files[frame.f_code.co_filename], frame.f_lineno] += 1
        return in_judge

    before = sys.gettrace()
    sys.settrace(lambda frame, *_: in_judge if frame.f_code.co_filename in files else None)
    try:
        for example in examples:
            assert SYSTEM.play(raft_case_of(1, example)).finding is None
    finally:
        sys.settrace(before)
    return lines


@pytest.mark.nightly
def test_every_property_is_asked_in_twenty_common_runs():
    lines = lines_of(range(20))
    asked = Counter()
    for name, condition in places().values():
        asked[name] += lines[condition]
        assert lines[condition] or name in ALARMS, f"{name} is never asked at {condition}"

    # This one is checked at the end of a run, for each value that a client was told is committed.
    assert set(PROPERTIES) - set(asked) == {"AcknowledgedStaysProp"}
    assert {name for name, times in asked.items() if not times} <= ALARMS
