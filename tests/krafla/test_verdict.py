"""The words tools answer with."""

from __future__ import annotations

import pytest

from krafla.verdict import ExitCode, KraflaError, Verdict, worst

HELD, VIOLATED, INCONCLUSIVE = Verdict.HELD, Verdict.VIOLATED, Verdict.INCONCLUSIVE


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        ([], INCONCLUSIVE),
        ([HELD], HELD),
        ([HELD, INCONCLUSIVE], INCONCLUSIVE),
        ([INCONCLUSIVE, VIOLATED, HELD], VIOLATED),
    ],
)
def test_the_worst_verdict_wins_and_nothing_is_inconclusive(verdicts, expected):
    assert worst(verdicts) is expected


def test_the_exit_codes_are_the_published_numbers():
    assert {code.name: int(code) for code in ExitCode} == {
        "HELD": 0,
        "VIOLATED": 1,
        "COULD_NOT_RUN": 2,
        "INCONCLUSIVE": 3,
        "CRASHED": 4,
        "INTERRUPTED": 130,
    }
    assert [verdict.exit_code for verdict in Verdict] == [0, 1, 3]


def test_an_error_leads_with_its_place():
    assert str(KraflaError("wrong", "file:3")) == "file:3: wrong"
    assert str(KraflaError("wrong")) == "wrong"
