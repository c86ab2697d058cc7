"""The steps of a run whose choices a scheduler draws."""

from __future__ import annotations


def play(scheduler, step, cluster, count):
    """Return so many steps."""
    steps = []
    for _ in range(count):
        steps.append(step(cluster, scheduler.next_choice(cluster)))
        cluster = steps[-1].after
    return steps


def told(steps):
    """Return what equal runs have in common."""
    return [(one.choice, one.outcome) for one in steps]
