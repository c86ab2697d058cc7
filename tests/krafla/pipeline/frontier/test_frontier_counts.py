"""A search on Spark finds what TLC and the oracle's own search find."""

from __future__ import annotations

from itertools import pairwise

import pytest
from tests.krafla.pipeline.frontier.conftest import sample, written

from krafla.graph.build import named_violation
from krafla.manifest import load
from krafla.oracle import EvaluationError, Exploration, Spec, Violation, explore

SMOKE = [one for one in load().select(tier="smoke") if one.expect == "holds"]
# By day one; the others take minutes.
BY_DAY = {"MCRaftLog"}
FAILURES = [
    one
    for one in load().models
    if one.expect == "violates" and one.kind in {"safety", "refinement"}
]
FAILURES_BY_DAY = {"NoSelfFence"}


def by_day(models, names):
    chosen = [one for one in models if one.name in names]
    rest = [pytest.param(one, marks=pytest.mark.nightly) for one in models if one not in chosen]
    return {
        "argvalues": chosen + rest,
        "ids": [one.name for one in chosen + [each.values[0] for each in rest]],
    }


def alone(model):
    return Spec.load(
        model.module.stem, path=model.module, cfg=model.config, search_path=model.search_path
    )


@pytest.mark.parametrize("model", **by_day(SMOKE, BY_DAY))
def test_the_states_are_as_many_as_tlc_finds(searched, model):
    from krafla.pipeline.frontier.search import Bounds

    # The jobs of a level cost a second, so only the largest levels are spread.
    run = searched(model, bounds=Bounds(alone_states=max(30, model.distinct // 20)))

    assert len(run.reached.levels) > 2 or model.distinct < 600, "nothing was spread"
    assert run.reached.is_complete
    assert run.reached.tally.fault is None
    assert run.reached.distinct == model.distinct
    assert model.generated in {None, run.reached.tally.generated}
    assert run.reached.tally.reached | run.reached.tally.beyond == set(model.witnesses)


@pytest.mark.parametrize(
    ("config", "alone_states"),
    [
        ("Ballot", 12),
        pytest.param("BallotSmall", 5, marks=pytest.mark.nightly),
        ("MCBallotSymmetric", 5),
        pytest.param("MCBallotSlow", 60, marks=pytest.mark.nightly),
        pytest.param("Shapes", 200, marks=pytest.mark.nightly),
    ],
)
def test_the_states_are_those_of_the_search_in_one_process(searched, config, alone_states):
    from krafla.pipeline.frontier.search import Bounds

    module = "MCBallot" if config.startswith("MC") else config.removesuffix("Small")
    model = sample(module, config)
    run = searched(model, bounds=Bounds(alone_states=alone_states))

    found = explore(alone(model))
    reached = run.reached
    assert len(reached.levels) > 2, "nothing was spread"
    assert run.prints == sorted(found.fingerprints)
    assert (reached.distinct, reached.depth) == (found.distinct, found.depth)
    assert reached.tally.generated == found.generated
    assert dict(reached.tally.taken) == {
        name: use.taken for name, use in found.coverage.items() if use.taken
    }


@pytest.mark.parametrize("model", **by_day(FAILURES, FAILURES_BY_DAY))
def test_an_expected_failure_is_found_with_a_shortest_way_of_real_steps(searched, model):
    run = searched(model)

    fault, path = run.reached.tally.fault, run.path
    found = Exploration(run.spec, [], ())
    found.violation = Violation(fault.name, path, fault.is_step)
    assert named_violation(model, found).name == model.property
    replayed(run.spec, path)
    if fault.is_step:
        before, after = path[-2][1], path[-1][1]
        assert not run.spec.check_action_property(model.property, before, after)
    elif run.spec.predicates.of_state(fault.name):
        assert not run.spec.check_invariant(fault.name, path[-1][1])
    shortest = explore(alone(model)).violation
    assert len(path) == len(shortest.path)


def replayed(spec, path):
    """Assert that the oracle allows every step of a way from an initial state."""
    (first, start), *_ = path
    assert first == "Init"
    assert start.as_function() in {one.as_function() for one in spec.initial_states()}
    for (_, before), (action, after) in pairwise(path):
        ends = [end.as_function() for name, _, end in spec.successors(before) if name == action]
        assert after.as_function() in ends


def test_a_state_without_a_step_ends_the_search_where_that_is_an_error(searched, tmp_path):
    from krafla.pipeline.frontier.way import path_to

    text = (
        "EXTENDS Naturals\nVARIABLE x\nInit == x \\in 0 .. 1\n"
        "Next == x < 4 /\\ x' \\in {x + 2, x + 3}"
    )
    model = written(tmp_path, "Ends", text, "INIT Init\nNEXT Next\n")

    run = searched(model)

    assert not run.reached.is_complete
    path = path_to(run.place, run.reached, run.plan, run.spec, *run.reached.tally.stuck)
    assert [state["x"] for _, state in path] in ([1, 4], [0, 2, 4], [1, 3, 5])
    assert len(path) == 2


def test_a_step_that_an_action_constraint_forbids_leads_nowhere(searched, tmp_path):
    text = (
        "EXTENDS Naturals\nVARIABLE x\nInit == x = 0\n"
        "Next == x' \\in {(x + 1) % 300, (x + 7) % 300}\nSmall == x' < 200 /\\ x' > x"
    )
    config = "INIT Init\nNEXT Next\nACTION_CONSTRAINT Small\nCHECK_DEADLOCK FALSE\n"
    model = written(tmp_path, "Wheel", text, config)

    run = searched(model)

    found = explore(alone(model))
    assert (run.reached.distinct, run.reached.tally.generated) == (200, 401)
    assert (found.distinct, found.generated) == (200, 401)


def test_an_expression_that_tlc_cannot_evaluate_is_one_sentence(searched, tmp_path):
    text = (
        "EXTENDS Naturals\nVARIABLE x\nInit == x = 0\nNext == x' = IF x = 2 THEN x.field ELSE x + 1"
    )
    model = written(tmp_path, "Bad", text, "INIT Init\nNEXT Next\n")

    with pytest.raises(EvaluationError, match=r"^Bad: .*field"):
        searched(model)


def test_a_state_that_breaks_an_invariant_and_cannot_be_stepped_is_shown(searched, tmp_path):
    text = (
        "EXTENDS Naturals\nVARIABLE x\nf == [i \\in 0 .. 3 |-> i + 1]\nInit == x = 0\n"
        "Next == x' = f[x]\nLow == x < 4"
    )
    model = written(tmp_path, "Leaves", text, "INIT Init\nNEXT Next\nINVARIANT Low\n")

    run = searched(model)

    assert run.reached.tally.fault.name == "Low"
    assert [state["x"] for _, state in run.path] == [0, 1, 2, 3, 4]


def test_a_false_invariant_out_of_bounds_is_found(searched, tmp_path):
    text = (
        "EXTENDS Naturals\nVARIABLE x\nInit == x = 0\nNext == x' = x + 1\n"
        "Near == x < 3\nLow == x < 3"
    )
    config = "INIT Init\nNEXT Next\nCONSTRAINT Near\nINVARIANT Low\nCHECK_DEADLOCK FALSE\n"
    model = written(tmp_path, "Above", text, config)

    run = searched(model)

    assert run.reached.tally.fault.name == "Low"
    assert [state["x"] for _, state in run.path] == [0, 1, 2, 3]
    replayed(run.spec, run.path)


def test_a_limit_ends_the_search_which_is_then_not_complete(searched):
    from krafla.pipeline.frontier.search import Bounds

    run = searched(sample("Shapes", "Shapes"), bounds=Bounds(limit=10))

    assert run.reached.distinct >= 10
    assert run.reached.is_over
    assert not run.reached.is_complete
