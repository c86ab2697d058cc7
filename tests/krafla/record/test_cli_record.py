"""The command: lists, plans, and refuses before it starts anything."""

from __future__ import annotations

import os

import pytest
import typer

from krafla.cli.record import command
from krafla.record.draw import draw
from krafla.verdict import ExitCode, KraflaError


def test_scenarios_are_listed_with_their_sentences(capsys):
    assert command("kafka", list_scenarios=True) is ExitCode.HELD

    printed = capsys.readouterr().out
    assert "calm            Nothing fails:" in printed
    assert "random " in printed


def test_steps_are_explained_with_their_form(capsys):
    assert command("kafka", steps=True) is ExitCode.HELD

    assert (
        "wait fenced|unfenced|leader|reassigned [TEXT]\n    Wait until" in capsys.readouterr().out
    )


def test_a_plan_is_the_file_that_the_seed_draws(capsys):
    assert command("kafka", scenario="random", seed=7, plan=True) is ExitCode.HELD

    assert capsys.readouterr().out == draw(7).text


def test_the_kind_of_controllers_that_is_asked_for_replaces_that_of_the_scenario(capsys):
    assert command("kafka", scenario="calm", controllers="mixed", plan=True) is ExitCode.HELD

    assert "\ncontrollers: 3 mixed\n" in capsys.readouterr().out


def test_a_file_is_a_scenario_and_its_faults_have_its_place(tmp_path):
    file = tmp_path / "mine.scenario"
    file.write_text("sentence: Mine.\ncombined: 1\nkill 2\n")

    with pytest.raises(KraflaError, match=r"mine\.scenario:3: no node '2'"):
        command("kafka", tmp_path / "out", scenario=str(file))


def test_an_unknown_scenario_is_answered_with_those_there_are(tmp_path):
    with pytest.raises(KraflaError, match=r"no scenario 'clam'.*calm, combined, .*random"):
        command("kafka", tmp_path / "out", scenario="clam")


def test_only_random_takes_a_seed():
    with pytest.raises(KraflaError, match="only --scenario random"):
        command("kafka", scenario="calm", seed=3, plan=True)


def test_a_recording_needs_a_folder():
    with pytest.raises(typer.BadParameter, match="name a new folder"):
        command("kafka")


def test_a_folder_that_cannot_be_written_is_refused_before_anything_is_booted(
    tmp_path, monkeypatch
):
    # Not by chmod: root may write to every folder.
    monkeypatch.setattr(os, "access", lambda path, _: path != tmp_path)
    with pytest.raises(KraflaError, match="this folder cannot be written to"):
        command("kafka", tmp_path / "out")
