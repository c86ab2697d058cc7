"""How Java shall compile TLC depends on how long the search will be."""

from __future__ import annotations

import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from krafla.manifest import Model
from krafla.tlc.command import Options, _compiler, _java
from krafla.tlc.jre import find_jre

BRIEFLY = ("-XX:TieredStopAtLevel=1",)


def a_model(distinct: int | None, expect: str = "holds", tier: str = "smoke") -> Model:
    """Return a model of which only the length of its search matters."""
    return Model("M", Path("M.tla"), Path("M.cfg"), (), "M", tier, expect, distinct=distinct)


@pytest.mark.parametrize(
    ("states", "flag"),
    [(9_999, *BRIEFLY), (10_000, "-XX:Tier4InvocationThreshold=50000")],
)
def test_a_short_search_does_not_wait_for_the_optimising_compiler(states, flag):
    assert flag in _compiler(a_model(states))


@pytest.mark.parametrize("states", [None, 50_000])
def test_a_long_search_or_one_of_unknown_length_is_optimised_at_once(states):
    assert _compiler(a_model(states)) == ()


@pytest.mark.parametrize(("tier", "flags"), [("smoke", BRIEFLY), ("full", ())])
def test_an_expected_failure_of_the_smoke_tier_is_found_soon(tier, flags):
    assert _compiler(a_model(None, "violates", tier)) == flags


def test_the_command_says_how_java_shall_compile():
    jre, jar = (
        SimpleNamespace(java="java", feature=11),
        SimpleNamespace(path="tlc.jar", capabilities=SimpleNamespace(modules=frozenset())),
    )
    command = _java(a_model(100), Options(), jar, jre, Path())
    assert set(BRIEFLY) < set(command)


@pytest.mark.parametrize("states", [100, 10_000])
def test_java_knows_the_options(states):
    said = subprocess.run(
        [str(find_jre().java), *_compiler(a_model(states)), "-version"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert said.returncode == 0, said.stderr
    assert "unrecognized" not in said.stderr.lower()
