"""The smoke models of all rooms, enumerated in this process: TLC's own counts."""

from __future__ import annotations

import os

import pytest

from krafla.manifest import load
from krafla.oracle import Spec, explore
from krafla.tlc.outcome import Finished
from krafla.tlc.run import run

HOLDING = [model for model in load().select(tier="smoke") if model.expect == "holds"]
# Of these TLC runs here as well; of the others its pinned number of states must do.
SMALL = [model for model in HOLDING if model.distinct <= 300]
# What takes longer is left to `make nightly`, which sets KRAFLA_NIGHTLY.
NIGHTLY = bool(os.environ.get("KRAFLA_NIGHTLY"))
# What TLC runs here is counted there.
TRIED = [model for model in HOLDING if NIGHTLY or 300 < model.distinct <= 700]


def enumerated(model):
    spec = Spec.load(
        model.module.stem, path=model.module, cfg=model.config, search_path=model.search_path
    )
    found = explore(spec)
    assert found.is_complete
    assert found.violation is None
    return found


def test_there_are_models_of_both_sizes():
    assert len(SMALL) >= 3
    assert len(TRIED) >= 5


@pytest.mark.by_day(1)
@pytest.mark.parametrize("model", TRIED, ids=[model.name for model in TRIED])
def test_the_states_are_as_many_as_tlc_finds(model):
    found = enumerated(model)
    assert found.distinct == model.distinct
    assert model.generated in {None, found.generated}


@pytest.mark.nightly
@pytest.mark.by_day(1)
@pytest.mark.parametrize("model", SMALL, ids=[model.name for model in SMALL])
def test_the_edges_are_as_many_as_tlc_finds(model):
    reference = run(model, workers=1, coverage=False)
    assert isinstance(reference.outcome, Finished)
    found = enumerated(model)
    assert (found.distinct, found.generated, found.depth) == (
        reference.distinct,
        reference.generated,
        reference.depth,
    )
