"""A refined spec constrains the beginning, the steps and the liveness of behaviours."""

from __future__ import annotations

import pytest
from tests.krafla.unlisted_models import model_of

from krafla.graph import build, dead_ends
from krafla.graph.judge import judge
from krafla.verdict import Verdict

UPPER = r"""---- MODULE Upper ----
EXTENDS Naturals
VARIABLE y
Init == y = 1
Up == y' = y + 1
Spec == Init /\ [][Up]_y
FairSpec == Spec /\ WF_y(Up)
====
"""
LOWER = r"""---- MODULE Lower ----
EXTENDS Naturals
VARIABLE x
Init == x = {start}
Up == x < 3 /\ x' = x + {by}
Spec == Init /\ [][Up]_x
Upper == INSTANCE Upper WITH y <- x
OtherProp == [][x' > x]_x
UpperProp == Upper!{spec}
====
"""


@pytest.fixture
def judged(tmp_path):
    """Return the verdict on a spec that refines another one, or does not."""

    def judged(start=1, by=1, spec="Spec", expect="holds"):
        (tmp_path / "Upper.tla").write_text(UPPER)
        (tmp_path / "Lower.tla").write_text(LOWER.format(start=start, by=by, spec=spec))
        config = tmp_path / "Lower.cfg"
        config.write_text(
            "SPECIFICATION Spec\nPROPERTIES OtherProp UpperProp\nCHECK_DEADLOCK FALSE\n"
        )
        prop = "UpperProp" if expect == "violates" else None
        module = tmp_path / "Lower.tla"
        model = model_of(module, config, distinct=3, expect=expect, property=prop)
        graph = build(model)
        return judge(model, graph, dead_ends(graph))

    return judged


def test_a_refinement_that_holds_is_held(judged):
    assert judged().verdict is Verdict.HELD


@pytest.mark.parametrize("wrong", [{"start": 2}, {"by": 2}], ids=["begins", "goes-on"])
def test_a_refinement_that_begins_or_goes_on_otherwise_fails_by_its_name(judged, wrong):
    found = judged(**wrong)

    assert (found.verdict, found.reasons) == (Verdict.VIOLATED, ("UpperProp is violated",))
    assert judged(**wrong, expect="violates").verdict is Verdict.HELD


def test_a_temporal_property_is_named_and_left_to_tlc(judged):
    found = judged(spec="FairSpec")

    assert found.verdict is Verdict.INCONCLUSIVE
    assert found.reasons == ("UpperProp: about whole behaviours; krafla check judges them",)
