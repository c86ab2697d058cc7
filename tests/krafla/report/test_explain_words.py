"""Values in words: functions over numbers, and values that differ although they read alike."""

from __future__ import annotations

from krafla.oracle.difference import differences
from krafla.report.explain.difference_rows import difference_rows
from krafla.report.explain.words import Words
from krafla.traces.changes import deep_changes
from krafla.values import Function, ModelValue, sort_key

NODE = ModelValue("p1")


def test_the_arguments_of_a_function_over_numbers_are_named_where_the_view_asks_for_it():
    request = Function({"type": "Ask", "isr": (0, 7)})
    named = Words(fields={"isr": {"other": "isr {:}"}})
    assert Words().value(request) == "Ask(isr [0, 7])"
    assert named.value(request) == "Ask(isr (1: 0, 2: 7))"
    assert named.value(Function({"type": "Ask", "isr": frozenset({3})})) == "Ask(isr {3})"


def test_a_string_and_a_model_value_of_the_same_letters_are_told_apart():
    of_a_node, of_a_string = Function({NODE: -1}), Function({"p1": -1})
    rows = difference_rows(differences("offset", of_a_node, of_a_string), Words())
    assert len({part for part, _, _ in rows}) == len(rows) == 2
    (row,) = difference_rows(differences("leader", NODE, "p1"), Words())
    assert row == ("leader", "p1", '"p1"')


def test_a_string_beside_another_kind_of_value_has_its_quotes():
    up = Function({NODE: True}), Function({NODE: "true"})
    assert Words().value(up[1]) == '(p1: "true")'
    assert difference_rows(differences("up", *up), Words()) == (("up[p1]", "TRUE", '"true"'),)
    (row,) = difference_rows(differences("leader", NODE, "p2"), Words())
    assert row == ("leader", "p1", '"p2"')
    of_nodes = Words({sort_key("p2"): "p2"})
    assert difference_rows(differences("leader", NODE, "p2"), of_nodes) == (("leader", "p1", "p2"),)


def test_other_differences_are_in_words():
    (row,) = difference_rows(
        differences("leader", NODE, ModelValue("p2")), Words({("other",): "unused"})
    )
    assert row == ("leader", "p1", "p2")


def test_a_sequence_in_the_place_of_a_function_is_called_one():
    (row,) = difference_rows(differences("f", Function({NODE: 1}), (1, 0)), Words())
    assert row == ("f", "the function (p1: 1)", "the sequence [1, 0]")
    (row,) = difference_rows(differences("f", frozenset({1}), (1,)), Words())
    assert row == ("f", "the set {1}", "the sequence [1]")


def test_a_queue_that_changed_at_its_front_is_told_by_what_it_lost_or_gained():
    def told(before, after):
        found = deep_changes("q", before, after)
        return [Words().change(change, change.path) for change in found]

    assert told((1, 2, 3), (2, 3)) == ["q loses in front: [1]"]
    assert told((1, 2, 3), (3,)) == ["q loses in front: [1, 2]"]
    assert told((2,), (3, 1, 2)) == ["q gains in front: [3, 1]"]
    assert told((1, 2), (1,)) == ["q loses at its end: [2]"]
    # Which end they left is not known.
    assert told((1, 2), ()) == ["q is emptied of [1, 2]"]
