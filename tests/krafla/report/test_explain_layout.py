"""The view that lays out a trace, if several specs have variables of the same names."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.krafla.report.explained import small, state

from krafla.report.explain.layout import layout_of

VIEW = '[[view]]\nspec = "{spec}"\n[[view.node]]\nname = "{name}"\nvariables = {variables}\n'


@pytest.fixture
def specs(tmp_path, monkeypatch):
    """A spec tree of two rooms, the first with a view of few variables and no messages."""
    for room, views in {
        "near": VIEW.format(spec="Small", name="small", variables=["count"]),
        "far": VIEW.format(spec="Large", name="large", variables=["count", "mail"]),
    }.items():
        (tmp_path / room).mkdir()
        (tmp_path / room / "models.toml").write_text("")
        (tmp_path / room / "views.toml").write_text(views)
    (tmp_path / "manifest.toml").write_text('rooms = ["near", "far"]\n')
    monkeypatch.setenv("KRAFLA_SPECS", str(tmp_path))


@pytest.mark.usefixtures("specs")
@pytest.mark.parametrize(("spec", "column"), [("Unknown", "large"), ("Small", "small")])
def test_the_layout_is_the_spec_s_own_view_else_the_one_with_most_variables(spec, column):
    trace = replace(small(state(0), state(1)), spec=spec)

    assert [one.name for one in layout_of(trace).columns] == [column, "other"]
