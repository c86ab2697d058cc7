"""The action, the reusable workflow and the hooks that this repository offers to others."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

import pytest
import yaml
from check_jsonschema import main as check_jsonschema
from click.testing import CliRunner
from tests.github_runner import Runner, load, this_python

from krafla.cli import VERBS
from krafla.verdict import ExitCode

ROOT = Path(__file__).parents[1]
ACTION = ROOT / "action.yml"
WORKFLOW = ROOT / ".github" / "workflows" / "krafla.yml"
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
STUB = """#!/bin/sh
for word in "$@"; do printf '<%s>' "$word"; done
exit "${STATUS:-0}"
"""


@pytest.mark.parametrize(
    ("schema", "path"),
    [
        ("vendor.github-actions", ACTION),
        ("vendor.github-workflows", WORKFLOW),
        ("vendor.citation-file-format", ROOT / "CITATION.cff"),
    ],
    ids=["action", "workflow", "citation"],
)
def test_the_file_keeps_its_schema(schema, path):
    done = CliRunner().invoke(check_jsonschema, ["--builtin-schema", schema, str(path)])
    assert done.exit_code == 0, done.output


def _scripts(path):
    """Yield each step that is a script, of an action or of all jobs of a workflow."""
    found = load(path)
    jobs = found.get("jobs", {}).values()
    for steps in [found["runs"]["steps"]] if "runs" in found else [job["steps"] for job in jobs]:
        yield from (step for step in steps if "run" in step)


def _step(path, name):
    (found,) = (step for step in _scripts(path) if step["name"] == name)
    return found


@pytest.mark.parametrize("path", [ACTION, WORKFLOW], ids=["action", "workflow"])
def test_no_input_becomes_part_of_a_script(path):
    for step in _scripts(path):
        assert "${{" not in step["run"], step["name"]


@pytest.mark.parametrize("path", [ACTION, WORKFLOW], ids=["action", "workflow"])
def test_each_input_is_described_and_used(path):
    text, found = path.read_text(), load(path)
    inputs = found["inputs"] if "inputs" in found else found["on"]["workflow_call"]["inputs"]
    for name, given in inputs.items():
        assert given["description"].endswith("."), name
        uses = len(re.findall(rf"inputs\.{name}\b|\b{name}\)", text))
        assert uses, name


@pytest.fixture
def runner(tmp_path):
    """A runner of the action with its defaults, in an empty repository, and a stub of krafla."""
    workspace, temporary = tmp_path / "work", tmp_path / "temporary"
    program = temporary / "krafla" / "bin" / "krafla"
    program.parent.mkdir(parents=True)
    workspace.mkdir()
    program.write_text(STUB)
    program.chmod(0o755)
    defaults = load(ACTION)["inputs"].items()
    values = {f"inputs.{name}": str(given.get("default", "")) for name, given in defaults}
    environment = {"PATH": this_python(tmp_path / "bin"), "GITHUB_ACTION_PATH": str(ROOT)}
    return Runner(workspace, temporary, values, environment)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("check", ["check"]),
        ("  check specs/Lock.cfg  ", ["check", "specs/Lock.cfg"]),
        ("check Lock --invariant 'held < 2'", ["check", "Lock", "--invariant", "held < 2"]),
        ('audit \'a b\' "c\\"d"', ["audit", "a b", 'c"d']),
        ("check\nLock", ["check", "Lock"]),
        ("check $HOME `id` $(id) *", ["check", "$HOME", "`id`", "$(id)", "*"]),
    ],
)
def test_the_command_of_the_action_is_split_as_by_a_shell_without_its_variables(
    command, words, runner
):
    runner.values["inputs.command"] = command
    assert runner.run(_step(ACTION, "Run krafla")) == 0
    shown = "".join(f"<{word}>" for word in (*words, "--junit", "krafla.xml"))
    assert runner.said == shown


def test_the_action_gives_krafla_the_reports_that_are_wanted(runner):
    runner.values |= {"inputs.command": "check", "inputs.junit": "", "inputs.sarif": "s.json"}
    runner.run(_step(ACTION, "Run krafla"))
    assert runner.said == "<check><--sarif><s.json>"


@pytest.mark.parametrize("code", ExitCode)
def test_the_action_ends_as_krafla_does_and_names_the_verdict(code, runner):
    runner.values["inputs.command"] = "check"
    runner.environment["STATUS"] = str(int(code))
    assert runner.run(_step(ACTION, "Run krafla")) == code
    assert runner.values["steps.run.outputs.verdict"] == code.word
    assert runner.values["steps.run.outputs.status"] == str(int(code))


@pytest.mark.by_day(2)
@pytest.mark.parametrize(
    ("version", "extras", "requirement"),
    [
        ("", "", str(ROOT)),
        ("", "spark", f"{ROOT}[spark]"),
        ("0.1.0", "", "krafla==0.1.0"),
        ("0.1.0", "spark", "krafla[spark]==0.1.0"),
        ("dist/krafla-0.1.0-py3-none-any.whl", "", "dist/krafla-0.1.0-py3-none-any.whl"),
    ],
)
def test_the_action_installs_the_version_that_is_asked_for(version, extras, requirement, runner):
    runner.values |= {"inputs.version": version, "inputs.extras": extras}
    assert runner.run(_step(ACTION, "Find what is kept between runs")) == 0, runner.said
    assert runner.values["steps.places.outputs.requirement"] == requirement
    places = (runner.values[f"steps.places.outputs.{name}"] for name in ("pip", "krafla"))
    assert all(Path(place).is_absolute() for place in places)


def test_the_artifact_has_the_reports_and_what_was_found(runner):
    runner.values |= {"inputs.working-directory": "sub", "inputs.sarif": "s.json"}
    assert runner.run(_step(ACTION, "List what the artifact holds")) == 0
    paths = runner.values["steps.kept.outputs.paths"].splitlines()
    assert paths[:3] == ["sub/krafla.xml", "sub/s.json", "sub/found/**"]
    assert not [path for path in paths if path.endswith("/")]


def _planned(tmp_path, **inputs):
    values = {f"inputs.{name}": "" for name in load(WORKFLOW)["on"]["workflow_call"]["inputs"]}
    values |= {f"inputs.{name}": text for name, text in inputs.items()}
    run = Runner(tmp_path, tmp_path, values, {"PATH": "/usr/bin:/bin"})
    return run.run(_step(WORKFLOW, "List the jobs that are asked for")), run


def test_the_workflow_has_a_job_for_each_input_that_is_given(tmp_path):
    status, run = _planned(tmp_path, check=".", audit="logs")
    assert status == 0
    assert run.values["steps.plan.outputs.jobs"] == '["check","audit"]'


def test_a_workflow_that_asks_nothing_is_red(tmp_path):
    status, run = _planned(tmp_path)
    assert status == 1
    assert run.said.startswith("::error ")


@pytest.mark.parametrize(
    ("job", "arguments", "command", "sarif"),
    [
        ("check", "specs/Lock.cfg", r"check specs/Lock.cfg", "krafla.sarif"),
        (
            "fuzz", "lock --examples 9",
            r"fuzz lock --examples 9 --seed 20\d{6} --seconds 60 --save found", "krafla.sarif",
        ),
        ("corpus", "traces", r"replay traces", ""),
        ("audit", "'my logs'", r"audit 'my logs'", "krafla.sarif"),
    ],
)  # fmt: skip
def test_each_job_of_the_workflow_writes_its_command(job, arguments, command, sarif, tmp_path):
    values = {"matrix.job": job, "inputs[matrix.job]": arguments, "inputs.fuzz-seconds": "60"}
    run = Runner(tmp_path, tmp_path, values, {"PATH": "/usr/bin:/bin"})
    assert run.run(_step(WORKFLOW, "Write the command line")) == 0
    assert re.fullmatch(command, run.values["steps.command.outputs.command"])
    assert run.values["steps.command.outputs.sarif"] == sarif
    assert run.values["steps.command.outputs.command"].split()[0] in VERBS


def _blocks_of_the_page():
    """Yield each block of YAML in the page about CI."""
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    for block in re.findall(r"^```yaml\n(.*?)^```", page, re.MULTILINE | re.DOTALL):
        yield yaml.safe_load(block)


def _uses(value):
    """Yield each part of a block that uses an action or a workflow of this repository."""
    if isinstance(value, dict):
        if str(value.get("uses", "")).startswith("OWNER/krafla"):
            yield value
        for one in value.values():
            yield from _uses(one)
    elif isinstance(value, list):
        for one in value:
            yield from _uses(one)


def test_the_page_gives_the_action_and_the_workflow_inputs_that_they_have():
    workflow = load(WORKFLOW)["on"]["workflow_call"]
    inputs = {
        "OWNER/krafla": load(ACTION)["inputs"],
        "OWNER/krafla/.github/workflows/krafla.yml": workflow["inputs"],
    }
    seen = set()
    for block in _blocks_of_the_page():
        for use in _uses(block):
            name, _, version = use["uses"].partition("@")
            assert version == f"v{VERSION}"
            assert use["with"].keys() <= inputs[name].keys()
            seen.add(name)
    assert seen == inputs.keys()


def test_one_version_stands_everywhere():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert citation["version"] == VERSION
    assert re.search(rf"^## {re.escape(VERSION)}\b", changes, re.MULTILINE)


def _hook():
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    return hook


@pytest.mark.parametrize(
    ("path", "is_asked"),
    [
        ("specs/Lock.tla", True),
        ("Lock.cfg", True),
        ("krafla.toml", True),
        ("sub/krafla.toml", True),
        ("my-krafla.toml", False),
        ("setup.cfg.py", False),
        ("Lock.tla.orig", False),
    ],
)
def test_the_hook_asks_when_a_spec_changes(path, is_asked):
    assert (re.search(_hook()["files"], path) is not None) is is_asked


@pytest.mark.nightly
def test_the_hook_checks_the_folder_and_never_the_specs_that_are_shipped(tmp_path, monkeypatch):
    hook = _hook()
    assert hook["language"] == "python"
    assert not hook["pass_filenames"]
    words = [*hook["entry"].split(), *hook["args"]]
    assert words[0] == "krafla"
    monkeypatch.chdir(tmp_path)
    run = [sys.executable, "-m", *words]
    assert subprocess.run(run, check=False, capture_output=True).returncode == 2
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    for name, text in re.findall(
        r'^```\w+ title="(.*?)"\n(.*?)^```', page, re.MULTILINE | re.DOTALL
    ):
        Path(name).write_text(text)
    done = subprocess.run(run, check=False, capture_output=True, text=True)
    assert done.returncode == 1
    assert "At most one client holds the lock." in done.stdout


@pytest.mark.nightly
def test_the_action_installs_a_wheel_of_this_checkout_and_runs_it(runner, tmp_path):
    build = [Path(sys.executable).with_name("uv"), "build", "-q", "--offline", "--wheel"]
    this = ["--no-build-isolation", "--python", sys.executable, "-o", tmp_path / "dist", ROOT]
    subprocess.run([*build, *this], check=True, capture_output=True)
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    # What krafla needs is here already: nothing is fetched.
    runner.environment |= {
        "PIP_NO_INDEX": "1", "PIP_NO_DEPS": "1", "PYTHONPATH": sysconfig.get_path("purelib"),
        "GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
        "XDG_CACHE_HOME": os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache")),
    }  # fmt: skip
    logs = ROOT / "traces" / "kafka-4.1" / "crash"
    runner.values |= {
        "inputs.version": str(wheel), "inputs.command": f"audit '{logs}' missing-folder",
        "inputs.sarif": "krafla.sarif",
    }  # fmt: skip
    for program in (tmp_path / "temporary" / "krafla" / "bin").iterdir():
        program.unlink()
    for name in ("Find what is kept between runs", "Install krafla"):
        assert runner.run(_step(ACTION, name)) == 0, runner.said
    assert runner.said.splitlines()[-1].startswith("krafla ")
    run = _step(ACTION, "Run krafla")
    assert runner.run(run) == ExitCode.COULD_NOT_RUN, runner.said
    assert "missing-folder" in (tmp_path / "summary.md").read_text()
    runner.values["inputs.command"] = f"audit '{logs}'"
    assert runner.run(run) == ExitCode.HELD, runner.said
    assert {"krafla.xml", "krafla.sarif"} <= {path.name for path in runner.workspace.iterdir()}
