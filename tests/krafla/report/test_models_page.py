"""``specs/MODELS.md`` is exactly what the manifest says."""

from __future__ import annotations

from dataclasses import replace

from krafla.manifest import find_specs, load
from krafla.report.models_page import COMMAND, models_page


def test_the_page_of_models_is_what_the_manifest_says():
    page = (find_specs() / "MODELS.md").read_text(encoding="utf-8")

    assert page == models_page(load().models), f"make it again: {COMMAND}"


def test_the_page_changes_with_what_a_model_must_answer():
    models = load().select(("MCBrokerStates", "OnlineButFenced"))
    page = models_page(models)

    assert "| `MCBrokerStates` | smoke | safety | holds | 48 |" in page
    assert "| `OnlineButFenced` | smoke | refinement | `RefinesKip500Prop` fails | - |" in page
    for model in models:
        for change in ({"tier": "full"}, {"distinct": 7}, {"bounds": "x"}, {"room": "other"}):
            others = [replace(one, **change) if one is model else one for one in models]
            assert models_page(others) != page


def test_a_bar_in_the_bounds_does_not_end_the_cell():
    (model,) = load().select(("MCBrokerStates",))

    assert "a \\| b |" in models_page([replace(model, bounds="a | b")])
