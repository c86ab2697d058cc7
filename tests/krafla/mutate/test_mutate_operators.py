"""Each operator of mutation, by what it makes of a small spec; and that edits keep TLA+ whole."""

from __future__ import annotations

import difflib
import os
import re
from typing import TYPE_CHECKING

import pytest
from tests.krafla.mutate.mutants import SPECS, changed, copy_of_specs, mutants_of, named

from krafla.mutate.edits import Edit, Kept, Source, one_line, without_comments
from krafla.mutate.guards import is_ordered_name
from krafla.mutate.mutants import OPERATORS
from krafla.mutate.population import Choice, population
from krafla.oracle.syntax import read_module
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from pathlib import Path

AT_NIGHT = bool(os.environ.get("KRAFLA_NIGHTLY"))
# For each operator a mutant, and what it takes away and puts in.
EXPECTED = {
    "Ballot.Close.drop-guard.019": ["-  /\\ IsMajority(granted)", "+  /\\ TRUE"],
    "Ballot.Open.negate-guard.7c4": ["-  /\\ epoch < MaxEpoch", "+  /\\ ~(epoch < MaxEpoch)"],
    "Ballot.Close.swap-branches.983": ["-  /\\ IF final", "+  /\\ IF ~(final)"],
    "Layout.Long.swap-branches.d76": [
        '-     ELSE /\\ count\' = CASE mode = "A" -> 1',
        '-                        [] mode = "B" -> 2',
        '+     ELSE /\\ count\' = CASE mode = "A" -> 2',
        '+                        [] mode = "B" -> 1',
    ],
    "Ballot.Grant.exchange-and-or": [
        '-  /\\ status = "OPEN" /\\ n \\notin granted',
        '+  /\\ status = "OPEN" \\/ n \\notin granted',
    ],
    "Layout.Long.exchange-and-or.67c": [
        '-  /\\ \\/ mode = "A"      \\* a list in a list',
        '-     \\/ /\\ mode = "B"',
        '+  /\\ /\\ mode = "A"      \\* a list in a list',
        '+     /\\ /\\ mode = "B"',
    ],
    "Ballot.Open.off-by-one-comparison": ["-  /\\ epoch < MaxEpoch", "+  /\\ epoch <= MaxEpoch"],
    "Ballot.Close.off-by-one-comparison.50": [
        "-  LET final == epoch = MaxEpoch IN",
        "+  LET final == epoch >= MaxEpoch IN",
    ],
    "Ballot.IsMajority.weaken-quorum.328": [
        "-IsMajority(nodes) == Cardinality(nodes) * 2 > Cardinality(Node)",
        "+IsMajority(nodes) == Cardinality(nodes) * 2 >= Cardinality(Node)",
    ],
    "Ballot.IsMajority.weaken-quorum.6db": [
        "-IsMajority(nodes) == Cardinality(nodes) * 2 > Cardinality(Node)",
        "+IsMajority(nodes) == (Cardinality(nodes) + 1) * 2 > Cardinality(Node)",
    ],
    "Ballot.Close.swap-quantifier": [
        "-  /\\ \\A n \\in granted : n \\in Node",
        "+  /\\ \\E n \\in granted : n \\in Node",
    ],
    "Ballot.Open.drop-update.b4e": ['-  /\\ status\' = "OPEN"', "+  /\\ status' = status"],
    "Ballot.Close.drop-update.616": [
        "-  /\\ last' = [last EXCEPT !.epoch = epoch, !.is_final = final]",
        "+  /\\ last' = [last EXCEPT !.epoch = @, !.is_final = final]",
    ],
    "Ballot.Abandon.reset-unchanged.64d": [
        "-  /\\ UNCHANGED <<ballot, closed, last>>",
        "+  /\\ (UNCHANGED <<status, closed, last>> /\\ granted' = {n_0 \\in Node : FALSE})",
    ],
    "Ballot.Open.off-by-one.966": ["-  /\\ epoch' = epoch + 1", "+  /\\ epoch' = (epoch)"],
    "Ballot.Close.off-by-one.b8d": [
        "-  /\\ last' = [last EXCEPT !.epoch = epoch, !.is_final = final]",
        "+  /\\ last' = [last EXCEPT !.epoch = (epoch + 1), !.is_final = final]",
    ],
    "Ballot.Open.sibling-string.849": ['-  /\\ status\' = "OPEN"', '+  /\\ status\' = "DONE"'],
    "Ballot.Init.flip-boolean": [
        "-  /\\ last = [epoch |-> 0, is_final |-> FALSE]",
        "+  /\\ last = [epoch |-> 0, is_final |-> TRUE]",
    ],
    "Layout.Short.drop-operand.9c": [
        "-         /\\ seen' = (seen \\cup {count}) \\ {9}",
        "+         /\\ seen' = (seen \\cup {count})",
    ],
}


@pytest.mark.parametrize("start", sorted(EXPECTED))
def test_an_operator_changes_just_this(start: str) -> None:
    room = "ballot" if start.startswith("Ballot") else "layout"
    assert changed(named(room, start)) == EXPECTED[start]


def test_every_operator_is_shown_above() -> None:
    assert {start.split(".")[2] for start in EXPECTED} == set(OPERATORS)


def test_bullets_keep_their_column_where_something_is_put_before_them() -> None:
    lines = changed(named("layout", "Layout.Long.negate-guard.e02"))
    assert lines[1:3] == ["+  /\\ ~(", '+     \\/ mode = "A"      \\* a list in a list']
    assert changed(named("layout", "Layout.Long.swap-branches.1c1")) == [
        "-  /\\ IF count >= 2 THEN /\\ count' = 0",
        "+  /\\ IF ~(count >= 2)",
        "+                   THEN /\\ count' = 0",
    ]


@pytest.mark.parametrize("room", ["ballot", pytest.param("layout", marks=pytest.mark.nightly)])
def test_every_mutant_is_a_module_and_differs_in_one_place(room: str, tmp_path: Path) -> None:
    mutants = mutants_of(room).mutants
    assert len(mutants) > 40
    # SANY reads each as a module of its own.
    for mutant in mutants if AT_NIGHT else mutants[::8]:
        file = tmp_path / f"{mutant.module}.tla"
        file.write_text(mutant.text, encoding="utf-8")
        assert read_module(mutant.module, file, [tmp_path]).variables
        before = (SPECS / mutant.file).read_text(encoding="utf-8").split()
        blocks = difflib.SequenceMatcher(None, before, mutant.text.split(), False).get_opcodes()
        first = next(index for index, block in enumerate(blocks) if block[0] != "equal")
        assert first <= 1


def test_an_at_is_written_as_itself_and_never_taken_for_its_whole_entry(tmp_path: Path) -> None:
    room = tmp_path / "tokens"
    room.mkdir()
    (tmp_path / "manifest.toml").write_text('rooms = ["tokens"]\n')
    (room / "models.toml").write_text(
        '[[model]]\nname = "Tokens"\nmodule = "tokens/Tokens.tla"\ncfg = "tokens/Tokens.cfg"\n'
        'spec = "Tokens"\ntier = "smoke"\nkind = "safety"\nexpect = "holds"\ndistinct = 4\n'
        'bounds = "none"\n'
    )
    (room / "Tokens.cfg").write_text("SPECIFICATION Spec\nCHECK_DEADLOCK FALSE\n")
    (room / "Tokens.tla").write_text(
        "---- MODULE Tokens ----\nEXTENDS Integers\nVARIABLES left, up\n"
        'Init == left = [s \\in {"a"} |-> 3] /\\ up = [s \\in {"a"} |-> TRUE]\n'
        "Take(s) == left[s] > 0 /\\ left' = [left EXCEPT ![s] = @ - 1] /\\ UNCHANGED up\n"
        "Turn(s) == up' = [up EXCEPT ![s] = IF @ THEN ~@ ELSE @ /\\ left[s] > 0]\n"
        "           /\\ left' = [left EXCEPT ![s] = CASE @ < 1 -> @ [] OTHER -> 0]\n"
        'Next == \\E s \\in {"a"} : Take(s) \\/ Turn(s)\n'
        "Spec == Init /\\ [][Next]_<<left, up>>\n====\n"
    )
    mutants = population(tmp_path.resolve(), Choice()).mutants
    (one_more,) = [one for one in mutants if one.what == "is one more: @ - 1"]
    assert "left' = [left EXCEPT ![s] = (@)" in one_more.text
    for mutant in mutants:
        (room / "Mutant.tla").write_text(mutant.text.replace("MODULE Tokens", "MODULE Mutant"))
        assert read_module("Mutant", room / "Mutant.tla", [room]).variables, mutant.what


def test_no_two_mutants_have_one_text_or_one_name() -> None:
    mutants = [*mutants_of("ballot").mutants, *mutants_of("layout").mutants]
    assert len({mutant.id for mutant in mutants}) == len(mutants)
    assert len({mutant.text for mutant in mutants}) == len(mutants)
    assert all(re.fullmatch(r"\w+\.\w+\.[a-z-]+\.[0-9a-f]{6}", mutant.id) for mutant in mutants)


def test_bounds_and_properties_are_not_mutated() -> None:
    assert {mutant.module for mutant in mutants_of("ballot").mutants} == {"Ballot"}
    assert not [one for one in mutants_of("ballot").mutants if one.action == "TypeOK"]


def test_a_name_survives_text_that_moves(tmp_path: Path) -> None:
    specs = copy_of_specs(tmp_path)
    file = specs / "ballot" / "Ballot.tla"
    source = file.read_text(encoding="utf-8")
    moved = source.replace("(* A ballot of", "(* One line more. *)\n(* A ballot of")
    file.write_text(moved, encoding="utf-8")
    found = population(specs, Choice(rooms=("ballot",))).mutants
    known = mutants_of("ballot").mutants
    assert [mutant.id for mutant in found] == [mutant.id for mutant in known]
    assert [mutant.line for mutant in found] != [mutant.line for mutant in known]


@pytest.mark.nightly
def test_what_is_not_there_cannot_be_chosen() -> None:
    for choice, message in (
        (Choice(modules=("Nowhere",)), "no module 'Nowhere' to mutate; there are: Ballot, Layout"),
        (Choice(operators=("typo",)), "no operator 'typo' to mutate"),
        (Choice(rooms=("attic",)), "no room 'attic' to mutate"),
    ):
        with pytest.raises(KraflaError, match=re.escape(message)):
            population(SPECS, choice)


def test_epochs_and_offsets_are_known_by_their_names() -> None:
    ordered = ["epoch", "brokerEpoch", "log_end", "lastCaughtUpOffset", "HighWatermark", "LogEnd"]
    assert all(map(is_ordered_name, ordered))
    assert not any(map(is_ordered_name, ["status", "voters", "is_end", "pending", "hasOffset"]))


def test_text_that_is_kept_is_moved_with_its_bullets() -> None:
    source = Source("A == /\\ x\n     /\\ y\nB == 1\n")
    edit = Edit(5, 19, ("IF TRUE THEN ", Kept(5, 19), " ELSE FALSE"))
    assert source.edited(edit).splitlines()[:3] == [
        "A == IF TRUE THEN ",
        "     /\\ x",
        "     /\\ y ELSE FALSE",
    ]


def test_comments_are_blank_and_lines_are_joined() -> None:
    text = "a \\* one\n  (* two\n *) + b"
    assert len(without_comments(text)) == len(text)
    assert one_line(text) == "a + b"
