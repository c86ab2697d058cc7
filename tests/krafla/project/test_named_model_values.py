"""A formula that is asked of a model may name the model values that its cfg gives the constants."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.usefixtures("folder")
ADVICE = '"c1" is a string: write the model value without quotes'


def test_a_path_leads_to_where_a_named_client_is(krafla):
    found = krafla("explore Lock.tla --quiet --to", "holder = {c2} /\\ waits[c1]")

    assert found.exit_code == 0, found.output
    assert "3 steps lead from an initial state (state 0) to holder = {c2} /\\" in found.stdout


@pytest.mark.by_day(2)
@pytest.mark.parametrize(
    ("formula", "status", "told"),
    [
        ("c1 \\notin holder", 1, "TriedInv is c1 \\notin holder"),
        ("holder \\in {{}, {c1}, {c2}}", 0, "HELD"),
        ("\\A c1 \\in Client : c1 \\notin holder \\/ c1 # c2", 1, "TriedInv is"),
        ("c1 \\in holder \\/ holder # c22", 2, "column 27: Unknown operator: `c22'. Like it: c2"),
        ('~waits["c1"]', 2, ADVICE),
    ],
)
def test_an_invariant_may_name_a_client(formula, status, told, krafla):
    checked = krafla("check Lock.tla --invariant", formula)

    assert checked.exit_code == status, checked.output
    assert told in checked.output


def test_a_string_in_place_of_a_model_value_is_told(krafla):
    asked = krafla("explore Lock.tla --to", 'holder = {} /\\ waits["c1"]')

    assert asked.exit_code == 2
    assert "--to: 'holder = {} /\\ waits[\"c1\"]' cannot be evaluated in an initial" in asked.output
    assert asked.output.rstrip().endswith(ADVICE)


def test_a_graph_in_which_one_client_stands_for_another_is_not_asked_for_one(krafla, folder):
    config, module = folder / "Lock.cfg", folder / "Lock.tla"
    config.write_text(f"{config.read_text()}SYMMETRY Alike\n")
    head, end = module.read_text().replace("FiniteSets", "FiniteSets, TLC").rsplit("====", 1)
    module.write_text(f"{head}Alike == Permutations(Client)\n===={end}")

    asked = krafla("explore Lock.tla --to", "c2 \\in holder")
    assert asked.exit_code == 2
    assert "names the model value c2, and by the cfg's SYMMETRY one state stands" in asked.output
    assert krafla("explore Lock.tla --quiet --to", "holder # {}").exit_code == 0
    # TLC is asked without SYMMETRY.
    assert krafla("check Lock.tla --invariant", "c2 \\notin holder").exit_code == 1
