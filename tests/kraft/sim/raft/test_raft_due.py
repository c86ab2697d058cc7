"""`next_deadline` and a Poll must agree on what is due."""

from __future__ import annotations

from collections import Counter

from kraft.raft.configuration import Timeouts
from kraft.raft.events import Poll
from kraft.sim.raft.cluster import Simulation
from kraft.sim.raft.configuration import Knobs, RaftConfiguration
from kraft.sim.raft.kraft_core import KRAFT

SECOND = 10**9
# Each of these few is frequent: leaders resign, elections are won, voters change.
FEW = tuple(
    (kind, gap * SECOND // 10)
    for kind, gap in (
        *(("add-voter", 10), ("isolation", 40), ("kill", 20)),
        *(("remove-voter", 10), ("resign", 15), ("shutdown", 30)),
    )
)


def asked_at_every_step(seen):
    """Return the code of a replica that also gets a Poll without effect after each event."""

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


def test_a_poll_has_an_effect_if_and_only_if_something_is_due():
    seen = Counter()
    for seed in range(4):
        configuration = RaftConfiguration(
            voters=3,
            observers=1,
            kraft_version=seed % 2,
            timeouts=Timeouts(observer_session=SECOND),
            calm=2 * SECOND,
            chaos=8 * SECOND,
        )
        knobs = Knobs(rates=FEW) if seed % 2 else None
        core = asked_at_every_step(seen)
        for _ in Simulation(configuration, seed, None, knobs, core=core).steps():
            pass

    for role in ("Unattached", "Prospective", "Follower", "Leader", "Resigned"):
        assert seen[role, True], seen
    assert sum(count for (_, is_due), count in seen.items() if not is_due) > 10_000
