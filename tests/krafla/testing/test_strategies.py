"""The strategies of an action's parameters: each has one, and stands in its place."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume
from hypothesis import strategies as st
from tests.krafla.testing.test_machine import Mail, done, one_parameter, run, two_parameters

from krafla.testing import action
from krafla.verdict import KraflaError


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"clinet": st.none()}, r"@action\('Acquire', clinet=...\): the method one_parameter has "
         "no parameter clinet; did you mean client"),
        ({"client": st.none(), "job": st.none()}, "has no parameter job; there are: client"),
    ],
)  # fmt: skip
def test_a_strategy_for_no_parameter_is_told_when_the_class_is_made(
    given: dict[str, Any], message: str
) -> None:
    with pytest.raises(KraflaError, match=message):
        action("Acquire", **given)(one_parameter)
    action("Acquire", **given)(lambda _, **values: values)


def test_a_misspelt_option_of_an_action_is_told_as_one() -> None:
    said = "one_parameter has no parameter refuse; did you mean refused or may_refuse of @action?"
    with pytest.raises(KraflaError, match=said):
        action("Acquire", client=st.none(), refuse=ValueError)(one_parameter)  # type: ignore[arg-type]  # the mistake


def test_a_parameter_without_a_strategy_is_told_when_the_class_is_made() -> None:
    said = (
        r"@action\('Acquire'\): the method two_parameters has a parameter more without a strategy: "
        r'give it one, such as more=member_of\("..."\)'
    )
    with pytest.raises(KraflaError, match=said):
        action("Acquire", client=st.none())(two_parameters)
    action("Acquire")(lambda _, *clients, more=1, **values: (clients, more, values))


def test_an_action_without_parentheses_is_told_when_the_class_is_made() -> None:
    said = r'^@action needs the name of the action: write @action\("OneParameter"\)$'
    with pytest.raises(KraflaError, match=said):
        action(one_parameter)  # type: ignore[arg-type]  # the mistake


def test_a_strategy_for_the_second_parameter_leaves_the_first_one_the_first() -> None:
    class Chosen(Mail):
        @action("Read", only_if_enabled=True, letter=st.sampled_from([1, 2]))
        def read(self, person: str, letter: int) -> None:
            assume(self.inbox[person][0] == letter)
            done.add((person, self.inbox[person].pop(0)))

    done.clear()
    run(Chosen, examples=8)
    assert done >= {("ann", 1), ("bob", 2)}
