"""Reading the values TLC prints."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krafla.values import ModelValue, fmt, function, record, same, sort_key
from krafla.values_text import ValueTextError, parse, parse_arguments, parse_state

scalars = st.one_of(
    st.booleans(),
    st.integers(),
    st.text(max_size=6),
    st.from_regex(r"[a-z][a-z0-9_]{0,4}", fullmatch=True).map(ModelValue),
)


def distinct(members):
    return len({sort_key(member) for member in members}) == len(set(members))


values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(tuple),
        st.lists(inner, max_size=3).filter(distinct).map(frozenset),
        st.dictionaries(inner, inner, max_size=3).map(function),
        st.dictionaries(st.sampled_from(["kind", "epoch"]), inner, min_size=1).map(function),
    ),
    max_leaves=8,
)


@given(values)
def test_every_value_is_read_back_from_its_tla_syntax(value):
    assert same(parse(fmt(value)), value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1..3", frozenset({1, 2, 3})),
        ("3..1", frozenset()),
        ("-7", -7),
        ("(1 :> 5 @@ 2 :> 6)", (5, 6)),
        ("<<\n  1,\n  2>>", (1, 2)),
        (r'"a\"b\\c\n"', 'a"b\\c\n'),
        ("3a", ModelValue("3a")),
        ("[kind |-> {Nil}]", record(kind=frozenset({ModelValue("Nil")}))),
        ("{TRUE, FALSE}", frozenset({True, False})),
    ],
)
def test_what_tlc_prints_in_its_own_way_is_read(text, value):
    assert same(parse(text), value)


@pytest.mark.parametrize(
    ("text", "offset"),
    [
        ("", 0),
        ("{1", 2),
        ("{1 2}", 3),
        ('"abc', 0),
        ("1 1", 2),
        ("[a |-> 1, a |-> 2]", 0),
        ("{TRUE, 1}", 0),
        ("SUBSET {1}", 7),
        ("@", 0),
        ("0..99999999999", 3),
        ("<<" * 5_000, 200),
    ],
)
def test_text_that_is_no_value_is_refused_with_its_place(text, offset):
    with pytest.raises(ValueTextError) as refused:
        parse(text)
    assert refused.value.offset == offset


@given(st.text(alphabet='{}[]()<>|-:@,."ab1 \\/=', max_size=30))
def test_no_text_raises_anything_but_a_value_text_error(text):
    with contextlib.suppress(ValueTextError):
        value = parse(text)
        assert same(parse(fmt(value)), value)


def test_a_state_is_read_with_and_without_conjunctions():
    assert parse_state("x = 0") == record(x=0)
    assert parse_state("/\\ x = 0\n/\\ log = <<1,\n  2>>\n\n") == record(x=0, log=(1, 2))


@pytest.mark.parametrize("text", ["", "/\\ x", "/\\ 1 = 1", "/\\ x = 1\n/\\ x = 2"])
def test_a_state_that_is_none_is_refused(text):
    with pytest.raises(ValueTextError):
        parse_state(text)


def test_arguments_are_read_as_a_list():
    assert parse_arguments("") == ()
    assert parse_arguments("r1, <<1>>") == (ModelValue("r1"), (1,))
