"""The story of a partial trace: its steps with their numbers, and what does not fit at the end."""

from __future__ import annotations

from pathlib import Path

import pytest

from krafla.match import match
from krafla.oracle import Spec
from krafla.report.explain.account import account_lines
from krafla.report.explain.match_account import account_of_match
from krafla.traces import Observation, PartialTrace, SpecText
from krafla.values import Function

MODULE = Path(__file__).parents[1] / "testing" / "specs" / "Mail.tla"
TEXT = SpecText("Mail", (("Mail", MODULE.read_text()),))


@pytest.fixture(scope="module")
def mail():
    return Spec.load(MODULE, {"Person": {"ann", "bob"}, "Letter": {1, 2}})


def stay(*inbox, place=""):
    return Observation(None, None, ((("inbox", "ann"), inbox),), place, kind="stay")


def story(mail, last):
    sent = (Observation("Send", ("ann", letter)) for letter in (1, 2))
    observations = (Observation("Init"), *sent, stay(2), last)
    trace = PartialTrace("Mail", observations, hidden=("Deliver",), text=TEXT)
    account = account_of_match(match(mail, trace))
    return [line.rstrip() for line, _ in account_lines(account, 100)]


def test_a_story_ends_with_what_does_not_fit_and_counts_no_hidden_step(mail):
    told = story(mail, Observation("Read", ("ann", 1), place="step 3"))
    assert told[0] == "  observation 5 of 5, Read(ann, 1), is no step of the spec here, at step 3"
    assert told[1] == "  Read: A person reads the oldest letter that was delivered."
    assert "  the 3 steps that lead there, and 1 that no observation shows" in "\n".join(told)
    steps = told[: told.index("", told.index("  0 Init"))]
    marked = [line.strip() for line in steps if line[:2] == "  " and line[2:3] in "0123-"]
    assert marked == [
        "0 Init",
        "1 Send(ann, 1)   Mail:12",
        "2 Send(ann, 2)   Mail:12",
        "- Deliver([letter 2, to ann])   hidden   Mail:18",
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
