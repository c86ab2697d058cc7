"""`make nightly` with planted stages: failures, limits, comparison; and its real table."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest
from night import __main__ as program
from night import answers, outcomes, process, report, stages
from night.answers import Answer, Finding
from night.outcomes import Outcome, Record
from night.stages import Command, Night, Stage
from typer.main import get_command

from krafla.cli import application
from krafla.fuzz.engine.system import NAMES

TELLS = "import os; print(os.environ['X'])"
MACHINE = {"processor": "one", "date": "2026-01-02", "commit": "abc"}


def python(text, answer=answers.done, **environment):
    return Command((sys.executable, "-c", text), answer, environment)


def counted(path):
    """Return a command that adds a line to a file, to be counted."""
    return python(f"print('ran', file=open({str(path)!r}, 'a'))")


def read_status(status, output):
    """Read an answer that is the exit status, with what was printed as a finding."""
    return Answer(status, [f"said {output.strip()}"], [Finding("it", output.strip(), "again")])


@pytest.fixture
def night(tmp_path, monkeypatch):
    """Run a night with planted stages; return its exit status, its page and its record."""

    def run(*planted, options=()):
        monkeypatch.setattr(program, "stages", lambda _: list(planted))
        monkeypatch.setattr(program, "machine", lambda: MACHINE)
        folder = tmp_path / "nightly-2"
        status = program.main(["--folder", str(folder), "--seed", "7", *options])
        page = (folder / "report.md").read_text()
        return status, page, outcomes.read(folder / "report.json")

    return run


def test_after_a_stage_that_fails_the_others_are_asked_and_the_worst_is_the_status(night, tmp_path):
    status, page, record = night(
        Stage("violates", "a question", 1, (python("print('no'); exit(1)", read_status),)),
        Stage("crashes", "", 1, (python("exit(70)", read_status),)),
        Stage("cannot", "", 1, (python("exit('why not')"), counted(tmp_path / "never"))),
        Stage("lies", "", 1, (python("print('{')", answers.fuzz),)),
        Stage("is missing", "", 1, (Command(("/no/such/program",), answers.done),)),
        Stage("goes on", "", 1, (python("exit(3)", read_status), counted(tmp_path / "ran"))),
        Stage(
            "holds",
            "another",
            1,
            (python(TELLS, read_status, X="y"),),
        ),
    )

    assert status == 1
    found = {one.stage: one.exit_status for one in record.outcomes}
    assert found == {
        "violates": 1, "crashes": 70, "cannot": 4, "lies": 4, "is missing": 4, "goes on": 3,
        "holds": 0,
    }  # fmt: skip
    assert "| violated | violates | a question | said no | 1 | 0 s |" in page
    assert "| crashed (70) | crashes |" in page
    assert "exit status 1: why not" in page
    assert "its output is no JSON" in page
    assert "/no/such/program: No such file or directory" in page
    assert "| held | holds | another | said y | 1 |" in page
    assert "* no\n  again: `again`" in page
    assert "* processor: one" in page
    assert not (tmp_path / "never").exists()
    assert (tmp_path / "ran").read_text() == "ran\n"


@pytest.mark.parametrize(
    ("statuses", "status"), [([0, 3, 2], 2), ([3, 0], 3), ([4, 2, 3], 4), ([70, 1], 1), ([], 0)]
)
def test_a_violation_outweighs_a_crash_and_that_outweighs_a_doubt(statuses, status):
    assert answers.worst(statuses) == status


@pytest.mark.nightly
def test_a_stage_that_takes_too_long_is_ended_and_in_doubt(night, tmp_path, monkeypatch):
    monkeypatch.setattr(program, "limit_seconds", lambda *_: 5.0)
    child = f"import os, time; open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))"
    child = f"{child}; time.sleep(600)"
    waits = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    status, page, record = night(Stage("waits", "", 1, (python(waits),)))

    assert status == 3
    assert record.outcomes[0].problem == "stopped after 5 s"
    assert "| inconclusive | waits |" in page
    if (tmp_path / "pid").exists():
        assert is_gone(int((tmp_path / "pid").read_text()))


def is_gone(number):
    """Return whether a process is gone, once its new parent has taken note of its end."""
    for _ in range(1000):
        try:
            os.kill(number, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


def test_a_long_command_tells_how_far_it_is(tmp_path, monkeypatch):
    monkeypatch.setattr(process, "TELLING_SECONDS", 0.01)
    goes_on, told = tmp_path / "goes-on", []

    def tell(line):
        told.append(line)
        goes_on.touch()

    waits = (
        f"import pathlib, time\nwhile not pathlib.Path({str(goes_on)!r}).exists(): time.sleep(0.01)"
    )
    words = (sys.executable, "-c", f"print('1 of 2', flush=True)\n{waits}")
    ended = process.run(words, {}, tmp_path / "log", tmp_path, 60, tell)
    assert (ended.status, ended.is_late, told) == (0, False, ["1 of 2"])


def test_a_night_that_was_cut_off_goes_on_with_what_has_no_answer(
    night, tmp_path, request, monkeypatch
):
    first = Stage("first", "", 1, (counted(tmp_path / "first"),))
    fails = Stage("fails", "", 1, (counted(tmp_path / "fails"), python("exit('no')")))
    stop = f"import os, signal; os.kill({os.getpid()}, signal.SIGINT); import time; time.sleep(60)"
    # A shell may have had this process ignore it.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    request.addfinalizer(lambda: signal.signal(signal.SIGINT, before))
    cut = Stage("cut", "", 1, (counted(tmp_path / "cut"), python(stop)))
    last = Stage("last", "", 1, (counted(tmp_path / "last"),))

    status, page, _ = night(first, fails, cut, last)
    assert status == 130
    assert page.splitlines()[2].startswith("**interrupted**: 2 of 4 stages")

    mended = replace(cut, commands=cut.commands[:1])
    status, page, record = night(first, fails, mended, last)
    assert status == 4
    assert page.splitlines()[2].startswith("**crashed**: 4 of 4 stages")
    assert [one.stage for one in record.outcomes] == ["first", "fails", "cut", "last"]
    times = {
        name: (tmp_path / name).read_text().count("ran")
        for name in ("first", "fails", "cut", "last")
    }
    assert times == {"first": 1, "fails": 2, "cut": 2, "last": 1}

    night(first, last, options=("--fuzz-seconds", "1"))
    assert (tmp_path / "first").read_text().count("ran") == 2
    monkeypatch.setattr(program, "code_digest", lambda _: "other")
    night(first, last, options=("--fuzz-seconds", "1"))
    assert (tmp_path / "first").read_text().count("ran") == 3
    # What an earlier question left is out of the way of the commands, and not lost.
    assert all((aside / "report.json").exists() for aside in tmp_path.glob("nightly-2-until-*"))
    assert len(list(tmp_path.glob("nightly-2-until-*"))) == 2


def test_a_night_goes_on_over_commits_where_that_is_asked_for(night, tmp_path, monkeypatch):
    first = Stage("first", "", 1, (counted(tmp_path / "first"),))
    last = Stage("last", "", 1, (counted(tmp_path / "last"),))
    night(first)
    monkeypatch.setattr(program, "code_digest", lambda _: "other")
    monkeypatch.setitem(MACHINE, "commit", "def")
    _, page, record = night(first, last, options=("--over-commits",))
    assert (tmp_path / "first").read_text().count("ran") == 1
    assert [(one.stage, one.commit) for one in record.outcomes] == [
        ("first", "abc"), ("last", "def"),
    ]  # fmt: skip
    assert "Its stages were asked at 2 commits, from " in page
    assert [line.split("|")[-2] for line in page.splitlines() if line.startswith("| ")] == [
        " commit ", " abc ", " def ",
    ]  # fmt: skip


def test_what_did_not_hold_is_asked_again_at_the_next_commit(night, tmp_path, monkeypatch):
    broken = tmp_path / "broken"
    broken.touch()
    words = f"import os, sys; sys.exit(int(os.path.exists({str(broken)!r})))"

    def answer(status, _output):
        return Answer(status, findings=[Finding("P7", "P7: no ELR")] if status else [])

    stage = Stage("fuzz", "", 1, (python(words, answer),))
    status, page, _ = night(stage)
    assert status == 1
    # The same commit gives the same answer.
    broken.unlink()
    assert night(stage, options=("--over-commits",))[0] == 1
    monkeypatch.setitem(MACHINE, "commit", "def")
    status, page, record = night(stage, options=("--over-commits",))
    assert status == 0
    assert [(one.stage, one.commit, one.gone) for one in record.outcomes] == [
        ("fuzz", "def", {"P7": "abc: P7: no ELR"})
    ]
    assert "## fuzz: held\n\n* gone since it was found at abc: P7: no ELR\n" in page
    # Found again, it is not gone.
    broken.touch()
    record.outcomes[0].answer.exit_status = 1
    record.write(tmp_path / "nightly-2" / "report.json")
    monkeypatch.setitem(MACHINE, "commit", "ghi")
    _, page, record = night(stage, options=("--over-commits",))
    assert record.outcomes[0].gone == {}
    assert "gone since" not in page


def test_a_result_of_an_earlier_run_is_no_answer_of_a_command_that_crashed(night, tmp_path):
    made = tmp_path / "graphs.json"
    made.write_text('{"rows": [], "unasked": []}')
    crash = Command(
        (sys.executable, "-c", "exit('a crash')"),
        lambda status, output: answers.graphs(status, output, made), made=(made,),
    )  # fmt: skip
    _, _, record = night(Stage("graphs", "", 1, (crash,)))
    assert record.outcomes[0].problem == "exit status 1: a crash"
    exits = python("import sys; print('no Java', file=sys.stderr); exit(4)", read_status)
    _, _, record = night(Stage("exits", "", 1, (exits,)))
    (outcome,) = [one for one in record.outcomes if one.stage == "exits"]
    assert outcome.problem == "exit status 4: no Java"
    assert record.answered("exits") is None


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), ""),
        (("--scale", "0.01"), "NIGHTLY_ARGS='--scale 0.01' "),
        (("--fuzz-seconds", "60", "--graph-states", "9"),
         "FUZZ_SECONDS=60 NIGHTLY_ARGS='--graph-states 9' "),
        (("--pytest", "-k 'a b'"), """PYTEST_ARGS='-k '"'"'a b'"'"'' """),
    ],
)  # fmt: skip
def test_the_page_names_the_command_that_asks_the_same_again(night, options, words, monkeypatch):
    monkeypatch.delenv("PYTEST_ARGS", raising=False)
    _, page, _ = night(Stage("one", "", 1, (python(""),)), options=options)
    assert f"`make nightly FUZZ_SEED=7 {words}NIGHT=FOLDER`" in page


@pytest.mark.parametrize("scale", ["0", "1.5", "-1"])
def test_a_night_is_scaled_down_only(tmp_path, scale, capsys):
    assert program.main(["--folder", str(tmp_path / "n"), "--scale", scale]) == 2
    assert "--scale is a part of a night" in capsys.readouterr().err


def test_the_code_of_a_night_is_what_is_in_the_files(tmp_path, monkeypatch):
    monkeypatch.setattr(program, "ROOT", tmp_path)
    git = ["git", "-C", str(tmp_path), "-c", "user.name=n", "-c", "user.email=e"]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "begin"], check=True)
    folder = tmp_path / "nightly-1"
    before = program.code_digest(folder)
    folder.mkdir()
    (folder / "report.json").write_text("{}")
    assert program.code_digest(folder) == before
    (tmp_path / "new.py").write_text("1")
    one = program.code_digest(folder)
    (tmp_path / "new.py").write_text("2")
    assert len({before, one, program.code_digest(folder)}) == 3


def test_stages_are_chosen_by_name_and_a_wrong_name_is_refused(night, tmp_path, capsys):
    one, other = (Stage(name, "", 1, (counted(tmp_path / name),)) for name in ("one", "other"))
    night(one, other, options=("--stages", "other"))
    assert not (tmp_path / "one").exists()
    assert program.main(["--folder", str(tmp_path), "--stages", "third"]) == 2
    assert "no stage third; there are: one, other" in capsys.readouterr().err


def test_a_night_is_compared_with_the_last_one_of_its_scale(night, tmp_path):
    for number, scale in (("0", 1.0), ("1", 0.5), ("1-until-093000", 1.0), ("3", 1.0)):
        folder = tmp_path / f"nightly-{number}"
        folder.mkdir()
        record = Record({"scale": scale}, MACHINE | {"date": f"day {number}"}, "code")
        record.write(folder / "report.json")

    (tmp_path / "nightly-1.5").mkdir()
    (tmp_path / "nightly-1.5" / "report.json").write_text("torn")
    _, page, _ = night(Stage("one", "", 1, (python(""),)))
    assert "## Since the night of day 0, commit abc" in page
    against = ("--against", str(tmp_path / "nightly-1" / "report.json"))
    _, page, _ = night(Stage("one", "", 1, (python(""),)), options=against)
    assert "## Since the night of day 1" in page
    assert "The scales differ" in page


def outcome(stage, took=1.0, **answer):
    return Outcome(stage, "asked", "again", took, Answer(**{"exit_status": 0, **answer}))


def test_what_is_new_what_changed_and_what_doubled_is_told():
    old, new, gone = (Finding(name, f"{name}.") for name in ("old", "new", "gone"))
    before = Record({"scale": 1}, MACHINE, "a", [
        outcome("models", 100, findings=[old, gone], verdicts={"A": "held", "B": "held"},
                seconds={"A": 4.0, "B": 4.0, "C": 1.0}),
        outcome("fuzz", 600, seconds={"a run": 0.1}),
        outcome("not asked now"),
    ])  # fmt: skip
    now = Record({"scale": 1}, MACHINE, "b", [
        outcome("models", 199, exit_status=1, findings=[old, new],
                verdicts={"A": "violated", "B": "held"}, seconds={"A": 8.5, "B": 9.5, "C": 3.0}),
        outcome("fuzz", 1300, seconds={"a run": 0.3}),
        outcome("new stage", findings=[new]),
    ])  # fmt: skip
    found = outcomes.compare(now, before)

    assert found.findings == ["models: new."]
    assert found.gone == ["models: gone."]
    assert found.verdicts == [
        "models: A was held, is violated", "models: the stage was held, is violated",
    ]  # fmt: skip
    assert found.times == [
        "models: B took 4.0 s, takes 9.5 s",
        "fuzz: a run took 0.1 s, takes 0.3 s",
        "fuzz: the stage took 600.0 s, takes 1,300.0 s",
    ]
    assert not outcomes.compare(now, replace(before, settings={"scale": 0.5})).times
    # What was cut off says neither that something is gone nor that it is new.
    for one, other in ((now, before), (before, now)):
        cut = replace(other, outcomes=[replace(each, problem="cut") for each in other.outcomes])
        assert not outcomes.compare(one, cut).findings
        assert not outcomes.compare(cut, one).gone
    page = "\n".join(report.since(now, before))
    assert "* New findings: 1\n  * models: new." in page


@pytest.mark.parametrize("text", ["", "[]", '{"schema": 2}', '{"schema": 1, "outcomes": [1]}'])
def test_a_file_that_is_no_record_is_refused_with_its_path(tmp_path, text, capsys):
    path = tmp_path / "report.json"
    path.write_text(text)
    assert program.main(["--folder", str(tmp_path / "n"), "--against", str(path)]) == 2
    assert f"nightly: {path}: " in capsys.readouterr().err


def table(scale):
    return stages.stages(Night(stages.ROOT / "build", 20260102, scale))


@pytest.mark.parametrize("scale", [1, 0.01])
def test_every_command_of_the_table_is_one_that_krafla_takes(scale):
    commands = [one for stage in table(scale) for one in stage.commands]
    words = [one.words[1:] for one in commands if one.words[0].endswith("krafla")]
    assert len(words) > 20
    for verb, *arguments in words:
        command = get_command(application(verb))
        # Parses and checks the options; what it does not know, it refuses.
        context = command.make_context("krafla", [verb, *arguments])
        assert context.params


def test_the_table_leaves_out_no_system_and_no_tier():
    whole = {stage.name: stage for stage in table(1)}
    (check,), (explore,) = (whole[name].commands for name in ("models", "graphs"))
    assert "--measure" in check.words
    for command in (check, explore):
        assert command.words[2:4] == ("--tier", "all")
    assert {words[0] for words in stages.FUZZED} == {*NAMES}
    assert {words[0] for words in stages.FUZZED if "--lockstep" in words} == {"raft", "stack"}
    for name, stage in whole.items():
        is_whole = name.startswith("fuzz-") and name != "fuzz-lease-cut-off"
        assert ("--require-coverage" in stage.commands[0].words) == is_whole
    assert len(whole["campaign-lease"].commands) == len(whole["tables"].commands) == 2
    asked = [stage.commands[0] for name, stage in whole.items() if name.startswith("t")]
    tests = [one for one in asked if "pytest" in one.words]
    assert all(one.environment["KRAFLA_NIGHTLY"] == "1" for one in tests)
    files = [word for one in tests for word in one.words if word.endswith(".py")]
    assert sorted(files) == sorted(
        path.relative_to(stages.ROOT).as_posix()
        for path in (stages.ROOT / "tests").rglob("test_*.py")
    )
    assert "traces" in whole["traces"].commands[0].words
    for one in tests:
        # pytest finds that profile only where it reads tests/conftest.py.
        has_profile = "--hypothesis-profile=nightly" in one.words
        assert has_profile == any(word.startswith("tests/") for word in one.words)
    assert {f"{name}.py" for name in whole} >= {path.replace("/", "-") for path in stages.LONG}
    assert "--sample" not in whole["mutants"].commands[0].words
