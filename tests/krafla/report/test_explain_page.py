"""The page of a trace in a browser."""

from __future__ import annotations

import html
import re
from dataclasses import replace

import pytest
from tests.browser import dom
from tests.krafla.report.explained import hostile, recorded, small, state

from krafla.report.explain.html import page_of
from krafla.report.explain.outcome import outcome_of
from krafla.report.explain.view import view_of


def heads(document):
    shown = re.search(r'id="heads"[^>]*>(.*?)</div></div>', document)[1]
    return html.unescape(re.sub(r"<[^>]+>", " ", shown)).split()


def text_of(document, identity):
    """The text of the element with this id, without tags."""
    body = document.split("<script")[0] if identity == "cut" else document
    found = re.search(rf'<(\w+)[^>]*\bid="{identity}"[^>]*>(.*?)</\1>', body, re.DOTALL)
    return html.unescape(re.sub(r"<[^>]+>", " ", found[2]))


def rows(document):
    return [int(number) for number in re.findall(r'data-step="(\d+)"', document)]


def written(folder, trace, **options):
    path = folder / "trace.html"
    path.write_text(page_of(view_of(trace, outcome_of(trace)), "t.ndjson", **options), "utf-8")
    return path


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    return written(
        tmp_path_factory.mktemp("page"), recorded("rejected/lease/shutdown-offset-moves")
    )


def test_the_fragment_says_which_step_is_shown(page):
    document = dom(page, "#step=5")
    assert text_of(document, "where") == "step 5 of 29"
    assert text_of(document, "call") == "5 ReplayMetadata(p1, 0)"
    assert "applied_offset = 0" in text_of(document, "state")
    assert "(was -1)" in text_of(document, "state")


def test_the_false_conjunct_lights_up_at_its_step_and_not_before(page):
    assert re.search(r'class="panel bad lit" id="outcome"', dom(page, "#step=29"))
    before = dom(page, "#step=28")
    assert re.search(r'class="panel bad" id="outcome"', before)
    assert "UNCHANGED <<controller_log, controlled_shutdown_offset>>" in html.unescape(before)


def test_it_plays_to_the_end_and_stops(page):
    document = dom(page, "#step=3&play=60")
    assert text_of(document, "where") == "step 29 of 29"
    assert text_of(document, "play") == "Play"


def test_a_filter_leaves_the_lanes_and_steps_of_its_nodes(page):
    document = dom(page, "#step=0&nodes=p2")
    assert heads(document) == ["step", "p2"]
    assert rows(document)[:3] == [0, 12, 13]
    only = dom(page, "#step=0&action=ElectLeader")
    assert rows(only) == [0, 23]


def test_messages_are_arrows_between_lanes(page):
    document = dom(page, "#step=3")
    assert len(re.findall(r'class="arrow now"', document)) == 2
    assert "HeartbeatRequest(p1, epoch 0, offset 0, wants: fence)" in html.unescape(document)
    assert 'class="arrow ' not in dom(page, "#step=3&nodes=p2")


def test_hostile_names_are_only_text(tmp_path):
    document = dom(written(tmp_path, hostile()), "#step=1")
    assert "<img" not in document
    assert "onerror" in document
    assert text_of(document, "where") == "step 1 of 1"


def test_a_very_long_trace_opens_and_draws_only_what_is_seen(tmp_path):
    trace = small(*(state(number) for number in range(10_001)))
    document = dom(written(tmp_path, replace(trace, claim=None)), "#step=10000")
    assert text_of(document, "where") == "step 10000 of 10000"
    assert "count = 10000" in text_of(document, "state")
    assert 10_000 in rows(document)
    assert len(rows(document)) < 100


def test_a_longer_trace_is_cut_with_a_note(tmp_path):
    trace = small(*(state(number) for number in range(30)))
    document = dom(written(tmp_path, trace, steps_max=10), "#step=3")
    assert "20 earlier steps are left out" in text_of(document, "cut")
    assert text_of(document, "where") == "step 20 of 29"
    assert "count = 20" in text_of(document, "state")
