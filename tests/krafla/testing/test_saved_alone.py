"""What is said of a saved trace that does not show its failure by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.krafla.testing.lease_machine import PERIOD, Lease

import krafla.testing.found
from krafla.testing import SpecViolation

if TYPE_CHECKING:
    from pathlib import Path


def test_a_trace_that_does_not_show_its_failure_alone_is_said_to(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What the class judges beyond the cfg is in no partial trace."""

    class Never(Lease):
        spec_invariants = ("FreeInv",)

    monkeypatch.setenv("KRAFLA_FOUND", str(tmp_path))
    machine = Never()
    with pytest.raises(SpecViolation) as caught:
        machine.take()
    assert "go on with" in str(caught.value)
    machine = Never()
    machine.wait(seconds=PERIOD)
    with pytest.raises(SpecViolation) as caught:
        machine.take()
    story = str(caught.value)
    assert "does not show this by itself: the spec has a behaviour that agrees" in " ".join(
        story.split()
    )
    assert "go on with" not in story


def test_an_older_trace_is_not_judged_where_the_new_one_cannot_be_written(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def full(*_: object) -> None:
        raise OSError("No space left on device")

    class Never(Lease):
        spec_invariants = ("FreeInv",)

    monkeypatch.setenv("KRAFLA_FOUND", str(tmp_path))
    (tmp_path / "Never.trace.ndjson").write_text("an older trace")
    monkeypatch.setattr(krafla.testing.found, "write_trace", full)
    with pytest.raises(SpecViolation) as caught:
        Never().take()
    assert "could not be written: No space left on device" in str(caught.value)
    assert "does not show this by itself" not in str(caught.value)
