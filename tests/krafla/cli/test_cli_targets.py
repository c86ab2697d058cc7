"""A file that cannot be written is refused before long work, not after it."""

from __future__ import annotations

import pytest
from tests.krafla.fuzz.fuzz_runs import krafla

from krafla.verdict import ExitCode


@pytest.mark.parametrize(
    ("arguments", "work"),
    [
        (("verify", "--junit"), "krafla.cli.verify.first_questions"),
        (("prove", "lease", "--refuted", "--save"), "krafla.proofs.prove.Proofs"),
        (("audit", ".", "--server-logs", "--save-trace"), "krafla.audit.run.audit"),
        (("check", "NoSelfFence", "--trace"), "krafla.tlc.model_check.check_model"),
    ],
    ids=["verify", "prove", "audit", "check"],
)
@pytest.mark.parametrize("name", ["missing/out", ""])
def test_a_target_is_tried_before_the_work_begins(arguments, work, name, tmp_path, monkeypatch):
    def begins(*_, **__):
        pytest.fail("the work began")

    monkeypatch.setattr(work, begins)
    result = krafla(*arguments, str(tmp_path / name))
    assert result.exit_code == ExitCode.COULD_NOT_RUN, result.output
    said = ("there is no such folder",) if name else ("this is a folder", "is a directory")
    assert any(one in result.output for one in said), result.output


@pytest.mark.parametrize("arguments", [(), ("--mutants", "all")])
def test_a_folder_that_cannot_be_made_is_refused_before_the_work_begins(arguments):
    result = krafla("fuzz", "lease", *arguments, "--save", "/proc/nowhere")
    assert result.exit_code == ExitCode.COULD_NOT_RUN
    assert "--save: /proc/nowhere cannot be made: " in result.output
