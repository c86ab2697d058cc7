"""How Java shall compile TLC depends on how long the search will be."""

from __future__ import annotations

import subprocess

import pytest

from krafla.tlc.command import _compiler
from krafla.tlc.jre import find_jre


@pytest.mark.parametrize(
    ("states", "flag"),
    [(4_999, "-XX:TieredStopAtLevel=1"), (5_000, "-XX:Tier4InvocationThreshold=50000")],
)
def test_a_short_search_does_not_wait_for_the_optimising_compiler(states, flag):
    assert flag in _compiler(states)


@pytest.mark.parametrize("states", [None, 50_000])
def test_a_long_search_or_one_of_unknown_length_is_optimised_at_once(states):
    assert _compiler(states) == ()


@pytest.mark.parametrize("states", [100, 10_000])
def test_java_knows_the_options(states):
    said = subprocess.run(
        [str(find_jre().java), *_compiler(states), "-version"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert said.returncode == 0, said.stderr
    assert "unrecognized" not in said.stderr.lower()
