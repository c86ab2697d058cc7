"""The state graph of a model: its states and steps, and answers to questions about them.

``build`` explores a model of the manifest. ``StateGraph`` holds the graph in arrays.
``as_networkx`` gives networkx a view of it without a copy.
"""

from krafla.graph.behaviour import behaviour, step_words
from krafla.graph.build import Question, build
from krafla.graph.components import Component, Components, components
from krafla.graph.dead_ends import DeadEnds, dead_ends
from krafla.graph.paths import Way, shortest, way_to
from krafla.graph.state_graph import ActionUse, StateGraph
from krafla.graph.view import as_networkx

__all__ = [
    "ActionUse",
    "Component",
    "Components",
    "DeadEnds",
    "Question",
    "StateGraph",
    "Way",
    "as_networkx",
    "behaviour",
    "build",
    "components",
    "dead_ends",
    "shortest",
    "step_words",
    "way_to",
]
