"""The Python form of TLA+ values: equality, order, printing."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krafla.values import (
    Function,
    ModelValue,
    fmt,
    freeze,
    function,
    record,
    same,
    sort_key,
    sorted_values,
)

scalars = (
    st.booleans()
    | st.integers(-(2**31), 2**31 - 1)
    | st.text(max_size=4)
    | st.sampled_from([ModelValue("a"), ModelValue("b")])
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3).map(tuple)
        | st.frozensets(inner, max_size=3)
        | st.dictionaries(inner, inner, max_size=3).map(function)
    ),
    max_leaves=12,
)


def test_a_function_over_one_to_n_is_a_sequence():
    assert function({2: "b", 1: "a"}) == ("a", "b")
    assert function({}) == ()


def test_a_function_over_another_domain_stays_a_function():
    assert isinstance(function({0: "a", 1: "b"}), Function)
    assert isinstance(function({True: "a"}), Function)


def test_a_sequence_cannot_pose_as_a_function():
    with pytest.raises(ValueError, match="is a tuple"):
        Function({1: "a"})


def test_true_is_not_one_at_any_depth():
    assert not same(True, 1)
    assert not same((1, (0,)), (1, (False,)))
    assert not same(frozenset({(1,)}), frozenset({(True,)}))
    assert record(fenced=True) != record(fenced=1)
    assert function({True: "x"}) != function({0: "x", 1: "y"})


@given(values, values)
def test_same_values_are_those_with_one_sort_key(left, right):
    assert same(left, right) == (sort_key(left) == sort_key(right))


@given(values)
def test_a_value_is_the_same_after_a_pickle(value):
    assert same(pickle.loads(pickle.dumps(value)), value)


@given(values)
def test_freezing_a_frozen_value_changes_nothing(value):
    assert same(freeze(value), value)


@given(st.lists(values, max_size=5))
def test_the_canonical_order_does_not_depend_on_the_order_given(members):
    forwards = [fmt(member) for member in sorted_values(members)]
    backwards = [fmt(member) for member in sorted_values(members[::-1])]

    assert forwards == backwards


def test_lists_sets_and_dicts_freeze_to_any_depth():
    plain = {"isr": [1, 2], "removing": {3}, "leader": {"id": 1}}

    assert freeze(plain) == record(isr=(1, 2), removing=frozenset({3}), leader=record(id=1))


@pytest.mark.parametrize("plain", [None, 1.5, b"bytes", [None]])
def test_what_tla_cannot_hold_does_not_freeze(plain):
    with pytest.raises(TypeError, match="no counterpart"):
        freeze(plain)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "TRUE"),
        (-3, "-3"),
        ('say "hi"\\', '"say \\"hi\\"\\\\"'),
        (ModelValue("b1"), "b1"),
        ((1, ("a",)), '<<1, <<"a">>>>'),
        (frozenset({3, 1, 2}), "{1, 2, 3}"),
        (frozenset(), "{}"),
        ((), "<<>>"),
        (record(b=2, a=1), "[a |-> 1, b |-> 2]"),
        (function({ModelValue("b1"): 0, 5: 1}), "(5 :> 1 @@ b1 :> 0)"),
        (function({"not a name": 1}), '("not a name" :> 1)'),
    ],
)
def test_a_value_prints_as_tla(value, text):
    assert fmt(value) == text


def test_fields_of_a_record_read_as_attributes():
    registration = record(fenced=True, epoch=7)

    assert registration.epoch == 7
    with pytest.raises(AttributeError, match="no field 'isr'"):
        _ = registration.isr


def test_a_record_with_changed_fields_is_another_value():
    registration = record(fenced=True, epoch=7)

    assert registration.replace(fenced=False) == record(fenced=False, epoch=7)
    assert registration.fenced
    with pytest.raises(KeyError, match="isr"):
        registration.replace(isr=())


def test_updating_outside_the_domain_is_refused():
    assert function({0: "a"}).updated(0, "b") == function({0: "b"})
    with pytest.raises(KeyError):
        function({0: "a"}).updated(1, "b")


def test_printing_does_not_depend_on_the_hash_seed():
    program = (
        "from krafla.values import *\n"
        "print(fmt(freeze({frozenset({'x', 'y'}): {'b', 'a', 'c'}, 'k': {ModelValue('m'), 'n'}})))"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "2")
    }

    assert printed == {'("k" :> {"n", m} @@ {"x", "y"} :> {"a", "b", "c"})\n'}
