"""``docs/exit-statuses.md``: each command comes to each status in its row, with the word of it."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from tests.krafla.audit.editing import LOG, METADATA, copied, spoiled, with_fields
from tests.krafla.cli.lamp_room import lay_out
from typer.testing import CliRunner

from krafla.cli import VERBS, application
from krafla.traces import read_whole_trace, write_trace

ROOT = Path(__file__).parents[3]
TRACES = ROOT / "traces"
LIFE = TRACES / "accepted" / "lease" / "register-and-unfence.ndjson"
EARLY = TRACES / "rejected" / "lease" / "fenced-at-the-timeout.ndjson"
CRASH = TRACES / "kafka-4.1" / "crash" / "n3000"
WORDS = re.compile(
    r"^(HELD|VIOLATED|INCONCLUSIVE|COULD NOT RUN|KEPT|MINIMAL|NOT MINIMAL)  ", re.MULTILINE
)
WORDS_OF = {
    0: {"HELD", "KEPT", "MINIMAL"}, 1: {"VIOLATED"}, 2: {"COULD NOT RUN"},
    3: {"INCONCLUSIVE", "NOT MINIMAL"},
}  # fmt: skip
# What takes minutes, Spark or Kafka comes to each status in one of these tests.
_VERIFY = "verify/test_verify_run::test_the_command_exits_as_the_worst_answer_says"
ELSEWHERE = {
    "verify": dict.fromkeys(range(4), _VERIFY),
    "prove": {
        0: "cli/test_cli_prove::test_what_is_proved_is_told_by_case_and_how_to_repeat_it",
        1: "cli/test_cli_prove::test_what_is_false_is_shown_with_its_step_and_exit_status_1",
        2: "cli/test_cli_prove::test_bad_input_is_one_line_and_exit_status_2",
        3: "cli/test_cli_prove::test_what_z3_does_not_know_has_exit_status_3",
    },
    "mutate": {
        0: "mutate/test_mutate_run::test_it_holds_if_nine_of_ten_are_killed_and_the_survivor_is",
        1: "mutate/test_mutate_run::test_the_command_judges_and_says_how_to_see_it_again",
        2: "mutate/test_mutate_run::test_a_wrong_question_is_one_sentence_and_exit_status_2",
        3: "mutate/test_mutate_run::test_a_model_that_is_not_held_makes_the_run_inconclusive",
    },
    "init": dict.fromkeys(
        (0, 2), "project/test_machines::test_nothing_is_overwritten_but_an_old_gitignore_may_stay"
    ),
    "judge": dict.fromkeys(range(4), "cli/test_cli_judge::test_the_end_of_the_input_sums_up"),
    "campaign": {
        0: "cli/test_cli_pipeline::test_a_campaign_says_what_it_covered",
        1: "pipeline/test_pipeline_campaign::test_a_seeded_bug_is_found_shrunk_once_for_its_kind",
        2: "cli/test_cli_pipeline::test_what_cannot_be_done_is_one_line_and_status_2",
        3: "cli/test_cli_pipeline::test_a_campaign_says_what_it_covered",
    },
    "pipeline": {
        0: "cli/test_cli_pipeline::test_ingest_audit_and_report_end_with_what_comes_next",
        1: "pipeline/test_pipeline_audit::test_every_verdict_and_every_finding_is_that_of_the",
        2: "cli/test_cli_pipeline::test_what_cannot_be_done_is_one_line_and_status_2",
        3: "cli/test_cli_pipeline::test_a_file_in_quarantine_is_named_and_the_status_is_3",
    },
}


def run(*arguments):
    """Return how a command ends."""
    return CliRunner().invoke(application(arguments[0]), list(map(str, arguments)))


def table():
    """Return the statuses of each command that the document promises."""
    text = (ROOT / "docs" / "exit-statuses.md").read_text(encoding="utf-8")
    _, _, rows = text.partition("| command | 0 | 1 | 2 | 3 |\n")
    found = {}
    for line in rows.splitlines()[1:]:
        name, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        found[name.strip("`")] = {status for status, cell in enumerate(cells) if cell != "-"}
    return found


def cut(folder):
    """A trace that ends in the middle of a line."""
    path = folder / "cut.ndjson"
    path.write_bytes(LIFE.read_bytes()[:-40])
    return path


def damaged(folder):
    """The files of a node in whose log a byte differs, far from the beginning."""
    node = copied(CRASH, folder / "node")
    log = node / METADATA / LOG
    data = log.read_bytes()
    log.write_bytes(data[:-100] + bytes([data[-100] ^ 1]) + data[-99:])
    return node


def wrong(folder):
    """The files of a node whose log breaks a rule."""
    return spoiled(CRASH, folder / "node", {95: with_fields(brokerEpoch=16)})


def recorded(folder, monkeypatch, made):
    """How `krafla record` ends if Kafka leaves these files behind."""

    def record(recording, _):
        shutil.copytree(made(folder / "of"), recording.out)

    (folder / "of").mkdir()
    monkeypatch.setattr("krafla.record.run.record", record)
    return run("record", "kafka", folder / "out", "--quiet")


def shrunk(folder, monkeypatch, *options):
    """How a counterexample of two steps is shrunk, which cannot be made smaller."""
    monkeypatch.setenv("KRAFLA_SPECS", str(lay_out(folder)))
    trace = folder / "on.ndjson"
    assert run("check", "LampShort", "--invariant", "presses < 2", "--trace", trace).exit_code == 1
    return run("shrink", trace, "--quiet", *options)


def one_state(folder):
    """A trace that shows no step."""
    trace = read_whole_trace(LIFE)
    write_trace(trace.with_steps(trace.steps[:1]), folder / "one.ndjson")
    return folder / "one.ndjson"


CASES = {
    ("check", 0): lambda _, __: run("check", "LampShort"),
    ("check", 1): lambda _, __: run("check", "LampShort", "--invariant", "presses < 2"),
    ("check", 2): lambda _, __: run("check", "LampShort", "--invariant", "presses <"),
    ("check", 3): lambda _, __: run("check", "LampShort", "--simulate", "3"),
    ("explore", 0): lambda _, __: run("explore", "LampShort", "--to", "is_on"),
    ("explore", 1): lambda _, __: run(
        "explore", "LampShort", "--from", "presses = 2", "--to", "presses = 1"
    ),
    ("explore", 2): lambda _, __: run("explore", "Lamp"),
    ("explore", 3): lambda _, __: run("explore", "LampShort", "--limit", "2"),
    ("fuzz", 0): lambda _, __: run("fuzz", "lease", "--examples", "1", "--steps", "9", "--quiet"),
    ("fuzz", 1): lambda _, __: run(
        "fuzz", "lease", "--mutants", "lease-is-void-at-timeout", "--examples", "1", "--quiet"
    ),
    ("fuzz", 2): lambda _, __: run("fuzz", "leese", "--quiet"),
    ("fuzz", 3): lambda _, __: run("fuzz", "lease", "--seconds", "0", "--quiet"),
    ("replay", 0): lambda _, __: run("replay", LIFE),
    ("replay", 1): lambda _, __: run("replay", EARLY),
    ("replay", 2): lambda folder, _: run("replay", folder),
    ("replay", 3): lambda folder, _: run("replay", one_state(folder)),
    ("validate", 0): lambda _, __: run("validate", LIFE),
    ("validate", 1): lambda _, __: run("validate", EARLY),
    ("validate", 2): lambda folder, _: run("validate", folder / "nowhere.ndjson"),
    ("validate", 3): lambda folder, _: run("validate", cut(folder)),
    ("shrink", 0): lambda folder, patch: shrunk(folder, patch),
    ("shrink", 2): lambda folder, _: run("shrink", LIFE, "-o", folder / "small.ndjson"),
    ("shrink", 3): lambda folder, patch: shrunk(folder, patch, "--tries", "1"),
    ("convert", 0): lambda folder, _: run("convert", LIFE, folder / "life.itf.json"),
    ("convert", 2): lambda folder, _: run("convert", LIFE, folder / "life.unknown"),
    ("convert", 3): lambda folder, _: run("convert", cut(folder), folder / "a.txt", "--salvage"),
    ("explain", 0): lambda _, __: run("explain", LIFE, "--no-ask"),
    ("explain", 2): lambda folder, _: run("explain", folder),
    ("explain", 3): lambda folder, _: run("explain", cut(folder)),
    ("keep", 0): lambda folder, _: run("keep", LIFE, "--as", "accepted", "--reason", "So.",
                                    "--into", folder / "kept"),
    ("keep", 2): lambda folder, _: run("keep", EARLY, "--as", "accepted", "--reason", "So.",
                                    "--into", folder / "kept"),
    ("keep", 3): lambda folder, _: run("keep", cut(folder), "--as", "accepted", "--reason", "So.",
                                    "--into", folder / "kept"),
    ("audit", 0): lambda _, __: run("audit", CRASH),
    ("audit", 1): lambda folder, _: run("audit", wrong(folder)),
    ("audit", 2): lambda folder, _: run("audit", folder / "nowhere"),
    ("audit", 3): lambda folder, _: run("audit", damaged(folder)),
    ("dump", 0): lambda _, __: run("dump", CRASH / METADATA / LOG),
    ("dump", 2): lambda folder, _: run("dump", folder / "nowhere.log"),
    ("dump", 3): lambda folder, _: run("dump", damaged(folder)),
    ("record", 0): lambda folder, patch: recorded(folder, patch, lambda _: CRASH),
    ("record", 1): lambda folder, patch: recorded(folder, patch, wrong),
    ("record", 2): lambda _, __: run("record", "kafka"),
    ("record", 3): lambda folder, patch: recorded(folder, patch, damaged),
    ("doctor", 0): lambda _, __: run("doctor"),
    ("doctor", 2): lambda folder, patch: (
        patch.setenv("KRAFLA_SPECS", str(folder)), run("doctor")
    )[-1],
}  # fmt: skip


def test_the_document_has_a_row_for_each_command_and_each_cell_is_tested():
    promised = table()
    assert set(promised) == set(VERBS)
    tested = {name: {status for verb, status in CASES if verb == name} for name in VERBS}
    for name, tests in ELSEWHERE.items():
        assert not tested[name]
        for place in set(tests.values()):
            file, _, test = place.partition("::")
            text = (ROOT / "tests" / "krafla" / f"{file}.py").read_text(encoding="utf-8")
            assert f"def {test}" in text, place
        tested[name] = set(tests)
    assert tested == promised


@pytest.mark.parametrize("verb", ["replay", "validate"])
@pytest.mark.parametrize(
    ("files", "status"),
    [((EARLY, LIFE), 1), ((LIFE, EARLY), 1), ((EARLY, None), 1), ((None, LIFE), 2)],
    ids=["broken first", "broken last", "broken and missing", "missing and held"],
)
def test_of_several_files_each_is_judged_and_the_worst_is_the_status(verb, files, status, tmp_path):
    result = run(verb, *(one or tmp_path / "nowhere.ndjson" for one in files))
    assert result.exit_code == status, result.output
    assert len(WORDS.findall(result.stdout)) == sum(one is not None for one in files)
    assert ("nowhere.ndjson" in result.stderr) == (None in files)


@pytest.mark.parametrize(("verb", "status"), CASES, ids=lambda one: str(one))
def test_a_command_ends_with_the_status_and_the_word_of_its_outcome(
    verb, status, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kept").mkdir()
    if verb in {"check", "explore"}:
        monkeypatch.setenv("KRAFLA_SPECS", str(lay_out(tmp_path)))
    result = CASES[verb, status](tmp_path, monkeypatch)
    assert result.exit_code == status, result.output
    words = set(WORDS.findall(result.stdout))
    assert words <= WORDS_OF[status]
    if status == 0 and verb in {"check", "fuzz", "replay", "validate", "audit", "record"}:
        assert words == {"HELD"}
    if status == 1:
        assert words == {"VIOLATED"}
    if status == 2 and not words and verb != "doctor":
        assert result.stderr.startswith(("krafla: ", "Usage: "))
    if status == 3:
        assert words or result.stderr.startswith("krafla: ")
