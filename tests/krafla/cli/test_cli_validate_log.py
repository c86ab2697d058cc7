"""``krafla validate`` of the logs of programs: the verdicts, what is shown, what is refused."""

from __future__ import annotations

import json

import pytest
from tests.krafla.cli.lock_spec import (
    ACQUIRE,
    ENQUEUE,
    INIT,
    LOCK,
    RELEASE,
    RUN,
    krafla,
    live_lock,
    write_log,
)

TRACE = LOCK.parents[2] / "traces" / "accepted" / "lease" / "register-and-unfence.ndjson"


def run(*arguments, verb="validate"):
    return krafla(verb, *arguments)


def judged(tmp_path, *lines, end="\n"):
    return run(write_log(tmp_path / "run.log", *lines, end=end), "--spec", LOCK)


def test_a_log_whose_steps_the_spec_has_is_held(tmp_path):
    result = judged(tmp_path, *RUN)

    assert result.exit_code == 0, result.output
    assert "matched    4 observations" in result.output


STOLEN = {"action": "Release", "parameters": ["c3"], "seen": {"holder": "Free"}}


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        (STOLEN, ("Lock.tla:30", "holder = c\n", "holder = c2", "c = c3")),
        ({"action": "Enqueue", "parameters": ["c2"]}, ("Lock.tla:23", "holder = c2")),
        ({"seen": {"queue": ["c1", "c1"]}}, ("no step", "queue")),
        (
            {"action": "Acquire", "parameters": ["c9"]},
            ('"c9" is no value that Next gives to Acquire; it gives c1, c2, c3',),
        ),
    ],
)
def test_a_step_that_the_spec_has_not_is_shown_with_its_line_and_conjunct(tmp_path, line, shown):
    result = judged(tmp_path, *RUN, line)

    assert result.exit_code == 1, result.output
    assert "observation 5 of 5" in result.output
    assert "run.log:5" in " ".join(result.output.split())
    for part in shown:
        assert part in result.output or part in " ".join(result.output.split())


def test_a_parameter_that_next_never_gives_is_no_step_of_the_spec(tmp_path):
    config = tmp_path / "bare.cfg"
    config.write_text("SPECIFICATION Spec\nCONSTANTS Client = {c1} Free = Free\n")
    log = write_log(tmp_path / "run.log", {"action": "Acquire", "parameters": ["C1"]})
    result = run(log, "--spec", LOCK, "--cfg", config)

    assert result.exit_code == 1, result.output
    told = " ".join(result.output.split())
    assert 'Next has no Acquire("C1"); it has Acquire(c1)' in told, told
    held = write_log(tmp_path / "run.log", {"action": "Acquire", "parameters": ["c1"]})
    assert run(held, "--spec", LOCK, "--cfg", config).exit_code == 0


def test_an_invariant_of_the_cfg_is_judged(tmp_path):
    config = tmp_path / "strict.cfg"
    config.write_text(LOCK.with_suffix(".cfg").read_text() + "INVARIANT NeverQueuedInv\n")
    module = tmp_path / "Lock.tla"
    module.write_text(
        LOCK.read_text().replace("Spec ==", "NeverQueuedInv == queue = <<>>\nSpec ==")
    )
    log = write_log(tmp_path / "run.log", *RUN)
    result = run(log, "--spec", module, "--cfg", config)

    assert result.exit_code == 1
    assert "NeverQueuedInv is false after observation 3 of 4, Enqueue(c2)" in result.output


def test_what_the_cfg_says_of_whole_behaviours_is_told_not_to_be_judged(tmp_path):
    log = write_log(tmp_path / "run.log", *RUN)
    module = live_lock(tmp_path)
    result = run(log, "--spec", module)

    assert result.exit_code == 0, result.output
    assert "not judged the temporal part of PROPERTY Live\n" in result.output
    (document,) = json.loads(run(log, "--spec", module, "--json").output)["files"]
    assert document["not_judged"] == ["Live"]
    assert "not judged" not in run(log, "--spec", LOCK).output
    lone = tmp_path / "lone.cfg"
    lines = module.with_suffix(".cfg").read_text().splitlines(keepends=True)
    lone.write_text("".join(one for one in lines if "Inv" not in one))
    alone = run(log, "--spec", module, "--cfg", lone)
    assert "not judged the temporal part of PROPERTY Live\n" in alone.output


def test_the_only_model_of_a_project_judges_a_log_that_names_no_spec(tmp_path, monkeypatch):
    for file in (LOCK, LOCK.with_suffix(".cfg")):
        (tmp_path / file.name).write_text(file.read_text())
    (tmp_path / "krafla.toml").write_text('[[model]]\ncfg = "Lock.cfg"\n')
    monkeypatch.chdir(tmp_path)
    log = write_log(tmp_path / "run.log", *RUN, STOLEN)

    assert run(log).exit_code == 1
    result = run(log, "--spec", "krafla.toml")
    assert result.exit_code == 1
    assert "--spec krafla.toml" in " ".join(result.output.split())


def test_hidden_steps_are_those_of_the_options(tmp_path):
    log = write_log(tmp_path / "run.log", INIT, ENQUEUE, RELEASE)

    assert run(log, "--spec", LOCK).exit_code == 1
    result = run(log, "--spec", LOCK, "--hidden", "Acquire")
    assert result.exit_code == 0
    assert "1 hidden step between them" in result.output


def test_constants_are_taken_from_a_file(tmp_path):
    constants = tmp_path / "constants.json"
    log = write_log(tmp_path / "run.log", *RUN)
    values = {"Client": {"#set": [{"#model": "c1"}, {"#model": "c2"}]}, "Free": {"#model": "Free"}}
    constants.write_text(json.dumps(values))
    assert run(log, "--spec", LOCK, "--constants", constants).exit_code == 0
    constants.write_text(json.dumps({**values, "Clients": 1}))
    result = run(log, "--spec", LOCK, "--constants", constants)
    assert result.exit_code == 2
    assert "Clients: no constant of Lock" in result.output
    constants.write_text("[]")
    assert "expected an object" in run(log, "--spec", LOCK, "--constants", constants).output


def test_a_log_that_was_cut_short_is_judged_up_to_there(tmp_path):
    result = judged(tmp_path, *RUN, '{"action": "Rel', end="")
    assert result.exit_code == 3
    assert "run.log:5 was cut short" in result.output
    result = judged(tmp_path, *RUN, STOLEN, '{"action": "Rel', end="")
    assert result.exit_code == 1
    assert "cut short" not in result.output


def test_logs_of_several_processes_are_one_behaviour(tmp_path):
    server = write_log(
        tmp_path / "server.log", INIT, {**ACQUIRE, "lamport": 1}, {**RELEASE, "lamport": 5}
    )
    client = write_log(tmp_path / "client.log", {**ENQUEUE, "lamport": 3})

    assert run(server, "--spec", LOCK).exit_code == 1, "alone it lacks a step"
    result = run("--merge", server, client, "--spec", LOCK)
    assert result.exit_code == 0, result.output
    assert "matched    4 observations" in result.output
    write_log(client, {**ENQUEUE, "lamport": 7})
    result = run("--merge", client, server, "--spec", LOCK)
    assert result.exit_code == 1
    assert f"krafla validate {client} {server} --merge --any-hidden --spec {LOCK}" in " ".join(
        result.output.split()
    )


REFUSAL = {"kind": "refusal", "action": "Enqueue", "parameters": ["c2"]}


@pytest.mark.parametrize(
    ("line", "status", "shown"),
    [
        ({"kind": "stay", "seen": {"holder": "c2"}}, 0, "matched 5 observations"),
        (REFUSAL, 0, "matched 5 observations"),
        ({**REFUSAL, "seen": {"queue": []}}, 0, "matched 6 observations"),
        (
            {"kind": "stay", "seen": {"holder": "c1"}}, 1,
            "run.log:5: the code says that it took no step, but its state is another",
        ),
        (
            {**REFUSAL, "seen": {"queue": ["c2"]}}, 1,
            "at run.log:5: the code refused Enqueue(c2), but its state is another",
        ),
        (
            {**REFUSAL, "parameters": ["c1"]}, 1,
            "observation 5 of 5, at run.log:5: the code refuses Enqueue(c1), which the spec allows",
        ),
        ({**REFUSAL, "parameters": ["C1"]}, 2, 'run.log:5: "C1" is no value that Next gives'),
        ({**REFUSAL, "action": "Enqueu"}, 2, "run.log:5: Enqueu: no action of Lock"),
    ],
)  # fmt: skip
def test_a_stay_and_a_refusal_restrict_the_state(tmp_path, monkeypatch, line, status, shown):
    monkeypatch.chdir(tmp_path)
    write_log(tmp_path / "run.log", *RUN, line)
    result = run("run.log", "--spec", LOCK)

    assert result.exit_code == status, result.output
    assert shown in " ".join(result.output.split())


def test_stays_alone_show_no_step(tmp_path):
    result = judged(tmp_path, INIT, {"kind": "stay", "seen": {"holder": "Free"}})

    assert result.exit_code == 3
    assert "the trace shows no step" in result.output


@pytest.mark.parametrize(
    ("line", "lamport", "status"),
    [
        # The client waits from 3 on, until the server releases at 5.
        (REFUSAL, 4, 0),
        (REFUSAL, 2, 1),
        ({"kind": "stay", "seen": {"queue": ["c2"]}}, 4, 0),
        ({"kind": "stay", "seen": {"queue": ["c2"]}}, 6, 1),
        # Where clocks are equal, there is an order that fits.
        ({**REFUSAL, "seen": {"queue": ["c2"]}}, 3, 0),
        ({**REFUSAL, "seen": {"queue": ["c2"]}}, 5, 0),
        ({"kind": "stay", "seen": {"queue": ["c1"]}}, 5, 1),
    ],
)
def test_a_stay_or_a_refusal_of_one_process_is_judged_at_its_place_among_all(
    tmp_path, line, lamport, status
):
    server = write_log(
        tmp_path / "server.log", INIT, {**ACQUIRE, "lamport": 1}, {**RELEASE, "lamport": 5}
    )
    client = write_log(tmp_path / "client.log", {**ENQUEUE, "lamport": 3})
    other = write_log(tmp_path / "other.log", {**line, "lamport": lamport})

    for files in ((server, client, other), (other, client, server)):
        result = run("--merge", *files, "--spec", LOCK)
        assert result.exit_code == status, result.output


def test_without_clocks_a_stay_and_a_refusal_find_their_places(tmp_path):
    server = write_log(tmp_path / "server.log", INIT, ACQUIRE, RELEASE)
    lines = [
        ENQUEUE,
        {**REFUSAL, "seen": {"holder": "c1"}},
        {"kind": "stay", "seen": {"queue": []}},
    ]
    client = write_log(tmp_path / "client.log", *lines)

    result = run("--merge", server, client, "--spec", LOCK)
    assert result.exit_code == 0, result.output
    write_log(client, *lines[::-1][:2])
    assert run("--merge", server, client, "--spec", LOCK).exit_code == 1
    write_log(client, *lines)
    write_log(server, INIT, ACQUIRE)
    assert run("--merge", server, client, "--spec", LOCK).exit_code == 1
    hidden = ("--hidden", "Release")
    assert run("--merge", server, client, "--spec", LOCK, *hidden).exit_code == 0


@pytest.mark.parametrize(
    ("time_ms", "shown"), [(1764374400123, "Release(c3) at 00:00:00.123 UTC,"), (1500, "1,500 ms")]
)
def test_a_time_of_the_clock_on_the_wall_is_one_of_the_day(tmp_path, time_ms, shown):
    result = judged(tmp_path, *RUN, {**STOLEN, "time_ms": time_ms})
    assert shown in " ".join(result.output.split())


def test_an_order_that_no_clock_gives_is_told(tmp_path):
    server = write_log(tmp_path / "server.log", INIT, ACQUIRE, RELEASE)
    client = write_log(tmp_path / "client.log", ENQUEUE)
    told = "matched 4 observations, in an order that krafla chose: the files have no clocks"

    result = run("--merge", server, client, "--spec", LOCK)
    assert result.exit_code == 0, result.output
    assert told in " ".join(result.output.split())

    write_log(server, INIT, {**ACQUIRE, "time_ms": 1}, {**RELEASE, "time_ms": 5})
    write_log(client, {**ENQUEUE, "time_ms": 3})
    assert "krafla chose" not in run("--merge", server, client, "--spec", LOCK).output
    whole = write_log(tmp_path / "whole.log", *RUN)
    assert "krafla chose" not in run(whole, "--spec", LOCK).output


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (["LOG"], "run.log: a plain log, and no spec is named: say --spec FILE.tla"),
        (["LOG", "--cfg", "x.cfg"], "need --spec"),
        (["--merge", "LOG"], "run.log: a plain log, and no spec is named"),
        (["LOG", "--spec", "nowhere.tla"], "nowhere.tla: there is no such file"),
        (["LOG", "--spec", "LOG"], "run.log: is no module"),
        (["TRACE", "--spec", "LOCK", "--cfg", "x.cfg"], "a trace has its constants"),
        (["LOG", "--spec", "LOCK", "--cfg", "x.cfg"], "x.cfg: there is no such cfg"),
        (["LOG", "--spec", "LOCK", "--constants", "x.json"], "x.json: there is no such file"),
        (["LOG", "--spec", "LOCK", "--cfg", "x.cfg", "--constants", "x"], "leave out --constants"),
        (["nowhere.log", "--spec", "LOCK"], "nowhere.log: there is no such file"),
        ([".", "--spec", "LOCK"], "a folder"),
    ],
)
def test_what_is_missing_is_told(tmp_path, monkeypatch, arguments, shown):
    monkeypatch.chdir(tmp_path)
    log = write_log(tmp_path / "run.log", *RUN)
    names = {"LOG": log, "LOCK": LOCK, "TRACE": TRACE}
    result = run(*(names.get(one, one) for one in arguments))

    assert result.exit_code == 2
    assert shown in " ".join(result.output.split())


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ({"action": "Aquire"}, "run.log:2: Aquire: no action of Lock"),
        ({"action": "Acquire", "parameters": []}, "run.log:2: Acquire(c) takes 1 parameter,"),
        ({"seen": {"owner": "c1"}}, "run.log:2: owner: no variable of Lock"),
        ({"seen": {"holder": None}}, "run.log:2: 'holder': null"),
        ("hello", "run.log:2: not JSON"),
    ],
)
def test_a_wrong_line_is_told_with_its_place(tmp_path, line, shown):
    result = judged(tmp_path, INIT, line, ACQUIRE)

    assert result.exit_code == 2
    assert shown in result.output


def test_a_typing_error_in_the_first_line_is_told_as_one_of_a_log(tmp_path):
    result = judged(tmp_path, {"acton": "Acquire"})

    assert result.exit_code == 2
    assert "run.log:1: no field 'acton' of a log; did you mean action" in result.output


@pytest.mark.parametrize("verb", ["replay", "explain", "shrink"])
def test_other_verbs_say_what_judges_a_log(tmp_path, verb):
    result = run(write_log(tmp_path / "run.log", *RUN), verb=verb)

    assert result.exit_code == 2
    assert "--spec FILE.tla` judges it" in result.output
