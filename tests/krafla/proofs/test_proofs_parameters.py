"""What an action takes: the values that Next gives it, and no others."""

from __future__ import annotations

import re

import pytest

from krafla.proofs.errors import Untranslatable
from krafla.verdict import Verdict

from .conftest import not_held

TWICE = "\\E n \\in {1, 2} : Move(n, n)"


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        (TWICE, Verdict.HELD),
        pytest.param(
            "\\E n, m \\in {1, 2} : Move(n, m)", Verdict.VIOLATED, marks=pytest.mark.nightly
        ),
        (f"({TWICE}) \\/ (\\E m \\in {{1}}, n \\in {{2}} : Move(n, m))", Verdict.VIOLATED),
    ],
)
def test_two_parameters_are_one_value_where_next_names_one_for_both(tried, text, verdict):
    found = tried("Same", "ZeroInv", replaced=(TWICE, text))

    assert not_held(found) == (set() if verdict is Verdict.HELD else {"ZeroInv/Move/ZeroInv"})
    assert found.verdict is verdict


def test_an_action_of_records_with_different_fields_is_refused_with_its_place(tried):
    with pytest.raises(Untranslatable, match=re.escape("Lose: [at: Int, to: element")) as caught:
        tried("TwoBags", "NoneInv")

    assert caught.value.place.endswith("TwoBags.tla:15")
    one = "Next == \\E m \\in DOMAIN asked : Lose(m)\nOther =="
    assert not_held(tried("TwoBags", "NoneInv", replaced=("Next ==", one))) == set()
