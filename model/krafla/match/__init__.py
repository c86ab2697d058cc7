"""Matching: whether a spec has a behaviour that shows what somebody saw of one.

``match`` takes a loaded spec and a partial trace, and gives the behaviour it found, or the
longest part of the trace that has one and the reasons why no candidate goes on.
"""

from krafla.match.engine import FRONTIER_DEFAULT, match
from krafla.match.moves import Choice
from krafla.match.nearest import Nearest, nearest_step
from krafla.match.report import MatchReport, Stuck, Taken

__all__ = [
    "FRONTIER_DEFAULT",
    "Choice",
    "MatchReport",
    "Nearest",
    "Stuck",
    "Taken",
    "match",
    "nearest_step",
]
