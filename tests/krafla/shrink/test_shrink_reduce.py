from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from krafla.shrink import Budget, minimise, smallest


def needing(*wanted):
    return lambda items: set(wanted) <= set(items)


@given(st.sets(st.integers(0, 30)), st.integers(0, 40))
def test_the_needed_items_are_left_in_their_order(wanted, surplus):
    items = list(range(31 + surplus))

    assert minimise(items, needing(*wanted), Budget(100_000)) == tuple(sorted(wanted))


def test_two_items_that_can_only_be_left_out_together_are_left_out():
    def fails(items):
        return (1 in items) == (2 in items) and 5 in items

    assert minimise(range(8), fails, Budget(10_000)) == (5,)


def test_the_result_still_fails_when_the_budget_is_spent():
    budget = Budget(5)

    left = minimise(range(100), needing(7, 13), budget)

    assert budget.is_spent
    assert {7, 13} <= set(left)
    assert 2 < len(left) < 100


def test_a_spent_budget_answers_no_without_asking():
    budget = Budget(0)

    assert not budget.allows(lambda: 1 // 0)


@given(st.integers(1, 500), st.integers(1, 500))
def test_a_number_becomes_as_small_as_it_can(threshold, value):
    found = smallest(value, 1, lambda number: number >= threshold, Budget(100))

    assert found == (min(value, threshold) if value >= threshold else value)


def test_a_number_that_cannot_be_smaller_stays():
    assert smallest(9, 1, lambda number: number == 9, Budget(100)) == 9
    assert smallest(1, 1, lambda _: True, Budget(100)) == 1
