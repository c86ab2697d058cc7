"""`python -m kraft.sim.lease`."""

from __future__ import annotations

import pytest

from kraft.sim.common.recording import from_json
from kraft.sim.lease.__main__ import main
from kraft.sim.lease.choices import Choice
from kraft.sim.lease.cluster import digest
from kraft.sim.lease.configuration import Configuration, self_fencing
from kraft.sim.lease.runs import run
from kraft.sim.lease.step import replay_choices


def test_it_shows_what_happened(capsys):
    assert main(["--seed", "7", "--steps", "1000"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("seed 7: 1000 steps, ")
    assert any("HandleHeartbeatResponse" in line for line in lines)
    assert lines[-1].startswith("digest: ")
    assert max(map(len, lines)) <= 120


def test_it_shows_a_run_of_no_steps(capsys):
    assert main(["--steps", "0"]) == 0
    assert "0 steps" in capsys.readouterr().out


def test_it_records_a_run_that_can_be_played_again(tmp_path, capsys):
    path = tmp_path / "run.json"
    options = ["--seed", "3", "--steps", "400", "--profile", "self-fencing"]
    assert main([*options, "--record", str(path)]) == 0
    recording = from_json(path.read_bytes(), Configuration, Choice, "the lease")
    *_, last = replay_choices(recording.configuration, recording.choices)
    assert f"digest: {digest(last.after)}" in capsys.readouterr().out
    assert digest(last.after) == digest(run(self_fencing(), 3, 400).last)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--brokers", "0"], "kraft.sim.lease: processes: there is none\n"),
        (["--record", "no/such/folder/run.json"], "No such file or directory\n"),
    ],
)
def test_an_error_is_one_line(options, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(options) == 2
    error = capsys.readouterr().err
    assert error.endswith(message)
    assert error.count("\n") == 1


def test_an_invalid_number_is_refused(capsys):
    with pytest.raises(SystemExit) as caught:
        main(["--steps", "-5"])
    assert caught.value.code == 2
    assert "'-5' is not a whole number from 0" in capsys.readouterr().err
