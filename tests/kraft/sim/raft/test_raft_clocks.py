from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kraft.sim.raft.clocks import Clock

CHANGES = st.lists(
    st.tuples(
        st.integers(1, 10**10),
        st.sampled_from(("read", "drift", "jump")),
        st.integers(-100_000, 100_000),
    ),
    max_size=20,
)


@given(CHANGES)
def test_no_clock_runs_backwards(changes):
    clock, now, latest = Clock(10**12), 0, 10**12
    for step, what, by in changes:
        now += step
        if what == "drift":
            clock.drift(now, by)
        elif what == "jump":
            clock.jump(now, by * 10**5)
        reading = clock.read(now)
        assert reading >= latest
        latest = reading


@given(CHANGES, st.integers(0, 10**11))
def test_the_true_time_of_a_reading_is_the_first_that_shows_it(changes, ahead):
    clock, now = Clock(10**12), 0
    for step, what, by in changes:
        now += step
        if what == "drift":
            clock.drift(now, by)
        elif what == "jump":
            clock.jump(now, by * 10**5)
    target = clock.read(now) + ahead
    then = clock.true_time(target, now)
    before = Clock.read(clock, max(then - 1, now)) if then > now else None

    assert clock.read(then) >= target
    assert before is None or before < target


def test_a_clock_that_is_set_back_stands_still_until_it_has_caught_up():
    clock = Clock(0)
    clock.jump(10_000, -4_000)

    assert [clock.read(time) for time in (10_000, 13_000, 14_000, 15_000)] == [
        10_000,
        10_000,
        10_000,
        11_000,
    ]
    assert clock.true_time(10_001, 15_000) == 15_000


def test_a_new_process_has_seen_no_later_reading():
    clock = Clock(0)
    clock.jump(10_000, -4_000)

    assert clock.restart(10_000) == 6_000
    assert clock.true_time(7_000, 10_000) == 11_000
