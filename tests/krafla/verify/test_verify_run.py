"""How questions are asked: side by side, kept between runs, ended by Ctrl-C, never hidden."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from tests.krafla.report.ci_reports import suite_in

from krafla.cli import verify as verify_command
from krafla.verdict import ExitCode, KraflaError, Verdict
from krafla.verify import KeptRows, Kind, Pace, Question, Row, foundations, run, verify
from krafla.verify.foundations import foundation
from krafla.verify.rows import InterruptedWithRow


def row(name, verdict=Verdict.HELD, *reasons):
    return Row(Kind.MODEL, name, verdict, "3 brokers", ("12 states",), reasons, f"ask {name}", 1.5)


def question(name, answer=None, **options):
    """A question that gives its row, or does what ``answer`` does."""
    ask = (lambda _: row(name)) if answer is None else answer
    return Question(Kind.MODEL, name, f"ask {name}", ask, **options)


def asked(questions, kept=None):
    seen = []
    report = verify(questions, Pace(questions, {}), kept, seen.append)
    return report, [one.name for one in seen]


@pytest.mark.parametrize(
    ("raised", "said"),
    [
        (KraflaError("no Java anywhere", "here"), "here: no Java anywhere"),
        (OSError(28, "No space left on device"), "No space left on device"),
        (ValueError("odd"), "krafla crashed at "),
    ],
    ids=["an error", "a full disk", "a fault of krafla"],
)
def test_a_question_that_cannot_be_asked_is_in_doubt_and_the_next_is_asked(raised, said):
    def refuse(_):
        raise raised

    report, order = asked((question("first", refuse), question("second")))
    first, second = report.rows
    assert first.verdict is Verdict.INCONCLUSIVE
    assert first.reasons[0].startswith(said)
    assert first.reproduce == "ask first"
    assert second.verdict is Verdict.HELD
    assert order == ["first", "second"]
    assert report.exit_code is ExitCode.COULD_NOT_RUN


def test_rows_appear_as_they_are_decided_and_stand_in_the_order_of_the_questions():
    others = threading.Event()

    def slow(_):
        assert others.wait(60)
        return row("slow")

    def last(_):
        others.set()
        return row("quick")

    questions = (question("slow", slow), question("quick", last, beside=True))
    report, order = asked(questions)
    assert [one.name for one in report.rows] == ["slow", "quick"]
    assert order == ["quick", "slow"]


def test_what_needs_the_others_is_asked_when_all_are_answered():
    order = []

    def noted(name):
        return lambda _: order.append(name) or row(name)

    questions = (
        question("end", noted("end"), at_end=True),
        question("one", noted("one"), beside=True),
        question("two", noted("two")),
    )
    report, _ = asked(questions)
    assert order[-1] == "end"
    assert [one.name for one in report.rows] == ["end", "one", "two"]


@pytest.mark.parametrize("beside", [True, False])
def test_ctrl_c_leaves_what_was_answered_and_the_next_run_goes_on(tmp_path, beside):
    def interrupted(_):
        raise KeyboardInterrupt

    def questions(answer):
        return (
            question("before", rests_on=lambda: "same"),
            question("now", answer, beside=beside, rests_on=lambda: "same"),
            *(question(f"after {n}", beside=beside, at_end=not beside) for n in range(5)),
        )

    path = tmp_path / "kept.jsonl"
    report, order = asked(questions(interrupted), KeptRows(path))
    assert "before" in order
    assert "now" not in order
    assert report.unanswered >= 1
    assert report.exit_code is ExitCode.INTERRUPTED
    assert report.verdict is Verdict.INCONCLUSIVE
    report, _ = asked(questions(None), KeptRows(path))
    assert report.rows[0].kept_on is not None
    assert report.rows[1].kept_on is None
    assert report.exit_code is ExitCode.HELD


def test_an_answer_is_kept_while_it_rests_on_the_same(tmp_path):
    path = tmp_path / "kept.jsonl"
    count = {"asked": 0, "recalled": 0}

    def told(what, answer):
        count[what] += 1
        return answer

    def ask(digest, **how):
        one = question(
            "one",
            lambda _: told("asked", row("one")),
            rests_on=lambda: digest,
            recall=lambda: told("recalled", None),
        )
        return asked((one,), KeptRows(path, **how))[0].rows[0]

    assert ask("a").remark == "1.5 s"
    again = ask("a")
    assert again.remark == f"held on {again.kept_on}, same digest"
    assert count == {"asked": 1, "recalled": 1}
    assert ask("b").kept_on is None
    assert ask("a").kept_on is not None
    assert ask("a", is_fresh=True).kept_on is None
    assert count == {"asked": 3, "recalled": 2}


def test_an_answer_is_kept_for_what_was_asked_with_its_options(tmp_path):
    path = tmp_path / "kept.jsonl"
    brief = question("lease", rests_on=lambda: "same")
    whole = replace(brief, reproduce="ask lease of more")
    assert brief.title == whole.title
    asked((brief,), KeptRows(path))
    assert asked((whole,), KeptRows(path))[0].rows[0].kept_on is None
    assert asked((brief,), KeptRows(path))[0].rows[0].kept_on is not None


@pytest.mark.parametrize("error", [KraflaError("gone"), OSError(2, "gone")], ids=["ours", "system"])
def test_files_that_cannot_be_read_now_do_not_end_the_others(tmp_path, error):
    def refuse():
        raise error

    path = tmp_path / "kept.jsonl"
    asked((question("recalled", rests_on=lambda: "same"),), KeptRows(path))
    questions = (
        question("unfounded", rests_on=refuse, beside=True),
        question("recalled", rests_on=lambda: "same", recall=refuse),
        question("last"),
    )
    report, _ = asked(questions, KeptRows(path))
    assert report.exit_code is ExitCode.HELD
    assert [one.kept_on for one in report.rows] == [None, None, None]


def test_a_machine_with_one_processor_asks_everything(monkeypatch):
    monkeypatch.setattr(run, "jobs_at_once", lambda: 1)
    report, _ = asked((question("one", beside=True), question("two")))
    assert [one.name for one in report.rows] == ["one", "two"]


def test_what_was_found_before_ctrl_c_is_in_the_table():
    def found(_):
        raise InterruptedWithRow(row("lease", Verdict.VIOLATED, "it broke"))

    report, order = asked((question("lease", found), question("next")))
    assert order == ["lease"]
    assert report.unanswered == 1
    assert report.exit_code is ExitCode.VIOLATED


def test_what_answers_rest_on_is_looked_at_each_time(tmp_path):
    file = tmp_path / "log"
    file.write_text("one")
    before = foundation(tmp_path)
    assert foundation(tmp_path) == before
    (tmp_path / ".#lock").symlink_to("nowhere")
    assert foundation(tmp_path) == before
    file.write_text("other")
    assert foundation(tmp_path) != before
    file.write_text("one")
    assert foundation(tmp_path) == before


@pytest.mark.parametrize("part", ["specs", "krafla", "kraft"])
def test_the_program_and_the_specs_are_among_it(tmp_path, monkeypatch, part):
    for name in ("specs", "krafla", "kraft"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "one.py").write_text("1")
    packages = foundations._packages()
    assert [Path(one).name for one in packages] == ["krafla", "kraft"]
    copies = tuple(str(tmp_path / Path(one).name) for one in packages)
    monkeypatch.setattr(foundations, "_packages", lambda: copies)
    monkeypatch.setattr(foundations, "find_specs", lambda: tmp_path / "specs")
    before = foundations.foundation()
    (tmp_path / part / "one.py").write_text("2")
    assert foundations.foundation() != before


def test_only_libraries_that_are_always_needed_are_among_it(monkeypatch):
    versions = {"z3-solver": "4.13"}
    needed = ["z3-solver>=4", "pyspark[sql]>=4.0; extra == 'spark'", 'cvc5; extra=="second"']
    monkeypatch.setattr(foundations.metadata, "requires", lambda _: needed)
    monkeypatch.setattr(foundations.metadata, "version", versions.get)
    digest = foundations._versions.__wrapped__
    before = digest()
    versions |= {"pyspark": "4.0", "cvc5": "1.3"}
    assert digest() == before
    versions["z3-solver"] = "4.14"
    assert digest() != before


def test_after_an_edit_nothing_is_kept_that_this_process_may_have_read_before(
    tmp_path, monkeypatch
):
    (tmp_path / "specs").mkdir()
    monkeypatch.setattr(foundations, "find_specs", lambda: tmp_path / "specs")

    def edits(_):
        (tmp_path / "specs" / "Lease.tla").write_text("edited")
        return row("first")

    path = tmp_path / "kept.jsonl"
    asked((question("first", edits), question("proof", rests_on=foundation)), KeptRows(path))
    assert path.read_text() == ""


def test_only_what_held_is_kept_and_only_if_nothing_changed_meanwhile(tmp_path):
    path = tmp_path / "kept.jsonl"
    digests = iter(["before", "after", "before"])
    questions = (
        question(
            "doubt", lambda _: row("doubt", Verdict.INCONCLUSIVE, "cut"), rests_on=lambda: "x"
        ),
        question("broken", lambda _: row("broken", Verdict.VIOLATED, "no"), rests_on=lambda: "x"),
        question("edited", rests_on=lambda: next(digests)),
        question("unfounded"),
    )
    asked(questions, KeptRows(path))
    assert path.read_text() == ""


def test_a_file_that_cannot_be_used_keeps_nothing_and_says_so(tmp_path):
    path = tmp_path / "kept.jsonl"
    path.write_text('{"version": 2}\n')
    kept = KeptRows(path)
    said = "this is no line of kept answers; remove the file to keep them again"
    assert kept.fault == f"answers are not kept: {path}:1: {said}"
    report, _ = asked((question("one", rests_on=lambda: "x"),), kept)
    assert report.verdict is Verdict.HELD
    assert path.read_text() == '{"version": 2}\n'
    (tmp_path / "file").write_text("")
    elsewhere = KeptRows(tmp_path / "file" / "kept.jsonl").fault
    assert elsewhere.endswith("; XDG_CACHE_HOME=FOLDER names another place for it")


def test_the_pace_says_what_is_done_what_is_left_and_what_is_asked_now():
    now = [0.0]
    long, short = question("long", weight=90.0), question("short", weight=1.0)
    lines = []
    pace = Pace((long, short), {short.key: 10.0}, lines.append, clock=lambda: now[0])
    pace.tell(short, "TLC starts")
    assert lines[-1] == "[0/2] model short: TLC starts"
    now[0] = 20.0
    pace.end(short)
    pace.tell(long, "5 % of 36,644 states, depth 7")
    assert lines[-1] == "[1/2] about 3 min left; model long: 5 % of 36,644 states"
    pace.end(long)
    assert pace.seconds_left == 0


def test_kept_answers_do_not_make_the_pace_look_quick():
    now = [0.0]
    one, two, three = (question(name, weight=10.0) for name in ("one", "two", "three"))
    pace = Pace((one, two, three), {}, clock=lambda: now[0])
    pace.end(one, is_kept=True)
    assert pace.seconds_left is None
    now[0] = 20.0
    pace.end(two)
    assert pace.seconds_left == 20.0


@pytest.fixture
def command(monkeypatch, tmp_path):
    """Run the command on some questions; return its status."""

    def run(questions, **options):
        monkeypatch.setattr(verify_command, "first_questions", lambda: tuple(questions))
        monkeypatch.setattr(verify_command, "rows_file", lambda: tmp_path / "kept.jsonl")
        return verify_command.command(**{"as_json": False, **options})

    return run


@pytest.mark.parametrize(
    ("verdicts", "status"),
    [
        ([Verdict.HELD, Verdict.HELD], ExitCode.HELD),
        ([Verdict.HELD, Verdict.VIOLATED], ExitCode.VIOLATED),
        ([Verdict.HELD, Verdict.INCONCLUSIVE], ExitCode.INCONCLUSIVE),
        ([Verdict.HELD, None], ExitCode.COULD_NOT_RUN),
    ],
)
def test_the_command_exits_as_the_worst_answer_says(command, capsys, tmp_path, verdicts, status):
    def answer(verdict):
        def give(_):
            if verdict is None:
                raise KraflaError("no Java")
            return row("a", verdict, "why")

        return give

    questions = [question(f"a{n}", answer(one)) for n, one in enumerate(verdicts)]
    junit = tmp_path / "report.xml"
    assert command(questions, as_json=True, junit=junit) is status
    document = json.loads(capsys.readouterr().out)
    assert document["exit_code"] == status
    assert len(document["rows"]) == len(verdicts)
    suite = suite_in(junit.read_text(encoding="utf-8"))
    assert len(suite) == len(verdicts)
    doubts = sum(one not in {Verdict.HELD, Verdict.VIOLATED} for one in verdicts)
    assert int(suite.get("failures")) == verdicts.count(Verdict.VIOLATED)
    assert int(suite.get("errors")) == doubts


def test_failures_come_first_in_the_table_and_kept_answers_say_so(command, capsys, monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    good = question("good", rests_on=lambda: "x")
    bad = question("bad", lambda _: row("bad", Verdict.VIOLATED, "it broke"))
    assert command([good, bad]) is ExitCode.VIOLATED
    out = capsys.readouterr().out
    assert out.index("violated      bad") < out.index("it broke") < out.index("held          good")
    assert "VIOLATED  2 questions: 1 held, 1 violated;" in out
    assert command([good]) is ExitCode.HELD
    out = capsys.readouterr().out
    assert "same digest" in out
    kept = "1 of them from an earlier run, same digest; --fresh asks again"
    assert f"HELD  1 question: 1 held ({kept})" in out
    for how in ({"fresh": True}, {}):
        if not how:
            monkeypatch.setenv("CI", "1")
        assert command([good], **how) is ExitCode.HELD
        assert "same digest" not in capsys.readouterr().out


def test_what_could_not_be_asked_is_called_the_same_in_its_row_and_at_the_end(command, capsys):
    def refuse(_):
        raise KraflaError("no Java anywhere")

    assert command([question("one"), question("two", refuse)]) is ExitCode.COULD_NOT_RUN
    out = capsys.readouterr().out
    assert out.index("could not run two") < out.index("no Java anywhere")
    assert "COULD NOT RUN  2 questions: 1 held, 1 could not run;" in out


def test_how_many_questions_there_are_is_said_before_the_first_is_asked(command, capsys):
    told = []
    first = question("one", lambda _: told.append(capsys.readouterr()) or row("one"))
    assert command([first], as_json=True) is ExitCode.HELD
    assert [(one.out, one.err) for one in told] == [("", "asking 1 question\n")]


def test_without_tlc_the_command_says_so_once(command, monkeypatch):
    def refuse():
        raise KraflaError("the TLC jar cannot be stored")

    monkeypatch.setattr(verify_command, "find_jar", refuse)
    with pytest.raises(KraflaError, match="the TLC jar cannot be stored"):
        command([question("one")])


def test_an_interrupted_command_prints_what_was_answered(command, capsys):
    def interrupted(_):
        raise KeyboardInterrupt

    questions = [question("one"), question("two", interrupted), question("three")]
    assert command(questions) is ExitCode.INTERRUPTED
    out = capsys.readouterr().out
    assert "held          one" in out
    assert "INTERRUPTED  1 of 3 questions answered: 1 held; the next run goes on from there" in out
    assert command(questions, fresh=True) is ExitCode.INTERRUPTED
    told = "without --fresh, the next run goes on from there and takes the other answers that"
    assert f"1 held; {told} earlier runs kept" in capsys.readouterr().out
