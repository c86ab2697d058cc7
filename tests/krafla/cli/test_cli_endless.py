"""A search whose depth grows with its states is said to have perhaps no end, once."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from krafla.cli import application, endless
from krafla.cli.check_run import _reporter
from krafla.cli.endless import Endless
from krafla.tlc.output import Progress

SPEC = r"""---- MODULE Up ----
EXTENDS Naturals
VARIABLES n, side
Init == n = 0 /\ side = 0
Next == n < 40 /\ n' = n + 1 /\ side' \in 0..SIDES
====
"""
SAID = (
    "Up: the states may have no end: 20 of them, and the depth is 19; bound them in the spec, or "
    "by a CONSTRAINT in the cfg, or by --limit\n"
)


@pytest.fixture
def explored(tmp_path, monkeypatch):
    monkeypatch.setattr(endless, "_STATES_MIN", 20)
    monkeypatch.setenv("KRAFLA_SPECS", "")
    monkeypatch.chdir(tmp_path)

    def run(sides, *options, pins=""):
        (tmp_path / "Up.tla").write_text(SPEC.replace("SIDES", str(sides)))
        (tmp_path / "Up.cfg").write_text("INIT Init\nNEXT Next\nCHECK_DEADLOCK FALSE\n")
        (tmp_path / "krafla.toml").write_text(f'[[model]]\ncfg = "Up.cfg"\n{pins}')
        words = ["explore", "Up.tla", *options]
        done = CliRunner().invoke(application(words[0]), words)
        assert "distinct states" in done.stdout
        return done.stderr

    return run


def test_explore_says_once_what_bounds_states_that_may_have_no_end(explored):
    told = explored(0)
    assert SAID in told
    assert told.count("may have no end") == 1


def test_what_has_an_end_is_not_doubted(explored):
    assert "no end" not in explored(3)
    assert "no end" not in explored(0, "--limit", "1000")
    assert "no end" not in explored(0, "--quiet")
    assert "no end" not in explored(0, pins="distinct = 41\n")


def test_check_says_it_too_unless_the_number_of_states_is_pinned():
    for distinct, count in ((None, 1), (30_000, 0)):
        model = SimpleNamespace(name="Up", distinct=distinct, expect="holds")
        said = []
        report = _reporter(lambda _: None, model, "", said.append)
        for depth in (1_000, 10_000, 20_000):
            report(Progress(depth, 0, depth))
        assert len(said) == count


def test_a_wide_search_and_a_simulation_have_no_such_depth():
    said = []
    look = Endless("Up", said.append).look
    for states, depth in ((9_999, 9_999), (1_000_000, 400_000), (-1, 100)):
        look(states, depth)
    assert not said
    look(1_000_000, 600_000)
    look(1_000_001, 600_001)
    assert len(said) == 1
