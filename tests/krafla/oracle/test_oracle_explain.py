"""Explanations: the false conjunct, where it stands, its text, and the values in it."""

from __future__ import annotations

import pytest

from krafla.values import ModelValue, function, record

R1, R2 = ModelValue("r1"), ModelValue("r2")
RED, BLUE = ModelValue("Red"), ModelValue("Blue")


def shape(shapes, **values):
    cells = function({0: 0, 1: 0})
    idle = record(name="idle", since=-1)
    grid = function({RED: cells, BLUE: cells})
    return shapes.state({"queue": (), "total": 0, "grid": grid, "mode": idle, **values})


@pytest.fixture
def start(ballot):
    (state,) = ballot.initial_states()
    return state


def only_reason(explanation):
    (reason,) = explanation.reasons
    return reason


def test_a_false_guard_is_cut_from_its_file_with_its_values(ballot, start, specs):
    state = start.replace(epoch=function({R1: 2, R2: 0}))

    explanation = ballot.explain(state, "Ask", (R1,))

    reason = only_reason(explanation)
    line = (specs / "Ballot.tla").read_text().splitlines()[reason.place.line - 1]
    assert explanation.finding == "Ask(r1) is not enabled"
    assert (reason.text, reason.note) == ("epoch[r] < MaxEpoch", "is false")
    assert line == "  /\\ epoch[r] < MaxEpoch"
    assert line[reason.place.column - 1 :] == reason.text
    assert dict(reason.values) == {"epoch[r]": 2, "r": R1, "MaxEpoch": 2}
    assert str(explanation).splitlines() == [
        "Ask(r1) is not enabled",
        f"  Ballot.tla:{reason.place.line}: epoch[r] < MaxEpoch",
        "      is false",
        "      epoch[r] = 2",
        "      r = r1",
        "      MaxEpoch = 2",
    ]


def test_an_enabled_action_has_nothing_to_explain(ballot, start):
    explanation = ballot.explain(start, "Ask", (R1,))

    assert explanation.finding == "Ask(r1) is enabled"
    assert explanation.reasons == ()


def test_a_guard_inside_an_operator_names_the_way_to_it(shapes):
    explanation = shapes.explain(shape(shapes, queue=(1, 1)), "Push", (1,))

    reason = only_reason(explanation)
    assert reason.text == "Len(queue) < limit"
    assert dict(reason.values) == {"Len(queue)": 2, "queue": (1, 1), "limit": 2}
    assert [step.split(": ", 1)[1] for step in reason.via] == ["Short(2)"]


def test_a_guard_behind_an_instance_is_found_in_the_other_module(shapes):
    reason = only_reason(shapes.explain(shape(shapes, total=5), "Tick", (2,)))

    assert reason.place.module == "Meter"
    assert reason.text == "reading + n <= Limit"
    assert dict(reason.values)["n"] == 2
    assert dict(reason.values)["reading"] == 5


def test_a_branch_of_an_if_names_the_condition(shapes):
    state = shape(shapes, queue=(1,), mode=record(name="heavy", since=0))

    reason = only_reason(shapes.explain(state, "Pop", (1,)))

    assert reason.text == 'mode.name # "heavy"'
    assert reason.via[-1].endswith("IF Sum(queue) > 3 is FALSE")


def test_every_alternative_of_a_disjunction_is_explained(shapes):
    reason = only_reason(shapes.explain(shape(shapes, total=5), "Reset"))

    assert reason.note == "none of the 2 alternatives holds"
    assert [alternative.text for alternative in reason.alternatives] == ["total = 6", "total > 100"]


def test_the_first_false_conjunct_is_reported_not_a_later_one(shapes):
    reason = only_reason(shapes.explain(shape(shapes), "Pop", (4,)))

    assert reason.text == "queue # << >>"


def test_a_guard_over_the_next_value_sees_what_earlier_conjuncts_made_it(shapes):
    reason = only_reason(shapes.explain(shape(shapes, queue=(7,)), "Grow", (8,)))

    assert reason.text == "Len(queue') <= 1"
    assert dict(reason.values) == {"Len(queue')": 2, "queue'": (7, 8)}


def test_of_several_choices_those_that_got_furthest_come_first(shapes):
    reason = only_reason(shapes.explain(shape(shapes), "Pick"))

    assert reason.note == "none of the 3 choices fits"
    assert [(one.text, dict(one.values)["i"]) for one in reason.alternatives] == [
        ("total > i + 10", 3),
        ("total = 9", 1),
        ("i # 2", 2),
    ]


def test_a_false_part_of_what_must_always_hold_is_found_in_the_later_state(shapes):
    heavy = shape(shapes, queue=(9,), mode=record(name="heavy", since=9))

    explanation = shapes.explain_action_property("AlwaysFine", shape(shapes), heavy)

    assert "queue[i] < 3" in str(explanation)


def test_an_expression_that_cannot_be_evaluated_is_named(ballot, start):
    explanation = ballot.explain(start, "Answer", (R1, record(type="Vote")))

    reason = only_reason(explanation)
    assert "cannot be evaluated" in explanation.finding
    assert reason.text == "m.target = r"
    assert "nonexistent field" in reason.note


def test_another_post_state_is_compared_element_by_element(ballot, start):
    after = ballot.apply(start, "Ask", R1)
    proposed = after.replace(epoch=function({R1: 1, R2: 1}), messages=frozenset())

    explanation = ballot.explain(start, "Ask", (R1,), after=proposed.as_function())

    assert explanation.finding == "Ask(r1) leads to other values of epoch, messages"
    assert [str(difference) for difference in explanation.differences] == [
        "epoch[r2]: expected 0, got 1",
        'messages: lacks [epoch |-> 1, source |-> r1, target |-> r2, type |-> "Vote"]',
    ]
    assert only_reason(explanation).text == "epoch' = [epoch EXCEPT ![r] = @ + 1]"


def test_a_partial_post_state_is_compared_where_it_speaks(ballot, start):
    explanation = ballot.explain(start, "Ask", (R1,), after={"voted_for": {R1: R2, R2: R1}})

    assert [str(difference) for difference in explanation.differences] == [
        "voted_for[r1]: expected r1, got r2",
        "voted_for[r2]: expected Nil, got r1",
    ]


def test_the_expected_post_state_has_nothing_to_explain(ballot, start):
    after = ballot.apply(start, "Ask", R1)

    explanation = ballot.explain(start, "Ask", (R1,), after=after)

    assert explanation.finding == "Ask(r1) leads to the expected state"
    assert (explanation.reasons, explanation.differences) == ((), ())


def test_the_nearest_of_several_outcomes_is_compared(shapes):
    state = shape(shapes)
    outcome = shapes.outcomes(state, "Paint", RED)[1]
    proposed = outcome.replace(total=5)

    explanation = shapes.explain(state, "Paint", (RED,), after=proposed)

    assert "nearest of 2 outcomes" in explanation.finding
    assert [str(difference) for difference in explanation.differences] == [
        "total: expected 0, got 5"
    ]


def test_a_false_invariant_names_its_conjunct_and_the_witness(ballot, start):
    state = start.replace(voted_for=function({R1: R1, R2: 7}))

    explanation = ballot.explain_invariant("TypeOK", state)

    reason = only_reason(explanation)
    assert explanation.finding == "TypeOK is false"
    assert reason.text == "voted_for[r] \\in Replica \\cup {Nil}"
    assert dict(reason.values) == {
        "r": R2, "voted_for[r]": 7, "Replica": {R1, R2},
        "Replica \\cup {Nil}": {R1, R2, ModelValue("Nil")},
    }  # fmt: skip


def test_a_false_implication_shows_that_its_premise_holds(ballot, start):
    message = record(type="Vote", source=R1, target=R2, epoch=0)

    reason = only_reason(
        ballot.explain_invariant("TypeOK", start.replace(messages=frozenset({message})))
    )

    assert reason.text == "m.epoch > 0"
    assert reason.via[-1].endswith('m.type = "Vote" is TRUE')
    assert dict(reason.values)["m"] == message


def test_a_negated_exists_names_the_element_that_exists(shapes):
    reason = only_reason(shapes.explain_invariant("NeverTwo", shape(shapes, queue=(5, 2))))

    assert dict(reason.values)["i"] == 2


def test_an_invariant_that_holds_has_nothing_to_explain(ballot, start):
    assert ballot.explain_invariant("TypeOK", start).finding == "TypeOK holds"


def test_a_step_that_breaks_an_action_property_is_explained(ballot, start):
    after = ballot.apply(start, "Ask", R2)

    explanation = ballot.explain_action_property("EpochsGrow", after, start)

    reason = only_reason(explanation)
    assert explanation.finding == "EpochsGrow is false of the step"
    assert reason.text == "epoch'[r] >= epoch[r]"
    assert dict(reason.values) == {"r": R2, "epoch'[r]": 0, "epoch[r]": 1}


def test_a_step_that_breaks_a_refinement_is_explained_in_the_other_module(shapes):
    explanation = shapes.explain_action_property(
        "RefinesMeter", shape(shapes, total=3), shape(shapes, total=1)
    )

    reason = only_reason(explanation)
    assert reason.place.module == "Meter"
    assert reason.note.startswith("none of the")
    assert "reading' = reading + n" in {one.text for one in reason.alternatives}


def test_explaining_leaves_no_trace_in_later_answers(ballot, start):
    before = ballot.successors(start)

    ballot.explain(start, "Answer", (R1, record(type="Answer")))
    ballot.explain_invariant("TypeOK", start.replace(epoch=function({R1: 9, R2: 9})))

    assert ballot.successors(start) == before
