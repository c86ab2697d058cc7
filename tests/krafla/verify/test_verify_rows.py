"""The closing table: its verdict, its JSON."""

from __future__ import annotations

import pytest

from krafla.verdict import ExitCode, Verdict
from krafla.verify import Kind, Report, Row


def row(name: str, verdict: Verdict, *reasons: str) -> Row:
    return Row(Kind.MODEL, name, verdict, "3 brokers", ("12 states",), reasons, f"ask {name}", 1.5)


def test_one_violated_row_makes_the_report_violated_whatever_else_is_in_doubt() -> None:
    rows = (
        row("a", Verdict.HELD),
        row("b", Verdict.INCONCLUSIVE, "cut"),
        row("c", Verdict.VIOLATED, "broken"),
    )
    report = Report(rows, 4.0)
    assert report.verdict is Verdict.VIOLATED
    assert report.as_json()["exit_code"] == ExitCode.VIOLATED


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        ([Verdict.HELD, Verdict.HELD], Verdict.HELD),
        ([Verdict.HELD, Verdict.INCONCLUSIVE], Verdict.INCONCLUSIVE),
        ([], Verdict.INCONCLUSIVE),
    ],
)
def test_a_report_is_held_only_if_it_asked_something_and_everything_held(
    verdicts: list[Verdict], expected: Verdict
) -> None:
    rows = tuple(row(str(number), verdict) for number, verdict in enumerate(verdicts))
    assert Report(rows, 0.0).verdict is expected
