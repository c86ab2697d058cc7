"""The story of a partial trace: its steps with their numbers, and what does not fit at the end."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from krafla.match import match
from krafla.oracle import Spec
from krafla.report.explain.account import account_lines
from krafla.report.explain.html import page_of
from krafla.report.explain.markdown import markdown_of
from krafla.report.explain.match_account import account_of_match, view_of_match
from krafla.testing import Judge, SpecViolation
from krafla.traces import Call, Observation, PartialTrace, SpecText
from krafla.values import Function

MODULE = Path(__file__).parents[1] / "testing" / "specs" / "Mail.tla"
TEXT = SpecText("Mail", (("Mail", MODULE.read_text()),))


@pytest.fixture(scope="module")
def mail():
    return Spec.load(MODULE, {"Person": {"ann", "bob"}, "Letter": {1, 2}})


def stay(*inbox, place=""):
    return Observation(None, None, ((("inbox", "ann"), inbox),), place, kind="stay")


def letters(*others):
    sent = (Observation("Send", ("ann", letter)) for letter in (1, 2))
    observations = (Observation("Init"), *sent, *others)
    return PartialTrace("Mail", observations, hidden=("Deliver",), text=TEXT)


def story(mail, *last):
    account = account_of_match(match(mail, letters(stay(2), *last)))
    return [line.rstrip() for line, _ in account_lines(account, 100)]


def marked(told):
    """The lines of a story that stand for a step, or for what came without one."""
    steps = told[: told.index("", told.index("  0 Init"))] if "" in told else told
    return [line.strip() for line in steps if line[:2] == "  " and line[2:3] in "0123-"]


def refusal(*given, call=None, place=""):
    return Observation("Read", given, kind="refusal", call=call, place=place)


def test_a_story_ends_with_what_does_not_fit_and_counts_no_hidden_step(mail):
    told = story(mail, Observation("Read", ("ann", 1), place="step 3"))
    assert told[0] == "  observation 5 of 5, Read(ann, 1), is no step of the spec here, at step 3"
    assert told[1] == "  Read: A person reads the oldest letter that was delivered."
    title = (
        "  the 3 steps that lead there, 1 that no observation shows, and what was observed without "
        "a step (+ enters"
    )
    assert title in "\n".join(told)
    assert marked(told) == [
        "0 Init",
        "1 Send(ann, 1)   Mail:12",
        "2 Send(ann, 2)   Mail:12",
        "- Deliver([letter 2, to ann])   hidden   Mail:18",
        "- no step",
        "3 Read(ann, 1)   <- the spec does not have this step   Mail:24",
    ]
    assert told[-2:] == [
        "  candidate 1 is told above; the spec can be in 1 state so far, or go on by hidden steps; "
        "the others",
        '    2: after hidden Deliver([letter 1, to ann]), Read("ann", 1) is not enabled',
    ]


def test_a_story_marks_a_stay_and_a_refusal_that_do_not_fit(mail):
    told = story(mail, stay(1, 2, place="after step 2"))
    assert told[0] == (
        "  observation 5 of 5, after step 2: the code says that it took no step, but its state is "
        "another"
    )
    assert "  - no step   <- the spec is in another state" in told
    told = story(mail, Observation("Read", ("ann", 2), kind="refusal"))
    assert told[0].endswith('5 of 5: the code refuses Read("ann", 2), which the spec allows')
    assert any(line.startswith("  3 Read(ann, 2)   <- the code refuses this") for line in told)


def test_a_story_tells_what_was_refused_in_its_place(mail):
    stays = Observation(None, kind="stay", call="same")
    waits = Observation(None, kind="stay", call=Call("wait", (10,)))
    late = refusal("ann", 1, call=Call("look", ()))
    told = story(mail, refusal("ann", 1), stays, waits, late, Observation("Read", ("bob", 1)))
    assert marked(told)[3:] == [
        "- Deliver([letter 2, to ann])   hidden   Mail:18",
        "- no step",
        "- Read(ann, 1)   refused   Mail:24",
        "- no step   by wait(10)",
        "- Read(ann, 1)   refused by look()   Mail:24",
        "3 Read(bob, 1)   <- the spec does not have this step   Mail:24",
    ]
    below = told.index("  - Read(ann, 1)   refused   Mail:24") + 1
    assert told[below].startswith("  - "), "nothing is said of a state that stays as it is"


def test_of_very_many_refusals_a_story_tells_the_last_ones_and_how_many_more(mail):
    told = story(mail, *[refusal("ann", 1)] * 1_500, Observation("Read", ("bob", 1)))
    lines = marked(told)
    assert "- 1,496 more without a step" in lines, "the look before them is one of these"
    assert lines.count("- Read(ann, 1)   refused   Mail:24") == 5


def test_a_behaviour_of_the_whole_trace_tells_what_was_refused_too(mail):
    report = match(mail, letters(stay(2), refusal("ann", 1), Observation("Read", ("ann", 2))))
    view = view_of_match(report)
    assert dict(view.facts)["steps"] == "4", "a refusal is none"
    shown = [(one.label, one.call, one.note.remark) for one in view.steps[3:]]
    assert shown == [
        ("-", "Deliver([letter 2, to ann])", "hidden"),
        ("-", "no step", ""),
        ("-", "Read(ann, 1)", "refused"),
        ("3", "Read(ann, 2)", ""),
    ]
    assert "| - | `Read(ann, 1)`, refused |" in markdown_of(view, "found")


def test_the_numbers_of_a_page_are_those_of_the_story(mail):
    late = Observation("Read", ("bob", 1))
    page = page_of(view_of_match(match(mail, letters(stay(2), refusal("ann", 1), late))), "found")
    assert '<a href="#step=6" id="goto">Go to step 3</a>' in page
    assert re.findall(r'<p class="call"><a href="#step=(\d)">(.)</a> <b>Read</b>', page) == [
        ("5", "-"),
        ("6", "3"),
    ]
    assert "nothing changed" not in page, "of what was refused that is not said"
    assert '"counted":[0,1,2,2,2,2,3]' in page


@pytest.mark.parametrize("call", ["same", None])
def test_a_refusal_that_changes_the_state_is_told_by_its_name(mail, call):
    place = "after step 2"
    seen = replace(stay(1, 2, place=place), call=call)
    told = story(mail, refusal("ann", 1, place=place), seen)
    finding = 'the code refused Read("ann", 1), but its state is another'
    assert told[0] == f"  observation 6 of 6, after step 2: {finding}"
    assert marked(told)[-2:] == [
        "- no step",
        "- Read(ann, 1)   <- the spec is in another state   refused   Mail:24",
    ]
    other = story(mail, refusal("ann", 1, place=place), replace(seen, call=Call("wait", ())))
    assert "the code says that it took no step, but its state is another" in " ".join(other)
    assert marked(other)[-1] == "- no step   <- the spec is in another state   by wait()"


def test_the_judge_tells_a_refusal_after_the_hidden_step_that_it_needs(mail):
    judge = Judge(mail, hidden=["Deliver"])
    for letter in (1, 2):
        judge.step("Send", "ann", letter)
    judge.stay({("inbox", "ann"): [2]})
    judge.refuse("Read", "ann", 1)
    with pytest.raises(SpecViolation) as caught:
        judge.step("Read", "ann", 1)
    assert marked(str(caught.value).split("\n"))[3:-1] == [
        "- Deliver([letter 2, to ann])   hidden   Mail:18",
        "- no step",
        "- Read(ann, 1)   refused   Mail:24",
    ]


@pytest.mark.parametrize(
    ("post", "given"),
    [
        (["ann", "bob"], "it would give post without [letter 2, to ann]"),
        ([], "it would give [letter 1, to ann] in post"),
    ],
)
def test_the_nearest_step_says_which_members_of_a_set_it_would_give(mail, post, given):
    seen = frozenset(Function({"letter": 2 if to == "ann" else 1, "to": to}) for to in post)
    step = Observation("Send", ("bob", 2), ((("post",), seen),))
    account = account_of_match(match(mail, PartialTrace("Mail", (Observation("Init"), step))))
    assert account.outcome.nearest.startswith("the nearest step of the spec is Send(")
    assert account.outcome.nearest.endswith(given)
