"""The facts about specs in ``traces.toml`` of the rooms, and the errors for wrong ones."""

from __future__ import annotations

import shutil

import pytest

from krafla.manifest import find_specs
from krafla.match.spec_source import stands_alone
from krafla.match.validation import choices_for
from krafla.shrink import Size
from krafla.traces import Step, Trace
from krafla.traces.spec_facts import (
    ShrinkFacts,
    SpecFacts,
    facts_of,
    faults,
    shrink_facts_of,
    specs_alone,
)
from krafla.traces.trace import INITIAL
from krafla.values import Function
from krafla.verdict import KraflaError


@pytest.fixture
def write_facts(tmp_path, monkeypatch):
    """Return a function that writes the facts of a tree with one room."""
    (tmp_path / "lamp").mkdir()
    (tmp_path / "lamp" / "models.toml").write_text("")
    (tmp_path / "manifest.toml").write_text('rooms = ["lamp"]\n')
    monkeypatch.setenv("KRAFLA_SPECS", str(tmp_path))

    def write(text):
        path = tmp_path / "lamp" / "traces.toml"
        path.write_text(text)
        return path

    return write


def test_the_rooms_say_which_spec_stands_alone_and_which_has_other_names_for_init_and_next():
    assert [one.spec for one in specs_alone()] == ["BrokerLeaseProperties"]
    elr = facts_of("ReassignmentElrProperties")
    assert (elr.init, elr.next) == ("ElrInit", "ElrNext")
    assert (facts_of("KRaft").init, facts_of("KRaft").next) == ("Init", "Next")


def test_a_copy_of_the_specs_says_the_same(tmp_path, monkeypatch):
    specs = ("BrokerLeaseProperties", "ReassignmentElrProperties", "Cluster")
    before = [(facts_of(spec), shrink_facts_of(spec)) for spec in specs], dict(faults())
    assert before[1]
    copy = shutil.copytree(find_specs(), tmp_path / "specs")
    monkeypatch.setenv("KRAFLA_SPECS", str(copy))

    after = [(facts_of(spec), shrink_facts_of(spec)) for spec in specs], dict(faults())

    assert after[1] == before[1]
    for (new, new_shrink), (old, old_shrink) in zip(after[0], before[0], strict=True):
        assert new_shrink == old_shrink
        assert (new.stands_alone_for, new.judged, new.choices) == (
            old.stands_alone_for, old.judged, old.choices
        )  # fmt: skip
        assert new.conditional == old.conditional


def test_a_spec_without_facts_has_the_defaults(write_facts):
    write_facts("")
    assert facts_of("Lamp") == SpecFacts("Lamp")
    assert shrink_facts_of("Lamp") == ShrinkFacts()
    assert not faults()
    assert not stands_alone(Trace("Lamp", (), model="MCLamp"))


def test_another_protocol_says_what_its_processes_and_faults_are(write_facts):
    write_facts(
        '[[shrink]]\nspecs = ["Lamp"]\nprocesses = "Node"\ntime = "Wait"\n'
        '[faults]\nBlackout = "power lost"\n'
    )
    state = Function({"lit": True})
    steps = (Step(INITIAL, (), state), Step("Wait", (3,), state), Step("Blackout", (), state))
    trace = Trace("Lamp", steps, (("Node", frozenset({"n1", "n2"})),))

    assert Size.of(trace) == Size(steps=2, nodes=2, faults=1, units=3)
    assert str(Size.of(trace)) == "2 steps, 2 processes, 1 fault, 3 units of time"


def test_an_edited_file_is_read_again(write_facts):
    write_facts('[faults]\nBlackout = "power lost"\n')
    assert dict(faults()) == {"Blackout": "power lost"}
    write_facts("# No lamp fails here.\n")
    assert not faults()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("faults = 1\n", r"'faults' is a table that gives each name a string"),
        ("[faults]\nCrash = 1\n", r"'faults' is a table that gives each name a string"),
        ("[[trace]]\n", r"there is no key 'trace'; known: faults, shrink, spec"),
        ("spec = 1\n", r"each spec is a table \[\[spec\]\]"),
        ("[[spec]]\njudged = true\n", r"a \[\[spec\]\] table names its spec"),
        ('[[spec]]\nspec = "A"\n[[spec]]\nspec = "A"\n', r"A stands in two tables \[\[spec\]\]"),
        ('[[spec]]\nspec = "A"\nstart = "B"\n', r"\[\[spec\]\] has no key 'start'; known: choices"),
        ('[[spec]]\nspec = "A"\njudged = 1\n', r"'judged' of \[\[spec\]\] is true or false"),
        (
            '[[spec]]\nspec = "A"\nchoices = [1]\n',
            r"'choices' of \[\[spec\]\] is a list of strings",
        ),
        ('[[spec]]\nspec = "A"\n[spec.conditional]\nB = 1\n', r"'conditional' is a table that"),
        ("[[shrink]]\n", r"a \[\[shrink\]\] table names its specs"),
        ('[[shrink]]\nspecs = ["A", "A"]\n', r"A stands in two tables \[\[shrink\]\]"),
        ('[[shrink]]\nspecs = ["A"]\nnumbers = { B = true }\n', r"numbers gives B no least value"),
    ],
)
def test_a_wrong_fact_is_refused_with_its_file_and_key(write_facts, text, message):
    path = write_facts(text)
    with pytest.raises(KraflaError, match=message) as refused:
        facts_of("A")
    assert str(path) in str(refused.value)


@pytest.mark.parametrize("name", ["no_such_module:f", "krafla.values:no_such", "plain", ":f", "m:"])
def test_choices_that_name_no_function_are_refused(write_facts, name):
    path = write_facts(f'[[spec]]\nspec = "Lamp"\nchoices = ["{name}"]\n')
    with pytest.raises(KraflaError, match="choices of Lamp names") as refused:
        facts_of("Lamp").choosers()
    assert str(path) in str(refused.value)


def test_choices_are_asked_of_the_loaded_spec(write_facts):
    write_facts('[[spec]]\nspec = "Lamp"\nchoices = ["builtins:repr"]\n')

    class Lamp:
        name = "Lamp"

        def __repr__(self):
            return "the lamp"

    assert choices_for(Lamp()) == ("the lamp",)
