"""``krafla explain`` on a terminal and as Markdown."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console
from tests.krafla.report.explained import CORPUS, HOSTILE, hostile, recorded, small, state
from typer.testing import CliRunner

from krafla.cli import application
from krafla.cli.screen import styled
from krafla.report.explain.markdown import markdown_of
from krafla.report.explain.outcome import outcome_of
from krafla.report.explain.terminal import outcome_lines, step_lines
from krafla.report.explain.view import view_of
from krafla.traces import Origin, write_trace
from krafla.values import record

SHUTDOWN = str(CORPUS / "rejected/lease/shutdown-offset-moves.ndjson")


def printed(trace, width, *, colours=False, **options):
    text = io.StringIO()
    console = Console(file=text, width=width, force_terminal=colours, highlight=False)
    view = view_of(trace, outcome_of(trace, asks=False))
    styled(console, step_lines(view, width, **options))
    if view.outcome is not None:
        styled(console, outcome_lines(view.outcome, width))
    return text.getvalue()


def explain(*arguments, **environment):
    runner = CliRunner(env={"NO_COLOR": "1", **environment})
    return runner.invoke(application("explain"), ["explain", *map(str, arguments)])


@pytest.fixture(scope="module")
def shutdown():
    return recorded("rejected/lease/shutdown-offset-moves")


@pytest.mark.parametrize("width", [40, 200, 400])
def test_nothing_is_lost_at_any_width(shutdown, width):
    text = re.sub(r"\s+", "", printed(shutdown, width))
    assert "controlled_shutdown_offset[1]:5->6" in text
    assert "status:RECOVERY->RUNNING" in text


@pytest.mark.parametrize("width", [80, 100, 120, 200])
def test_a_terminal_has_the_nodes_side_by_side_and_nothing_beyond_its_edge(shutdown, width):
    lines = printed(shutdown, width).splitlines()
    table = lines[: lines.index(next(line for line in lines if line.startswith("    p1: ")))]
    assert table[0].replace("|", " ").split() == ["controller", "p1", "p2"]
    assert max(map(len, table)) < width
    bars = {tuple(at for at, one in enumerate(line) if one == "|") for line in table if "|" in line}
    assert len({bars_of[:2] for bars_of in bars}) == 1
    first, second, third = max(bars, key=len)
    cells = [line[second + 1 : third] for line in table if line[first : first + 1] == "|"]
    assert "status:RECOVERY->RUNNING" in re.sub(r"\s+", "", "".join(cells))
    assert "controlled_shutdown_offset[1]:5->6" in re.sub(r"[\s|]+", "", "".join(table))


def test_an_initial_state_is_whole_unless_it_is_long_and_something_follows(shutdown):
    text = printed(shutdown, 120)
    assert "| contact_age[1] = -1" in text
    assert "values (krafla explain --all shows them)" not in text
    long = small(*[record(**{f"x{n}": one for n in range(30)}) for one in (0, 1)])
    text = printed(long, 120)
    assert "the initial state: 30 values (krafla explain --all shows them)" in text
    assert "x7 = 0" not in text
    for alone in (printed(long, 120, steps={0}), printed(small(long.steps[0].state), 120)):
        assert "x7 = 0" in alone


def test_what_a_node_is_like_that_never_changes_is_told_below_the_steps(shutdown):
    text = printed(small(state(0), state(1, (), ("ON", "OFF"))), 120)
    assert "    unchanged in these steps: p2" in text.splitlines()
    assert "unchanged in these steps" not in printed(shutdown, 120)


def test_no_word_is_broken_in_a_column(shutdown):
    text = printed(shutdown, 80)
    assert "     controller  registrations[1].fenced: TRUE -> FALSE" in text.splitlines()
    assert "     network  + RegistrationRequest(p1)" in text.splitlines()


def test_a_narrow_terminal_has_a_line_for_each_change(shutdown):
    lines = printed(shutdown, 60).splitlines()
    assert "      p1          status: NOT_RUNNING -> STARTING" in lines
    assert printed(shutdown, 10).startswith("\n".join(lines[:-1]))


def test_colour_carries_no_information_of_its_own(shutdown):
    coloured = printed(shutdown, 200, colours=True)
    assert "\x1b[" in coloured
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == printed(shutdown, 200)


def test_only_the_steps_and_nodes_asked_for_are_shown(shutdown):
    text = printed(shutdown, 80, steps={24, 25}, nodes={1})
    assert "RequestShutdown(p1)" in text
    assert "request_age: -1 -> 0" in text
    assert "HeartbeatRequest" not in text
    assert "26 " not in text


def test_the_whole_state_of_a_step_is_shown_if_asked_for(shutdown):
    assert "log_end = 5" not in printed(shutdown, 80, steps={24})
    assert "log_end = 5" in printed(shutdown, 80, steps={24}, whole=True)


def test_a_lasso_shows_the_state_to_which_it_returns():
    trace = small(state(0), state(1))
    assert "back to the state of step 0 by Loop" in printed(
        replace(trace, lasso=0, back="Loop"), 80
    )
    assert "stays in the state of step 1 for ever" in printed(replace(trace, lasso=1), 80)


def test_no_text_of_a_trace_controls_the_terminal():
    text = printed(hostile(), 80)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "\\u001b[31m" in text


def test_markdown_shows_hostile_names_as_they_are():
    trace = hostile()
    document = markdown_of(view_of(trace, outcome_of(trace, asks=False)), "t.ndjson")
    rows = [line for line in document.splitlines() if line.startswith("|")]
    bars = {len(re.findall(r"(?<!\\)\|", row)) for row in rows}
    assert len(bars) == 1, "a bar in a name made another column"
    outside = re.sub(r"(?<![\\`])(`+)(?!`).*?(?<!`)\1(?!`)", "", document, flags=re.DOTALL)
    assert not re.search(r"(?<!\\)<(?!br>)", outside)
    assert HOSTILE not in document


def test_markdown_has_the_steps_the_claim_and_the_way_back():
    result = explain(SHUTDOWN, "--markdown", "-")
    assert result.exit_code == 0
    assert "| step | action | controller | p1 | p2 | network |" in result.output
    assert "| `controlled_shutdown_offset[1]` | `5` | `6` |" in result.output
    assert f"krafla replay {SHUTDOWN}" in result.output


def test_the_command_shows_the_rejected_step_and_how_to_see_it_again():
    result = explain(SHUTDOWN, "--steps", "27-")
    assert result.exit_code == 0
    lines = result.output.splitlines()
    assert lines[1].startswith("  the spec does not have step 29: ContinueControlledShutdown")
    (at,) = (n for n, line in enumerate(lines) if line.startswith(" 29 ContinueControlledShut"))
    assert "<- the spec does not have this step" in "".join(lines[at : at + 3])
    assert "part                            spec expects   was done" in "".join(lines[:at])
    assert lines[-1].startswith(f"    krafla replay {SHUTDOWN}")


def test_documents_are_written_whole(tmp_path):
    page, text = tmp_path / "a.html", tmp_path / "a.md"
    result = explain(SHUTDOWN, "--html", page, "--markdown", text, "--no-ask")
    assert result.exit_code == 0
    assert page.read_text().startswith("<!doctype html>")
    assert text.read_text().startswith("## ")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.html", "a.md"]


def test_a_trace_made_with_another_text_of_the_spec_is_marked(tmp_path):
    trace = recorded("rejected/lease/shutdown-offset-moves")
    other = replace(trace, origin=Origin("simulator", digest="0" * 64))
    write_trace(other, tmp_path / "other.ndjson")

    shown = explain(tmp_path / "other.ndjson").output
    replayed = (
        CliRunner().invoke(application("replay"), ["replay", str(tmp_path / "other.ndjson")]).output
    )
    for text in (shown, replayed):
        assert "the trace was made with another version of BrokerLeaseProperties, which it" in text
        assert "judged by the specs at hand (KRAFLA_SPECS names others)" in text
    assert "another version" not in explain(SHUTDOWN).output


@pytest.mark.parametrize("option", ["--html", "--markdown"])
def test_a_trace_is_not_overwritten_by_its_explanation(tmp_path, option):
    trace = tmp_path / "a.ndjson"
    trace.write_text(Path(SHUTDOWN).read_text())
    result = explain(trace, option, tmp_path / "x" / ".." / "a.ndjson", "--no-ask")
    assert result.exit_code == 2
    assert "would be overwritten: give another file" in result.output
    assert trace.read_text() == Path(SHUTDOWN).read_text()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([SHUTDOWN, "--steps", "x"], "--steps takes"),
        ([SHUTDOWN, "--steps", "90-"], "the trace has steps 0 to 29"),
        ([SHUTDOWN, "--node", "p9"], "the columns are controller, p1, p2, network"),
        (["nowhere.ndjson"], "nowhere.ndjson"),
        ([SHUTDOWN, "--html", "/nowhere/a.html"], "/nowhere: there is no such folder"),
    ],
)
def test_a_file_that_cannot_be_shown_is_one_line_and_status_2(arguments, complaint):
    result = explain(*arguments)
    assert result.exit_code == 2
    assert complaint in re.sub(r"\s+", " ", result.output)
    assert "Traceback" not in result.output
