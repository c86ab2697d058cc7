"""TLC's complaints about evaluations come with the place and what to do, from oracle and check."""

from __future__ import annotations

import pytest

from krafla.oracle import EvaluationError, Spec, explore
from krafla.tlc.outcome import Finished, describe
from krafla.tlc.remedies import java_advice, with_remedy
from krafla.tlc.run import run

CONFIG = "INIT Init\nNEXT Next\n"
FINITE = "finite sets only: bound the set"


@pytest.mark.parametrize(
    ("init", "then", "remedy"),
    [
        ("x \\in Nat", "x", rf"Slip\.tla:4; TLC goes through {FINITE}"),
        ("x = 0", "CHOOSE n \\in Nat : n > x", rf"Slip\.tla:5; TLC goes through {FINITE}"),
        ("x = CHOOSE n : n > 3", "x", r"Slip\.tla:4; let the cfg make a model value"),
        ("x > 0", "x", r"Slip\.tla:4; TLC takes a variable's value from"),
        ("x = 2147483647", "x + 1", r"2147483647\+1; TLC's numbers have 32 bits"),
        ("x = IF TLCSet(1, 2) THEN 1 ELSE 0", "x", r"TLCSet and TLCGet keep values during a run"),
        ("x = TLCGet(1)", "x", r"TLCSet and TLCGet keep values during a run of TLC"),
        (
            'x = TLCGet("level")',
            "x",
            r"TLCSet and TLCGet keep values during a run of TLC: a check is",
        ),
        ("x = 0", 'TLCGet("queue")', r"TLCSet and TLCGet keep values during a run of TLC"),
        ('x = TLCGet("config").mode', "x", r"TLCGet\(config\) was undefined; a newer TLC knows it"),
        ("x \\in SUBSET (1..40)", "x", r"more than a million initial states"),
    ],
)
def test_an_expression_that_tlc_cannot_evaluate_is_told_with_a_remedy(
    make_model, init, then, remedy
):
    text = (
        "---- MODULE Slip ----\nEXTENDS Naturals, TLC\nVARIABLE x\n"
        f"Init == {init}\nNext == x' = {then}\n====\n"
    )
    model = make_model(CONFIG, "Slip", text=text)
    spec = Spec.load("Slip", path=model.module, cfg=model.config)

    with pytest.raises(EvaluationError, match=f"^Slip: .*{remedy}"):
        explore(spec, limit=100)


@pytest.mark.nightly
def test_a_check_has_the_numbers_of_a_run_that_the_oracle_has_not(make_model):
    names = ("diameter", "distinct", "duration", "level", "queue")
    asked = " + ".join(f'TLCGet("{name}")' for name in names)
    text = (
        "---- MODULE Slip ----\nEXTENDS Naturals, TLC\nVARIABLE x\nInit == x = 0\n"
        f"Next == {asked} >= 0 /\\ x' = 0\n====\n"
    )
    assert isinstance(run(make_model(CONFIG, "Slip", text=text), coverage=False).outcome, Finished)


def test_a_check_tells_the_remedy_too(make_model):
    text = (
        "---- MODULE Slip ----\nEXTENDS Naturals\nVARIABLE x\nInit == x = 0\n"
        "Next == \\E n \\in Nat : x' = n\n====\n"
    )
    outcome = run(make_model(CONFIG, "Slip", text=text), coverage=False).outcome

    assert FINITE in describe(outcome)


def test_a_forgotten_unchanged_is_told_with_the_line_of_its_action(make_model):
    text = (
        "---- MODULE Slip ----\nEXTENDS Naturals\nVARIABLES x, y\nInit == x = 0 /\\ y = 0\n"
        "(* Set(n) == is told of: *)\nSet(n) == x' = n\nNext == \\E n \\in 1..2 : Set(n)\n====\n"
    )
    model = make_model(CONFIG, "Slip", text=text)
    told = describe(run(model, coverage=False).outcome)

    assert told.startswith("cannot evaluate the spec at Slip.tla:6: ")
    assert "is not assigned: y" in told
    assert "in each disjunct of the action, or write UNCHANGED" in told
    with pytest.raises(EvaluationError, match=r"no next value to y.*or write UNCHANGED"):
        explore(Spec.load("Slip", path=model.module, cfg=model.config))


def test_an_operator_of_java_alone_is_told_apart(tmp_path, monkeypatch):
    (tmp_path / "SequencesExt.tla").write_text("---- MODULE SequencesExt ----\n====\n")
    (tmp_path / "IOUtils.tla").write_text(
        "---- MODULE IOUtils ----\nIOExec(command) == CHOOSE result : TRUE\n====\n"
    )
    monkeypatch.setenv("KRAFLA_COMMUNITY_MODULES", str(tmp_path))
    path = tmp_path / "Runs.tla"
    path.write_text(
        "---- MODULE Runs ----\nEXTENDS IOUtils\nVARIABLE x\nInit == x = IOExec(<<>>)\n"
        "Next == UNCHANGED x\n====\n"
    )

    with pytest.raises(EvaluationError, match=r"\(operators of IOUtils of the .* work by Java al"):
        Spec.load("Runs", path=path).initial_states()


def test_an_operator_that_only_java_makes_finite_is_told_apart(tmp_path, monkeypatch):
    text = "EXTENDS Sequences\nWalk == \\E p \\in Seq({1}) : p # <<>>\n===="
    for name in ("SequencesExt", "UndirectedGraphs"):
        (tmp_path / f"{name}.tla").write_text(f"---- MODULE {name} ----\n{text}\n")
    monkeypatch.setenv("KRAFLA_COMMUNITY_MODULES", str(tmp_path))
    path = tmp_path / "Walks.tla"
    path.write_text(
        "---- MODULE Walks ----\nEXTENDS UndirectedGraphs\nVARIABLE x\nInit == x = Walk\n"
        "Next == UNCHANGED x\n====\n"
    )

    with pytest.raises(EvaluationError, match=r"\(operators of UndirectedGraphs of the .* by Java"):
        Spec.load("Walks", path=path).initial_states()


def test_a_complaint_without_remedy_stays_as_it_is():
    said = "Attempted to apply 1 to 2\n line 4, col 1 to line 5, col 2 of module Lock"

    assert with_remedy(said) == "Attempted to apply 1 to 2 Lock.tla:4"
    assert java_advice(["Lock", "SequencesExt"], said) == ""
