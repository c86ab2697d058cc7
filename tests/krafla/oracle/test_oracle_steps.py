"""Single steps: the actions of a spec by name, their outcomes, and predicates over them."""

from __future__ import annotations

import pytest

from krafla.oracle import (
    AmbiguousStep,
    EvaluationError,
    NotEnabled,
    Spec,
    SpecError,
    UnexpectedPostState,
)
from krafla.values import Function, ModelValue, function, record, same

R1, R2 = ModelValue("r1"), ModelValue("r2")
RED, BLUE = ModelValue("Red"), ModelValue("Blue")
IDLE = record(name="idle", since=-1)


@pytest.fixture
def start(ballot):
    (state,) = ballot.initial_states()
    return state


def shape(shapes, **values):
    cells = function({0: 0, 1: 0})
    grid = function({RED: cells, BLUE: cells})
    return shapes.state({"queue": (), "total": 0, "grid": grid, "mode": IDLE, **values})


def vote(source, target, epoch):
    return record(type="Vote", source=source, target=target, epoch=epoch)


def test_variables_come_in_the_order_of_their_declaration(ballot, shapes):
    assert ballot.variables == ("epoch", "voted_for", "messages")
    assert shapes.variables == ("queue", "total", "grid", "mode")


def test_every_named_action_is_found_with_its_parameters(ballot, shapes):
    assert [str(action) for action in ballot.actions] == ["Ask(r)", "Answer(r, m)"]
    assert [str(action) for action in shapes.actions] == [
        "Push(n)", "Pop(position)", "Clear", "Reset", "Tick(n)", "Paint(c)",
    ]  # fmt: skip


def test_initial_states_are_all_of_them(shapes):
    assert sorted(state["total"] for state in shapes.initial_states()) == [0, 1]


def test_a_named_action_leads_to_its_post_state(ballot, start):
    after = ballot.apply(start, "Ask", R1)

    assert after["epoch"] == function({R1: 1, R2: 0})
    assert after["voted_for"][R1] == R1
    assert after["messages"] == frozenset({vote(R1, R2, 1)})
    assert start["messages"] == frozenset()


def test_a_parameter_may_be_a_record(ballot, start):
    asked = ballot.apply(start, "Ask", R1)

    after = ballot.apply(asked, "Answer", R2, vote(R1, R2, 1))

    assert after["voted_for"][R2] == R1


def test_plain_python_parameters_are_accepted(ballot, start):
    asked = ballot.apply(start, "Ask", R1)
    message = {"type": "Vote", "source": R1, "target": R2, "epoch": 1}

    assert ballot.apply(asked, "Answer", R2, message)["voted_for"][R2] == R1


def test_remembered_steps_tell_true_from_one(shapes):
    state = shape(shapes)

    stored = [shapes.apply(state, "Store", value)["mode"] for value in (1, True, 1, True)]

    assert stored == [record(name="idle", since=value) for value in (1, True, 1, True)]


def test_an_action_that_is_not_enabled_says_why(ballot, start):
    with pytest.raises(NotEnabled, match=r"Answer\(.*is not enabled") as raised:
        ballot.apply(start, "Answer", R1, vote(R1, R2, 1))

    assert raised.value.explanation.reasons[0].text == "m.target = r"
    assert ballot.outcomes(start, "Answer", R1, vote(R1, R2, 1)) == ()


def test_several_outcomes_need_an_expectation(shapes):
    state = shape(shapes)

    with pytest.raises(AmbiguousStep, match="2 states that differ in grid") as raised:
        shapes.apply(state, "Paint", RED)

    wanted = raised.value.outcomes[1]["grid"]
    assert shapes.apply(state, "Paint", RED, expect={"grid": wanted})["grid"] == wanted


def test_an_unexpected_post_state_names_what_differs(ballot, start):
    with pytest.raises(UnexpectedPostState) as raised:
        ballot.apply(start, "Ask", R1, expect={"epoch": {R1: 2, R2: 0}})

    assert [str(d) for d in raised.value.explanation.differences] == [
        "epoch[r1]: expected 1, got 2"
    ]


def test_an_expectation_tells_true_from_one(ballot, start):
    with pytest.raises(UnexpectedPostState):
        ballot.apply(start, "Ask", R1, expect={"epoch": {R1: True, R2: 0}})


def test_successors_carry_action_and_parameters(ballot, start):
    asked = ballot.apply(start, "Ask", R1)

    steps = ballot.successors(asked)

    assert [(name, parameters) for name, parameters, _ in steps] == [
        ("Ask", (R1,)),
        ("Ask", (R2,)),
        ("Answer", (R2, vote(R1, R2, 1))),
    ]
    assert all(after == ballot.apply(asked, name, *args) for name, args, after in steps)


def test_successors_of_every_construct_can_be_applied_again(shapes):
    state = shape(shapes, queue=(3, 2), total=6)

    steps = shapes.successors(state)

    assert {name for name, _, _ in steps} == {"Pop", "Reset", "Paint"}
    assert all(after in shapes.outcomes(state, name, *args) for name, args, after in steps)


def test_primed_let_and_case_are_evaluated(shapes):
    after = shapes.apply(shape(shapes), "Push", 1)

    assert after["queue"] == (2,)
    assert after["mode"] == record(name="one", since=-1)


def test_an_instance_is_evaluated_with_its_substitution(shapes):
    assert shapes.apply(shape(shapes), "Tick", 3)["total"] == 3
    assert shapes.check_invariant("GaugeInRange", shape(shapes, total=6))
    assert not shapes.check_invariant("GaugeInRange", shape(shapes, total=7))
    assert not shapes.check_invariant("Gauge!InRange", shape(shapes, total=7))


def test_an_operator_is_evaluated_with_arguments_and_state(shapes):
    state = shape(shapes, queue=(2, 3))

    assert shapes.evaluate("Sum", None, (1, 2, 3)) == 6
    assert shapes.evaluate("Short", state, 2) is False
    assert shapes.evaluate("Short", state, 3) is True


def test_invariants_and_action_properties_are_checked(ballot, start):
    asked = ballot.apply(start, "Ask", R1)
    answered = ballot.apply(asked, "Answer", R2, vote(R1, R2, 1))
    asked_again = ballot.apply(answered, "Ask", R2)

    assert ballot.check_invariant("TypeOK", asked)
    assert not ballot.check_invariant("TypeOK", asked.replace(epoch=function({R1: 9, R2: 0})))
    assert ballot.check_action_property("EpochsGrow", asked, answered)
    assert not ballot.check_action_property("EpochsGrow", answered, asked)
    assert not ballot.check_action_property("VotesAreForever", answered, asked_again)
    assert ballot.check_action_property("NoNewMessage", asked, asked)
    assert not ballot.check_action_property("NoNewMessage", start, asked)


def test_every_conjunct_of_an_action_property_counts(shapes):
    before, after = shape(shapes, total=3), shape(shapes, total=2)
    cells = function({0: 5, 1: 0})
    painted = shape(shapes, grid=function({RED: cells, BLUE: cells}))

    assert not shapes.check_action_property("TotalOnlyGrows", before, after)
    assert not shapes.check_action_property("TotalOnlyGrows", after, painted)
    assert shapes.check_action_property("TotalOnlyGrows", after, before)


def test_a_refinement_is_checked_step_by_step(shapes):
    one, three, none = (shape(shapes, total=total) for total in (1, 3, 0))

    assert shapes.check_action_property("RefinesMeter", one, three)
    assert shapes.check_action_property("RefinesMeter", one, one.replace(queue=(1,)))
    assert not shapes.check_action_property("RefinesMeter", three, one)
    assert not shapes.check_action_property("RefinesMeter", three, none)


def test_what_must_always_hold_must_hold_after_the_step_too(shapes):
    fine, heavy = shape(shapes), shape(shapes, queue=(9,), mode=record(name="heavy", since=9))

    assert shapes.check_action_property("AlwaysFine", fine, fine)
    assert not shapes.check_action_property("AlwaysFine", fine, heavy)
    assert not shapes.check_action_property("AlwaysFine", heavy, fine)


def test_a_property_without_steps_is_refused(shapes):
    with pytest.raises(SpecError, match="says nothing of a single step"):
        shapes.check_action_property("Busy", shape(shapes), shape(shapes))
    with pytest.raises(SpecError, match="it is no property"):
        shapes.check_invariant("Short", shape(shapes))


def test_next_is_asked_whether_it_allows_a_step(shapes):
    start = shape(shapes)

    assert shapes.allows_step(start, shapes.apply(start, "Tick", 3))
    assert not shapes.allows_step(start, shapes.apply(start, "Tick", 4))
    assert not shapes.allows_step(start, start)


def test_a_state_is_a_mapping_and_a_value(ballot, start):
    asked = ballot.apply(start, "Ask", R1)

    assert list(asked) == list(ballot.variables)
    assert isinstance(asked.as_function(), Function)
    assert ballot.state(asked.as_function()) == asked
    assert len({asked, ballot.state(dict(asked)), start}) == 2


def test_a_replaced_variable_leaves_the_other_state_alone(start):
    other = start.replace(epoch=function({R1: 2, R2: 2}))

    assert same(start["epoch"], function({R1: 0, R2: 0}))
    assert other["epoch"][R1] == 2
    assert other["messages"] == start["messages"]
    assert other != start


def test_states_of_different_specs_are_never_equal(shapes, start):
    assert start != shapes.initial_states()[0]
    assert start != "a state"


@pytest.mark.parametrize(
    ("question", "message"),
    [
        (lambda spec, state: spec.apply(state, "Absent"), "Ballot has no operator Absent"),
        (lambda spec, state: spec.apply(state, "Ask"), "Ask takes 1 parameters, not 0"),
        (lambda spec, _: spec.state({"epoch": 1}), "also needs voted_for, messages"),
        (lambda _, state: state.replace(absent=1), "no variable absent"),
        (lambda _, state: state["absent"], "no variable absent"),
    ],
)
def test_names_that_do_not_exist_are_refused(ballot, start, question, message):
    with pytest.raises((SpecError, EvaluationError), match=message):
        question(ballot, start)


def test_an_expression_tlc_cannot_evaluate_is_an_error_of_its_own(ballot, start):
    with pytest.raises(EvaluationError, match="nonexistent field"):
        ballot.outcomes(start, "Answer", R1, record(type="Vote"))


def test_a_successor_that_leaves_a_variable_open_is_an_error(tmp_path):
    (tmp_path / "Open.tla").write_text(
        "---- MODULE Open ----\nVARIABLES x, y\nInit == x = 1 /\\ y = 1\nNext == x' = 2\n====\n"
    )
    spec = Spec.load("Open", path=tmp_path)

    with pytest.raises(EvaluationError, match="Next does not say what becomes of y"):
        spec.outcomes(spec.state({"x": 1, "y": 1}), "Next")


def test_an_action_keeps_its_name_when_a_configuration_replaces_it(specs, tmp_path):
    (tmp_path / "Quiet.tla").write_text(
        "---- MODULE Quiet ----\nEXTENDS Ballot\nNever(r) == FALSE /\\ UNCHANGED vars\n====\n"
    )
    (tmp_path / "Quiet.cfg").write_text(
        "CONSTANTS Replica = {r1, r2} MaxEpoch = 1 Nil = Nil Ask <- Never\nINIT Init\nNEXT Next\n"
    )
    spec = Spec.load("Quiet", path=tmp_path, cfg=tmp_path / "Quiet.cfg", search_path=[specs])
    (start,) = spec.initial_states()

    assert [action.name for action in spec.actions] == ["Ask", "Answer"]
    assert spec.outcomes(start, "Ask", R1) == ()
    assert spec.successors(start) == []


def test_a_next_without_a_name_is_called_next(tmp_path):
    (tmp_path / "Plain.tla").write_text(
        "---- MODULE Plain ----\nEXTENDS Naturals\nVARIABLE x\nUp == x' = x + 1\n"
        "Spec == x = 0 /\\ [][Up \\/ (x > 0 /\\ x' = 0)]_x\n====\n"
    )
    (tmp_path / "Plain.cfg").write_text("SPECIFICATION Spec\n")
    spec = Spec.load("Plain", path=tmp_path, cfg=tmp_path / "Plain.cfg")

    steps = [(name, after["x"]) for name, _, after in spec.successors(spec.state({"x": 3}))]

    assert [action.name for action in spec.actions] == ["Up", "Next"]
    assert steps == [("Up", 4), ("Next", 0)]
