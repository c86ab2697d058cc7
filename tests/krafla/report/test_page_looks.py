"""How pages look in a browser: on a wide and a narrow screen, in light and in dark."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.browser import faults
from tests.krafla.report.explained import hostile, recorded, small, state

from krafla.report.explain.html import page_of
from krafla.report.explain.outcome import outcome_of
from krafla.report.explain.view import view_of
from krafla.report.page import render
from krafla.traces import Claim, ClaimKind, Conjunct, Step, Trace
from krafla.values import Function, ModelValue, function, record

LONG = "of_the_whole_configuration_of_the_cluster_in_all_availability_zones"


def long_names():
    """A trace of seven nodes whose names, values and messages are long."""
    nodes = [ModelValue(f"broker-{number}-{LONG}") for number in range(7)]

    def at(step):
        payload = tuple(record(number=one, text="x" * 30) for one in range(12))
        ends = {"from": nodes[step % 7], "to": nodes[3 * step % 7]}
        mail = {record(type="AskForAll", payload=payload, **ends): 1} if step % 2 else {}
        log = Function({one: tuple(range(9 * step)) for one in nodes})
        return record(**{f"log_{LONG}": log, "mail": function(mail)})

    steps = [Step("Init", (), at(0))]
    steps += [Step(f"Answer_{LONG}", (nodes[one],), at(one)) for one in range(1, 6)]
    conjunct = Conjunct(f"\\A b \\in Broker : {LONG} /\\ {LONG}", "Unknown:1", ((LONG, at(5)),))
    claim = Claim(ClaimKind.INVARIANT, f"Agree_{LONG}_Inv", conjunct)
    return Trace("Unknown", tuple(steps), (("Broker", frozenset(nodes)),), claim)


def traces():
    wrong = recorded("rejected/lease/shutdown-offset-moves")
    loop = replace(small(*map(state, range(5))), lasso=2, back="Loop")
    return {
        "a counterexample": recorded("counterexamples/lease/no-overlap-inv-17-steps-9946c21a"),
        "a rejected trace#step=13": wrong,
        "an accepted trace#step=20&nodes=p1": recorded("accepted/lease/controlled-shutdown-waits"),
        "a lasso#step=4": replace(loop, claim=Claim(ClaimKind.TEMPORAL_PROPERTY, "GoesOnLive")),
        "long names": long_names(),
        "hostile names#step=1": hostile(),
    }


@pytest.mark.by_day(1)
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_page_of_a_trace_has_nothing_cut_covered_empty_or_pale(tmp_path, dark):
    pages = {}
    for name, trace in traces().items():
        outcome = outcome_of(trace, asks=False)
        if name.startswith("a rejected"):
            outcome = replace(outcome, step=15)
        pages[name] = page_of(view_of(trace, outcome), f"found/{LONG}.ndjson")
    assert faults(pages, tmp_path, dark=dark) == []


PLANTED = {
    "the page is": '<div style="width: 2000px">wide</div>',
    "beyond the edge": '<p style="position: relative; left: 1500px">there</p>',
    "cut": '<p style="width: 3rem; overflow: hidden; white-space: nowrap">a long name</p>',
    "text over text": "<p>under</p><p style='margin-top: -2.4rem'>above</p>",
    "text under a line": '<svg style="position: absolute; left: 0; top: 0; width: 300px; '
    'overflow: visible"><path d="M0 0L90 90"></path></svg><p>crossed</p><p>crossed</p>',
    "empty": "<p>before</p><dl><dt>name</dt><dd></dd></dl>",
    "a label without its text": "<p>Kafka:</p>",
    "contrast": '<p style="color: #999999; background: #eeeeee">pale</p>',
}


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """The faults of one page for each planted fault, and of a page without one."""
    bodies = {**PLANTED, "nothing": '<p>text</p><p style="color: #737373">dark enough</p>'}
    pages = {name: f"<!doctype html><body>{body}</body>" for name, body in bodies.items()}
    return faults(pages, tmp_path_factory.mktemp("planted"))


@pytest.mark.parametrize("fault", PLANTED)
def test_each_fault_is_noticed(found, fault):
    assert any(one.startswith(f"{fault} at 420: {fault}") for one in found)


def test_a_page_without_a_fault_has_none(found):
    assert [one for one in found if one.startswith("nothing")] == []


def test_dark_pages_are_looked_at_in_the_dark(tmp_path):
    dim = "@media (prefers-color-scheme: dark) { p { color: #111; background: #222; } }"
    body = f"<style>{dim}</style><p>dim</p>"
    pages = {"page": f"<!doctype html><body>{body}</body>"}
    assert faults(pages, tmp_path) == []
    assert any("contrast 1." in one for one in faults(pages, tmp_path, dark=True))


def test_the_base_of_all_pages_has_no_fault(tmp_path):
    assert faults({"base": render("base.html", title="A page")}, tmp_path) == []
