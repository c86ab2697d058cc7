"""Several modules in one file: each is found by the oracle, by TLC and by SANY, at its own line."""

from __future__ import annotations

import pytest

from krafla.oracle import Spec, SpecError
from krafla.oracle.syntax import read_module
from krafla.tlc.joined_modules import joined_in
from krafla.tlc.outcome import Finished, InvariantViolated
from krafla.tlc.outcome import SpecError as NoSpec
from krafla.tlc.run import run
from krafla.tlc.trial import Trial

CONFIG = "INIT Init\nNEXT Next\nINVARIANT Few\nCHECK_DEADLOCK FALSE\n"
TEXT = r"""A lamp, and what it counts with.
---- MODULE Lamp ----
EXTENDS Counting
VARIABLE count
Init == count = 0
Next == Allowed(count) /\ count' = count + 1
Few == Below(count)
====
---- MODULE Counting ----
EXTENDS Naturals
  ---- MODULE Inner ----
  Most == 3
  ====
INSTANCE Inner
\* ---- MODULE Absent ----
Allowed(n) ==
  n < Most
Below(n) ==
  n < Most + 1
====
Behind it more is said.
"""


@pytest.fixture
def lamp(make_model):
    """Return a model whose file has two modules."""
    return make_model(CONFIG, "Lamp", text=TEXT)


def test_modules_behind_the_first_keep_their_lines(lamp):
    assert [*joined_in(lamp.module)] == ["Counting"]
    (text,) = joined_in(lamp.module).values()
    lines = text.splitlines()
    assert lines[:8] == [""] * 8
    assert lines[8:] == TEXT.splitlines()[8:20]


def test_the_oracle_finds_a_module_of_the_same_file(lamp):
    spec = Spec.load("Lamp", path=lamp.module, cfg=lamp.config)

    (reason,) = spec.explain_invariant("Few", spec.state({"count": 4})).reasons
    assert "Lamp.tla:19" in str(reason)


def test_tlc_finds_a_module_of_the_same_file(lamp):
    result = run(lamp)

    assert isinstance(result.outcome, Finished)
    assert result.distinct == 4


def test_tlc_finds_it_from_a_module_of_our_own(lamp):
    trial = Trial(("count < 3",))
    with trial.folder() as folder:
        check = trial.check(folder, lamp)

    assert isinstance(check.result.outcome, InvariantViolated)


def test_sany_finds_it_and_tells_its_file(lamp):
    module = read_module("Lamp", lamp.module)

    place = module.operator("Allowed").place
    assert (place.path, place.line) == (lamp.module, 16)


@pytest.mark.parametrize(("old", "new"), [("Most + 1", "Least + 1"), ("Most + 1", "Most + +")])
def test_a_fault_in_it_is_told_at_its_line_of_the_file(lamp, old, new):
    lamp.module.write_text(TEXT.replace(old, new))

    with pytest.raises(SpecError) as found:
        Spec.load("Lamp", path=lamp.module, cfg=lamp.config)
    assert (found.value.place or "").startswith(f"{lamp.module}:")
    with pytest.raises(SpecError) as found:
        read_module("Lamp", lamp.module)
    assert (found.value.place or "").startswith(f"{lamp.module}:")
    outcome = run(lamp).outcome
    assert isinstance(outcome, NoSpec)
    assert (outcome.file, outcome.line) in {(str(lamp.module), line) for line in (19, 20)}


def test_a_module_of_its_own_file_comes_first(lamp):
    own = "EXTENDS Naturals\nAllowed(n) == n < 1\nBelow(n) == n < 2"
    own = f"---- MODULE Counting ----\n{own}\n====\n"
    (lamp.module.parent / "Counting.tla").write_text(own)

    assert run(lamp).distinct == 2
    spec = Spec.load("Lamp", path=lamp.module, cfg=lamp.config)
    assert not spec.check_invariant("Few", spec.state({"count": 3}))
