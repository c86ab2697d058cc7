"""The file of explanations: what it holds, and what it is refused for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from krafla.mutate.survivors import Explanation, explanations
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from pathlib import Path


def test_the_file_of_explanations_is_read_with_its_lines(tmp_path: Path) -> None:
    assert explanations(tmp_path).entries == ()
    (tmp_path / "mutation.toml").write_text(
        "[sample]\nsize = 240\nseed = 7\n\n"
        "[[survivor]]\nid = 'a'\ntext = '''x  =\n y'''\nreason = 'b'\n",
        encoding="utf-8",
    )  # fmt: skip
    found = explanations(tmp_path)
    assert (found.size, found.seed) == (240, 7)
    assert found.entries == (Explanation("a", "x = y", "b", 5),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "[[survivor]]\nid = 'a'\ntext = 'x'\n",
            "an explanation has the id of a mutant, the text that it changes, and a reason: "
            "the keys id, text, reason",
        ),
        (
            "[[survivor]]\nid = 'a'\ntext = 'x'\nreason = ' '\n",
            "'reason' of an explanation is a string",
        ),
        (
            "[[twin]]\nid = 'a'\n",
            "there is no key 'twin'; known: sample, least, equivalent, survivor",
        ),
        ("[sample]\nsize = 0\n", "'size' of the sample is a number from 1, found 0"),
        ("[least]\nnoticed = 0.9\n", "'noticed' is a percentage from 0 to 100, found 0.9"),
        ("[least]\nnotice = 90\n", "'least' holds the percentages 'noticed' and 'killed'"),
        ("sample = 3\n", "'sample' holds a size and a seed"),
        ("survivor = 3\n", "'survivor' is a list"),
        ("[[survivor]]\nid='a'\ntext='x'\nreason='y'\n" * 2, "a is explained twice"),
        ("not toml", "not TOML"),
    ],
)
def test_a_file_of_explanations_that_is_wrong_is_refused(
    tmp_path: Path, text: str, message: str
) -> None:
    (tmp_path / "mutation.toml").write_text(text, encoding="utf-8")
    with pytest.raises(KraflaError, match=message):
        explanations(tmp_path)
