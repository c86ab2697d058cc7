"""Java maps TLC's classes from an archive; a run never fails for the want of one."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from krafla.tlc.class_archive import archive_options
from krafla.tlc.jar import find_jar
from krafla.tlc.jre import find_jre

if TYPE_CHECKING:
    from pathlib import Path

    from krafla.tlc.jre import JavaRuntime


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KRAFLA_TLA2TOOLS", str(find_jar().path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "krafla"


def sources(options: tuple[str, ...]) -> str:
    """Return where Java takes each class from that TLC's start needs."""
    command = [find_jre().java, *options, "-Xlog:class+load", "-cp", find_jar().path, "tlc2.TLC"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def test_tlc_takes_its_classes_from_the_archive(cache: Path) -> None:
    options = archive_options(find_jar(), find_jre())
    (archive,) = cache.glob("*.jsa")
    assert options[0] == f"-XX:SharedArchiveFile={archive}"
    assert "tlc2.TLC source: shared objects file (top)" in sources(options)
    made = archive.stat().st_mtime_ns
    assert archive_options(find_jar(), find_jre()) == options
    assert archive.stat().st_mtime_ns == made
    assert not list(cache.glob("krafla-scratch-*"))


def test_an_archive_that_was_cut_short_is_made_again(cache: Path) -> None:
    # Java would end with SIGBUS.
    options = archive_options(find_jar(), find_jre())
    (archive,) = cache.glob("*.jsa")
    archive.chmod(0o600)
    archive.write_bytes(archive.read_bytes()[:100_000])
    assert archive_options(find_jar(), find_jre()) == options
    assert "tlc2.TLC source: shared objects file (top)" in sources(options)


@pytest.mark.usefixtures("cache")
def test_an_archive_of_another_jar_changes_nothing_that_tlc_prints(tmp_path: Path) -> None:
    options = archive_options(find_jar(), find_jre())
    other = tmp_path / "other.jar"
    other.write_bytes(find_jar().path.read_bytes())
    command = ["-cp", other, "tlc2.TLC", "-h"]
    first, second = (
        subprocess.run([find_jre().java, *given, *command], capture_output=True, check=False)
        for given in ((), options)
    )
    assert (first.returncode, first.stdout, first.stderr) == (
        second.returncode, second.stdout, second.stderr,
    )  # fmt: skip


def a_java(folder: Path, script: str) -> JavaRuntime:
    jre = replace(find_jre(), home=folder / "java")
    jre.java.parent.mkdir(parents=True)
    jre.java.write_text(f"#!/bin/sh\necho asked >> {folder}/asked\n{script}\n", encoding="utf-8")
    jre.java.chmod(0o700)
    return jre


def test_a_java_that_makes_none_is_asked_once(cache: Path) -> None:
    jre = a_java(cache.parent, "exit 0")
    assert archive_options(find_jar(), jre) == archive_options(find_jar(), jre) == ()
    assert (cache.parent / "asked").read_text(encoding="utf-8") == "asked\n"


def test_a_java_that_was_too_slow_is_asked_again(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("krafla.tlc.class_archive._SECONDS", 0.5)
    jre = a_java(cache.parent, "exec sleep 20")
    assert archive_options(find_jar(), jre) == archive_options(find_jar(), jre) == ()
    assert (cache.parent / "asked").read_text(encoding="utf-8") == "asked\nasked\n"


def test_an_old_java_or_a_cache_without_room_goes_without(cache: Path) -> None:
    assert archive_options(find_jar(), replace(find_jre(), version="11.0.1")) == ()
    assert not cache.exists()
    cache.write_text("no folder", encoding="utf-8")
    assert archive_options(find_jar(), find_jre()) == ()
