"""The graph, or a part of it, in formats for other programs: GraphML and dot."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from krafla.graph.behaviour import step_words
from krafla.values import fmt

if TYPE_CHECKING:
    from array import array
    from collections.abc import Iterable, Iterator, Sequence

    from krafla.graph.state_graph import StateGraph

__all__ = ["around", "dot", "graphml"]

_LABEL_MAX = 60
_HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
)


def around(graph: StateGraph, centre: int, radius: int) -> list[int]:
    """Return the states within ``radius`` steps before or after a state, in order of discovery."""
    seen = {centre}
    edge = [centre]
    for _ in range(radius):
        near = (
            other
            for state in edge
            for other in (*graph.successors(state), *graph.predecessors(state))
        )
        edge = [other for other in dict.fromkeys(near) if other not in seen]
        seen.update(edge)
    return sorted(seen)


def graphml(graph: StateGraph, states: Sequence[int] | None = None) -> Iterator[str]:
    """Yield the text of a GraphML file: all states, or some, with the steps among them.

    A node has its depth, whether it is initial, the value of each variable as TLA+ text, and the
    value of each named predicate. An edge has its action, without and with parameters. There may be
    several edges between two states. Steps out of the model's bounds are left out.
    """
    shown = range(len(graph)) if states is None else states
    variables = graph.found.spec.variables
    columns = _columns(graph)
    yield _HEAD
    yield _key("depth", "node", "int") + _key("initial", "node", "boolean")
    for number, name in enumerate(variables):
        yield _key(name, "node", "string", f"v{number}")
    for number, name in enumerate(graph.holds):
        yield _key(name, "node", "boolean", f"p{number}")
    yield _key("action", "edge", "string") + _key("step", "edge", "string")
    yield '<graph id="states" edgedefault="directed">\n'
    for state in shown:
        initial = "true" if graph.found.parents[state] < 0 else "false"
        parts = [_data("depth", graph.depths[state]), _data("initial", initial)]
        parts += [_data(f"v{n}", texts[column[state]]) for n, (column, texts) in enumerate(columns)]
        parts += [
            _data(f"p{n}", "true" if holds[state] else "false")
            for n, holds in enumerate(graph.holds.values())
        ]
        yield f'<node id="n{state}">{"".join(parts)}</node>\n'
    for step, action, title in _edges(graph, shown):
        source, target = graph.found.sources[step], graph.found.targets[step]
        data = _data("action", action) + _data("step", _xml(title))
        yield f'<edge id="e{step}" source="n{source}" target="n{target}">{data}</edge>\n'
    yield "</graph>\n</graphml>\n"


def dot(graph: StateGraph, states: Sequence[int], marked: Iterable[int] = ()) -> Iterator[str]:
    """Yield the text of a dot file of some states and the steps among them.

    A node shows its number and the variables that differ among the states; its tooltip shows all
    variables. ``marked`` states get a double border, initial states a bold one.
    """
    variables = graph.found.spec.variables
    columns = _columns(graph, plain=True)
    varying = [
        index
        for index, (column, _) in enumerate(columns)
        if len({column[state] for state in states}) > 1
    ]
    double = set(marked)
    yield "digraph states {\n  rankdir = LR;\n"
    yield '  node [shape=box, fontname="monospace", fontsize=9];\n'
    yield '  edge [fontname="monospace", fontsize=9];\n'
    for state in states:
        lines = [f"{name} = {texts[column[state]]}"
                 for name, (column, texts) in zip(variables, columns, strict=True)]  # fmt: skip
        label = "\n".join([f"state {state}", *(_short(lines[index]) for index in varying)])
        style = ", peripheries=2" if state in double else ""
        style += ", style=bold" if graph.found.parents[state] < 0 else ""
        tooltip = "\n".join(lines)
        yield f"  n{state} [label={_quoted(label)}, tooltip={_quoted(tooltip)}{style}];\n"
    for step, _, title in _edges(graph, states):
        source, target = graph.found.sources[step], graph.found.targets[step]
        yield f"  n{source} -> n{target} [label={_quoted(_short(title))}];\n"
    yield "}\n"


def _columns(graph: StateGraph, *, plain: bool = False) -> list[tuple[array[int], list[str]]]:
    """Return for each variable the texts of its values, and an index into them by state."""
    columns = []
    for name in graph.found.spec.variables:
        column, values = graph.found.values(name)
        texts = [fmt(value) for value in values]
        columns.append((column, texts if plain else [_xml(text) for text in texts]))
    return columns


def _edges(graph: StateGraph, states: Sequence[int]) -> Iterator[tuple[int, str, str]]:
    """Yield the steps among some states: the number, the action, the action with parameters."""
    whole = len(states) == len(graph)
    inside = frozenset() if whole else frozenset(states)
    words, numbers = step_words(graph, states)
    titles = [f"{name}({', '.join(map(fmt, values))})" if values else name
              for name, values in words]  # fmt: skip
    position = 0
    for state in states:
        for step in graph.out[state]:
            target = graph.found.targets[step]
            if state < graph.found.expanded:
                number = numbers[position]
                position += 1
                if target >= 0 and (whole or target in inside):
                    yield step, words[number][0], titles[number]


def _key(name: str, of: str, kind: str, identity: str | None = None) -> str:
    identity = identity or name
    return f'<key id="{identity}" for="{of}" attr.name="{_xml(name)}" attr.type="{kind}"/>\n'


def _data(key: str, value: object) -> str:
    return f'<data key="{key}">{value}</data>'


def _xml(text: str) -> str:
    """Return a text escaped for XML; a character that XML cannot hold becomes its Python escape."""
    return "".join(
        part if part.isprintable() else ascii(part)[1:-1] for part in escape(text)
    )  # fmt: skip


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\l")
    return f'"{escaped}\\l"' if "\n" in text else f'"{escaped}"'


def _short(text: str) -> str:
    return text if len(text) <= _LABEL_MAX else f"{text[: _LABEL_MAX - 3]}..."
