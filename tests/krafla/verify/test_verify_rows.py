"""The closing table: its verdict, its JSON, its JUnit."""

from __future__ import annotations

from xml.etree import ElementTree as Xml

import pytest

from krafla.report.junit import junit_xml
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


def test_junit_counts_violations_as_failures_and_doubts_as_errors() -> None:
    rows = (
        row("held", Verdict.HELD),
        row("doubt", Verdict.INCONCLUSIVE, "count off by one"),
        row("broken", Verdict.VIOLATED, "TypeOK\nis false", "\x1b[31mred"),
    )
    suite = Xml.fromstring(junit_xml(Report(rows, 4.0)))
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "1", "1")
    cases = {case.get("name"): case for case in suite}
    assert cases["held"].find("failure") is None
    assert cases["held"].find("error") is None
    assert cases["doubt"].find("error").get("message") == "count off by one"
    failure = cases["broken"].find("failure")
    assert failure.get("message") == "TypeOK"
    assert failure.text == "TypeOK\nis false\n\ufffd[31mred"
    assert "reproduce: ask held" in cases["held"].find("system-out").text
