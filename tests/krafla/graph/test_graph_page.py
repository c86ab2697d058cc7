"""The page of a state graph in a browser."""

from __future__ import annotations

import html
import re

import pytest
from tests.browser import dom, faults
from tests.krafla.unlisted_models import model_of

from krafla.graph import Question, build, dead_ends
from krafla.graph.judge import judge
from krafla.graph.page import page
from krafla.traces import loads

# The actions of a reader, one after another: the page redraws itself in between.
HANDS = """<script>
(async () => {
  for (const act of [%s]) {
    act();
    await new Promise((done) => setTimeout(done, 20));
  }
  document.body.dataset.fragment = location.hash;
})();
function press(key) {
  document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
}
function jumpTo(number) {
  document.getElementById("number").value = number;
  document.getElementById("jump").requestSubmit();
}
</script></body>"""


@pytest.fixture
def used(maze, model, tmp_path):
    """Return what the page shows after some actions, and its fragment."""

    def use(*acts):
        judgement = judge(model(), maze, dead_ends(maze))
        script = HANDS % ", ".join(f"() => {act}" for act in acts)
        path = tmp_path / "used.html"
        path.write_text(page(maze, model(), judgement, limit=100).replace("</body>", script))
        shown = Shown(dom(path))
        found = re.search(r'<body data-fragment="([^"]*)"', shown.document)
        return shown, html.unescape(found[1])

    return use


@pytest.fixture(scope="session")
def opened(maze, model, tmp_path_factory):
    """Return what the page of the maze shows for a fragment."""
    path = tmp_path_factory.mktemp("page") / "maze.html"
    judgement = judge(model(), maze, dead_ends(maze))
    path.write_text(page(maze, model(), judgement, limit=100))
    return lambda fragment="": Shown(dom(path, fragment))


class Shown:
    """The text of each element of the page that has an id."""

    def __init__(self, document):
        self.document = document

    def __getitem__(self, name):
        found = re.search(rf'<(\w+)[^>]* id="{name}"[^>]*>(.*?)</\1>', self.document, re.DOTALL)
        return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", found[2])).split())

    def marked(self):
        return re.findall(r"<mark[^>]*>(.*?)</mark>", self.document)

    def is_hidden(self, name):
        return " hidden" in re.search(rf'<\w+[^>]* id="{name}"[^>]*>', self.document)[0]


def walk(number, *rooms):
    return ",".join(map(str, number(*rooms)))


def test_the_page_begins_in_the_first_initial_state(opened):
    shown = opened()

    assert shown["where"] == "State 0, depth 0"
    assert shown["count"] == "1 step"
    assert "Ring (1)" in shown["steps"]
    assert "room: 0 \u2192 1" in shown["steps"]
    assert shown["crumbs"] == "Init"
    assert shown.is_hidden("problem")
    assert shown.marked() == []


def test_text_of_the_spec_is_no_markup(opened):
    assert '"</script>"' in opened()["state"]


def test_a_walk_is_its_fragment(opened, number):
    shown = opened(f"#walk={walk(number, 0, 1, 2, 6)}")

    (six,) = number(6)
    assert shown["where"] == f"State {six}, depth 3"
    assert shown["crumbs"] == "Init Ring(1) Ring(2) Leave"
    assert shown.marked() == ["6"]
    assert shown["count"] == "1 step"
    assert "Arrive" in shown["steps"]
    assert shown["outside"] == "1 more step would leave the model's bounds: Escape."


def test_going_back_keeps_the_rest_of_the_walk(opened, number):
    shown = opened(f"#walk={walk(number, 0, 1, 2, 6)}&at=1")

    assert shown["where"] == f"State {number(1)[0]}, depth 1"
    assert shown["crumbs"] == "Init Ring(1) Ring(2) Leave"
    assert 'class="here"' in shown.document
    assert shown.document.count('class="later"') == 2


def test_dead_ends_and_steps_to_the_same_state_are_named(opened, number):
    assert opened(f"#walk={walk(number, 3)}")["outside"] == "No step is possible: a dead end."
    assert "stays" in opened(f"#walk={walk(number, 7)}")["steps"]


def test_two_walks_are_compared(opened, number):
    shown = opened(f"#walk={walk(number, 0, 1)}&walk={walk(number, 0, 1, 4)}&on=2")

    assert "Walk 1: 1 step" in shown["walks"]
    assert "Walk 2: 2 steps" in shown["walks"]
    assert f"Walk 1, state {number(1)[0]}" in shown["state"]
    assert shown.document.count('class="differs"') == 1


def test_keys_walk_and_fork(used, number):
    shown, fragment = used('press("1")', 'press("1")', 'press("f")', 'press("ArrowLeft")')

    states = shown["where"]
    first = fragment.removeprefix("#").split("&")[0].removeprefix("walk=")
    assert fragment == f"#walk={first}&walk={first}&on=2&at=1"
    assert len(first.split(",")) == 3
    assert states == f"State {number(1)[0]}, depth 1"


def test_a_way_is_walked_by_one_click(used, number):
    shown, fragment = used('document.querySelector("#goals button").click()')

    assert fragment == f"#walk={walk(number, 0, 1, 2, 6, 7)}"
    assert "AtGoal holds here" in shown["goals"]


def test_a_jump_walks_the_shortest_way_beside_the_walk_at_hand(used, number):
    (six,) = number(6)
    shown, fragment = used('press("1")', f"jumpTo({six})")

    assert fragment == f"#walk={walk(number, 0, 1)}&walk={walk(number, 0, 1, 2, 6)}&on=2"
    assert shown["where"] == f"State {six}, depth 3"
    assert "There is no state 99" in used("jumpTo(99)")[0]["problem"]


def test_the_nearest_state_of_each_predicate_is_told(opened, number):
    at_start = opened()["goals"]
    assert "AtGoal 4 steps Walk there" in at_start
    assert "Nowhere cannot be reached" in at_start
    assert "TRUE holds here" in at_start

    trapped = opened(f"#walk={walk(number, 0, 1, 4)}")["goals"]
    assert "AtGoal cannot be reached" in trapped
    assert "room = 4 holds here" in trapped


def test_steps_are_chosen_by_action(opened, number):
    shown = opened(f"#walk={walk(number, 0, 1, 2)}&action=Fall")

    assert "Fall" in shown["steps"]
    assert "Leave" not in shown["steps"]
    assert shown["count"] == "3 steps"


def test_a_walk_is_a_trace_that_reads_back(opened, number):
    shown = opened(f"#walk={walk(number, 0, 1, 2, 6)}&text=trace")

    lines = re.search(r'<pre id="content">(.*?)</pre>', shown.document, re.DOTALL)[1]
    trace = loads(html.unescape(lines))
    assert [(step.action, step.parameters) for step in trace.steps] == [
        ("Init", ()), ("Ring", (1,)), ("Ring", (2,)), ("Leave", ()),
    ]  # fmt: skip
    assert [step.state["room"] for step in trace.steps] == [0, 1, 2, 6]
    assert trace.steps[0].state["walls"] == frozenset({"</script>", "&lt;"})


def test_a_walk_is_text_that_begins_at_the_start(opened, number):
    shown = opened(f"#walk={walk(number, 2, 6)}&text=words")

    assert shown["content"].startswith('1 Init room = 0 walls = {"&lt;", "</script>"} 2 Ring(1)')
    assert shown["content"].endswith("room: 2 \u2192 6")


@pytest.mark.parametrize(
    ("fragment", "problem"),
    [
        ("#walk=99", "There is no state 99 on this page."),
        ("#walk=x", "There is no state NaN on this page."),
        ("#walk=0,7", "State 7 does not follow state 0: the walk ends before it."),
        ("#walk=0&on=5&at=-1&text=x&action=<b>", ""),
    ],
)
def test_a_fragment_that_makes_no_sense_is_told_or_ignored(opened, fragment, problem):
    shown = opened(fragment)

    assert shown["problem"] == problem
    assert shown.is_hidden("problem") == (not problem)
    assert shown["where"] == "State 0, depth 0"


def test_the_whole_graph_is_told_below(opened):
    whole = opened()["whole"]

    assert "Ring 3 2 0 0" in whole
    assert "Escape 1 0 0 1" in whole
    assert "States by depth 0 1 1 1 2 2 3 3 4 1" in whole
    assert "from them 0 1 1 4 2 2 3 1" in whole


def test_a_page_asks_the_network_for_nothing(opened):
    assert not re.search(r"https?://|@import| src=", opened().document)


def test_a_page_that_was_cut_says_so(maze, model, tmp_path, number):
    judgement = judge(model(), maze, dead_ends(maze))
    path = tmp_path / "cut.html"
    path.write_text(page(maze, model(), judgement, limit=3))

    shown = Shown(dom(path, f"#walk={walk(number, 0, 1)}"))

    assert "the first 3 of 8 states" in shown["cut"]
    assert "not on this page" in shown["steps"]
    assert "AtGoal no way on this page" in shown["goals"]


def test_steps_after_the_cut_of_the_search_are_unknown(model, tmp_path):
    graph = build(model(), [Question("AtGoal", "here")], limit=2)
    path = tmp_path / "stopped.html"
    path.write_text(page(graph, model(), judge(model(), graph, dead_ends(graph)), limit=100))
    last = graph.found.expanded

    shown = Shown(dom(path, f"#walk={last}"))

    assert last < len(graph)
    assert shown["count"] == "What follows is not known"
    heads = re.findall(r"<(?:title|h1)[^>]*>(.*?)</", path.read_text(), re.DOTALL)
    assert len(heads) == 2
    assert all(model().name in one for one in heads)
    assert "stopped" in shown["outside"]


def test_what_is_violated_is_the_title_and_the_page_walks_there(model, tmp_path, monkeypatch):
    broken = model("MazeMustTrap")
    monkeypatch.setenv("KRAFLA_SPECS", str(broken.module.parent))
    graph = build(broken)
    path = tmp_path / "broken.html"
    path.write_text(page(graph, broken, judge(broken, graph, dead_ends(graph)), limit=100))
    document = path.read_text()
    walk = re.search(r'href="(#walk=[^"]+)">walk there</a>', document)[1]

    assert "<title>Violated: No walker is in the trap.</title>" in document
    assert "Init &#x203A; Ring &#x203A; Trap" in document
    there = Shown(dom(path, walk))
    assert there["broken"] == "NotTrapped is false in this state."
    assert not there.is_hidden("broken")
    assert "room 4" in there["state"]
    assert Shown(dom(path)).is_hidden("broken")
    assert faults({f"broken{walk}": document}, tmp_path, dark=True) == []


def test_a_violation_that_is_not_on_the_page_is_told_where_the_walk_ends(model, tmp_path):
    broken = model("MazeMustTrap")
    graph = build(broken)
    path = tmp_path / "broken.html"
    path.write_text(page(graph, broken, judge(broken, graph, dead_ends(graph)), limit=2))

    walk = re.search(r'href="(#walk=[^"]+)"', path.read_text())[1]
    assert Shown(dom(path, walk))["broken"] == (
        "NotTrapped is false after a step from this state out of the bounds, or off this page."
    )


def test_the_page_has_nothing_cut_covered_empty_or_pale(maze, model, tmp_path, number):
    document = page(maze, model(), judge(model(), maze, dead_ends(maze)), limit=100)
    walks = f"#walk={walk(number, 0, 1, 2, 6)}&walk={walk(number, 0, 1, 4)}&on=2&text=trace"

    assert faults({"the start": document, f"two walks{walks}": document}, tmp_path) == []


NODES = r"""---- MODULE Nodes ----
EXTENDS Naturals, TLC
CONSTANTS a, b
VARIABLES count, mail, role
Init == count = (a :> 0 @@ b :> 0) /\ mail = << >> /\ role = (a :> "Idle" @@ b :> "Idle")
Send(n) ==
  /\ count[n] = 0
  /\ count' = [count EXCEPT ![n] = 1]
  /\ mail' = [type |-> "Ask", from |-> n, to |-> IF n = a THEN b ELSE a] :> 1
  /\ UNCHANGED role
Hear(m) == m.type = "Ask" /\ role' = [role EXCEPT ![m.to] = "Asked"] /\ UNCHANGED <<count, mail>>
Next == (\E n \in {a, b} : Send(n)) \/ (\E m \in DOMAIN mail : Hear(m))
====
"""


@pytest.fixture(scope="module")
def nodes(tmp_path_factory):
    """Return what the page of a spec with two nodes and messages shows."""
    folder = tmp_path_factory.mktemp("nodes")
    (folder / "Nodes.tla").write_text(NODES)
    (folder / "Nodes.cfg").write_text("CONSTANTS a = a  b = b\nINIT Init\nNEXT Next\n")
    model = model_of(folder / "Nodes.tla", folder / "Nodes.cfg")
    graph = build(model)
    path = folder / "nodes.html"
    path.write_text(page(graph, model, judge(model, graph, dead_ends(graph)), limit=100))
    return lambda fragment="": Shown(dom(path, fragment))


def test_variables_of_the_same_nodes_stand_in_columns(nodes):
    shown = nodes("#walk=0,1")

    assert shown["state"].startswith('a b count 1 0 role "Idle" "Idle"')
    assert '<td class="value" data-node="b">' in shown.document
    assert shown.marked()[0] == "1"
    beside = nodes("#walk=0,1&walk=0,2&on=2")
    assert "count a :&gt; 0" in beside["state"].replace(">", "&gt;")


TWINS = r"""---- MODULE Twins ----
EXTENDS Naturals, TLC
CONSTANTS a, b
VARIABLE mail
Ask(n) == [type |-> "Ask", from |-> a, to |-> b, n |-> n]
Init == mail = Ask(1) :> 1 @@ Ask(2) :> 1
Hear(m) == mail' = [x \in DOMAIN mail \ {m} |-> 1]
Next == \E m \in DOMAIN mail : Hear(m)
====
"""


def test_steps_that_read_alike_in_short_are_told_in_full(tmp_path):
    (tmp_path / "Twins.tla").write_text(TWINS)
    (tmp_path / "Twins.cfg").write_text("CONSTANTS a = a  b = b\nINIT Init\nNEXT Next\n")
    model = model_of(tmp_path / "Twins.tla", tmp_path / "Twins.cfg")
    graph = build(model)
    path = tmp_path / "twins.html"
    path.write_text(page(graph, model, judge(model, graph, dead_ends(graph)), limit=100))

    both = Shown(dom(path))["steps"].replace("|-> ", "")
    assert 'Hear ([from a, n 1, to b, type "Ask"])' in both
    assert 'Hear ([from a, n 2, to b, type "Ask"])' in both
    assert "Hear (Ask a\u2192b)" in Shown(dom(path, "#walk=0,1"))["steps"]


def test_a_message_is_told_by_its_type_and_by_who_sends_it_to_whom(nodes):
    shown = nodes("#walk=0,1")

    assert "Hear (Ask a\u2192b)" in shown["steps"]
    assert "Ask [from |-> a, to |-> b] :> 1" in shown["state"]
