"""Real models: the graph has the numbers that TLC counts."""

from __future__ import annotations

import pytest

from krafla.graph import build, components, dead_ends
from krafla.manifest import load
from krafla.tlc.run import run


@pytest.mark.nightly
@pytest.mark.parametrize(
    "name",
    ["MCUntimedLease", pytest.param("MCBrokerLeaseRefinementRepeat", marks=pytest.mark.nightly)],
)
def test_states_steps_and_the_use_of_each_action_are_those_of_tlc(name):
    (model,) = load().select((name,))
    reference = run(model, workers=1)

    graph = build(model)

    found = graph.found
    assert (found.distinct, found.generated, found.depth) == (
        reference.distinct,
        reference.generated,
        reference.depth,
    )
    assert found.distinct == model.distinct
    assert max(graph.depths) == found.depth - 1
    taken = {action.name: action.taken for action in reference.coverage if action.taken}
    ours = {action: use.taken for action, use in graph.action_uses().items() if use.taken}
    # TLC counts the initial states as taken by Init.
    assert {**ours, "Init": len(graph.initial())} == {"Init": len(graph.initial()), **taken}
    assert sum(graph.depth_histogram().values()) == found.distinct
    assert sum(part.size for part in components(graph).found) == found.distinct
    left = {*found.sources}
    assert dead_ends(graph).stepless == tuple(
        index for index in range(found.expanded) if index not in left
    )
