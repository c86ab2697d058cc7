"""Where constraints and views cut a model, invariants are asked of what TLC asks them."""

from __future__ import annotations

import pytest
from tests.krafla.oracle.cut_specs import CUT_SPECS

from krafla.oracle import EvaluationError, Spec, explore


def loaded(folder, name, text, config):
    module = folder / f"{name}.tla"
    module.write_text(f"---- MODULE {name} ----\n{text}\n====\n")
    (folder / f"{name}.cfg").write_text(config)
    return Spec.load(name, path=module, cfg=folder / f"{name}.cfg", search_path=[folder])


@pytest.mark.parametrize("cut", CUT_SPECS, ids=lambda cut: cut.name)
def test_states_steps_and_the_violation_are_those_of_tlc(tmp_path, cut):
    found = explore(loaded(tmp_path, cut.name, cut.text, cut.config), until_violation=False)

    assert (found.distinct, found.generated) == (cut.distinct, cut.generated)
    assert (found.violation and found.violation.name) == cut.violated


def test_what_is_true_behind_a_forbidden_step_is_noticed(tmp_path):
    cut = CUT_SPECS[0]
    spec = loaded(tmp_path, cut.name, f"{cut.text}\nFar == x = 4\nFarther == x = 5", cut.config)

    assert explore(spec, until_violation=False, watch=["Far", "Farther"]).beyond == {"Far"}


@pytest.mark.parametrize("view", ["", "VIEW Seen\n"])
def test_a_step_that_leaves_a_variable_without_a_value_is_named(tmp_path, view):
    text = (
        "EXTENDS Naturals\nVARIABLES x, y\nSeen == x\nInit == x = 0 /\\ y = 0\nNext == x' = x + 1"
    )

    with pytest.raises(EvaluationError, match=r"^Lacking: a step of Next gives no next value to y"):
        explore(loaded(tmp_path, "Lacking", text, f"INIT Init\nNEXT Next\n{view}"))
