"""Long texts of TLA+ in lines."""

from __future__ import annotations

import pytest

from krafla.report.explain.pretty import pretty


def test_a_text_that_fits_stays_on_its_line():
    assert pretty('<<[a |-> 1], "x">>') == '<<[a |-> 1], "x">>'


def test_a_value_that_does_not_fit_has_a_line_for_each_member():
    text = 'mail = ([type |-> "A, [b", ids |-> <<1, 2>>] :> 1 @@ [type |-> "B"] :> 2)'
    assert pretty(text, 30).splitlines() == [
        "mail = (",
        "  [",
        '    type |-> "A, [b",',
        "    ids |-> <<1, 2>>",
        "  ] :> 1 @@",
        '  [type |-> "B"] :> 2',
        ")",
    ]


@pytest.mark.parametrize(
    "text", ["x" * 200, "<<" * 100, ">>" * 100, '"' + "[,]" * 60, "a, " * 80, "(" * 90 + ")" * 90]
)
def test_what_has_no_shape_loses_nothing(text):
    assert "".join(pretty(text).split()) == "".join(text.split())
