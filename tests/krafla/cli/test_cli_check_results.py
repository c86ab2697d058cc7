"""``krafla check --results``: what held is kept, and counts as long as nothing has changed."""

from __future__ import annotations

import json
import resource
import signal
import subprocess
import sys
from dataclasses import replace
from fcntl import LOCK_EX, flock

import pytest
from tests.krafla.cli.lamp_room import edit, environment, krafla, lay_out

from krafla.json_lines import append_line
from krafla.manifest import load
from krafla.tlc.inputs import inputs_of
from krafla.tlc.jar import find_jar
from krafla.tlc.kept import KeptChecks
from krafla.tlc.model_check import check_model
from krafla.verdict import KraflaError


@pytest.fixture
def specs(tmp_path):
    return lay_out(tmp_path)


@pytest.fixture
def results(tmp_path):
    return tmp_path / "results.jsonl"


def model_of(specs, name="LampShort"):
    return load(specs).select((name,))[0]


@pytest.fixture(scope="module")
def line(tmp_path_factory):
    """What is kept of LampShort, which held somewhere else: only what is in the files counts."""
    folder = tmp_path_factory.mktemp("elsewhere")
    model = model_of(lay_out(folder))
    KeptChecks(folder / "results").add(check_model(model, workers=1), inputs_of(model))
    return (folder / "results").read_text()


@pytest.fixture
def kept(results, line):
    results.write_text(line)
    return json.loads(line)


@pytest.mark.nightly
def test_counts_that_were_not_measured_are_kept_as_such_and_measured_where_asked(specs, results):
    assert krafla(specs, "check", "LampShort", "--pin").returncode == 0
    command = ("check", "LampShort", "--results", str(results), "--json")
    assert krafla(specs, *command).returncode == 0
    assert json.loads(results.read_text())["actions"] is None
    kept = KeptChecks(results)
    check = kept.find(model_of(specs))
    assert check.coverage_is_kept
    assert {one.name for one in check.result.coverage} == {"Press", "Burn"}
    assert kept.find(model_of(specs), measured=True) is None
    document = json.loads(krafla(specs, *command, "--measure").stdout)
    assert document["models"][0]["earlier_run"] is False
    assert KeptChecks(results).find(model_of(specs), measured=True) is not None
    # Without counts beside the models nothing says which actions a search took.
    (specs / "lamp" / "coverage.json").unlink()
    results.write_text(results.read_text().splitlines(keepends=True)[0])
    assert KeptChecks(results).find(model_of(specs)) is None


def test_a_second_run_says_the_same_and_runs_only_what_must_fail(specs, results):
    command = ("check", "--results", str(results), "--json", "--coverage", "--jobs", "1")
    first = krafla(specs, *command)
    second = krafla(specs, *command)

    assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
    documents = [json.loads(one.stdout) for one in (first, second)]
    earlier = {one["model"]: one.pop("earlier_run") for one in documents[1]["models"]}
    assert earlier == {"LampShort": True, "LampLong": True, "LampOn": False}
    assert not any(one.pop("earlier_run") for one in documents[0]["models"])
    for document in documents:
        for one in document["models"]:
            del one["seconds"]
    assert documents[0] == documents[1]
    assert len(results.read_text().splitlines()) == 2


@pytest.mark.usefixtures("kept")
def test_the_report_says_what_was_run_earlier(specs, results):
    said = krafla(specs, "check", "--results", str(results), "--jobs", "1").stdout
    assert said.count("in an earlier run\n") == 1
    assert said.endswith("3 models: 3 held (1 of them in earlier runs)\n")


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("lamp/LampShort.cfg", "Limit = 2", "Limit = 2 "),
        ("lamp/LampProperties.tla", "OnReach ==", "OnReach  =="),
        ("lamp/Lamp.tla", "---- MODULE", "----- MODULE"),
        ("lamp/models.toml", 'witnesses = ["OnReach"]', "witnesses = []"),
        ("lamp/models.toml", "distinct = 3", "distinct = 4"),
        ("lamp/models.toml", "properties = 3", "properties = 4"),
        ("lamp/models.toml", 'Burn = "two', 'Press = "two'),
    ],
)
def test_a_model_of_which_something_has_changed_is_run_again(specs, results, path, old, new):
    assert KeptChecks(results).find(model_of(specs)) is not None
    edit(specs / path, old, new)
    assert KeptChecks(results).find(model_of(specs)) is None


def test_what_no_module_names_changes_nothing(specs):
    before = inputs_of(model_of(specs))
    (specs / "lamp" / "Other.tla").write_text("---- MODULE Other ----\n====\n")
    edit(specs / "lamp" / "LampLong.cfg", "Limit = 4", "Limit = 5")
    assert inputs_of(model_of(specs)) == before
    edit(specs / "lamp" / "Lamp.tla", "EXTENDS ", "EXTENDS Other, ")
    assert inputs_of(model_of(specs)) != before


def test_a_comment_that_a_text_seems_to_begin_hides_no_module(specs):
    (specs / "lamp" / "Other.tla").write_text("---- MODULE Other ----\n====\n")
    edit(specs / "lamp" / "Lamp.tla", "====", 'Sign == "(*"\nO == INSTANCE Other\n(* . *)\n====')
    before = inputs_of(model_of(specs))
    (specs / "lamp" / "Other.tla").write_text("---- MODULE Other ----\nA == 1\n====\n")
    assert inputs_of(model_of(specs)) != before


def test_only_what_held_is_kept(specs, results):
    keeping = KeptChecks(results)
    must_fail = model_of(specs, "LampOn")
    keeping.add(check_model(must_fail, workers=1), inputs_of(must_fail))
    edit(specs / "lamp" / "models.toml", "distinct = 7", "distinct = 8")
    miscounted = model_of(specs, "LampLong")
    keeping.add(check_model(miscounted, workers=1), inputs_of(miscounted))
    assert results.read_text() == ""


def test_a_line_of_another_version_counts_for_nothing(specs, results, kept):
    results.write_text(json.dumps({**kept, "version": kept["version"] - 1}) + "\n")
    assert KeptChecks(results).find(model_of(specs)) is None


@pytest.mark.usefixtures("kept")
def test_what_another_tlc_found_counts_for_nothing(specs, results, monkeypatch):
    jar = find_jar()
    monkeypatch.setattr("krafla.tlc.inputs.find_jar", lambda: replace(jar, sha256="0" * 64))
    assert KeptChecks(results).find(model_of(specs)) is None


def test_a_module_that_is_used_by_one_that_is_used_counts(specs):
    edit(specs / "lamp" / "Lamp.tla", "EXTENDS ", "EXTENDS Other, ")
    (specs / "lamp" / "Other.tla").write_text("---- MODULE Other ----\nEXTENDS Deep\n====\n")
    deep = specs / "lamp" / "Deep.tla"
    digests = set()
    for text in ("", "A == 1\n"):
        deep.write_text(f"---- MODULE Deep ----\n{text}====\n")
        digests.add(inputs_of(model_of(specs)))
    assert len(digests) == 2


def test_what_was_only_simulated_is_not_kept(specs, results):
    model = model_of(specs)
    check = check_model(model, workers=1)
    simulated = replace(check.result, outcome=replace(check.result.outcome, simulated=True))
    KeptChecks(results).add(replace(check, result=simulated), inputs_of(model))
    assert results.read_text() == ""


def test_what_was_edited_during_the_search_is_not_kept(specs, results):
    model = model_of(specs)
    before = inputs_of(model)
    check = check_model(model, workers=1)
    edit(model.config, "Limit = 2", "Limit = 2 ")
    KeptChecks(results).add(check, before)
    assert results.read_text() == ""
    KeptChecks(results).add(check, inputs_of(model))
    assert results.read_text().count("\n") == 1


def test_a_line_for_which_there_is_no_room_leaves_the_file_whole(results, line):
    results.write_text(line)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(line) + 20, limits[1]))
    try:
        with pytest.raises(KraflaError, match="cannot be written: File too large"):
            append_line(results, {"model": "Next", "more": "x" * 100})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert results.read_text() == line


def test_what_cannot_be_kept_is_answered_all_the_same(specs, results):
    full_disk = (
        "from krafla.tlc.kept import KeptChecks\n"
        "from krafla.verdict import KraflaError\n"
        "def add(*_): raise KraflaError('cannot be written: No space left', 'results.jsonl')\n"
        "KeptChecks.add = add\n"
        "from krafla.cli import main; main()"
    )
    run = subprocess.run(
        [sys.executable, "-c", full_disk, "check", "LampShort", "--results", str(results)],
        capture_output=True, text=True, env=environment(specs), check=False, timeout=300,
    )  # fmt: skip
    assert run.returncode == 0
    assert "LampShort is not kept: results.jsonl: cannot be written: No space left" in run.stderr


def test_what_is_no_file_is_refused_before_it_is_read(specs):
    run = krafla(specs, "check", "LampShort", "--results", "/dev/null")
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr == "krafla: /dev/null: is no file that results could be kept in\n"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("distinct", "3"),
        ("seconds", None),
        ("reached", 3),
        ("actions", [["Press"]]),
        ("java", 17),
        ("inputs", None),
    ],
)
def test_a_line_with_a_wrong_value_is_refused_with_its_place(results, kept, name, value):
    results.write_text("\n".join(json.dumps(one) for one in (kept, {**kept, name: value})) + "\n")
    with pytest.raises(KraflaError, match="this is no line of models that held") as refused:
        KeptChecks(results)
    assert refused.value.place == f"{results}:2"


@pytest.mark.parametrize("text", ["verdict: held\n", "verdict: held"])
def test_a_file_of_something_else_is_refused_in_one_line(specs, results, text):
    results.write_text(text)
    run = krafla(specs, "check", "LampShort", "--results", str(results))
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr == f"krafla: {results}:1: this is no line of models that held\n"
    assert results.read_text() == text


@pytest.mark.nightly
def test_a_line_that_another_run_writes_now_is_waited_for(results, line):
    results.write_text(line[:40])
    code = (
        "import sys; from pathlib import Path; from krafla.tlc.kept import KeptChecks\n"
        "KeptChecks(Path(sys.argv[1]))"
    )
    with results.open("ab") as file:
        flock(file, LOCK_EX)
        with subprocess.Popen([sys.executable, "-c", code, str(results)]) as reader:
            with pytest.raises(subprocess.TimeoutExpired):
                reader.wait(3)
            file.write(line[40:].encode())
            file.close()
    assert reader.returncode == 0
    assert results.read_text() == line


@pytest.mark.usefixtures("kept")
def test_a_line_that_was_cut_short_is_taken_off(specs, results):
    whole = results.read_text()
    results.write_text(whole + whole[:40])
    assert KeptChecks(results).find(model_of(specs)) is not None
    assert results.read_text() == whole


def test_a_file_that_cannot_be_written_is_refused_before_anything_runs(specs, tmp_path):
    run = krafla(specs, "check", "LampShort", "--results", str(tmp_path / "none" / "results"))
    assert run.returncode == 2
    assert run.stdout == ""
    assert run.stderr.count("\n") == 1
    assert "cannot be written: No such file or directory" in run.stderr


def test_simulations_are_not_kept(specs, results):
    run = krafla(specs, "check", "LampShort", "--simulate", "5", "--results", str(results))
    assert run.returncode == 2
    assert "leave out --simulate" in run.stderr
    assert not results.exists()


@pytest.mark.nightly
def test_a_run_that_is_ended_has_kept_what_came_before(specs, results):
    edit(specs / "lamp" / "LampLong.cfg", "Limit = 4", "Limit = 900000")
    watched = (
        "import krafla.cli.screen as screen\n"
        "screen.LiveLine.show = lambda self, text: "
        "'LampLong' in text and 'depth' in text and print('at work', flush=True)\n"
        "from krafla.cli import main; main()"
    )
    command = [
        sys.executable, "-c", watched, "check", "LampShort", "LampLong", "--jobs", "1",
        "--results", str(results), "--json",
    ]  # fmt: skip
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(specs),
    ) as run:  # fmt: skip
        assert run.stdout.readline() == "at work\n"
        run.send_signal(signal.SIGINT)
        run.communicate(timeout=60)
    assert run.returncode == 130
    assert KeptChecks(results).find(model_of(specs)) is not None
