"""A JVM that is none, for recordings without Kafka."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

FAKE = Path(__file__).with_name("fake_java.py")


@pytest.fixture
def fake_kafka(monkeypatch, tmp_path):
    """Have recordings start the stand-in; return the folder that Java is said to be in."""
    home = tmp_path / "java-home"
    (home / "bin").mkdir(parents=True)
    java = home / "bin" / "java"
    java.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S "{FAKE}" "$@"\n')
    java.chmod(0o755)
    (home / "release").write_text('JAVA_VERSION="17.0.1"\n')
    libraries = tmp_path / "libraries"
    libraries.mkdir()
    monkeypatch.setenv("JAVA_HOME", str(home))
    monkeypatch.setenv("KAFKA_LIBS", str(libraries))
    return home
