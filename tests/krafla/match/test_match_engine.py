"""The engine on the sample specs and on the lease: what it finds, and what it says when stuck."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from krafla.match import match
from krafla.match.property_checker import PropertyChecker
from krafla.match.render import document, text_lines
from krafla.match.step_order import find_order
from krafla.match.validation import loaded, validate
from krafla.oracle import Spec
from krafla.oracle.properties import Properties
from krafla.report.explain.match_account import account_of_match
from krafla.traces import Observation, PartialTrace, partial, read_whole_trace
from krafla.traces.trace import INITIAL
from krafla.verdict import KraflaError, Verdict

CORPUS = Path(__file__).parents[3] / "traces"
LIFE = read_whole_trace(CORPUS / "accepted" / "lease" / "register-and-unfence.ndjson")
EARLY = read_whole_trace(CORPUS / "rejected" / "lease" / "fenced-at-the-timeout.ndjson")
PROCESS = min(dict(LIFE.constants)["Incarnation"])


def observed(*observations, **options):
    return PartialTrace(LIFE.spec, observations, LIFE.constants, **options)


def status(value, action=None):
    return Observation(action, None, ((("status", PROCESS), value),))


def test_unobserved_variables_are_free():
    seen = partial(LIFE)
    narrow = tuple(
        replace(one, seen=tuple(pair for pair in one.seen if pair[0] == ("log_end",)))
        for one in seen.observations
    )
    assert validate(replace(seen, observations=narrow)).verdict is Verdict.HELD


def test_unobserved_actions_and_parameters_are_found():
    seen = partial(LIFE)
    nameless = tuple(
        Observation(None, None, one.seen) if index % 2 else replace(one, parameters=None)
        for index, one in enumerate(seen.observations)
    )
    report = validate(replace(seen, observations=nameless))
    assert report.verdict is Verdict.HELD
    names = [one.action for one in report.behaviour]
    assert names == [step.action for step in LIFE.steps]
    assert report.behaviour[3].parameters == LIFE.steps[3].parameters


def test_hidden_steps_are_found_between_two_observations():
    report = validate(observed(status("STARTING"), status("RECOVERY"), hidden=None))
    assert report.verdict is Verdict.HELD
    assert report.hidden == len(report.behaviour) - 3
    assert report.hidden >= 5
    spec = loaded(LIFE.spec, LIFE.constants)
    for before, after in zip(report.behaviour, report.behaviour[1:], strict=False):
        assert spec.allows_step(before.state, after.state), str(after)


def test_only_named_actions_may_be_hidden_and_only_hidden_max_in_a_row_are_followed():
    both = (status("STARTING"), status("RECOVERY"))
    needed = (
        "SendRegistration", "RegisterBroker", "HandleRegistrationResponse", "ReplayMetadata",
        "SendHeartbeat", "KeepFenced",
    )  # fmt: skip
    assert validate(observed(*both, hidden=needed)).verdict is Verdict.HELD
    assert validate(observed(*both, hidden=needed[:-1])).verdict is Verdict.VIOLATED
    short = validate(observed(*both, hidden=needed, hidden_max=5))
    assert short.verdict is Verdict.INCONCLUSIVE
    assert short.doubt is not None
    assert short.doubt.startswith("only 5 hidden steps in a row were followed, and more lead to")
    assert "at most 5 hidden steps in a row" in short.bounds


def test_a_search_that_was_cut_off_is_inconclusive():
    impossible = observed(status("STARTING"), status("SHUTTING_DOWN", "KeepFenced"), hidden=None)
    report = validate(impossible, frontier=5)
    assert report.accepted == 1
    assert report.verdict is Verdict.INCONCLUSIVE
    assert "only 5 candidates" in report.doubt


@pytest.fixture
def lamps(tmp_path):
    """A spec in which one lamp can be lit only after the other; they are otherwise unrelated."""
    (tmp_path / "Lamps.tla").write_text(
        """---- MODULE Lamps ----
VARIABLE lit
Lamps == {"first", "second"}
Init == lit = [lamp \\in Lamps |-> FALSE]
Light(lamp) ==
    /\\ ~lit[lamp]
    /\\ lamp = "second" => lit["first"]
    /\\ lit' = [lit EXCEPT ![lamp] = TRUE]
Next == \\E lamp \\in Lamps : Light(lamp)
====
"""
    )
    return Spec.load("Lamps", path=tmp_path)


SECOND_IS_LIT = PartialTrace(
    "Lamps", (Observation("Light", ("second",), ((("lit", "second"), True),)),), hidden=None
)


def test_a_step_that_concerns_no_observed_node_is_tried_last(lamps):
    report = match(lamps, SECOND_IS_LIT)
    assert report.verdict is Verdict.HELD
    assert list(map(str, report.behaviour)) == ["Init", 'Light("first")', 'Light("second")']


def test_a_search_that_gives_up_unlikely_steps_does_not_call_it_impossible(lamps):
    report = match(lamps, SECOND_IS_LIT, frontier=1)
    assert report.verdict is Verdict.INCONCLUSIVE
    assert "only 1 candidates" in report.doubt
    # Without hidden steps the answer is certain.
    dark = Observation("Light", ("second",), ((("lit", "first"), False),))
    report = match(lamps, replace(SECOND_IS_LIT, observations=(dark,)))
    assert (report.verdict, report.doubt) == (Verdict.VIOLATED, None)


@pytest.mark.parametrize(
    ("changes", "hidden", "verdict"),
    [
        ({"SelfFence": True}, ("Tick",), Verdict.INCONCLUSIVE),
        ({"SessionTimeout": 13}, ("Tick",), Verdict.INCONCLUSIVE),
        # With a short timeout every tick is tried.
        ({}, ("Tick",), Verdict.VIOLATED),
        ({"SelfFence": True}, ("StartBroker",), Verdict.VIOLATED),
    ],
)
def test_a_failure_with_guessed_hidden_ticks_is_inconclusive(changes, hidden, verdict):
    constants = tuple(sorted({**dict(LIFE.constants), **changes}.items()))
    trace = observed(Observation("KeepFenced"), hidden=hidden)
    report = validate(replace(trace, constants=constants))
    assert report.verdict is verdict
    guessed = verdict is Verdict.INCONCLUSIVE
    assert report.doubt == ("the parameters of hidden Tick were guessed" if guessed else None)


def test_the_longest_part_is_told_with_the_false_conjunct_and_the_nearest_action_is_data():
    report = validate(partial(EARLY))
    assert (report.verdict, report.accepted) == (Verdict.VIOLATED, 13)
    (stuck,) = report.stuck
    assert "contact_age[b] > SessionTimeout" in stuck.explanation.reasons[0].text
    assert ("contact_age[b]", 3) in stuck.explanation.reasons[0].values
    assert stuck.nearest.action == "UnregisterBroker"
    first, *_ = text_lines(report)
    assert first == "matched    13 of 14 observations, 1 candidate state"
    # Another action, which leads elsewhere, tells a reader nothing of this one.
    assert not stuck.nearest.helps("FenceStaleBroker", (1,))
    data = document(report)
    assert data["stuck"][0]["nearest"]["action"] == "UnregisterBroker"
    assert data["accepted"] == 13


def test_every_candidate_at_the_frontier_is_counted_and_some_are_explained():
    # Either process may have started: the observation does not show which.
    start = Observation("StartBroker")
    report = validate(observed(start, Observation("KeepFenced")))
    assert report.accepted == 1
    assert report.candidates == 2
    assert len(report.stuck) == 2
    assert "KeepFenced, whatever its parameters, is not enabled" in str(report.stuck[0].explanation)


def test_a_candidate_without_further_steps_is_replaced_by_another():
    # Only the last observation shows which process started.
    start = Observation("StartBroker")
    told = Observation("SendRegistration", (PROCESS,))
    report = validate(observed(start, told))
    assert report.verdict is Verdict.HELD
    assert report.behaviour[1].parameters == (PROCESS,)


def test_a_step_that_breaks_a_property_is_not_taken():
    spec = loaded(LIFE.spec, LIFE.constants)
    explanation = spec.explain_invariant("TypeOK", spec.initial_states()[0])
    report = match(
        spec,
        observed(Observation("StartBroker", (PROCESS,))),
        breaks=lambda before, _: None if before is None else ("SomeInv", explanation),
    )
    assert report.verdict is Verdict.VIOLATED
    assert report.stuck[0].broken == "SomeInv"


@pytest.mark.parametrize("observations", [("Init",), ("Init", "StartBroker"), ("StartBroker",)])
def test_an_initial_state_that_breaks_a_property_begins_nothing(observations):
    spec = loaded(LIFE.spec, LIFE.constants)
    explanation = spec.explain_invariant("TypeOK", spec.initial_states()[0])
    report = match(
        spec,
        observed(*map(Observation, observations)),
        breaks=lambda before, _: ("SomeInv", explanation) if before is None else None,
    )
    assert (report.verdict, report.accepted) == (Verdict.VIOLATED, 0)
    assert report.stuck[0].broken == "SomeInv"
    account = account_of_match(report)
    assert account is not None
    assert account.outcome.headline == "SomeInv is false in the initial state"


CLIMB = """---- MODULE Climb ----
EXTENDS Naturals
VARIABLES height, photos
Init == height \\in {0, 7} /\\ photos = 0
Climb == height < 5 /\\ height' = height + 1 /\\ UNCHANGED photos
Photo == height >= 2 /\\ photos' = photos + 1 /\\ UNCHANGED height
Sink == height' = 0 - 9 /\\ UNCHANGED photos
Next == Climb \\/ Photo \\/ Sink
LowInv == height < 7
NotOneInv == height # 1
ZeroFirst == height = 0
====
"""


@pytest.fixture
def climb(tmp_path):
    (tmp_path / "Climb.tla").write_text(CLIMB)
    return Spec.load("Climb", path=tmp_path)


def climbed(spec, *seen, invariants=(), properties=()):
    """Return the report on observations of a climb, whose own steps nobody sees."""
    checker = PropertyChecker(spec, Properties(invariants, properties, ()))
    trace = PartialTrace("Climb", seen, hidden=("Climb",))
    return match(spec, trace, breaks=checker.broken_by)


def test_a_hidden_step_that_breaks_a_property_is_not_taken(climb):
    photo = Observation("Photo")
    assert climbed(climb, photo, invariants=("LowInv",)).hidden == 2
    assert climbed(climb, photo, invariants=("LowInv", "NotOneInv")).verdict is Verdict.VIOLATED


def test_an_order_rests_on_no_hidden_step_that_breaks_a_property(climb):
    checker = PropertyChecker(climb, Properties(("LowInv", "NotOneInv"), (), ()))
    trace = PartialTrace("Climb", (Observation("Photo"), Observation("Sink")), hidden=("Climb",))
    moments = [(0, 1), (1, 1)]
    assert find_order(climb, trace, moments).numbers == (0, 1)
    assert find_order(climb, trace, moments, checker.broken_by).numbers == (1, 0)


def test_a_behaviour_begins_where_the_properties_allow_it(climb):
    photo = Observation("Photo")
    assert climbed(climb, photo).hidden == 0
    assert climbed(climb, photo, properties=("ZeroFirst",)).hidden == 2
    seven = Observation(INITIAL, (), ((("height",), 7),))
    assert climbed(climb, seven, photo).verdict is Verdict.HELD
    report = climbed(climb, seven, photo, invariants=("LowInv",))
    assert report.verdict is Verdict.VIOLATED
    assert report.stuck[0].broken == "LowInv"
    report = climbed(climb, seven, photo, properties=("ZeroFirst",))
    assert report.stuck[0].explanation.finding == "ZeroFirst is false"


@pytest.mark.parametrize(
    ("observation", "words"),
    [
        (Observation("Nonsense"), "Nonsense: no action of"),
        (Observation("StartBroker", (PROCESS, 1)), "takes 1 parameter, not 2"),
        (Observation(None, None, ((("karma",), 1),)), "karma: no variable of"),
    ],
)
def test_a_name_that_the_spec_lacks_is_an_error_with_its_place(observation, words):
    with pytest.raises(KraflaError, match=words) as caught:
        validate(observed(replace(observation, place="x.ndjson:7")))
    assert caught.value.place == "x.ndjson:7"


def test_values_of_the_wrong_kind_are_denied_like_any_other():
    wrong = (
        Observation("Tick", (1, True)),
        Observation("Tick", (True, 3)),
        Observation("Tick", None, ((("contact_age",), "long"),)),
        Observation("Tick", None, ((("clock_lead",), (False,)),)),
    )
    for one in wrong:
        assert validate(observed(one)).verdict is Verdict.VIOLATED
        assert validate(observed(one, hidden=("Tick",))).accepted == 0


def test_an_empty_trace_an_unknown_hidden_action_and_foreign_constants_are_errors():
    with pytest.raises(KraflaError, match="without a single observation"):
        validate(observed())
    with pytest.raises(KraflaError, match="Nothing: no action"):
        validate(observed(status("STARTING"), hidden=("Nothing",)))
    trace = observed(status("STARTING"))
    with pytest.raises(KraflaError, match="Karma: no constant"):
        validate(replace(trace, constants=(*LIFE.constants, ("Karma", 1))))
    # A trace may not give a value to a definition of the spec.
    with pytest.raises(KraflaError, match="NoEpoch: no constant"):
        validate(replace(trace, constants=(*LIFE.constants, ("NoEpoch", 7))))
    without = tuple(pair for pair in LIFE.constants if pair[0] != "Reorder")
    with pytest.raises(KraflaError, match="lacks the constant Reorder"):
        validate(replace(trace, constants=without))


BOTH = frozenset({"ann", "bob"})


@pytest.fixture(scope="module")
def table_spec():
    specs = Path(__file__).parents[1] / "testing" / "specs"
    return Spec.load(specs / "Table.tla", {"Player": set(BOTH)})


def table(score, action=None, parameters=None, seated=BOTH, round_number=0, kind="step"):
    seen = (("round",), round_number), (("score",), score), (("seated",), seated)
    return Observation(action, parameters, seen, kind=kind)


AT_TABLE = (
    table(0, "Init", seated=frozenset()),
    table(1, "Sit", ("ann",), frozenset({"ann"})),
    table(1, "Sit", ("bob",)),
)


@pytest.mark.parametrize("hidden", [(), ("Advance",)])
@pytest.mark.parametrize("action", ["Play", None])
def test_two_steps_to_the_one_state_that_was_seen_are_as_good_as_one(table_spec, action, hidden):
    # Either player may have played.
    either = table(0, action, None if action is None else (None, 0))
    last = Observation("Leave", ("ann",))
    for observations in ((either,), (either, last), (either, table(0, kind="stay"), either, last)):
        report = match(table_spec, PartialTrace("Table", (*AT_TABLE, *observations), hidden=hidden))
        assert report.verdict is Verdict.HELD, report


def test_a_candidate_counts_also_where_hidden_steps_lead_to_it(table_spec):
    # The first round may have ended before the refusal or after it.
    looks = AT_TABLE[0], Observation("Restart", (), kind="refusal"), Observation("Leave", ("ann",))
    report = match(table_spec, PartialTrace("Table", looks, hidden=("Advance",)), only_next=True)
    assert (report.verdict, report.accepted) == (Verdict.VIOLATED, 2)
    assert report.candidates == 3
