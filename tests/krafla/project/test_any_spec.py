"""Every command about models on a spec that no file lists: a path is enough."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys

import pytest
from tests.krafla.project.folders import CONFIG, LOCK, MODEL, MODEL_CONFIG

from krafla.project import at_hand as room


def test_a_module_is_checked_pinned_and_from_then_on_held_to_its_numbers(folder, krafla, printed):
    checked = krafla("check Lock.tla --workers 1")

    assert checked.exit_code == 0, checked.output
    assert checked.stdout.startswith("HELD  Lock: no error in any reachable state\n")
    assert "8 distinct states (not pinned)" in checked.stdout
    again, pins = printed(checked.stdout)
    assert again == "krafla check Lock.tla --workers 1"
    assert pins == "krafla check Lock.tla --pin"
    assert krafla(pins.removeprefix("krafla ")).exit_code == 0
    # The nearest krafla.toml is the project now, by name too.
    (folder / "krafla.toml").write_text(
        (folder / "krafla.toml").read_text().replace("distinct = 8", "distinct = 9")
    )
    wrong = krafla("check Lock")
    assert wrong.exit_code == 3
    assert "8 distinct states, but 9 are pinned" in wrong.stdout


@pytest.mark.parametrize(
    ("line", "files"),
    [
        ("check Lock.tla --invariant 'holder = {}' --trace f.ndjson", ["f.ndjson"]),
        ("explore Lock.tla --to 'holder # {}' --save w.ndjson --graphml g", ["w.ndjson", "g"]),
    ],
)
def test_files_are_written_though_nothing_reads_what_is_printed(line, files, folder):
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as closed:
        words = [sys.executable, "-m", "krafla", *shlex.split(line)]
        ended = subprocess.run(words, stdout=closed, stderr=subprocess.PIPE, text=True, check=False)
    assert ended.returncode == 128 + signal.SIGPIPE, ended.stderr
    assert all((folder / name).stat().st_size for name in files)


@pytest.mark.usefixtures("folder")
def test_candidates_for_a_livelock_are_told_where_progress_is_said(krafla):
    assert "livelock" not in krafla("explore Lock.tla").stdout
    told = krafla("explore Lock.tla --progress 'holder # {}'").stdout
    assert "0 candidates for a livelock: terminal, a step can be taken, and holder # {}" in told


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("verb", ["check", "explore", "prove", "mutate"])
def test_a_path_that_is_not_there_is_no_name_of_a_model(verb, krafla):
    refused = krafla(f"{verb} ../lock/nowhere")
    assert refused.exit_code == 2
    assert refused.stderr.startswith("krafla: ../lock/nowhere: there is no such file"), (
        refused.stderr
    )


def test_a_module_may_begin_with_a_byte_order_mark(folder, krafla):
    (folder / "Lock.tla").write_text(LOCK.lstrip(), encoding="utf-8-sig")
    checked = krafla("check Lock.tla")
    assert checked.exit_code == 0, checked.output
    assert krafla("explore Lock.tla --quiet").exit_code == 0


def test_the_deadlock_and_the_action_never_taken_are_as_tlc_and_the_list_have_it(folder, krafla):
    never = LOCK.replace("Release(c)\n\nSpec", "Release(c) \\/ (FALSE /\\ Ask(c))\n\nSpec")
    ends = never.replace("c \\in holder /\\ holder'", "FALSE /\\ holder'")
    (folder / "Lock.tla").write_text(ends)
    checked = krafla("check Lock.tla")
    assert checked.exit_code == 1
    assert "deadlock: a state without successor" in checked.stdout
    assert "if behaviours may end there, say CHECK_DEADLOCK FALSE in Lock.cfg" in checked.stdout

    (folder / "Lock.cfg").write_text(f"{CONFIG}CHECK_DEADLOCK FALSE\n")
    bare = krafla("check Lock.tla")
    assert bare.exit_code == 0
    assert "note: action Release was never taken (Lock:" in bare.stdout
    (folder / "krafla.toml").write_text('[[model]]\ncfg = "Lock.cfg"\n')
    listed = krafla("check")
    assert listed.exit_code == 3
    assert "action Release was never taken" in listed.stdout
    assert "note:" not in listed.stdout


@pytest.mark.nightly
def test_models_of_the_toolbox_and_of_vs_code_are_checked_with_their_modules(folder, krafla):
    inside = folder / "Lock.toolbox" / "Model_1"
    inside.mkdir(parents=True)
    for place, name in ((inside, "MC"), (folder, "MCLock")):
        (place / f"{name}.tla").write_text(MODEL.format(name=name))
        (place / f"{name}.cfg").write_text(MODEL_CONFIG)

    checked = krafla("check .")

    assert checked.exit_code == 0, checked.output
    for name in ("Lock", "MCLock", "Model_1"):
        assert f"HELD  {name}: no error" in checked.stdout
    assert "3 models: 3 held" in checked.stdout
    assert "krafla check Lock.toolbox/Model_1/MC.tla --pin" in checked.stdout


def test_a_counterexample_goes_with_its_spec_wherever_it_is_taken(
    folder, krafla, tmp_path, monkeypatch
):
    found = krafla("check Lock.tla --invariant StaysFree --trace found.ndjson --workers 1")
    assert found.exit_code == 1
    (tmp_path / "far").mkdir()
    monkeypatch.chdir(tmp_path / "far")
    trace = folder / "found.ndjson"
    (folder / "Lock.tla").unlink()

    replayed = krafla("replay", trace)
    assert replayed.exit_code == 1, replayed.output
    assert "judged by the version of Lock that the trace carries\n" in replayed.stdout
    assert "--at-hand" not in replayed.stdout, "there is nothing at hand that could judge it"
    assert krafla("validate", trace).exit_code == 0
    explained = krafla("explain", trace)
    assert "holder + c1" in explained.stdout
    shrunk = krafla("shrink", trace, "--output", "small.ndjson")
    assert (shrunk.exit_code, "MINIMAL" in shrunk.stdout) == (0, True)
    assert krafla("convert", trace, "found.itf.json").exit_code == 0
    assert krafla("convert", trace, "tlc.out").exit_code == 0
    (tmp_path / "far" / "traces").mkdir()
    kept = krafla("keep", trace, "--as", "counterexample", "--reason", "It is taken.")
    assert kept.exit_code == 0, kept.output
    assert "implementation" not in kept.stdout, "krafla has none of this spec"
    assert krafla("replay traces").exit_code == 0


OBSERVED = """\
{"krafla_trace":3,"spec":"Lock","partial":{"hidden":[]},"observations":3}
{"observation":0,"action":"Init"}
{"observation":1,"action":"Ask","parameters":[{"#model":"c1"}]}
{"observation":2,"seen":[[["holder"],{"#set":[{"#model":"CLIENT"}]}]]}
"""


@pytest.mark.parametrize("where", ["beside", "in the project", "by --spec"])
def test_the_spec_of_a_foreign_trace_is_found(where, folder, krafla, tmp_path, monkeypatch):
    logs = folder if where == "beside" else folder / "logs"
    logs.mkdir(exist_ok=True)
    for name, client in (("right", "c1"), ("wrong", "c2")):
        (logs / f"{name}.ndjson").write_text(OBSERVED.replace("CLIENT", client))
    if where == "in the project":
        (folder / "krafla.toml").write_text('[[model]]\ncfg = "Lock.cfg"\n')
    monkeypatch.chdir(tmp_path)
    option = ("--spec", folder / "Lock.cfg") if where == "by --spec" else ()

    right = krafla("validate", logs / "right.ndjson", *option)
    wrong = krafla("validate", logs / "wrong.ndjson", *option)

    assert (right.exit_code, wrong.exit_code) == (0, 1), right.output
    assert (f"--any-hidden --spec {folder}/Lock.cfg" in wrong.stdout) == bool(option)


@pytest.mark.usefixtures("folder")
def test_a_spec_that_is_nowhere_is_asked_for(krafla, tmp_path, monkeypatch):
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "run.ndjson").write_text(OBSERVED)
    monkeypatch.chdir(logs)

    asked = krafla("validate run.ndjson")

    assert asked.exit_code == 2
    assert "module Lock does not exist; name its file: --spec Lock.tla" in asked.stderr


def test_the_specs_of_the_installation_are_not_named_for_a_spec_that_is_nowhere(
    folder, krafla, tmp_path, monkeypatch
):
    krafla("check Lock.tla --invariant StaysFree --trace found.ndjson --workers 1")
    (tmp_path / "far").mkdir()
    monkeypatch.chdir(tmp_path / "far")
    monkeypatch.delenv("KRAFLA_SPECS")

    asked = krafla("replay --at-hand", folder / "found.ndjson")
    assert asked.exit_code == 2
    assert "module Lock does not exist; name its file: --spec Lock.tla" in asked.stderr
    assert str(room.installed_specs()) not in asked.stderr
    named = krafla("replay --at-hand", folder / "found.ndjson", "--spec", folder / "Lock.tla")
    assert "all 2 steps are steps of Lock" in named.stdout


def test_a_trace_that_is_kept_as_what_it_is_not_is_told_what_it_is(folder, krafla):
    krafla("check Lock.tla --invariant StaysFree --trace found.ndjson --workers 1")
    (folder / "traces").mkdir()
    module = folder / "Lock.tla"
    module.write_text(module.read_text().replace("holder = {}\n    /\\", "holder # {}\n    /\\"))

    kept = krafla("keep found.ndjson --spec Lock.tla --as counterexample --reason Taken.")
    assert kept.exit_code == 2
    assert "not counterexample: rejected at step 2" in kept.stderr
    assert kept.stderr.rstrip().endswith("; keep it --as rejected")
    kept = krafla("keep found.ndjson --spec Lock.tla --as rejected --reason Taken.")
    assert kept.exit_code == 0, kept.output


@pytest.mark.usefixtures("folder")
def test_a_path_in_the_graph_of_a_module_is_explored_again_as_printed(krafla, printed):
    explored = krafla("explore Lock.tla --to '~StaysFree' --save way.ndjson")

    assert explored.exit_code == 0, explored.output
    assert "8 distinct states (not pinned)" in explored.stdout
    (again,) = printed(explored.stdout)
    assert krafla(again.removeprefix("krafla ")).exit_code == 0
    assert krafla("replay way.ndjson").exit_code == 0


def test_all_that_has_no_translation_is_told_before_anything_is_proved(folder, krafla):
    refused = krafla("prove Lock.tla")

    assert refused.exit_code == 3
    assert "these 2 constructs have no translation" in refused.stdout
    first, second = refused.stdout.splitlines()[1:]
    assert f"{folder}/Lock.tla:4: Client: may be an empty set" in first
    assert "Cardinality: this operator has no translation" in second


def test_what_has_a_translation_is_proved_by_the_invariants_of_its_cfg(folder, krafla, printed):
    types = "TypeOK == holder \\in SUBSET Client /\\ waits \\in [Client -> BOOLEAN]\n"
    text = LOCK.replace("Cardinality(holder) <= 1", "\\A a, b \\in holder : a = b")
    text = text.replace("CONSTANT Client", "CONSTANT Client\nASSUME Client # {}")
    (folder / "Lock.tla").write_text(text.removesuffix("====\n") + f"{types}====\n")

    proved = krafla("prove Lock.cfg")

    assert proved.exit_code == 0, proved.output
    (again,) = printed(proved.stdout)
    assert again == "krafla prove Lock.cfg --invariant OneHolder"


@pytest.mark.nightly
def test_processes_that_try_mutants_see_the_project_of_the_path(folder, krafla, printed):
    (folder / "krafla.toml").write_text('[[model]]\ncfg = "Lock.cfg"\n')
    (folder / "mutation.toml").write_text("")

    mutated = krafla("mutate Lock.tla --module Lock --operator drop-guard --all --workers 2")

    assert mutated.exit_code == 1
    assert "Lock.Acquire.drop-guard" in mutated.stdout
    assert "could not" not in mutated.output
    (again,) = printed(mutated.stdout)
    assert again.startswith("krafla mutate Lock.tla --only Lock.")
    assert krafla(again.removeprefix("krafla ")).exit_code == 1


def test_mutants_are_told_first_and_asked_for_reasons_once_there_is_a_file(folder, krafla, printed):
    (folder / "krafla.toml").write_text('[[model]]\ncfg = "Lock.cfg"\n')
    question = "mutate Lock.tla --module Lock --operator drop-guard --all"
    bare = krafla(question)
    assert bare.exit_code == 0, bare.output
    assert "HELD  no threshold is set: " in bare.stdout
    assert "to set one: with a file mutation.toml, even an empty one" in bare.stdout
    assert "0 trials" not in bare.stderr

    file = folder / "mutation.toml"
    file.write_text("[least]\nnoticed = 0\nkilled = 0\n")
    asked = krafla(f"{question} --junit mutants.xml --github")
    assert re.search(r"^::error file=Lock\.tla,line=", asked.stderr, re.MULTILINE)
    assert re.search(r"^survived  Lock\.\S+  Lock\.tla:\d+$", asked.stdout, re.MULTILINE)
    assert asked.exit_code == 1
    assert "krafla mutate Lock.tla --only Lock." in (folder / "mutants.xml").read_text()
    head, _, rest = asked.stdout.partition("a reason in mutation.toml:\n")
    entry, ended, _ = rest.partition("    a [[survivor]] with a reason still counts")
    assert (bool(head), bool(ended)) == (True, True)
    file.write_text(file.read_text() + entry)
    told = krafla(question.replace("Lock.tla", "specs"))
    (again,) = printed(told.stdout)
    assert again.startswith("krafla mutate specs --only Lock.")
    assert krafla(again.removeprefix("krafla ")).exit_code == 1
    assert " 0 stale reasons" in told.stdout
    assert told.stdout.partition("id = ")[2].partition("\n")[0] not in entry

    file.write_text('[[survivor]]\nid = "x"\n')
    wrong = krafla(question)
    assert wrong.exit_code == 2
    assert wrong.stderr.startswith(f"krafla: {file}:1: an explanation has the id of a mutant")


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("cfg", "SPECIFICATION Spec\n", "", "add a line SPECIFICATION Spec"),
        ("cfg", "CONSTANT Client = {c1, c2}\n", "", "gives the constant Client no value: write"),
        ("cfg", "INVARIANT OneHolder", "INVARIANT OneHolders", "cfg:3: no module defines "
         "OneHolders; did you mean OneHolder"),
        ("cfg", "Client =", "Clients =", "cfg:2: no module declares the constant Clients; did "
         "you mean Client?"),
        ("cfg", "Client = {c1, c2}", "Clients <- Other", "cfg:2: no module declares the constant "
         "Clients"),
        ("cfg", "Client =", "Nothing =", "gives the constant Client no value: write"),
        ("cfg", "SPECIFICATION", "\ufeffSPECIFICATION", "cfg: begins with a byte order mark"),
        ("cfg", "SPECIFICATION", "SPECIFICATIO", "cfg:1: a keyword is needed, not SPECIFICATIO; "
         "did you mean SPECIFICATION"),
        ("cfg", "INVARIANT OneHolder", "INVARIANT OneHolder PROPERTYS Live", "cfg:3: no module "
         "defines PROPERTYS; did you mean PROPERTY"),
        ("tla", "Init == holder = {}", "Init == holder = {", "Lock.tla:"),
    ],
)  # fmt: skip
def test_a_mistake_is_told_with_its_place_and_what_to_write(file, old, new, said, folder, krafla):
    path = folder / f"Lock.{file}"
    path.write_text(path.read_text().replace(old, new))

    explored = krafla("explore Lock.tla")

    assert explored.exit_code == 2
    assert said in explored.stderr
    assert len(explored.stderr.splitlines()) == 1


@pytest.mark.nightly
def test_the_output_of_tlc_becomes_a_trace_by_the_cfg_that_it_ran(folder, krafla):
    assert krafla("explore Lock.tla --to '~StaysFree' --save way.ndjson").exit_code == 0
    assert krafla("convert way.ndjson tlc.out").exit_code == 0
    (folder / "way.ndjson").unlink()

    assert krafla("convert tlc.out again.ndjson --model Lock.cfg").exit_code == 0
    assert krafla("replay again.ndjson").exit_code == 0


@pytest.mark.nightly
def test_commands_about_a_trace_say_again_which_spec_was_meant(
    folder, krafla, tmp_path, monkeypatch
):
    (folder / "run.ndjson").write_text(OBSERVED.replace("CLIENT", "c1"))
    assert krafla("explore Lock.tla --to '~StaysFree' --save way.ndjson").exit_code == 0
    lines = (folder / "way.ndjson").read_text().splitlines()
    head = json.loads(lines[0])
    del head["text"], head["model"]
    head["claim"] = {"kind": "invariant", "property": "StaysFree"}
    bare = tmp_path / "far" / "bare.ndjson"
    bare.parent.mkdir()
    bare.write_text("\n".join([json.dumps(head), *lines[1:], ""]))
    monkeypatch.chdir(bare.parent)

    shrunk = krafla("shrink bare.ndjson --spec ../lock/Lock.tla")

    assert shrunk.exit_code == 0, shrunk.output
    look = next(line for line in shrunk.stdout.splitlines() if line.startswith("  look"))
    assert look.endswith("krafla explain bare.shrunk.ndjson --spec ../lock/Lock.tla")
    explained = krafla(look.partition("krafla ")[2])
    assert explained.exit_code == 0
    assert "StaysFree is false in the state after step 2" in explained.stdout


@pytest.mark.usefixtures("folder")
def test_a_report_on_a_model_without_a_pinned_number_says_how_it_gets_one(krafla):
    refused = krafla("explore Lock.tla --report graphs.html")
    assert refused.exit_code == 2
    assert (
        "no model is left to explore: Lock: no number of states is pinned; krafla check --pin "
        "writes the numbers"
    ) in refused.stderr
    assert krafla("check Lock.tla --pin").exit_code == 0
    large = krafla("explore --report graphs.html --max-states 7")
    assert "Lock: 8 states, more than 7; see --tier and --max-states" in large.stderr


def test_a_constant_of_another_type_is_an_error_of_the_spec(folder, krafla):
    config, module = folder / "Lock.cfg", folder / "Lock.tla"
    text = module.read_text().replace("CONSTANT Client", "CONSTANTS Client, Most")
    module.write_text(text.replace("Cardinality(holder) <= 1", "Cardinality(holder) \\in 0..Most"))
    config.write_text(f"{config.read_text()}CONSTANT Most = two\n")

    checked = krafla("check Lock.tla")
    assert checked.exit_code == 2, checked.output
    told = "at Lock:27: a model value stands where a number is needed; the CONSTANTS of the cfg"
    assert told in checked.output
    assert "Java" not in checked.output
    assert "tlc2" not in checked.output


def test_a_line_that_does_not_parse_is_told_with_what_is_wrong_in_it(folder, krafla):
    module = folder / "Lock.tla"
    module.write_text(
        module.read_text().replace("holder = {} /\\ waits", "holder = {} 1 /\\ waits")
    )

    checked = krafla("check Lock.tla")
    assert checked.exit_code == 2
    assert 'Encountered "1" at line 7, column' in checked.output
