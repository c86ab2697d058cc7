"""What judges every change is as strict as it was: a pin that no edit loosens unseen."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
LINTED = (
    "A ARG B BLE C4 C90 D E F FURB I N PERF PGH PIE PT PTH RET RSE RUF S SIM SLF T20 TC TID251 TRY "
    "UP W"
)


def test_a_warning_is_an_error_and_an_unexpected_success_is_one():
    options = PROJECT["pytest"]["ini_options"]
    assert options["filterwarnings"] == ["error"]
    assert all(
        options[name] is True for name in ("strict_config", "strict_markers", "strict_xfail")
    )
    assert options["testpaths"] == ["tests", "traces"]


def test_types_are_checked_strictly_in_both_packages():
    mypy = PROJECT["mypy"]
    user = "tests/krafla/testing/typed_machine.py"
    assert (mypy["strict"], mypy["files"]) == (True, ["impl/kraft", "model/krafla", user])
    assert not {"disable_error_code", "exclude", "ignore_errors", "overrides"} & mypy.keys()


def test_no_lint_is_turned_off():
    lint = PROJECT["ruff"]["lint"]
    assert set(LINTED.split()) <= set(lint["select"])
    assert set(lint["ignore"]) == {
        "D105", "D107", "D203", "D213", "PT011", "S101", "S404", "S603", "TRY003",
    }  # fmt: skip


def test_what_ci_runs_is_everything():
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert "set -euo pipefail" in script
    assert 'export CI="${CI:-1}"' in script
    stages = re.findall(r"^stage (.*)$", script, re.MULTILINE)
    # Left out of the tests is what `make check` has run.
    ran = ["tests/test_tidy.py", "tests/test_import_contracts.py"]
    assert all(name in (ROOT / ".ci" / "check.py").read_text(encoding="utf-8") for name in ran)
    ignored = " ".join(f"--ignore={name}" for name in ran)
    assert stages == ["check", f'test PYTEST_ARGS="{ignored}"', "verify VERIFY_ARGS=--full"]
