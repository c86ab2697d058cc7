"""A verification as JUnit XML, the form in which CI systems read test results."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Protocol
from xml.etree import ElementTree as Xml

from krafla.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence
    from enum import Enum

# XML 1.0 cannot contain these characters, not even escaped.
_UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


class _Row(Protocol):
    """One question of a verification with its answer."""

    @property
    def kind(self) -> Enum: ...
    @property
    def name(self) -> str: ...
    @property
    def verdict(self) -> Verdict: ...
    @property
    def bounds(self) -> str: ...
    @property
    def evidence(self) -> tuple[str, ...]: ...
    @property
    def reasons(self) -> tuple[str, ...]: ...
    @property
    def reproduce(self) -> str: ...
    @property
    def seconds(self) -> float: ...


class _Report(Protocol):
    """All rows of a verification, and how long it took."""

    @property
    def rows(self) -> Sequence[_Row]: ...
    @property
    def seconds(self) -> float: ...


def junit_xml(report: _Report) -> str:
    """Return the report as one JUnit test suite with a test case for each row.

    A violated row is a failure and an inconclusive one an error, so that neither is green. Evidence
    and the reproducing command stand in ``system-out``.
    """
    suite = Xml.Element(
        "testsuite",
        name="krafla verify",
        tests=str(len(report.rows)),
        failures=str(sum(row.verdict is Verdict.VIOLATED for row in report.rows)),
        errors=str(sum(row.verdict is Verdict.INCONCLUSIVE for row in report.rows)),
        time=f"{report.seconds:.3f}",
    )
    for row in report.rows:
        case = Xml.SubElement(
            suite,
            "testcase",
            classname=f"krafla.{row.kind.value.replace(' ', '_')}",
            name=_writable(row.name),
            time=f"{row.seconds:.3f}",
        )
        if row.verdict is not Verdict.HELD:
            tag = "failure" if row.verdict is Verdict.VIOLATED else "error"
            reason = _writable("\n".join(row.reasons))
            child = Xml.SubElement(case, tag, message=reason.partition("\n")[0])
            child.text = reason
        output = (row.bounds, *row.evidence, f"reproduce: {row.reproduce}")
        Xml.SubElement(case, "system-out").text = _writable("\n".join(output))
    Xml.indent(suite)
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n' + Xml.tostring(suite, encoding="unicode") + "\n"
    )


def _writable(text: str) -> str:
    return _UNWRITABLE.sub("\ufffd", text)
