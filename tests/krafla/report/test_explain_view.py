from __future__ import annotations

from dataclasses import replace

import pytest
from tests.krafla.report.explained import hostile, message, p1, p2, recorded, small, state

from krafla.report.explain.flights import flights
from krafla.report.explain.layout import layout_of
from krafla.report.explain.meaning import Meanings
from krafla.report.explain.outcome import outcome_of
from krafla.report.explain.view import view_of
from krafla.report.explain.words import inert, short_names
from krafla.traces import Claim, ClaimKind, Event, SpecText, Step
from krafla.values import Function, ModelValue, record


def texts(view, number):
    """The lines of a step by the name of their column."""
    cells = zip(view.columns, view.steps[number].cells, strict=True)
    return {column.name: [line.text for line in lines] for column, lines in cells if lines}


@pytest.fixture(scope="module")
def lease():
    return view_of(recorded("accepted/lease/newcomer-after-a-crash"))


def test_the_lease_has_a_column_for_the_controller_each_process_and_the_network(lease):
    assert [column.name for column in lease.columns] == ["controller", "p1", "p2", "network"]
    assert "broker-1-process-2---A" in lease.columns[2].stands_for


def test_a_change_stands_in_the_column_of_its_node(lease):
    assert texts(lease, 3) == {
        "controller": [
            "log_end: 0 -> 1",
            "registrations[1]: Nil -> [epoch 0, fenced TRUE, in_controlled_shutdown FALSE, "
            "incarnation p1, record_offset 0]",
        ],
        "network": ["- RegistrationRequest(p1)", "+ RegistrationResponse(p1, epoch 0)"],
    }


def test_the_acting_node_is_found_from_parameters_and_messages(lease):
    named = {step.number: step.node for step in lease.steps}
    assert lease.steps[1].call == "StartBroker(p1)"
    assert named[1] == 1
    assert (lease.steps[3].action, named[3]) == ("RegisterBroker", 0)
    assert (lease.steps[4].action, named[4]) == ("HandleRegistrationResponse", 1)
    ticks = [step for step in lease.steps if step.action == "Tick"]
    assert ticks
    assert all(step.node is None for step in ticks)


def test_the_whole_value_is_kept_beside_the_short_one(lease):
    line = lease.steps[3].cells[3][0]
    assert line.text == "- RegistrationRequest(p1)"
    assert 'type |-> "RegistrationRequest"' in line.whole
    assert '"broker-1-process-1---A"' in line.whole


def test_a_spec_without_a_view_is_laid_out_by_its_values():
    ask = message()
    view = view_of(small(state(0), state(1, [ask], ("ON", "OFF"))))
    assert [column.name for column in view.columns] == ["shared", "p1", "p2", "network"]
    assert texts(view, 1) == {
        "shared": ["count: 0 -> 1"],
        "p1": ["mode: OFF -> ON"],
        "network": ["+ Ask(node p1)"],
    }


def test_variables_without_nodes_are_one_column():
    steps = [Step("Init", (), record(x=0, y=1)), Step("Up", (), record(x=1, y=1))]
    view = view_of(replace(small(state(0)), steps=tuple(steps), constants=()))
    assert [column.name for column in view.columns] == ["state"]
    assert texts(view, 1) == {"state": ["x: 0 -> 1"]}


def test_the_state_after_a_step_is_shown_in_pieces(lease):
    pieces = {(lease.columns[part.column].name, part.name): part.text for part in lease.parts(3)}
    assert pieces["controller", "log_end"] == "1"
    assert pieces["p1", "status"] == "STARTING"
    assert pieces["network", "RegistrationResponse(p1, epoch 0)"] == ""


def test_messages_are_followed_from_sender_to_receiver(lease):
    first = lease.flights[0]
    assert (first.sent, first.taken, first.sender, first.receiver) == (2, 3, 1, 0)
    assert not first.is_lost


def test_the_oldest_copy_is_taken_first_unless_the_step_names_another():
    trace = recorded("accepted/lease/register-and-unfence")
    bag = trace.steps[2].state["messages"]
    request = next(iter(bag))
    two = trace.steps[2].state.replace(messages=bag.updated(request, 2))
    steps = (
        *trace.steps[:2],
        replace(trace.steps[2], event=Event(sent=(7,))),
        Step("DuplicateMessage", (request,), two, event=Event(sent=(8,))),
        Step("LoseMessage", (request,), trace.steps[2].state, event=Event(taken=8)),
    )
    layout = layout_of(trace)

    def lost(one):
        return [(flight.sent, flight.taken) for flight in flights(one, layout) if flight.is_lost]

    assert lost(trace.with_steps(steps)) == [(3, 4)]
    nameless = tuple(replace(step, event=None) for step in steps)
    assert lost(trace.with_steps(nameless)) == [(2, 4)]


def test_a_request_given_up_is_still_the_same_message():
    trace = recorded("accepted/lease/register-and-unfence")
    sent = trace.steps[2].state
    request = next(iter(sent["messages"]))
    late = request.replace(awaited=False)
    given_up = sent.replace(messages=Function({late: 1}))
    steps = (
        *trace.steps[:3],
        Step("RequestTimeout", (request["incarnation"],), given_up),
        Step("RegisterBroker", (late,), sent.replace(messages=())),
    )
    view = view_of(trace.with_steps(steps))
    assert [(one.sent, one.taken, one.is_lost) for one in view.flights] == [(2, 4, False)]


def test_a_definition_means_what_the_comment_above_it_says():
    meanings = Meanings("BrokerLeaseProperties")
    assert (
        meanings.of("NoOverlapInv")
        == "A process serves only while its own registration is in the log and unfenced."
    )
    assert meanings.of("StartBroker") == "A process starts."
    assert meanings.of("NoSuchThing") == ""
    assert meanings.place("StartBroker").startswith("BrokerLease:")
    assert Meanings("NoSuchModule").of("StartBroker") == ""


def test_a_label_above_a_definition_is_no_sentence():
    meanings = Meanings("BrokerLeaseProperties")
    assert meanings.of("UnfenceBroker") == ""
    assert meanings.of("AmendRegistration").startswith(
        "The registered incarnation registers again: "
    )


MODULES = """---- MODULE Block ----
EXTENDS Naturals
(* The whole holds together: in every state.                                  *)
(* Part(n) is looked at last.                                                 *)
Part(n) == n > 0
(* Here the rest begins.                                                      *)
WholeInv == Part(1)
NextInv == Part(2)

Alone == TRUE
(* No sentence of this property.                                              *)
Other == TRUE

LonelyInv == Alone
====
"""


def test_the_sentence_of_a_property_stands_above_what_only_it_uses(tmp_path, monkeypatch):
    (tmp_path / "Block.tla").write_text(MODULES)
    (tmp_path / "manifest.toml").write_text("rooms = []\n")
    monkeypatch.setenv("KRAFLA_SPECS", str(tmp_path))
    meanings = Meanings("Block")
    assert meanings.of("WholeInv") == "The whole holds together: in every state."
    assert meanings.of("NextInv") == meanings.of("LonelyInv") == ""
    assert meanings.of("Other") == "No sentence of this property."


def test_a_sentence_ends_at_a_full_stop_and_not_at_a_colon():
    text = """(* A worker gives its job back: it goes to the FRONT of the queue.           *)
(* The next worker takes it.                                                 *)
GiveBack(w) == TRUE

(* Kafka: a name of a source, and no sentence. *)
Source == TRUE

(* A job is one of these: *)
(*                        *)
(* waiting, taken, done   *)
Job == TRUE
"""
    meanings = Meanings("NoSuchModule", SpecText("NoSuchModule", (("NoSuchModule", text),)))
    assert meanings.of("GiveBack") == (
        "A worker gives its job back: it goes to the FRONT of the queue."
    )
    assert meanings.of("Source") == ""
    assert meanings.of("Job") == "A job is one of these."


def test_a_property_is_found_in_a_module_beside_the_one_of_the_trace():
    sentence = "A leader has all committed records, unless a later leader has committed since: "
    assert Meanings("KRaft").of("LeaderCompletenessInv").startswith(sentence)


def test_what_the_spec_expects_stands_beside_what_was_done():
    outcome = outcome_of(recorded("rejected/lease/session-not-renewed"))
    assert (outcome.step, outcome.is_bad) == (15, True)
    assert outcome.differences == (("contact_age[1]", "0", "2"),)
    assert outcome.falsehoods[0].text == "contact_age' = [contact_age EXCEPT ![b] = 0]"


def test_a_claimed_property_is_judged_by_the_spec_again():
    trace = recorded("accepted/lease/fenced-after-the-timeout")
    fenced = next(n for n, s in enumerate(trace.steps) if s.action == "FenceStaleBroker")
    claimed = replace(trace, claim=Claim(ClaimKind.INVARIANT, "NoOverlapInv"))
    outcome = outcome_of(claimed.with_steps(trace.steps[: fenced + 1]))
    assert outcome.is_bad
    assert (
        outcome.meaning
        == "A process serves only while its own registration is in the log and unfenced."
    )
    assert "~r.fenced" in outcome.falsehoods[0].text
    unfounded = outcome_of(claimed.with_steps(trace.steps[:fenced]))
    assert not unfounded.is_bad
    assert "does not violate NoOverlapInv at its end" in unfounded.headline


def test_a_trace_whose_spec_cannot_be_asked_shows_the_claim_of_its_file():
    outcome = outcome_of(small(state(0), claim=Claim(ClaimKind.INVARIANT, "Never")))
    assert outcome.headline == "Never is false in the initial state"
    assert "could not be asked" in outcome.source


def test_a_trace_without_claim_and_spec_says_that_nothing_is_claimed():
    outcome = outcome_of(small(state(0)))
    assert outcome.headline == "the file makes no claim about it"
    assert not outcome.is_bad
    assert "could not be asked" in outcome.source


def test_a_claim_without_a_formula_is_told_in_words():
    trace = small(state(0), claim=Claim(ClaimKind.DEADLOCK))
    assert outcome_of(trace, asks=False).headline == "no action is enabled any more"
    gave_up = small(state(0), claim=Claim(ClaimKind.FAILURE, "AssertionError: epoch"))
    assert outcome_of(gave_up, asks=False).headline == (
        "the implementation raised an error: AssertionError: epoch"
    )


def test_a_divergence_is_compared_with_the_spec():
    rejected = recorded("rejected/lease/amended-and-fenced")
    short = rejected.with_steps(rejected.steps[:14])
    outcome = outcome_of(replace(short, claim=Claim(ClaimKind.DIVERGENCE, "AmendRegistration")))
    assert outcome.headline == (
        "step 13, AmendRegistration: the code did what the spec does not allow"
    )
    assert outcome.differences == (("registrations[1].fenced", "FALSE", "TRUE"),)


def test_control_characters_of_a_trace_never_reach_the_terminal():
    view = view_of(hostile(), outcome_of(hostile(), asks=False))
    told = repr([view.title, view.facts, view.columns, view.steps, view.outcome, view.flights])
    assert "\\x1b" not in told
    assert "\\u202e" not in told.replace("\\\\u202e", "")
    assert inert("a\x1b[31m\u202eb") == "a\\u001b[31m\\u202eb"


def test_nodes_with_long_names_are_numbered():
    assert short_names([p1, p2], "p", taken=()) == ["p1", "p2"]
    assert short_names([ModelValue("x" * 30)], "p", taken=()) == ["p1"]
    assert short_names([1, 2], "n", taken=()) == ["n1", "n2"]
    assert short_names(["y" * 30, "z" * 30], "n", taken={"n1"}) == ["n2", "n3"]
    assert short_names([p1], "n", taken={"p1"}) == ["n1"]
