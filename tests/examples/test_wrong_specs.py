"""A mistake in a step of a lock's spec that leaves its states as they are is noticed by name."""

from __future__ import annotations

import pytest
from tests.examples.environment import ROOT
from typer.testing import CliRunner

from krafla.cli import application

SKELETON = ROOT / "model/krafla/skeleton/lock/Lock"
SERVER = ROOT / "examples/lock-server/specs/Lock"
PROMISE = ROOT / "examples/aiorwlock/specs/ReadWriteLock"


@pytest.mark.parametrize(
    ("spec", "right", "wrong", "notices"),
    [
        pytest.param(
            SKELETON,
            "holder' = Nobody\n    /\\ UNCHANGED queue",
            "holder' = Nobody /\\ queue' = IF queue = <<>> THEN queue ELSE Tail(queue)",
            "InTurn",
            id="the first that waits is lost when the lock is given back",
        ),
        pytest.param(
            SKELETON,
            "holder' = Nobody\n    /\\ UNCHANGED queue",
            "holder' = Nobody /\\ queue' = Append(queue, c)",
            "InTurn",
            id="the client that gives the lock back waits again",
        ),
        pytest.param(
            SKELETON,
            "    \\/ Grant\n",
            "    \\/ Grant \\/ (queue # <<>> /\\ queue' = Tail(queue) /\\ UNCHANGED holder)\n",
            "InOrder",
            id="the first that waits is lost in a step of its own",
        ),
        pytest.param(
            SKELETON,
            "/\\ queue' = Append(queue, c)\n",
            "/\\ \\E d \\in Client : d # holder /\\ ~Waits(d) /\\ queue' = Append(queue, d)\n",
            "AskerWaits",
            id="another client waits than the one that asks",
        ),
        pytest.param(
            SERVER,
            "  ELSE queue' = SelectSeq",
            "  ELSE IF c \\notin Waiting /\\ queue # <<>>"
            " THEN queue' = Tail(queue) /\\ UNCHANGED holder ELSE queue' = SelectSeq",
            "OnlyOneMovesInv",
            id="the first that waits is lost when another client leaves",
        ),
        pytest.param(
            SERVER,
            "ELSE queue' = Append(queue, c)",
            "ELSE \\E d \\in Client \\ (Waiting \\union {holder}) : queue' = Append(queue, d)",
            "OnlyOneMovesInv",
            id="another client waits than the one that acquires",
        ),
        pytest.param(
            PROMISE,
            '![t] = "nothing"]\n  /\\ UNCHANGED <<reads, writes>>',
            '![t] = "nothing"] /\\ reads\' = [reads EXCEPT ![t] = 0] /\\ UNCHANGED writes',
            "OneTaskProp",
            id="a cancelled task holds nothing more",
        ),
        pytest.param(
            PROMISE,
            'asks\' = [asks EXCEPT ![t] = "nothing"]\n  /\\ UNCHANGED <<reads, writes>>',
            'asks\' = [u \\in Task |-> "nothing"] /\\ UNCHANGED <<reads, writes>>',
            "OneTaskProp",
            id="all that wait are cancelled with one",
        ),
    ],
)
def test_a_wrong_step_is_noticed_by_name(spec, right, wrong, notices, tmp_path, monkeypatch):
    monkeypatch.setenv("KRAFLA_SPECS", "")
    monkeypatch.chdir(tmp_path)
    text = spec.with_suffix(".tla").read_text()
    assert text.count(right) == 1
    module = tmp_path / f"{spec.name}.tla"
    module.write_text(text.replace(right, wrong))
    config = tmp_path / f"{spec.name}.cfg"
    config.write_text(spec.with_suffix(".cfg").read_text())

    words = ["check", str(config), "--workers", "1"]
    checked = CliRunner().invoke(application("check"), words)

    assert checked.exit_code == 1, checked.output
    assert f" {notices} " in checked.stdout.splitlines()[0]
