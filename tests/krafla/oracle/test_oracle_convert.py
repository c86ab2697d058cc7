"""Values cross into TLC and back without loss."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krafla.oracle import ValueOutOfRange
from krafla.values import ModelValue, fmt, function, record, same

RED = ModelValue("Red")

# TLC compares no number with a text, so the members of one set and the arguments of one
# function are of one kind. Model values go with everything.
atoms = [
    st.booleans(),
    st.integers(-(2**31), 2**31 - 1),
    st.text(alphabet=st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=5),
]
keys = st.one_of(*[st.frozensets(atom | st.just(RED), min_size=1, max_size=3) for atom in atoms])


def extended(inner):
    fields = st.sampled_from(["epoch", "isr", "leader"])
    return (
        st.lists(inner, max_size=3).map(tuple)
        | keys
        | st.frozensets(st.integers(0, 3).map(lambda number: (number,)), max_size=3)
        | st.tuples(keys, inner).map(lambda pair: function(dict.fromkeys(pair[0], pair[1])))
        | st.dictionaries(fields, inner, max_size=3).map(function)
    )


values = st.recursive(st.one_of(*atoms, st.just(RED)), extended, max_leaves=10)


@given(values)
def test_a_value_survives_the_way_through_tlc(shapes, value):
    returned = shapes.evaluate("Identity", None, value)

    assert same(returned, value)


@given(values)
def test_what_is_read_from_tlc_is_what_was_sent_even_when_not_remembered(shapes, value):
    shapes.converter.forget()

    assert same(shapes.converter.to_python(shapes.converter.to_java(value)), value)


def test_every_kind_of_value_a_spec_can_build_is_read(shapes):
    kinds = [fmt(value) for value in shapes.evaluate("Kinds")]

    assert kinds == [
        "TRUE",
        "-7",
        '"text with \\"quotes\\""',
        "Red",
        "{1, 2}",
        "{3, 4, 5}",
        "<<1, <<2>>>>",
        "[a |-> 1, b |-> {}]",
        '(2 :> "one" @@ 5 :> <<2, -2>>)',
        "(2 :> 4 @@ 3 :> 9)",
        "{{}, {1}, {2}, {1, 2}}",
        "{1, 5}",
        '{<<1, "a">>, <<2, "a">>}',
        "{<<FALSE, FALSE>>, <<FALSE, TRUE>>, <<TRUE, FALSE>>, <<TRUE, TRUE>>}",
        "{[p |-> 1, q |-> 2], [p |-> 1, q |-> 3]}",
        "{2, 4, 6}",
        "{1, 2}",
        "{1, 3}",
        "{2}",
        "<<>>",
        "{}",
        '("x" :> 2 @@ Red :> 1)',
        "<<1, 2>>",
    ]


def test_true_and_one_stay_apart_in_what_is_remembered(shapes):
    sent = [1, True, (1,), (True,), 0, False]

    returned = [shapes.evaluate("Identity", None, value) for value in sent]

    assert all(map(same, returned, sent))


@pytest.mark.parametrize("number", [2**31, -(2**31) - 1, 10**20])
def test_a_number_beyond_32_bits_is_refused(shapes, number):
    with pytest.raises(ValueOutOfRange, match=f"{number} does not fit"):
        shapes.evaluate("Identity", None, (number,))


def test_a_model_value_the_spec_does_not_have_is_refused(shapes):
    with pytest.raises(ValueOutOfRange, match=r"Green is no model value .*Blue, Red"):
        shapes.evaluate("Identity", None, record(colour=ModelValue("Green")))
