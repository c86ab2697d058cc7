"""Each kind of file that a command saves is taken by every verb that takes recordings.

What fuzzing and proving save is given to them where it is made: in the tests of these commands.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.krafla.cli.lamp_room import lay_out
from tests.krafla.takers import check_taken
from typer.testing import CliRunner

from krafla.cli import application
from krafla.traces import partial, read_whole_trace, write_trace

TRACES = Path(__file__).parents[3] / "traces"
OVERLAP = min((TRACES / "counterexamples" / "lease").glob("*.ndjson"))


def krafla(*arguments):
    """Return how a command ends."""
    return CliRunner().invoke(application(arguments[0]), list(map(str, arguments)))


@pytest.fixture
def lamp(tmp_path, monkeypatch):
    """A small room of specs in which every answer is known."""
    monkeypatch.setenv("KRAFLA_SPECS", str(lay_out(tmp_path)))


@pytest.mark.usefixtures("lamp")
@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        (("check", "LampOn", "--trace"), "a counterexample"),
        (("explore", "LampLong", "--quiet", "--to", "presses = 3", "--save"), "a behaviour"),
    ],
)
def test_what_is_found_of_a_model_is_taken_and_so_is_its_shrunk_and_converted_form(
    arguments, kind, tmp_path
):
    saved = tmp_path / "saved.ndjson"
    assert krafla(*arguments, saved).exit_code == 0
    smaller = check_taken(saved, kind, tmp_path)
    if kind == "a counterexample":
        assert krafla("replay", smaller).exit_code == 1
    for ending, known in ((".itf.json", kind), (".json", "an output of TLC"),
                          (".out", "an output of TLC")):  # fmt: skip
        other = tmp_path / f"other{ending}"
        assert krafla("convert", saved, other).exit_code == 0
        folder = tmp_path / f"taken{ending}"
        folder.mkdir()
        check_taken(other, known, folder)


def test_the_partial_trace_of_an_audit_is_taken(tmp_path):
    saved = tmp_path / "seen.ndjson"
    logs = TRACES / "kafka-4.1" / "crash"
    assert krafla("audit", logs, "--server-logs", "--save-trace", saved).exit_code == 0
    check_taken(saved, "a partial trace", tmp_path)


def test_what_is_shown_of_a_recording_is_no_recording_and_it_is_said(tmp_path):
    pages = {"html": "a page", "markdown": "nothing known"}
    for option, kind in pages.items():
        page = tmp_path / option
        assert krafla("explain", OVERLAP, "--no-ask", f"--{option}", page).exit_code == 0
        check_taken(page, kind, tmp_path)
    report = tmp_path / "report.json"
    seen = partial(read_whole_trace(OVERLAP))
    write_trace(seen, tmp_path / "seen.ndjson")
    report.write_text(krafla("validate", tmp_path / "seen.ndjson", "--json").stdout)
    check_taken(report, "a report", tmp_path)


def test_logs_of_kafka_are_no_recording_and_what_judges_them_is_said(tmp_path):
    smaller = check_taken(TRACES / "kafka-4.1" / "crash", "logs", tmp_path)
    assert not smaller.exists()


def test_a_trace_is_not_overwritten_by_way_of_a_link(tmp_path):
    trace, link = tmp_path / "of.ndjson", tmp_path / "link"
    trace.write_bytes(OVERLAP.read_bytes())
    link.symlink_to(trace)
    result = krafla("shrink", trace, "--output", link)
    assert result.exit_code == 2
    assert f"{trace}: would be overwritten: give another file" in result.stderr
    assert trace.read_bytes() == OVERLAP.read_bytes()


@pytest.mark.parametrize("verb", ["shrink", "explain", "validate", "keep"])
def test_a_corpus_is_judged_by_replay_alone(verb):
    options = ("--as", "rejected", "--reason", "So.") if verb == "keep" else ()
    result = krafla(verb, TRACES, *options)
    assert result.exit_code == 2
    assert f"a corpus of traces; `krafla replay {TRACES}` judges it" in result.stderr


def test_a_trace_is_known_by_its_content_whatever_its_name(tmp_path):
    write_trace(read_whole_trace(OVERLAP), tmp_path / "of.json")
    assert krafla("replay", tmp_path / "of.json").exit_code == 1
