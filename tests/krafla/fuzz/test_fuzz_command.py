"""``krafla fuzz`` on the command line: what it prints, and its exit status."""

from __future__ import annotations

import json

import pytest
from tests.mutants.lease import MUTANTS
from typer.testing import CliRunner

from krafla.cli import application
from krafla.fuzz.engine import campaign


def fuzz(*arguments):
    return CliRunner().invoke(application("fuzz"), ["fuzz", *arguments, "--quiet"])


SHORT = ("lease", "--profile", "restless", "--examples", "2", "--steps", "60")


def test_a_campaign_that_missed_something_exits_with_3_and_says_how_to_run_it_again():
    result = fuzz(*SHORT)
    assert result.exit_code == 3
    assert "INCONCLUSIVE  2 runs, " in result.output
    assert "actions never taken: " in result.output
    assert "krafla fuzz lease --seed 0 --examples 2 --steps 60 --profile restless" in result.output


def test_json_says_the_same():
    document = json.loads(fuzz(*SHORT, "--json").stdout)
    assert document["verdict"] == "inconclusive"
    assert document["exit_code"] == 3
    assert document["runs"] == 2
    assert document["steps"] == sum(document["actions"].values()) + document["refused"]
    assert document["failure"] is None


def test_a_finding_exits_with_1_and_is_kept(tmp_path, monkeypatch):
    mutant = next(one for one in MUTANTS if one.id == "a heartbeat does not renew the session")
    for place, wrong in mutant.patches.items():
        monkeypatch.setattr(place, wrong)
    result = fuzz("lease", "--profile", "restless", "--examples", "50", "--save", str(tmp_path))
    assert result.exit_code == 1
    assert "VIOLATED" in result.output
    assert "contact_age" in result.output
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".json", ".ndjson"]


@pytest.mark.parametrize("arguments", [("rafting",), ("lease", "--profile", "no-such-profile")])
def test_a_name_that_nothing_has_exits_with_2(arguments):
    result = fuzz(*arguments)
    assert result.exit_code == 2
    assert "there is" in result.stderr or "there are" in result.stderr


def interrupted_in(monkeypatch, number):
    """Have Ctrl-C come in a run of a campaign, by its number."""
    right, begun = campaign.play_seed, []

    def play(*arguments):
        begun.append(arguments)
        if len(begun) > number:
            raise KeyboardInterrupt
        return right(*arguments)

    monkeypatch.setattr(campaign, "play_seed", play)


@pytest.mark.parametrize("game", ["lease", "together"])
def test_ctrl_c_leaves_what_was_done_until_then(game, monkeypatch):
    interrupted_in(monkeypatch, 2)
    result = fuzz(game, "--steps", "30", "--examples", "9")
    assert result.exit_code == 130
    assert result.stderr == "krafla: interrupted\n"
    assert "INCONCLUSIVE  2 runs, 60 judged steps, " in result.stdout
    assert "  it was interrupted\n" in result.stdout
    assert f"reproduce  krafla fuzz {game} --seed 0 --examples 2 --steps 30" in result.stdout


def test_json_says_that_it_was_interrupted(monkeypatch):
    interrupted_in(monkeypatch, 0)
    result = fuzz("metadata", "--json")
    document = json.loads(result.stdout)
    assert result.exit_code == document["exit_code"] == 130
    assert (document["runs"], document["steps"]) == (0, 0)
    assert document["doubts"][0] == "it was interrupted"


def test_what_was_found_before_ctrl_c_is_kept_as_it_is(tmp_path, monkeypatch):
    mutant = next(one for one in MUTANTS if one.id == "a heartbeat does not renew the session")
    for place, wrong in mutant.patches.items():
        monkeypatch.setattr(place, wrong)

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(campaign, "shrink", interrupted)
    result = fuzz("lease", "--profile", "restless", "--examples", "50", "--save", str(tmp_path))
    assert result.exit_code == 1
    assert "VIOLATED" in result.stdout
    assert len(list(tmp_path.iterdir())) == 2
