"""Kafka's check that a change of the voters changes few enough of them."""

from __future__ import annotations


def overlap(before, after):
    """Return whether at most one replica left and at most one was added: Kafka's check.

    Majorities then overlap, unless one left and one was added at once: those of {1, 2, 3} and
    {1, 2, 4} need not. Kafka: VoterSet.hasOverlappingMajority.
    """
    left, added = {v.key for v in before.voters}, {v.key for v in after.voters}
    return len(left - added) <= 1 and len(added - left) <= 1
