"""Whole models: the states, steps and verdicts that TLC itself finds."""

from __future__ import annotations

import hashlib
from functools import cache
from itertools import pairwise

import pytest

from krafla.oracle import OUTSIDE, EvaluationError, Spec, SpecError, explore
from krafla.values import ModelValue


@cache
def load(specs, module, configuration):
    return Spec.load(module, path=specs, cfg=specs / f"{configuration}.cfg")


@pytest.mark.by_day(1)
@pytest.mark.parametrize(
    ("module", "configuration"),
    [
        ("Ballot", "Ballot"),
        ("Ballot", "BallotSmall"),
        ("MCBallot", "MCBallotSlow"),
        ("Shapes", "Shapes"),
    ],
)
def test_counts_and_states_are_those_of_tlc(specs, tlc, module, configuration):
    spec = load(specs, module, configuration)
    reference = tlc(module, configuration)

    found = explore(spec)

    assert found.is_complete
    assert found.violation is None
    assert (found.generated, found.distinct, found.depth) == (
        reference.generated,
        reference.distinct,
        reference.depth,
    )
    assert {state.as_function() for state in found.states} == set(reference.states)
    assert found.digest == digest(spec.state(state) for state in reference.states)


def digest(states):
    numbers = sorted(state.fingerprint % 2**64 for state in states)
    return hashlib.sha256(b"".join(number.to_bytes(8, "big") for number in numbers)).hexdigest()


@pytest.mark.nightly
def test_symmetry_reduces_a_whole_model_but_no_single_step(specs, tlc):
    spec = load(specs, "MCBallot", "MCBallotSymmetric")
    reference = tlc("MCBallot", "MCBallotSymmetric")

    found = explore(spec)

    assert (found.generated, found.distinct) == (reference.generated, reference.distinct)
    (start,) = spec.initial_states()
    one, other = (spec.apply(start, "Ask", ModelValue(name)) for name in ("r1", "r2"))
    assert one != other


def test_steps_are_those_that_successors_lists(specs):
    spec = load(specs, "Ballot", "Ballot")
    found = explore(spec)

    steps = sorted(
        (source, found.actions[label], target)
        for source, label, target in zip(found.sources, found.labels, found.targets, strict=True)
    )

    index = {state: number for number, state in enumerate(found.states)}
    assert steps == sorted(
        (index[state], name, index[after])
        for state in found.states
        for name, _, after in spec.successors(state)
    )


def test_a_constraint_cuts_the_steps_that_leave_the_model(specs):
    spec = load(specs, "Ballot", "BallotSmall")

    found = explore(spec)

    assert OUTSIDE in found.targets
    assert all(spec.in_model(state) for state in found.states)
    assert len(found.targets) == found.generated - len(spec.initial_states())


def test_coverage_counts_each_action(specs):
    found = explore(load(specs, "Shapes", "Shapes"))

    taken = {name: coverage.taken for name, coverage in found.coverage.items()}
    assert sum(taken.values()) == found.edges
    assert taken["Clear"] > 0
    assert sum(c.discovered for c in found.coverage.values()) == found.distinct - 2


def test_a_false_invariant_comes_with_a_shortest_path(specs, tlc):
    reference = tlc("Ballot", "BallotElected")
    spec = load(specs, "Ballot", "BallotElected")

    found = explore(spec)

    assert "Invariant NeverElected is violated" in reference.output
    assert found.violation.name == "NeverElected"
    assert not found.violation.is_step
    assert not found.is_complete
    assert [action for action, _ in found.violation.path] == ["Init", "Ask", "Answer"]
    assert not spec.check_invariant("NeverElected", found.violation.path[-1][1])


def test_a_false_action_property_comes_with_the_step(specs, tlc):
    reference = tlc("Ballot", "BallotFickle")
    spec = load(specs, "Ballot", "BallotFickle")

    violation = explore(spec).violation

    assert "Action property VotesAreForever is violated" in reference.output
    assert (violation.name, violation.is_step) == ("VotesAreForever", True)
    (_, before), (_, after) = violation.path[-2:]
    assert not spec.check_action_property("VotesAreForever", before, after)


def test_properties_of_whole_behaviours_are_named_as_unchecked(specs, tmp_path):
    configuration = tmp_path / "Live.cfg"
    text = (specs / "Shapes.cfg").read_text()
    configuration.write_text(f"{text}PROPERTIES Busy TotalOnlyGrows\n")

    found = explore(Spec.load("Shapes", path=specs, cfg=configuration), limit=5)

    assert found.unchecked == ("Busy",)


def test_a_search_past_violations_is_complete(specs):
    found = explore(load(specs, "Ballot", "BallotElected"), until_violation=False)

    assert found.violation.name == "NeverElected"
    assert found.is_complete
    assert found.distinct == explore(load(specs, "Ballot", "Ballot")).distinct


def test_a_limit_stops_the_search_and_says_so(specs):
    found = explore(load(specs, "Shapes", "Shapes"), limit=10)

    assert found.distinct >= 10
    assert not found.is_complete


def test_every_state_has_a_path_of_real_steps(specs):
    spec = load(specs, "Shapes", "Shapes")
    found = explore(spec)

    path = found.path(found.distinct - 1)

    assert path[0][1] in spec.initial_states()
    assert path[-1][1] == found.states[-1]
    assert len(path) == found.depth
    for (_, before), (action, after) in pairwise(path):
        assert (action, after) in [(name, state) for name, _, state in spec.successors(before)]


def stepless(found):
    """Return the states without any step, by index."""
    return [index for index in range(found.expanded) if index not in set(found.sources)]


def test_states_without_a_step_are_deadlocks(tmp_path):
    (tmp_path / "Ends.tla").write_text(
        "---- MODULE Ends ----\nEXTENDS Naturals\nVARIABLE x\nInit == x \\in 0 .. 1\n"
        "Next == x < 4 /\\ x' = x + 2\n====\n"
    )

    found = explore(Spec.load("Ends", path=tmp_path))

    assert [found.states[index]["x"] for index in stepless(found)] == [4, 5]


def test_two_searches_find_the_same_in_the_same_order(specs):
    spec = load(specs, "Shapes", "Shapes")

    one, other = explore(spec), explore(spec)

    assert one.fingerprints == other.fingerprints
    assert one.targets == other.targets


def test_constants_given_as_values_can_be_explored_too(ballot):
    found = explore(ballot)

    assert (found.distinct, found.generated) == (61, 133)


def test_an_expression_tlc_cannot_evaluate_ends_the_search(tmp_path):
    (tmp_path / "Bad.tla").write_text(
        "---- MODULE Bad ----\nEXTENDS Naturals\nVARIABLE x\nInit == x = 0\n"
        "Next == x' = IF x = 2 THEN x.field ELSE x + 1\n====\n"
    )

    with pytest.raises(EvaluationError, match=r"Bad: .*field"):
        explore(Spec.load("Bad", path=tmp_path))


def test_a_search_that_was_cut_calls_no_unexpanded_state_a_deadlock(specs):
    spec = load(specs, "Shapes", "Shapes")
    found = explore(spec, limit=10)

    assert 0 < found.expanded < found.distinct
    assert not stepless(found)
    assert all(spec.successors(state) for state in found.states)


def test_a_predicate_is_asked_of_every_state(specs):
    spec = load(specs, "Ballot", "BallotElected")
    found = explore(spec, until_violation=False)

    holds = found.satisfying("NeverElected")

    assert list(holds) == [spec.check_invariant("NeverElected", state) for state in found.states]
    assert {0, 1} == set(holds)


@pytest.mark.nightly
def test_the_values_of_a_variable_are_listed_once_each(specs):
    spec = load(specs, "Ballot", "Ballot")
    found = explore(spec)

    for variable in spec.variables:
        column, values = found.values(variable)
        assert [values[number] for number in column] == [state[variable] for state in found.states]
        assert len(values) == len(set(values))
        assert found.values(variable, limit=7)[0] == column[:7]


def test_a_step_knows_through_which_branch_of_next_it_went(specs):
    spec = load(specs, "Ballot", "Ballot")
    found = explore(spec)

    assert len(found.branches) == found.edges
    for branch, label in zip(found.branches, found.labels, strict=True):
        assert spec.branches[branch].owner.name == found.actions[label]


def test_progress_tells_what_is_known_so_far(specs):
    counts = []
    found = explore(
        load(specs, "Ballot", "Ballot"), progress=lambda so_far: counts.append(so_far.distinct)
    )

    assert counts == sorted(counts)
    assert counts[-1] == found.distinct


def test_a_configuration_file_takes_expressions_beside_it(specs):
    configuration = specs / "Ballot.cfg"

    spec = Spec.load("Ballot", path=specs, cfg=configuration, expressions={"Ours": "1 + 1 = 2"})

    assert all(explore(spec).satisfying("Ours"))
    with pytest.raises(SpecError, match="already says"):
        Spec.load("Ballot", path=specs, cfg=configuration, invariants=["Ours"])
