"""The page of a trace in a browser."""

from __future__ import annotations

import html
import json
import re
from dataclasses import replace

import pytest
from tests.browser import dom
from tests.krafla.report.explained import hostile, message, p1, recorded, small, state

from krafla.report.explain.html import page_of
from krafla.report.explain.outcome import Falsehood, outcome_of
from krafla.report.explain.view import view_of
from krafla.traces import Claim, ClaimKind, Step, Trace
from krafla.values import Function, ModelValue, record

# The actions of a reader, one after another; the document then holds where they led.
HANDS = """<script>
function press(key) {
  document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
}
%s;
document.body.dataset.fragment = location.hash;
</script></body>"""


def text_of(document, identity):
    """The text of the element with this id, without tags."""
    found = re.search(rf'<(\w+)[^>]*\bid="{identity}"[^>]*>(.*?)</\1>', document, re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", found[2])).split())


def state_of(document):
    return plain(re.search(r'<div id="state">(.*)</div>\s*</details>', document, re.DOTALL)[1])


def heads(document):
    return re.findall(r'<span class="head" data-column="(\d+)"', document)


def rows(document):
    """The numbers of the steps that are shown."""
    found = re.findall(r'<li class="step[^"]*" id="step=(\d+)"([^>]*)>', document)
    return [int(number) for number, more in found if "hidden" not in more]


def kinds(document):
    """What the page says of each step: wrong, after, loop or nothing."""
    return re.findall(r'<li class="step (\w*)" id="step=\d+"', document)


def page_text(trace, **options):
    return page_of(view_of(trace, outcome_of(trace, asks=False)), "t.ndjson", **options)


def written(folder, trace, **options):
    path = folder / "trace.html"
    path.write_text(page_text(trace, **options), "utf-8")
    return path


def plain(document):
    """What a reader without scripts has."""
    without = re.sub(r"<(script|style).*?</\1>", "", document, flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", without)).split())


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    trace = recorded("rejected/lease/shutdown-offset-moves")
    path = tmp_path_factory.mktemp("page") / "trace.html"
    path.write_text(page_of(view_of(trace, outcome_of(trace)), "t.ndjson"), "utf-8")
    return path


@pytest.fixture
def used(page, tmp_path):
    """Return the document after some actions of a reader."""

    def use(acts, fragment=""):
        path = tmp_path / "used.html"
        path.write_text(page.read_text().replace("</body>", HANDS % acts))
        return dom(path, fragment)

    return use


def test_the_fragment_says_which_step_is_shown(page):
    document = dom(page, "#step=5")
    assert text_of(document, "where") == "step 5 of 29"
    assert text_of(document, "statehead") == "After step 5, ReplayMetadata"
    assert "applied_offset = 0 (was -1)" in state_of(document)
    assert re.search(r'class="step [^"]*current" id="step=5" aria-current="step"', document)


def test_the_title_is_the_sentence_of_what_is_violated_and_not_the_model():
    document = page_text(recorded("counterexamples/lease/no-overlap-inv-14-steps-96a1c4bc"))
    sentence = "A process serves only while its own registration is in the log and unfenced."
    assert f"<title>Violated: {sentence}</title>" in document
    assert re.search(rf"<h1[^>]*>Violated: {sentence}</h1>", document)


@pytest.mark.parametrize(
    ("kind", "name", "title"),
    [
        (ClaimKind.INVARIANT, "NoInv", r"[^<]*\bNoInv is "),
        (ClaimKind.DEADLOCK, None, "Deadlock: no action is enabled any more"),
        (ClaimKind.DIVERGENCE, "Step1", "Step 1, Step1: the code did what the spec does"),
        (ClaimKind.BEHAVIOUR, None, "Unknown: a behaviour of the spec"),
    ],
)
def test_without_a_sentence_the_title_still_says_what_is_wrong(kind, name, title):
    trace = replace(small(state(0), state(1)), claim=Claim(kind, name))
    assert re.search(f"<title>{title}", page_text(trace))


def test_the_false_conjunct_lights_up_at_its_step_and_not_before(page):
    assert re.search(r'class="bad lit" id="outcome"', dom(page, "#step=29"))
    before = dom(page, "#step=28")
    assert re.search(r'class="bad" id="outcome"', before)
    assert "UNCHANGED <<controller_log, controlled_shutdown_offset>>" in html.unescape(before)


def test_the_steps_after_the_wrong_one_are_marked_and_those_before_are_not():
    trace = recorded("rejected/lease/session-not-renewed")
    outcome = outcome_of(trace, asks=False)
    document = page_of(view_of(trace, replace(outcome, step=13, is_bad=True)), "t")
    assert kinds(document) == [*[""] * 13, "wrong", "after", "after"]
    assert document.count("The spec was not asked about the steps below.") == 1
    assert set(kinds(page_of(view_of(trace, outcome), "t"))) == {""}


def test_a_lasso_marks_the_steps_that_repeat():
    trace = replace(small(*map(state, range(4))), lasso=1, back="Loop")
    document = page_text(replace(trace, claim=Claim(ClaimKind.TEMPORAL_PROPERTY, "GoesOnLive")))
    assert kinds(document) == ["", "", "loop", "loop"]
    assert "back to the state of step 1 by Loop, for ever" in text_of(document, "ending")


def test_it_plays_to_the_end_and_stops(page):
    document = dom(page, "#step=3&play=60")
    assert text_of(document, "where") == "step 29 of 29"
    assert text_of(document, "play") == "Play"


def test_keys_go_from_step_to_step(used):
    steps = 'press("ArrowRight"); press("ArrowRight"); press("ArrowLeft"); press("ArrowRight")'
    assert 'data-fragment="#step=7"' in used(steps, "#step=5")
    assert 'data-fragment="#step=29"' in used('press("End")')
    assert 'data-fragment="#step=0"' in used('press("Home"); press("ArrowLeft")', "#step=5")


def test_a_step_that_is_clicked_is_shown(used):
    assert 'data-fragment="#step=12"' in used('document.getElementById("step=12").click()')


def test_paper_has_all_arrows_and_everything_that_can_be_opened(used):
    drawn = 'document.body.dataset.drawn = document.querySelectorAll("svg").length'
    on_paper = used(f'dispatchEvent(new Event("beforeprint")); {drawn}')
    assert 'data-drawn="31"' in on_paper
    assert '<details class="initial" open="">' in on_paper
    after = used('dispatchEvent(new Event("beforeprint")); dispatchEvent(new Event("afterprint"))')
    assert '<details class="initial">' in after


def test_a_filter_leaves_the_lanes_and_steps_of_its_nodes(page):
    document = dom(page, "#step=0&nodes=p2")
    hidden = re.search(r'<style id="hidden">(.*?)</style>', document)[1]
    assert re.findall(r'data-column="(\d)"', hidden) == ["0", "1", "3"]
    assert heads(document) == ["0", "1", "2"]
    assert rows(document)[:3] == [0, 12, 13]
    only = dom(page, "#step=0&action=ElectLeader")
    assert rows(only) == [0, 23]


def test_messages_are_arrows_between_lanes(page):
    document = dom(page, "#step=3")
    assert re.search(r'class="arrow {1,2}now"', document)
    assert "HeartbeatRequest(p1, epoch 0, offset 0, wants: fence)" in html.unescape(document)
    assert "<svg" not in dom(page, "#step=3&nodes=p2")


def test_of_many_nodes_only_those_have_a_lane_to_which_something_happens():
    nodes = [ModelValue(f"n{number}") for number in range(12)]

    def at(step):
        return record(up=Function({one: one in nodes[:step] for one in nodes}))

    steps = tuple(Step("Init" if not one else "Start", (), at(one)) for one in range(4))
    document = page_text(Trace("Unknown", steps, (("Node", frozenset(nodes)),)))
    names = re.findall(r'<span class="head"[^>]*>(\w+)', document)
    assert names == ["n0", "n1", "n2"]
    assert '"columns":["n0","n1","n10"' in document


def test_a_long_list_of_reasons_is_folded():
    trace = replace(small(state(0), state(1)), claim=Claim(ClaimKind.INVARIANT, "NoInv"))
    reasons = tuple(Falsehood(f"Module:{number}", f"part_{number}") for number in range(9))
    outcome = replace(outcome_of(trace, asks=False), falsehoods=reasons)
    shown, folded = page_of(view_of(trace, outcome), "t").split('<details class="rest">')
    assert re.findall(r"part_\d", shown) == ["part_0", "part_1", "part_2"]
    assert "and 6 more" in folded
    assert "part_8" in folded


def test_both_ends_of_a_message_name_each_other():
    document = page_text(recorded("rejected/lease/shutdown-offset-moves"))
    message = r'RegistrationRequest\(<wbr>p1\) <span class="way-of">'
    assert re.search(rf'\+ {message}taken at <a href="#step=3">', document)
    assert re.search(rf'- {message}sent at <a href="#step=2">', document)


def test_the_page_is_read_without_scripts(page):
    text = plain(page.read_text())
    trace = recorded("rejected/lease/shutdown-offset-moves")
    assert all(step.action in text for step in trace.steps)
    assert "registrations[1].fenced: TRUE \u2192 FALSE" in text
    assert "UNCHANGED <<controller_log, controlled_shutdown_offset>>" in text
    assert "controlled_shutdown_offset[1]56" in text
    assert "krafla replay t.ndjson" in text


def test_every_link_leads_to_a_place_on_the_page(page):
    document = page.read_text()
    places = set(re.findall(r'\bid="([^"]+)"', document))
    links = set(re.findall(r'href="#([^"]+)"', document))
    assert {"step=0", "step=29", "outcome"} <= links <= places


def test_what_is_cut_can_be_opened_and_nothing_else():
    long = record(type="Ask", node=p1, payload=tuple(range(200)))
    document = page_text(replace(small(state(0), state(1, [long]), state(2)), claim=None))
    opened = re.findall(
        r'<details class="long"><summary>(.*?)</summary><pre>(.*?)</pre>', document, re.DOTALL
    )
    assert len(opened) == 2
    for short, whole in opened:
        assert "..." in short
        assert "199" not in short
        assert "199" in whole
        assert max(map(len, whole.splitlines())) < 80
    short = page_text(replace(small(state(0), state(1, [message()])), claim=None))
    assert '<details class="long">' not in short


def test_the_state_has_all_of_what_is_cut(tmp_path):
    trace = small(state(0, status=(tuple(range(200)), "OFF")), state(1))
    document = dom(written(tmp_path, replace(trace, claim=None)))
    assert re.search(r'<div id="state">.*<details class="long">.*199.*</div>', document, re.DOTALL)


def test_a_step_that_changes_nothing_says_so():
    document = page_text(replace(small(state(0), state(0)), claim=None))
    assert document.count("nothing changed") == 1


def test_hostile_names_are_only_text(tmp_path):
    document = dom(written(tmp_path, hostile()), "#step=1")
    assert "<img" not in document
    assert "onerror" in document
    assert text_of(document, "where") == "step 1 of 1"


@pytest.mark.nightly
def test_a_very_long_trace_opens_at_its_step(tmp_path):
    trace = small(*(state(number) for number in range(3_001)))
    document = dom(written(tmp_path, replace(trace, claim=None)), "#step=3000")
    assert text_of(document, "where") == "step 3000 of 3000"
    assert "count = 3000" in state_of(document)
    assert len(rows(document)) == 3_001
    assert "vast" in re.search(r'class="sheet([^"]*)"', document)[1]


def test_a_longer_trace_is_cut_with_a_note(tmp_path):
    trace = small(*(state(number) for number in range(30)))
    document = dom(written(tmp_path, trace, steps_max=10), "#step=3")
    assert "20 earlier steps are left out" in text_of(document, "cut")
    assert text_of(document, "where") == "step 20 of 29"
    assert "count = 20" in state_of(document)


def test_a_step_keeps_its_changes_where_the_trace_was_cut():
    trace = small(*(state(number) for number in range(30)))
    data = re.search(r'id="trace">(.*?)</script>', page_text(trace, steps_max=10))[1]
    assert [len(one) for one in json.loads(data)["deltas"]] == [0, *[1] * 9]
