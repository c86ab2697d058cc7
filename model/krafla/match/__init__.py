"""Matching: whether a spec has a behaviour that agrees with a partial trace.

``match`` takes a loaded spec and a partial trace. It returns the behaviour it found, or the
longest part of the trace that has one, with the reasons why no candidate goes further.
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
