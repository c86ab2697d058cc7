"""Answers as JUnit XML, the form in which CI systems read test results."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as Xml

from krafla.report.entries import one_line, writable
from krafla.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from krafla.report.entries import Entry

__all__ = ["junit_xml"]


def junit_xml(name: str, entries: Sequence[Entry], seconds: float) -> str:
    """Return the answers as one JUnit test suite with a test case for each.

    A violated one is a failure and an inconclusive one an error, so that neither is green. The
    story of a failure is its text. Bounds, evidence and the reproducing command stand in
    ``system-out``. ``seconds`` is wall-clock time.
    """
    suite = Xml.Element(
        "testsuite",
        name=name,
        tests=str(len(entries)),
        failures=str(sum(one.verdict is Verdict.VIOLATED for one in entries)),
        errors=str(sum(one.verdict is Verdict.INCONCLUSIVE for one in entries)),
        time=f"{seconds:.3f}",
    )
    for entry in entries:
        case = Xml.SubElement(
            suite,
            "testcase",
            classname=writable(f"krafla.{entry.kind.replace(' ', '_')}"),
            name=one_line(entry.name),
            time=f"{entry.seconds:.3f}",
        )
        if entry.verdict is not Verdict.HELD:
            tag = "failure" if entry.verdict is Verdict.VIOLATED else "error"
            child = Xml.SubElement(case, tag, message=one_line(entry.title), type=entry.word)
            child.text = _text((*entry.reasons, *_apart(entry.story)))
        again = (f"reproduce: {entry.reproduce}",) if entry.reproduce else ()
        output = _text(filter(None, (entry.bounds, *entry.evidence, *again)))
        if output:
            Xml.SubElement(case, "system-out").text = output
    Xml.indent(suite)
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n' + Xml.tostring(suite, encoding="unicode") + "\n"
    )


def _apart(lines: tuple[str, ...]) -> tuple[str, ...]:
    return ("", *lines) if lines else ()


def _text(lines: Iterable[str]) -> str:
    return writable("\n".join(lines))
