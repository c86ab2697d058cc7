"""Comments become blanks; what only looks like one stays."""

from __future__ import annotations

import pytest

from krafla.tlc.comments import without_comments

CASES = {
    "to the end of the line": ("A == 1 \\* (* one\nB", "A == 1          \nB"),
    "over lines": ("A (* x\ny *) B", "A     \n     B"),
    "nested": ("(* (* *) \\* *) A == TRUE", " " * 15 + "A == TRUE"),
    "two": ("(* a *) A (* b *)", "        A        "),
    "in a text": ('A == "(* \\* *)" (* c *)', 'A == "(* \\* *)"        '),
    "not closed": ("about (* this\nA == 1", "about (* this\nA == 1"),
    "closed only": ("A *) B", "A *) B"),
    "a quote in a comment": ('(* " *) A == "x"', '        A == "x"'),
    "none": ("A == 1", "A == 1"),
}


@pytest.mark.parametrize("case", CASES)
def test_comments_become_blanks(case):
    text, without = CASES[case]
    assert without_comments(text) == without
    assert len(text) == len(without)
