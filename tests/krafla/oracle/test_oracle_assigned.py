"""Which variables an action surely gives next values to."""

from __future__ import annotations

import pytest

from krafla.oracle import Spec
from krafla.oracle.assigned import always_assigned

MODULE = r"""
---- MODULE Assigned ----
VARIABLES x, y
vars == <<x, y>>
Init == x = 0 /\ y = 0
Keep == UNCHANGED vars
Both == x' = 1 /\ y' \in {1, 2}
Half == x' = 1 /\ y = 0
Either == ((x = 0 /\ x' = 1) \/ (x = 1 /\ Keep)) /\ UNCHANGED y
Forgets == (x' = 1 /\ y' = 1) \/ x' = 2
If == IF x = 0 THEN Both ELSE Keep
HalfIf == IF x = 0 THEN Both ELSE Half
Some == \E n \in {1, 2} : x' = n /\ y' = n
Some2(n) == LET m == n + 1 IN x' = m /\ UNCHANGED <<y>>
Called == Some2(3)
All == \A n \in {1, 2} : x' = n /\ y' = n
Implied == (x = 0) => Both
Guard == x = y'
Next == Keep
====
"""


@pytest.fixture(scope="module")
def spec(tmp_path_factory):
    file = tmp_path_factory.mktemp("assigned") / "Assigned.tla"
    file.write_text(MODULE.replace("n + 1", "n"))
    return Spec.load(file, {}, init="Init", next="Next")


@pytest.mark.parametrize(
    ("action", "variables"),
    [
        *((name, "xy") for name in ("Keep", "Both", "Either", "If", "Some", "Some2", "Called")),
        *((name, "x") for name in ("Half", "Forgets", "HalfIf")),
        *((name, "") for name in ("All", "Implied", "Guard")),
    ],
)
def test_what_is_said_in_each_way(spec, action, variables):
    body = spec.definition(action).getBody()
    assert always_assigned(spec, body, spec.empty_context) == frozenset(variables)
