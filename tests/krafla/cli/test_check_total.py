"""The exit status of a ``krafla check`` of several models: the worst answer, or a doubt."""

from __future__ import annotations

from typing import Any

import pytest

from krafla.cli.check_total import Total
from krafla.tlc.judge import Judgement
from krafla.tlc.model_check import Check
from krafla.verdict import ExitCode, KraflaError, Verdict

NOTHING: Any = None
DOUBTS = ((), ("no model took an action",))
FAILED = KraflaError("no Java anywhere")


def answer(verdict: Verdict) -> Check:
    return Check(NOTHING, NOTHING, Judgement(verdict, ("it is so",)))


HELD, VIOLATED, DOUBTED = map(answer, (Verdict.HELD, Verdict.VIOLATED, Verdict.INCONCLUSIVE))


@pytest.mark.parametrize(
    ("answers", "without", "with_doubts"),
    [
        ((HELD, HELD), ExitCode.HELD, ExitCode.INCONCLUSIVE),
        ((HELD, DOUBTED), ExitCode.INCONCLUSIVE, ExitCode.INCONCLUSIVE),
        ((HELD, DOUBTED, FAILED), ExitCode.COULD_NOT_RUN, ExitCode.COULD_NOT_RUN),
        ((HELD, DOUBTED, FAILED, VIOLATED), ExitCode.VIOLATED, ExitCode.VIOLATED),
        ((), ExitCode.INCONCLUSIVE, ExitCode.INCONCLUSIVE),
    ],
)
def test_the_status_is_the_worst_answer_and_a_doubt_is_never_held(answers, without, with_doubts):
    found = [Total(answers, (), doubts).exit_code for doubts in DOUBTS]
    assert found == [without, with_doubts]
