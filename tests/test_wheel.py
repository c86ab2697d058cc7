"""The wheel and the source distribution, as somebody else installs them."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest

from krafla.tlc.jar import find_jar

pytestmark = pytest.mark.nightly
ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def _built(out, source, *what):
    uv = Path(sys.executable).with_name("uv")
    words = [uv, "build", "-q", "--offline", "--no-build-isolation", "--python", sys.executable]
    subprocess.run([*words, *what, "-o", out, source], check=True, capture_output=True)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The folder with the wheel of this checkout, and with its source distribution."""
    out = tmp_path_factory.mktemp("built")
    _built(out, ROOT, "--wheel")
    _built(out, ROOT, "--sdist")
    return out


def _files(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="module")
def wheel(built):
    (found,) = built.glob("*.whl")
    return found


def test_a_wheel_of_the_source_distribution_is_the_wheel_of_the_checkout(built, wheel, tmp_path):
    (source,) = built.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        archive.extractall(tmp_path, filter="data")
    (folder,) = tmp_path.iterdir()
    _built(tmp_path / "dist", folder, "--wheel")
    (other,) = (tmp_path / "dist").glob("*.whl")
    assert _files(other) == _files(wheel)


def test_the_source_distribution_can_be_developed_in(built):
    (source,) = built.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    wanted = ("Makefile", "requirements-dev.lock", "tests/conftest.py", ".ci/check.py",
              "specs/manifest.toml", "traces/index.toml", "CITATION.cff", "LICENSE")  # fmt: skip
    assert {*wanted} <= names


def test_the_wheel_has_types_specs_traces_and_nothing_of_the_tests(wheel):
    names = {*_files(wheel)}
    wanted = (
        "krafla/py.typed", "kraft/py.typed", "krafla/specs/manifest.toml",
        "krafla/traces_recorded/index.toml", "krafla/schemas/trace.schema.json",
        "krafla/report/templates/trace.html",
    )  # fmt: skip
    assert {*wanted} <= names
    assert not [name for name in names if name.startswith(("tests/", "bench/", ".ci/"))]
    assert {name.partition("/")[0] for name in names} == {
        "krafla", "kraft", f"krafla-{PROJECT['version']}.dist-info",
    }  # fmt: skip


def test_the_wheel_says_what_it_is(wheel):
    files = _files(wheel)
    (name,) = (name for name in files if name.endswith(".dist-info/METADATA"))
    told = message_from_bytes(files[name])
    assert (told["Name"], told["Version"]) == ("krafla", PROJECT["version"])
    assert told["License-Expression"] == "Apache-2.0"
    assert "The krafla authors" in told["Author"]
    assert told.get_all("Classifier") == PROJECT["classifiers"]
    assert {*told.get_all("Provides-Extra")} == {*PROJECT["optional-dependencies"]}


@pytest.fixture(scope="module")
def away(wheel, tmp_path_factory):
    """A function that runs krafla from an environment outside of the repository.

    The packages that it needs are those of this environment: nothing is fetched.
    """
    folder = tmp_path_factory.mktemp("away")
    venv.create(folder / "env", with_pip=False)
    uv = Path(sys.executable).with_name("uv")
    python = folder / "env" / "bin" / "python"
    install = [uv, "pip", "install", "-q", "--offline", "--no-deps", "--python", python, wheel]
    subprocess.run(install, check=True, capture_output=True)
    kept = ("PATH", "JAVA_HOME", "LANG", "TMPDIR")
    environment = {name: os.environ[name] for name in kept if name in os.environ} | {
        "HOME": str(folder), "PYTHONPATH": sysconfig.get_path("purelib"), "NO_COLOR": "1",
        "KRAFLA_TLA2TOOLS": str(find_jar().path),
    }  # fmt: skip

    def run(*words):
        done = subprocess.run(
            [python, "-m", "krafla", *words], cwd=folder, env=environment, capture_output=True,
            text=True, check=False, timeout=1_200,
        )  # fmt: skip
        return done.returncode, done.stdout, done.stderr

    run.package = next((folder / "env").glob("lib/python*/site-packages/krafla"))
    return run


def test_krafla_reads_its_own_specs_outside_of_the_repository(away):
    status, out, err = away("doctor")
    assert status == 0, err
    assert f"{away.package}/specs: " in out


def test_krafla_audits_and_replays_what_it_ships(away):
    recorded = away.package / "traces_recorded"
    status, out, err = away("audit", str(recorded / "kafka-4.1"), "--quiet")
    assert status == 0, out + err
    assert "HELD  3 clusters" in out
    status, out, err = away("replay", str(recorded))
    assert status == 0, out + err


def test_krafla_verifies_from_the_wheel(away):
    status, out, err = away("verify", "--junit", "j.xml")
    assert status == 0, out + err
    assert "HELD  " in out.splitlines()[-1]
