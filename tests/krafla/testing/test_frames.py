"""An error of krafla's in pytest is its sentence, without krafla's own source."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from tests.krafla.testing.conftest import SPECS

if TYPE_CHECKING:
    from pathlib import Path

HEAD = f"""
from krafla.testing import Judge, Spec, SpecMachine, action, member_of

LOCK = {str(SPECS / "Lock.tla")!r}
"""
MACHINE = """
class Faulty(SpecMachine):
    spec = LOCK

    def observe(self):
        return {"holder": None}

    @action("Acquire", client=member_of("Client"))
    def acquire(self, client):
        pass

TestFaulty = Faulty.TestCase
"""
JUDGE = """
def test_judge():
    Judge(Spec.load(LOCK)).step("Aquire", "c1")
"""


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (MACHINE, "the beginning, holder: NoneType None"),
        (MACHINE.replace("Acquire", "Aquire"), "Faulty.acquire: Aquire: no action of Lock"),
        (MACHINE.replace("LOCK", "'No.tla'"), "No.tla: there is no module No here"),
        (JUDGE, "Aquire: no action of Lock"),
    ],
    ids=["value", "action", "spec", "judge"],
)
def test_no_line_of_krafla_is_shown(body: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(HEAD + body)
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", "test_it.py"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 1, run.stdout
    assert said in run.stdout
    assert "krafla/testing/" not in run.stdout
    assert "krafla/match/" not in run.stdout
    # Of a test's own line it tells the place, and without one nothing but the sentence.
    assert ("Error" in run.stdout) == (body is JUDGE)
    assert not any(one in run.stdout for one in ("/unittest/", "/hypothesis/"))
