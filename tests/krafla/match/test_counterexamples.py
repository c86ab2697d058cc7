"""What TLC finds in a model of any room can be replayed, explained and shrunk."""

from __future__ import annotations

from dataclasses import replace

import pytest
from typer.testing import CliRunner

from krafla import manifest
from krafla.cli import application
from krafla.match.claim_check import claim_shown
from krafla.match.counterexample import replayable
from krafla.match.trace_check import check_trace, in_words_of
from krafla.match.validation import spec_of, validate
from krafla.shrink import shrink_behaviour
from krafla.tlc.model_check import check_model
from krafla.tlc.warm_java import warm_javas
from krafla.traces import Observation, PartialTrace, dumps, loads, partial, read_trace, write_trace
from krafla.values import Function
from krafla.verdict import KraflaError, Verdict

# One of each room, for a property of states or of steps. Some have operators for constants, one
# replaces an action of the spec, one breaks a refinement.
MODELS = (
    "SoleVoterLosesCommitted",
    "ReplacedVoter",
    "UncommittedStandby",
    "DeadStandby",
    "StaleAdding",
    "DynamicQuorum",
    "ForgottenLeave",
)
# Of so many each is a module and a process of TLC; all have their turn at night.
some_by_day = pytest.mark.by_day(2)


@pytest.fixture(scope="module", autouse=True)
def javas():
    """Let the searches share a JVM."""
    with warm_javas():
        yield


@pytest.fixture(scope="module", params=MODELS)
def found(request):
    (model,) = manifest.load().select((request.param,))
    trace = check_model(model, workers=1).result.counterexample
    return replayable(trace, model)


@pytest.fixture(scope="module")
def standby():
    (model,) = manifest.load().select(("DeadStandby",))
    return replayable(check_model(model, workers=1).result.counterexample, model)


@some_by_day
def test_it_is_a_behaviour_of_its_model_that_violates_what_it_claims(found):
    again = loads(dumps(found))

    assert check_trace(again).verdict is Verdict.HELD
    shown = claim_shown(again)
    assert shown.is_shown
    assert shown.explanation.reasons


@some_by_day
def test_without_its_claim_it_breaks_the_property_at_its_end(found):
    report = check_trace(replace(found, claim=None))

    assert report.verdict is Verdict.VIOLATED
    assert (report.rejection.index, report.rejection.broken) == (
        len(found) - 1,
        found.claim.property,
    )
    assert validate(partial(replace(found, claim=None))).verdict is Verdict.VIOLATED


@some_by_day
def test_its_steps_are_actions_of_the_spec_with_their_parameters(found):
    spec = spec_of(found)
    actions = {action.name: action for action in spec.actions}

    for step in in_words_of(found, spec).steps[1:]:
        assert len(step.parameters) == len(actions[step.action].parameters)


@pytest.mark.nightly
def test_a_stand_in_for_an_action_keeps_its_name():
    (model,) = manifest.load().select(("ReplacedVoter",))
    found = replayable(check_model(model, workers=1).result.counterexample, model)

    assert "ReplaceVoter" in {step.action for step in found.steps}
    assert "ReplaceVoter" in {step.action for step in shrink_behaviour(found).result.steps}


@some_by_day
def test_the_shrunk_trace_shows_the_same_claim_and_is_no_longer(found):
    shrunk = shrink_behaviour(found)

    assert shrunk.is_minimal
    assert len(shrunk.result) <= len(found)
    assert shrunk.result.claim.conjunct.is_same(found.claim.conjunct)
    assert claim_shown(shrunk.result).is_shown


@some_by_day
def test_another_state_at_its_end_is_denied(found):
    last = found.steps[-1]
    same = replace(last, state=found.steps[0].state)
    report = check_trace(found.with_steps((*found.steps[:-1], same)))

    assert report.verdict is Verdict.VIOLATED
    assert report.rejection.index == len(found) - 1


def test_the_constants_of_a_model_are_not_made_smaller(standby):
    assert shrink_behaviour(standby).result.constants == standby.constants


def test_a_model_that_is_not_there_or_is_of_another_spec_is_named(standby):
    with pytest.raises(KraflaError, match="no model 'DeadStandbys'; did you mean DeadStandby"):
        spec_of(replace(standby, model="DeadStandbys"))
    with pytest.raises(KraflaError, match="StaleAdding is a model of Reassignment, not of Met"):
        spec_of(replace(standby, model="StaleAdding"))


def test_a_trace_with_states_of_another_spec_is_refused(standby):
    first = standby.steps[0]
    odd = replace(first, state=Function({**first.state, "nonsense": 1}))
    with pytest.raises(KraflaError, match="nonsense: no variable of MCMetadataLog"):
        check_trace(standby.with_steps((odd, *standby.steps[1:])))


def run(*words):
    return CliRunner().invoke(application(words[0]), list(words))


@pytest.mark.nightly
def test_each_command_takes_the_file_that_check_writes(tmp_path):
    file, small = str(tmp_path / "found.ndjson"), str(tmp_path / "small.ndjson")

    assert run("check", "DeadStandby", "--trace", file).exit_code == 0
    replayed = run("replay", file)
    assert replayed.exit_code == 1
    assert "violates ReplayNeverFailsInv" in replayed.output
    shrunk = run("shrink", file, "--output", small, "--quiet")
    assert shrunk.exit_code == 0
    assert "MINIMAL" in shrunk.output
    explained = run("explain", small)
    assert explained.exit_code == 0
    assert "the spec, asked now" in explained.output


@pytest.fixture
def partly_seen(standby):
    """The actions of the steps, and one variable of the states."""
    seen = tuple(
        Observation(step.action, None, ((("committed",), step.state["committed"]),))
        for step in standby.steps
    )
    return PartialTrace(standby.spec, seen, model=standby.model)


@pytest.mark.nightly
def test_a_partial_trace_of_it_has_a_behaviour_of_its_model(partly_seen, tmp_path):
    file = tmp_path / "seen.ndjson"
    before = replace(partly_seen, observations=partly_seen.observations[:-1])
    write_trace(before, file)

    result = run("validate", str(file))
    assert result.exit_code == 0, result.output
    assert read_trace(file) == before

    write_trace(partly_seen, file)
    result = run("validate", str(file))
    assert result.exit_code == 1
    assert "ReplayNeverFailsInv is false after observation" in result.output


def test_a_partial_trace_without_a_behaviour_of_its_model_is_rejected(partly_seen):
    one = replace(partly_seen.observations[-1], seen=((("committed",), ()),))
    never = replace(partly_seen, observations=(*partly_seen.observations[:-1], one, one))
    assert validate(never).verdict is Verdict.VIOLATED


def test_the_implementation_of_the_lease_refuses_traces_of_other_specs(standby, tmp_path):
    file = tmp_path / "found.ndjson"
    file.write_text(dumps(standby))
    result = run("replay", str(file), "--impl")

    assert result.exit_code == 2
    assert "the implementation of the lease follows BrokerLease, not MetadataLog" in result.output
