"""The tables of sentences and the tests in this folder match, one to one."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from tests.kips.sentences import DIFFERS, NOT_KRAFLAS, PAGE, STATUSES, counts, kips, page, shown
from tests.tidy.document_rules import difference_topics

KIPS = kips()
ROOT = Path(__file__).resolve().parents[2]
IDS = [kip.name for kip in KIPS]


def test_every_sentence_that_has_code_has_one_test_and_no_other_has_any():
    wanted = {one.identifier: 1 for kip in KIPS for one in kip.sentences if one.has_test}
    assert {identifier: len(names) for identifier, names in shown().items()} == wanted


def test_a_test_shows_one_sentence():
    by_test = Counter(name for names in shown().values() for name in names)
    assert [name for name, many in by_test.items() if many > 1] == []


def test_ids_are_unique_ascend_and_begin_with_their_kip():
    for kip in KIPS:
        found = [one.identifier for one in kip.sentences]
        assert found == sorted(set(found))
        assert {identifier.partition("-")[0] for identifier in found} == {kip.name[-3:]}


@pytest.mark.parametrize("kip", KIPS, ids=IDS)
def test_a_sentence_that_is_not_kraflas_says_why_and_no_reason_is_idle(kip):
    given = {one.note for one in kip.sentences if one.status == NOT_KRAFLAS}
    assert given == set(kip.reasons)


@pytest.mark.parametrize("kip", KIPS, ids=IDS)
def test_a_sentence_that_is_not_kept_names_a_row_of_the_differences(kip):
    named = {one.note for one in kip.sentences if one.status == DIFFERS}
    assert sorted(named - difference_topics(ROOT)) == []


@pytest.mark.parametrize("kip", KIPS, ids=IDS)
def test_a_test_of_what_differs_says_so_in_its_name_and_no_other_does(kip):
    differing = {one.identifier for one in kip.sentences if one.status == DIFFERS}
    own = {one.identifier for one in kip.sentences}
    says_so = {
        identifier
        for identifier, names in shown().items()
        if identifier in own and names[0].startswith("test_differs_")
    }
    assert says_so == differing


def test_the_counts_add_up_in_the_last_line():
    for kip in KIPS:
        *_, total = counts(kip).splitlines()
        numbers = [int(cell) for cell in total.strip("| ").split("|")[1:]]
        assert numbers[0] == len(kip.sentences) == sum(numbers[1 : 1 + len(STATUSES)])
        assert numbers[-1] == sum(one.has_test for one in kip.sentences)


def test_the_page_is_what_the_tables_and_the_tests_say():
    assert PAGE.read_text() == page(), "python -m tests.kips --write"
