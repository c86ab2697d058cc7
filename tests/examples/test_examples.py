"""Each example is a project of its own, and teaches what happens: its README is run."""

from __future__ import annotations

import re
import shutil
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from tests.examples.environment import (
    ROOT,
    build_wheel,
    environment_beside_ours,
    environment_from_registry,
    installed_pythons,
)
from tests.examples.readme import missing_line, shown_in, workflow_commands

from krafla import testing

EXAMPLES = ROOT / "examples"
TUTORIAL = "lock-server"
NAMES = sorted(one.parent.name for one in EXAMPLES.glob("*/krafla.toml"))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel of this checkout, built once."""
    return build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def environment(wheel, tmp_path_factory):
    """An environment with the wheel, and what else this environment has."""
    return environment_beside_ours(tmp_path_factory.mktemp("environment") / "venv", wheel)


def copy_of(name, tmp_path):
    """Return a copy of an example outside this repository."""
    unwanted = shutil.ignore_patterns(".hypothesis", ".krafla", ".pytest_cache", "__pycache__")
    return Path(shutil.copytree(EXAMPLES / name, tmp_path / name, ignore=unwanted))


def surprise(environment, folder, *, quick):
    """Run the commands of a README in a folder; return the first thing that it does not say."""
    for shown in shown_in(folder / "README.md"):
        output = ""
        for command, must_fail in shown.commands:
            ended = environment.run(command, folder, quick=quick)
            output += ended.stdout
            if ended.returncode != int(must_fail):
                return f"$ {command}\n{ended.stdout}\nexit status {ended.returncode}"
        missing = missing_line(output, shown.lines)
        if missing is not None:
            return f"{output}\nnot printed: {missing}"
    return None


@pytest.mark.parametrize(
    ("text", "noticed"),
    [
        ("```sh\necho one\necho two\n```\n```text\none\n  two\n```\n", None),
        ("```sh\necho one\n```\n```text\ntwo\n```\n", "not printed: two"),
        ("```sh\necho one\necho two\n```\n```text\ntwo\none\n```\n", "not printed: one"),
        ("```sh\necho one two\n```\n```text\ntwo\n```\n", None),
        ("```sh\necho one two\n```\n```text\none …\n```\n", None),
        ("```sh\necho one two\n```\n```text\none\n```\n", "not printed: one"),
        ("```sh\necho one\n```\n```text\ntwo …\n```\n", "not printed: two …"),
        ("```sh\nseq 4\n```\n```text\n1\n …\n4\n```\n", None),
        ("```sh\nseq 2\n```\n```text\n1\n …\n2\n```\n", "not printed: 2"),
        ("```sh\nfalse\n```\n", "exit status 1"),
        ("```sh\ntrue # fails\n```\n", "exit status 0"),
    ],
)
def test_a_readme_that_says_something_else_is_noticed(text, noticed, environment, tmp_path):
    (tmp_path / "README.md").write_text(text)
    found = surprise(environment, tmp_path, quick=True)
    assert found == noticed if noticed is None else found.endswith(noticed)


@pytest.mark.parametrize("name", NAMES)
def test_a_file_has_as_many_lines_as_a_readme_says(name):
    readme = EXAMPLES / name / "README.md"
    for path, count in re.findall(r"\]\(([^)]+)\) of (\d+) lines", readme.read_text()):
        assert len((readme.parent / path).read_text().splitlines()) == int(count), path


def test_there_are_three_examples():
    assert len(NAMES) == 3


def test_the_tutorial_teaches_what_happens(environment, tmp_path):
    assert surprise(environment, copy_of(TUTORIAL, tmp_path), quick=True) is None


@pytest.mark.nightly
@pytest.mark.parametrize("name", [name for name in NAMES if name != TUTORIAL])
def test_the_readme_of_an_example_teaches_what_happens(name, environment, tmp_path):
    assert surprise(environment, copy_of(name, tmp_path), quick=False) is None


@pytest.mark.parametrize("name", [name for name in NAMES if name != TUTORIAL])
def test_the_tests_of_an_example_pass(name, environment, tmp_path):
    ended = environment.run("pytest", copy_of(name, tmp_path), quick=True)
    assert ended.returncode == 0, ended.stdout


@pytest.mark.parametrize("name", [name for name in NAMES if name != TUTORIAL])
def test_the_models_of_an_example_are_as_pinned(name, environment, tmp_path):
    ended = environment.run("krafla check", copy_of(name, tmp_path), quick=True)
    assert ended.returncode == 0, ended.stdout


@pytest.mark.parametrize("name", NAMES)
def test_the_workflow_of_an_example_runs_what_its_readme_runs(name):
    lines = [line for one in shown_in(EXAMPLES / name / "README.md") for line, _ in one.commands]
    shown = [line.partition(" #")[0].rstrip() for line in lines]
    commands = workflow_commands(EXAMPLES / name)
    assert {"krafla check", "pytest"} <= set(commands)
    assert set(commands) <= set(shown)


def test_an_environment_has_the_wheel_and_not_the_checkout(environment, tmp_path):
    ended = environment.run(
        "python -c 'import krafla; print(krafla.__file__)'", tmp_path, quick=True
    )
    assert ended.stdout.startswith(str(environment.bin.parent))


@pytest.mark.parametrize("name", NAMES)
def test_what_an_example_locks_is_what_its_tests_run_with(name):
    for line in _locked(EXAMPLES / name):
        package, _, version = line.partition("==")
        assert metadata.version(package) == version


def _locked(folder):
    lock = folder / "requirements.lock"
    lines = lock.read_text().splitlines() if lock.is_file() else []
    return [line.removesuffix(" \\") for line in lines if "==" in line]


@pytest.mark.parametrize("name", NAMES)
def test_an_example_uses_public_names_only(name):
    public = set(testing.__all__)
    found = set()
    for path in (EXAMPLES / name).rglob("*.py"):
        for line in path.read_text().splitlines():
            words = line.replace(",", " ").split()
            if words[:1] == ["from"] and words[1].startswith("krafla"):
                assert words[1] == "krafla.testing", f"{path}: {line}"
                found |= set(words[3:])
            assert words[:2] != ["import", "krafla"], f"{path}: {line}"
    assert found
    assert found <= public


@pytest.mark.nightly
@pytest.mark.parametrize("python", installed_pythons(), ids=lambda one: Path(one).name)
def test_the_examples_pass_on_every_python(python, wheel, tmp_path):
    locks = [EXAMPLES / name / "requirements.lock" for name in NAMES]
    there = [lock for lock in locks if lock.is_file()]
    environment = environment_from_registry(tmp_path / "venv", wheel, python, there)
    for name in NAMES:
        assert surprise(environment, copy_of(name, tmp_path), quick=False) is None


def test_an_example_needs_no_more_python_than_krafla():
    ours = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"]
    for name in NAMES:
        project = tomllib.loads((EXAMPLES / name / "pyproject.toml").read_text())["project"]
        assert project["requires-python"] == ours
