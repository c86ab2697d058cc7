"""JUnit, SARIF and GitHub's texts of any answers: valid, and never green without a reason."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.krafla.report.ci_reports import ENTRIES, LINES, ROOT, TEXTS, file_of, run_in, suite_in

from krafla.report.entries import Entry, EntryStep, FilePlace, Rule, places_named, writable
from krafla.report.github import annotation_lines, step_summary
from krafla.report.junit import junit_xml
from krafla.report.sarif import sarif_document
from krafla.verdict import Verdict

FALSE = Entry(
    "model", "Lamp", Verdict.VIOLATED, ("OffInv is violated",), ("3 states",), "two presses",
    "krafla check Lamp", 1.5, headline="A lamp is off.",
    broken=Rule("Lamp!OffInv", "A lamp is off."),
    places=(FilePlace(ROOT / "Lamp.tla", 7), FilePlace(ROOT / "Lamp.cfg")),
    steps=(EntryStep("0 Init"), EntryStep("1 Press", FilePlace(ROOT / "Lamp.tla", 12))),
    story=("  A lamp is off.", "  OffInv is false", "", "    on = TRUE"),
)  # fmt: skip
HELD = Entry("model", "Dim", Verdict.HELD, evidence=("9 states",), asked=(Rule("Dim!XInv"),))
DOUBT = Entry("model", "Cut", Verdict.INCONCLUSIVE, ("time ran out",))
NO_ANSWER = Entry("model", "Bad", Verdict.INCONCLUSIVE, ("no such file",), could_run=False)


@given(st.lists(ENTRIES, max_size=4))
def test_junit_is_valid_whatever_the_texts_are(entries):
    suite = suite_in(junit_xml("krafla check", entries, 1.0))
    for case, entry in zip(suite, entries, strict=True):
        tags = {child.tag for child in case} - {"system-out"}
        expected = {Verdict.HELD: set(), Verdict.VIOLATED: {"failure"}}
        assert tags == expected.get(entry.verdict, {"error"})


def test_junit_tells_the_sentence_the_story_and_how_to_ask_again():
    suite = suite_in(junit_xml("krafla check", [HELD, FALSE, DOUBT, NO_ANSWER], 4.0))
    held, false, doubt, no_answer = suite
    assert held.find("system-out").text == "9 states"
    failure = false.find("failure")
    assert (failure.get("message"), failure.get("type")) == ("A lamp is off.", "violated")
    assert failure.text == "OffInv is violated\n\n" + "\n".join(FALSE.story)
    assert false.find("system-out").text == "two presses\n3 states\nreproduce: krafla check Lamp"
    assert doubt.find("error").get("type") == "inconclusive"
    assert no_answer.find("error").get("type") == "could not run"


@pytest.mark.parametrize(
    ("headline", "reasons", "title"),
    [
        ("a\nb", ("c",), "a b"),
        (" ", ("", "\n c\nd"), "c"),
        ("", (), "the name"),
    ],
)
def test_the_title_is_one_line_that_is_not_empty(headline, reasons, title):
    entry = Entry("model", "the name", Verdict.VIOLATED, reasons, headline=headline)
    assert entry.title == title


def test_what_xml_cannot_contain_is_marked():
    entry = Entry("model", "a\x00", Verdict.VIOLATED, ("\n\x1b[31mred\nsecond line",))
    (case,) = suite_in(junit_xml("krafla check", [entry], 0.0))
    assert case.get("name") == "a\ufffd"
    assert case.find("failure").get("message") == "\ufffd[31mred"
    assert case.find("failure").text == "\n\ufffd[31mred\nsecond line"


def _unescaped(text: str, marks: dict[str, str]) -> str:
    """Return what the runner of GitHub Actions makes of a value, by the list it publishes."""
    for mark, letter in marks.items():
        text = text.replace(mark, letter)
    return text.replace("%25", "%")


def test_the_place_in_a_message_is_found_if_it_is_a_file(tmp_path):
    path = tmp_path / "Lock.tla"
    path.write_text("")
    found = (FilePlace(path, 19),)
    assert places_named(f"model Lock: {path}:19: no symbol '<='") == found
    assert places_named(f"{path}:19: no symbol") == found
    assert places_named(f"{path}.gone:19: no symbol") == ()
    assert places_named(f"at 10:19: see {path}, byte 7") == ()


DATA = {"%0D": "\r", "%0A": "\n"}
PROPERTIES = DATA | {"%3A": ":", "%2C": ","}


def _read(line: str) -> tuple[str, dict[str, str], str]:
    """Return the name, the properties and the message of a workflow command."""
    assert len(line.splitlines()) <= 1 or "\n" not in line
    _, head, message = line.split("::", 2)
    name, _, given = head.partition(" ")
    pairs = (one.split("=", 1) for one in given.split(","))
    properties = {key: _unescaped(value, PROPERTIES) for key, value in pairs}
    return name, properties, _unescaped(message, DATA)


@given(st.lists(ENTRIES, max_size=4))
def test_each_answer_that_is_not_held_is_one_annotation_whatever_the_texts_are(entries):
    lines = list(annotation_lines(entries, ROOT))
    assert len(lines) == sum(entry.verdict is not Verdict.HELD for entry in entries)
    titles = sorted(f"{one.word}: {writable(one.name)}" for one in entries
                    if one.verdict is not Verdict.HELD)  # fmt: skip
    read = [_read(line) for line in lines]
    assert sorted(properties["title"] for _, properties, _ in read) == titles
    for line, (name, properties, _) in zip(lines, read, strict=True):
        assert not set("\r\n") & set(line)
        assert name == ("error" if properties["title"].startswith("violated") else "warning")


def test_an_annotation_has_the_line_of_the_false_conjunct_and_the_story():
    ((name, properties, message),) = map(_read, annotation_lines([HELD, FALSE], ROOT))
    assert name == "error"
    assert properties == {"file": "Lamp.tla", "line": "7", "title": "violated: Lamp"}
    assert message == "  A lamp is off.\n  OffInv is false\n    on = TRUE"


def test_the_worst_annotations_come_first_for_only_ten_are_shown():
    found = [_read(one)[0] for one in annotation_lines([DOUBT, FALSE, NO_ANSWER], ROOT)]
    assert found == ["error", "error", "warning"]


def test_a_file_outside_of_the_repository_is_named_whole():
    entry = Entry(
        "trace", "t", Verdict.VIOLATED, ("no",), places=(FilePlace(Path("/tmp/a,b.log")),)
    )
    (line,) = annotation_lines([entry], ROOT)
    assert line.startswith("::error file=/tmp/a%2Cb.log,title=")


@given(st.lists(ENTRIES, max_size=4))
def test_each_answer_is_one_row_of_the_summary_whatever_the_texts_are(entries):
    text = step_summary("krafla check", "held", entries)
    table = text.partition("\n####")[0]
    rows = [line for line in table.split("\n") if line.startswith("| ")]
    assert len(rows) == (1 + len(entries) if entries else 0)
    for row in rows:
        assert len(re.findall(r"(?<!\\)\|", row.replace("\\\\", ""))) == 5, row
    outside = re.sub(r"(`+)[^`].*?\1", "", table)
    assert not re.search(r"<[a-zA-Z/!]", outside)


def test_the_summary_has_one_table_and_the_story_of_each_failure():
    text = step_summary("krafla check", "violated", [HELD, FALSE])
    assert text == (
        "### krafla check: violated\n\n1 violated, 1 held\n\n"
        "| verdict | question | why, or the evidence | ask again |\n|---|---|---|---|\n"
        "| violated | Lamp | A lamp is off. | `krafla check Lamp` |\n"
        "| held | Dim | 9 states |  |\n"
        "\n#### Lamp: violated\n\n"
        "```text\n  A lamp is off.\n  OffInv is false\n\n    on = TRUE\n```\n\n"
    )


@pytest.mark.parametrize(("lines", "answers"), [(100_000, 1), (90, 900)])
def test_a_summary_stays_below_what_github_takes_and_says_what_it_leaves_out(lines, answers):
    entry = Entry("model", "Long", Verdict.VIOLATED, ("no",), story=("x" * 80,) * lines)
    text = step_summary("krafla check", "violated", [entry] * answers)
    assert len(text.encode()) < 2**20
    assert "more lines" in text or "more of these stories" in text


@given(TEXTS, LINES)
def test_no_line_of_a_story_ends_its_block(story, name):
    entry = Entry("model", name, Verdict.VIOLATED, ("no",), story=("````", story, "# no title"))
    text = step_summary("krafla check", "violated", [entry])
    block = text.partition("\n####")[2]
    border = re.search(r"^(`+)text$", block, re.MULTILINE)[1]
    inside = block.partition(f"{border}text\n")[2]
    assert inside.count(border) == 1
    assert "# no title" in inside.partition(border)[0]


@given(st.lists(ENTRIES, max_size=4))
def test_sarif_is_valid_whatever_the_texts_are(entries):
    run = run_in(sarif_document("0.1.0", entries, ROOT, 1))
    kinds = sorted(result["kind"] for result in run["results"])
    expected = {Verdict.VIOLATED: "fail", Verdict.INCONCLUSIVE: "open"}
    assert kinds == sorted(expected[e.verdict] for e in entries if e.verdict in expected)
    answered = [entry for entry in entries if entry.verdict is not Verdict.HELD]
    for result, entry in zip(run["results"], answered, strict=True):
        files = [file_of(one, run) for one in result["locations"]]
        assert files == ([place.path for place in entry.places[:1]] or [ROOT])
        text = result["message"]["text"].replace("{{", "{").replace("}}", "}")
        assert text.startswith(f"{writable(entry.name)}: ")


def test_sarif_has_the_rules_the_false_line_and_the_steps_there():
    run = run_in(sarif_document("0.1.0", [HELD, FALSE], ROOT, 1))
    rules = {one["id"]: one["fullDescription"]["text"] for one in run["tool"]["driver"]["rules"]}
    assert rules == {"Dim!XInv": "XInv holds.", "Lamp!OffInv": "A lamp is off."}
    (result,) = run["results"]
    assert (result["kind"], result["level"]) == ("fail", "error")
    (location,) = result["locations"]
    assert location["physicalLocation"]["region"] == {"startLine": 7}
    assert [file_of(one, run).name for one in result["relatedLocations"]] == ["Lamp.cfg"]
    (flow,) = result["codeFlows"][0]["threadFlows"]
    texts = [one["location"]["message"]["text"] for one in flow["locations"]]
    assert texts == ["0 Init", "1 Press"]
    last = flow["locations"][-1]["location"]["physicalLocation"]
    assert last["region"] == {"startLine": 12}


def test_sarif_places_a_record_by_its_byte():
    entry = Entry(
        "audit", "P2", Verdict.VIOLATED, ("no",), places=(FilePlace(ROOT / "0.log", None, 0),)
    )
    (result,) = run_in(sarif_document("0.1.0", [entry], ROOT, 1))["results"]
    assert result["locations"][0]["physicalLocation"]["region"] == {"byteOffset": 0}


def test_what_could_not_be_asked_makes_the_execution_of_sarif_a_failure():
    run = run_in(sarif_document("0.1.0", [HELD, NO_ANSWER], ROOT, 2))
    (invocation,) = run["invocations"]
    assert (invocation["executionSuccessful"], invocation["exitCode"]) == (False, 2)
    (told,) = invocation["toolExecutionNotifications"]
    assert told["message"]["text"] == "Bad: no such file"
    assert run["results"] == []


def test_a_finding_keeps_its_fingerprint_when_lines_move():
    def fingerprint(line, name="Lamp"):
        entry = Entry(
            "model", name, Verdict.VIOLATED, ("no",), places=(FilePlace(ROOT / "a", line),)
        )
        (result,) = run_in(sarif_document("0.1.0", [entry], ROOT, 1))["results"]
        return result["partialFingerprints"]

    assert fingerprint(7) == fingerprint(9)
    assert fingerprint(7) != fingerprint(7, "Other")
