"""What random runs of a machine covered, hidden steps and unseen variables among it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.krafla.testing.test_machine import Mail

from krafla.cli.fuzz_machine import _coverage
from krafla.testing import Judge, Record, SpecMachine, Taken, action, member_of
from krafla.testing.machine_search import Search, search
from krafla.testing.machine_tally import CountedJudge, MachineTally
from krafla.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from krafla.testing import Spec


class Readers(Mail):
    """Nobody sees the post, nor when it delivers."""

    hidden = ("Deliver",)
    deliver = None  # type: ignore[assignment]  # nobody sees that step

    def observe(self) -> Mapping[str, Any]:
        return {}

    @action("Send", only_if_enabled=True)
    def send(  # type: ignore[override]  # it says more
        self, person: str, letter: int
    ) -> Taken | None:
        self.inbox[person].append(letter)
        return None

    @action("Read", person=member_of("Person"))
    def read(self, person: str) -> Taken:  # type: ignore[override]  # the next letter
        mine = self.inbox[person]
        return Taken("Read", person, mine.pop(0)) if mine else Taken.nothing


class Unread(Readers):
    """No letter is read, and none is sent again: it may be in the post for ever."""

    @action("Send", person=member_of("Person"), letter=member_of("Letter"))
    def send(  # type: ignore[override]  # it says more
        self, person: str, letter: int
    ) -> Taken | None:
        is_sent = Record(to=person, letter=letter) in self.post
        self.post.add(Record(to=person, letter=letter))
        return Taken.nothing if is_sent else None


def tally_of(machine: type[SpecMachine]) -> MachineTally:
    report = search(machine, Search(examples=40, steps=4))
    assert report.verdict is Verdict.HELD, str(report.violation)
    return report.tally


def test_a_hidden_step_that_must_have_been_is_not_missed() -> None:
    tally = tally_of(Readers)
    assert tally.hidden == {"Deliver"}
    assert tally.missed == ()
    assert "taken in hidden steps: Deliver" in list(_coverage(tally))


def test_a_hidden_step_that_may_have_been_is_missed() -> None:
    tally = tally_of(Unread)
    assert tally.hidden == set()
    assert set(tally.missed) == {"Deliver", "Read"}


def test_properties_of_which_no_step_can_show_all_are_named(climb_spec: Spec) -> None:
    class Climber(SpecMachine):
        spec = climb_spec
        observes = False
        properties = ("LowBothProp", "FairProp")

        @action("Climb")
        def climb(self) -> Taken:
            return Taken.nothing

    tally = search(Climber, Search(examples=2, steps=2)).tally
    assert tally.not_judged == ("FairProp",)
    assert "not judged: the temporal part of PROPERTY FairProp" in list(_coverage(tally))
    assert not any("not judged" in one for one in _coverage(tally_of(Mail)))


def test_variables_of_which_nothing_was_seen_are_named() -> None:
    tally = tally_of(Readers)
    assert tally.unseen == ("post", "inbox")
    assert "variables never seen: post, inbox" in list(_coverage(tally))
    assert tally_of(Mail).unseen == ()


def test_a_state_counts_if_it_is_the_only_one_that_fits(lock_spec: Spec) -> None:
    tally = MachineTally()
    judge = CountedJudge.of(Judge(lock_spec), tally)
    judge.start()
    known = {one.fingerprint for one in judge.states}
    judge.step("Acquire", ...)
    assert len(judge.states) > 1
    assert tally.states == known
    judge.stay({"holder": "c2"})
    assert tally.states == known | {one.fingerprint for one in judge.states}


def test_a_variable_of_which_a_part_was_seen_is_not_unseen(lock_spec: Spec) -> None:
    tally = MachineTally()
    judge = CountedJudge.of(Judge(lock_spec), tally)
    judge.start()
    judge.step("Acquire", "c1")
    assert tally.unseen == ("holder", "queue")
    judge.step("Acquire", "c2", seen={("queue", 1): "c2"})
    assert tally.unseen == ("holder",)
