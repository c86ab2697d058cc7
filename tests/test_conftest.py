"""Shows what tests/conftest.py makes of skips under CI, and of tests with many cases by day."""

from __future__ import annotations

import itertools
import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.forked import PYTEST, forked

if TYPE_CHECKING:
    import subprocess

SKIPS = {
    "a test that skips": "import pytest\ndef test_it():\n    pytest.skip('no such log')\n",
    "a test marked to skip": (
        "import pytest\n@pytest.mark.skip(reason='no such log')\ndef test_it(): pass\n"
    ),
    "a module that skips": "import pytest\npytest.skip('no such log', allow_module_level=True)\n",
    "a fixture that skips": "def test_it(corpus): pass\n",
}


def run(folder: Path, source: str, **environment: str) -> subprocess.CompletedProcess[str]:
    shutil.copy(Path(__file__).with_name("conftest.py"), folder)
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "test_planted.py").write_text(source + "\ndef test_other(): assert 1 + 1 == 2\n")
    kept = {k: v for k, v in os.environ.items() if k not in {"CI", "KRAFLA_CORPUS"}}
    words = ("-ra", "-p", "no:xdist", "-p", "no:cacheprovider", folder)
    return forked(PYTEST).run(folder, *words, environment={**kept, **environment})


@pytest.mark.parametrize("source", SKIPS.values(), ids=SKIPS)
def test_a_skip_fails_when_ci_is_set_and_says_its_reason(tmp_path, source):
    finished = run(tmp_path, source, CI="true")

    assert finished.returncode in {1, 2}, finished.stdout
    assert "was skipped, and CI is set" in finished.stdout


def test_a_skip_outside_ci_passes_and_prints_its_reason(tmp_path):
    finished = run(tmp_path, SKIPS["a fixture that skips"])

    assert finished.returncode == 0, finished.stdout
    assert "KRAFLA_CORPUS does not name" in finished.stdout


def test_an_expected_failure_is_not_a_skip(tmp_path):
    source = "import pytest\n@pytest.mark.xfail(strict=True)\ndef test_it(): assert not True\n"

    assert run(tmp_path, source, CI="true").returncode == 0


def test_by_day_each_group_of_cases_has_as_many_as_it_says(tmp_path):
    source = (
        "import pytest\n"
        "EVERY = [pytest.param(word, n, marks=pytest.mark.by_day(1, word))\n"
        "         for word in ('left', 'right') for n in range(3)]\n"
        "@pytest.mark.parametrize(('word', 'n'), EVERY)\n"
        "def test_case(word, n): print('case', word, n)\n"
    )
    finished = run(tmp_path, source, KRAFLA_NIGHTLY="", PYTEST_ADDOPTS="-s")
    assert finished.returncode == 0, finished.stdout
    assert sorted(re.findall(r"case (\w+) \d", finished.stdout)) == ["left", "right"]


def test_the_specs_of_the_tests_are_those_beside_them(tmp_path):
    source = "import os\ndef test_it(): assert 'KRAFLA_SPECS' not in os.environ\n"
    finished = run(tmp_path, source, KRAFLA_SPECS=str(tmp_path))
    assert finished.returncode == 0, finished.stdout


def test_by_day_a_test_with_many_cases_has_some_spread_evenly_and_at_night_all(tmp_path):
    source = (
        "import pytest\n"
        "@pytest.mark.by_day(3)\n"
        "@pytest.mark.parametrize('n', range(9))\n"
        "def test_many(n): print('case', n)\n"
        "@pytest.mark.by_day(3)\n"
        "@pytest.mark.parametrize('n', range(2))\n"
        "def test_few(n): print('few', n)\n"
    )
    cases = {}
    for night, order in itertools.product(("", "1"), ("no:randomly", "randomly")):
        finished = run(tmp_path, source, KRAFLA_NIGHTLY=night, PYTEST_ADDOPTS=f"-s -p {order}")
        assert finished.returncode == 0, finished.stdout
        cases[night, order] = sorted(re.findall(r"(case|few) (\d)", finished.stdout))

    few = [("few", "0"), ("few", "1")]
    by_day = [("case", "0"), ("case", "3"), ("case", "6"), *few]
    at_night = [*(("case", str(n)) for n in range(9)), *few]
    assert cases["", "no:randomly"] == cases["", "randomly"] == by_day
    assert cases["1", "no:randomly"] == cases["1", "randomly"] == at_night
