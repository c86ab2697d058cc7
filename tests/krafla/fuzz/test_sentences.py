"""Each property that a violation can name has a sentence, in the spec or in the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.krafla.fuzz.fuzz_runs import ON_MACHINES

from krafla.fuzz.engine.system import find_system

DOCS = Path(__file__).parents[3] / "docs" / "internals"
# A broken progress or a raised error, and a step that a spec in lockstep denies.
BESIDE = {
    "raft": ("ProgressProp", "HandlersReturnInv", "KRaftSteps"),
    "stack": ("ProgressProp", "HandlersReturnInv", "KRaftSteps", "MetadataLogSteps",
              "UntimedLease!FenceBroker"),
}  # fmt: skip
ROW = re.compile(r"^\| ((?:`\w+(?:Inv|Prop)`(?:, )?)+) \| ([^`|].+) \|$", re.MULTILINE)


def rows_of(page):
    """Return the sentence of each property in the tables of a page."""
    text = re.sub(r"\[([^]]+)\]\([^)]*\)", r"\1", (DOCS / page).read_text("utf-8"))
    rows = ROW.findall(text)
    return {name: said for names, said in rows for name in re.findall(r"`(\w+)`", names)}


@pytest.mark.parametrize("example", ON_MACHINES, ids=lambda example: example.word)
def test_every_property_has_a_sentence(example):
    system = example.system
    names = (*system.properties, *BESIDE[example.word])
    said = {name: system.meaning(name) for name in names}
    assert [name for name, one in said.items() if not one] == []
    assert [one for one in said.values() if not (one[0].isupper() and one.endswith("."))] == []


@pytest.mark.parametrize("word", ["raft", "stack"])
def test_the_page_says_the_same_and_may_say_more(word):
    system, rows = find_system(word), rows_of(f"{word}-fuzzing.md")
    assert len(rows) > 10
    assert {n: said for n, said in rows.items() if not said.startswith(system.meaning(n))} == {}
