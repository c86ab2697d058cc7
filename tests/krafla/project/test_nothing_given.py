"""Commands that are given no spec: in a project with one model, and where there is no project."""

from __future__ import annotations

import pytest
from tests.krafla.project.folders import lay_out

from krafla.project.at_hand import installed_specs

LISTED = "check --list --tier nightly"


@pytest.fixture
def empty(folder, monkeypatch):
    """An empty folder, in which the commands of the test are given."""
    empty = folder / "empty"
    empty.mkdir()
    monkeypatch.chdir(empty)
    return empty


def test_a_check_that_means_kafka_s_specs_says_how_to_mean_those_here(folder, krafla):
    meant = krafla(LISTED)
    assert "no krafla.toml is here or above" in meant.stderr
    assert "`krafla check .` is about the modules in this folder" in meant.stderr

    (folder / "krafla.toml").write_text("")
    assert krafla("check --list").stderr == ""


@pytest.mark.usefixtures("empty")
def test_where_nothing_is_a_check_says_how_to_begin(krafla):
    meant = krafla(LISTED)
    assert "models of Kafka; give a path" in meant.stderr
    assert "`krafla init lock`" in meant.stderr
    assert len(meant.stderr.splitlines()) == 1
    assert "no krafla.toml is here" in krafla("check Lock").stderr
    # These are asked for by name.
    assert krafla("check MCKRaft --list").stderr == ""
    assert krafla("check --list --tag lease").stderr == ""


def test_a_project_or_modules_one_level_below_are_named(empty, krafla):
    lay_out(empty / "specs")
    meant = krafla(LISTED)
    assert "`krafla check specs` is about the modules in specs" in meant.stderr

    lay_out(empty / "my lock", krafla_toml="")
    meant = krafla(LISTED)
    assert "`krafla check 'my lock'` is about my lock/krafla.toml" in meant.stderr


@pytest.mark.parametrize(
    ("line", "begins"),
    [
        ("explore", "krafla explore"),
        ("explore --report page.html --tier none", "krafla explore --report page.html"),
        ("mutate specs --list --room nowhere", "krafla mutate"),
    ],
)
def test_other_commands_say_the_same(line, begins, empty, krafla):
    lay_out(empty / "lock", krafla_toml="")
    meant = krafla(line)
    assert f"`{begins} lock` is about lock/krafla.toml" in meant.stderr


@pytest.mark.usefixtures("folder")
def test_in_the_checkout_of_the_specs_nothing_is_said(krafla, monkeypatch):
    monkeypatch.chdir(installed_specs().parent)
    assert krafla(LISTED).stderr == ""


def test_the_only_model_is_explored_without_its_name(folder, krafla):
    (folder / "krafla.toml").write_text("")
    explored = krafla("explore --quiet")
    assert explored.exit_code == 0, explored.output
    assert "reproduce: krafla explore Lock" in explored.stdout


def test_of_several_models_those_to_name_are_listed(folder, krafla):
    (folder / "krafla.toml").write_text("")
    (folder / "LockSmall.cfg").write_text((folder / "Lock.cfg").read_text())
    refused = krafla("explore")
    assert refused.exit_code == 2
    assert "name one model; there are: Lock, LockSmall" in refused.stderr

    (folder / "Lock.cfg").unlink()
    (folder / "LockSmall.cfg").unlink()
    assert "there is no model here" in krafla("explore").stderr
