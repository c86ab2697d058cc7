"""States as bytes: another copy of TLC's classes turns them into the same states."""

from __future__ import annotations

import pytest

from krafla.oracle import EvaluationError, Spec, SpecError, explore
from krafla.oracle.jvm import TlcClasses
from krafla.oracle.state_bytes import Names, StateBytes

MODELS = [("Shapes", "Shapes"), ("MCBallot", "MCBallotSymmetric"), ("Ballot", "Ballot")]


def load(specs, module, configuration, classes=None):
    cfg = specs / f"{configuration}.cfg"
    return Spec.load(module, path=specs, cfg=cfg, classes=classes)


def prints(spec, states):
    with spec.reduced():
        return [int(state.fingerPrint()) for state in states]


@pytest.mark.parametrize(("module", "configuration"), MODELS)
def test_another_copy_of_the_classes_reads_the_same_states(specs, module, configuration):
    spec = load(specs, module, configuration)
    found = explore(spec)
    names = Names.of(spec)
    dictionary = StateBytes(spec).dictionary_of(found.states.java[:16])

    packed = StateBytes(spec, dictionary).encode(found.states.java)

    other = load(specs, module, configuration, names.given_to(TlcClasses()))
    names.check(other)
    codec = StateBytes(other, dictionary)
    states = codec.decode(packed)
    assert prints(other, states) == list(found.fingerprints)
    assert [other.read_variable(one, other.variables[0]) for one in states] == [
        state[spec.variables[0]] for state in found.states
    ]
    assert prints(spec, StateBytes(spec, dictionary).decode(codec.encode(states))) == list(
        found.fingerprints
    )


def test_a_dictionary_makes_states_smaller(specs):
    spec = load(specs, "Ballot", "Ballot")
    states = explore(spec).states.java
    dictionary = StateBytes(spec).dictionary_of(states[:16])

    plain, small = StateBytes(spec).encode(states), StateBytes(spec, dictionary).encode(states)

    assert 2 * sum(map(len, small)) < sum(map(len, plain))


def test_classes_that_number_strings_differently_are_noticed(specs):
    spec = load(specs, "Shapes", "Shapes")
    names = Names.of(spec)
    backwards = Names(names.strings[::-1], names.model_values)

    with pytest.raises(SpecError, match="number its strings differently"):
        names.check(load(specs, "Shapes", "Shapes", backwards.given_to(TlcClasses())))


def test_strings_that_are_made_later_are_refused(tmp_path):
    (tmp_path / "Words.tla").write_text(
        "---- MODULE Words ----\nEXTENDS Naturals, TLC\nVARIABLES n, word\n"
        'Init == n = 0 /\\ word = ""\n'
        "Next == n < 3 /\\ n' = n + 1 /\\ word' = ToString(n' + 70707)\n====\n"
    )
    spec = Spec.load("Words", path=tmp_path)
    codec = StateBytes(spec)
    (start,) = spec.initial_states()
    assert codec.decode(codec.encode([start.java]))

    ((_, _, after),) = spec.successors(start)

    with pytest.raises(EvaluationError, match="makes strings while it runs"):
        codec.encode([after.java])


@pytest.mark.parametrize("packed", [b"", b"no state", b"\x00" * 40])
def test_bytes_that_are_no_state_are_one_sentence(specs, packed):
    codec = StateBytes(load(specs, "Shapes", "Shapes"))

    with pytest.raises(EvaluationError, match="these bytes are no state of Shapes"):
        codec.decode([packed])
