"""The view that lays out a trace, if several specs have variables of the same names."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.krafla.report.explained import record, small, state

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


@pytest.mark.parametrize(
    ("lengthened", "columns"), [(("want",), ["state"]), ((), ["shared", "n1", "n2"])]
)
def test_a_tuple_of_constant_length_is_of_nodes_and_one_that_grows_is_a_sequence(
    lengthened, columns
):
    first = record(pc=("start", "start"), turn=1)
    second = record(pc=("start", "want", *lengthened), turn=2)
    trace = replace(small(first, second), constants=(("N", 2),))

    assert [one.name for one in layout_of(trace).columns] == columns


@pytest.mark.usefixtures("specs")
def test_a_view_of_the_project_s_own_file_lays_its_traces_out(tmp_path, monkeypatch):
    view = VIEW.format(spec="Unknown", name="mine", variables=["count"])
    (tmp_path / "krafla.toml").write_text(view)
    (tmp_path / "manifest.toml").unlink()
    monkeypatch.setenv("KRAFLA_SPECS", "")
    monkeypatch.chdir(tmp_path)

    assert layout_of(small(state(0), state(1))).columns[0].name == "mine"
