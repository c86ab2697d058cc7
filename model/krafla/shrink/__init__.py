"""Shrinking a trace: fewer steps, then smaller data, then fewer faults."""

from krafla.shrink.behaviour import shrink_behaviour
from krafla.shrink.reduce import Budget, minimise, smallest
from krafla.shrink.result import Shrunk, Size

__all__ = ["Budget", "Shrunk", "Size", "minimise", "shrink_behaviour", "smallest"]
