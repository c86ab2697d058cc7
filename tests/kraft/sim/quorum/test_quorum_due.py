"""What is due is said twice: by `next_deadline`, and by what a Poll does. The two must agree."""

from __future__ import annotations

from collections import Counter

from kraft.raft.events import Poll
from kraft.sim.quorum.cluster import Simulation
from kraft.sim.quorum.configuration import QuorumConfiguration
from kraft.sim.quorum.kinds import DEFAULT_KINDS
from kraft.sim.quorum.kraft_core import KRAFT

SECOND = 10**9


def asked_at_every_step(seen):
    """Return the code of a replica that is also polled in vain after each event."""

    def agrees(state, now):
        is_due = KRAFT.next_deadline(state) <= now
        step = KRAFT.on_event(state, Poll(now, 0))
        does = bool(step.effects) or step.state != state
        seen[type(state.role).__name__, is_due] += 1
        assert does == is_due, (
            f"a Poll at {now} does {step.effects or 'nothing'}; due is at "
            f"{KRAFT.next_deadline(state)}: {state.role}"
        )

    def on_event(state, event):
        if type(event) is Poll:
            agrees(state, event.now)
        step = KRAFT.on_event(state, event)
        agrees(step.state, event.now)
        return step

    return KRAFT._replace(on_event=on_event)


def test_a_poll_does_something_if_and_only_if_something_is_due():
    seen = Counter()
    for seed in range(8):
        configuration = QuorumConfiguration(
            voters=3 + seed % 2 * 2,
            observers=1,
            kraft_version=seed // 2 % 2,
            calm=2 * SECOND,
            chaos=8 * SECOND,
            kinds=DEFAULT_KINDS,
        )
        for _ in Simulation(configuration, seed, core=asked_at_every_step(seen)).steps():
            pass

    for role in ("Unattached", "Prospective", "Candidate", "Follower", "Leader", "Resigned"):
        for is_due in (True, False):
            assert seen[role, is_due], seen
