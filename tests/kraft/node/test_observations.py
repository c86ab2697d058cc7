"""What a node counts and times: of which events, from which to which."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, Counter, Histogram
from tests.kraft.hosting.hosted import sole_controller

from kraft.controller import events
from kraft.controller.configuration import Configuration
from kraft.controller.effects import Append
from kraft.controller.operations.defaults import Defaults
from kraft.controller.state import first_state
from kraft.ids import ReplicaKey
from kraft.log.batches import data_batch
from kraft.node.metrics.instruments import _BOUNDS, Count, Times
from kraft.node.metrics.metric import Kind, Metric
from kraft.node.metrics.observations import (
    APPENDED,
    COMMIT_LATENCY,
    ELECTION_LATENCY,
    FETCHED,
    METADATA_COMMIT_LATENCY,
    METADATA_COMMITTED,
    Observations,
)
from kraft.raft.configuration import MILLISECOND
from kraft.raft.roles import Candidate, Follower, Leader, Prospective
from kraft.records.cluster import FeatureLevelRecord

STATE = sole_controller().state
KEY = ReplicaKey(1, None)
NO_VOTERS = frozenset()
PROSPECTIVE = replace(STATE, role=Prospective(3, None, (), None, NO_VOTERS, NO_VOTERS, 0))
CANDIDATE = replace(STATE, role=Candidate(4, KEY, NO_VOTERS, NO_VOTERS, 0))
LEADER = replace(STATE, role=Leader(4, 1, 0, 0))
FOLLOWER = replace(STATE, role=Follower(4, 2, (), None, 0))
RECORD = FeatureLevelRecord("x", 1)
STANDBY = first_state(Configuration(Defaults(1), ()), 5000)
ACTIVE = replace(STANDBY, claim_epoch=4)


def numbers(observations, metric):
    """Return the numbers of a counter, or the sum and the count of a histogram."""
    return shown(one.family() for one in observations.instruments)[metric.prometheus_name]


def shown(families):
    found = {}
    for family in families:
        values = {sample.name: sample.value for sample in family.samples}
        if family.type == "counter":
            found[f"{family.name}_total"] = values[f"{family.name}_total"]
        else:
            found[family.name] = values[f"{family.name}_sum"], values[f"{family.name}_count"]
    return found


def with_end(state, end):
    return replace(state, log=replace(state.log, end_offset=end))


def ms(milliseconds):
    return milliseconds * MILLISECOND


def at(milliseconds):
    """Return a clock that stands still."""
    return lambda: ms(milliseconds)


def test_an_election_takes_from_the_last_candidacy_until_the_leader_is_known():
    for found in (LEADER, FOLLOWER):
        observed = Observations()
        observed.replica_step(FOLLOWER, FOLLOWER, at(0))
        observed.replica_step(FOLLOWER, PROSPECTIVE, at(1))
        observed.replica_step(PROSPECTIVE, CANDIDATE, at(5))
        observed.replica_step(CANDIDATE, CANDIDATE, at(6))
        observed.replica_step(CANDIDATE, found, at(9))
        observed.replica_step(found, found, at(50))
        # It heard of another leader without having been a candidate.
        observed.replica_step(found, replace(FOLLOWER, role=Follower(9, 2, (), None, 0)), at(99))
        assert numbers(observed, ELECTION_LATENCY) == (4, 1)


def test_leaders_append_and_followers_fetch():
    observed = Observations()
    observed.replica_step(with_end(LEADER, 5), with_end(LEADER, 8), at(0))
    observed.replica_step(with_end(FOLLOWER, 8), with_end(FOLLOWER, 12), at(0))
    observed.replica_step(with_end(FOLLOWER, 12), with_end(FOLLOWER, 10), at(0))

    assert numbers(observed, APPENDED) == 3
    assert numbers(observed, FETCHED) == 4


def batch(base_offset, count, timestamp=0):
    return data_batch(base_offset, 4, timestamp, [b"x"] * count)


def test_a_commit_takes_from_the_append_until_it_is_handled_by_the_records_of_the_batch():
    observed = Observations()
    observed.replica_step(with_end(LEADER, 0), with_end(LEADER, 10), at(0))
    observed.replica_step(with_end(LEADER, 10), with_end(LEADER, 12), at(20))
    observed.committed([batch(0, 9)], ms(25))
    assert numbers(observed, COMMIT_LATENCY) == (0, 0)
    observed.committed([batch(9, 1)], ms(30))
    assert numbers(observed, COMMIT_LATENCY) == (3, 1)
    observed.replica_step(LEADER, FOLLOWER, at(31))
    observed.committed([batch(10, 5)], ms(40))
    assert numbers(observed, COMMIT_LATENCY) == (3, 1)


def append(base_offset, count):
    return Append(4, base_offset, (RECORD,) * count, 27)


def step(observed, before, event, after, *effects):
    observed.controller_step("controller", before, event, after, effects, None)


def committed(now_ms, base_offset, count):
    records = (RECORD,) * count
    return events.BatchesCommitted(now_ms, (events.CommittedBatch(base_offset, 4, records, count),))


def test_an_operation_takes_until_its_records_are_committed():
    observed = Observations()
    step(observed, ACTIVE, events.Poll(100), ACTIVE, append(5, 2), append(7, 1))
    assert observed.last_applied_ms == 100
    step(observed, ACTIVE, committed(125, 5, 2), replace(ACTIVE, committed_end=7))
    assert numbers(observed, METADATA_COMMIT_LATENCY) == (25, 1)
    # What a controller wrote before it stepped back may be committed or not.
    step(observed, ACTIVE, events.LeaderChanged(130, 5, 2), STANDBY)
    step(observed, STANDBY, committed(150, 7, 1), replace(STANDBY, committed_end=8))
    assert numbers(observed, METADATA_COMMIT_LATENCY) == (25, 1)
    assert numbers(observed, METADATA_COMMITTED) == 3
    assert (observed.leaders, observed.events_started) == (1, 4)


def test_a_step_of_the_registration_is_none_of_the_controller():
    observed = Observations()
    observed.controller_step("registration", None, None, None, (), None)
    assert observed.events_started == 0


def test_a_standby_applies_what_is_committed_and_an_active_controller_what_it_writes():
    observed = Observations()
    observed.committed([batch(0, 1, 70), batch(1, 1, 80)], 0)
    assert observed.last_applied_ms == 80
    step(observed, ACTIVE, events.Poll(100), ACTIVE, append(2, 1))
    observed.committed([batch(2, 1, 90)], 0)
    assert observed.last_applied_ms == 100


TIMES = st.lists(
    st.tuples(st.sampled_from(["Fetch", "Vote"]), st.floats(0, 20_000) | st.sampled_from([1, 5]))
)


@given(TIMES)
def test_instruments_show_what_those_of_the_library_show(times):
    timed = Metric(Kind.HISTOGRAM, "kafka.network", "RequestMetrics", "TotalTimeMs", "?", ("a",))
    counted = Metric(Kind.COUNTER, "kafka.network", "RequestMetrics", "ErrorsPerSec", "?", ("a",))
    own = Times(timed), Count(counted)
    registry = CollectorRegistry()
    theirs = (
        Histogram(timed.prometheus_name, "?", ["a"], registry=registry, buckets=_BOUNDS),
        Counter(counted.prometheus_name, "?", ["a"], registry=registry),
    )
    for label, milliseconds in times:
        own[0].add(milliseconds, (label,))
        own[1].add(3, (label,))
        theirs[0].labels(label).observe(milliseconds)
        theirs[1].labels(label).inc(3)

    expected = [
        (one.name, one.labels, one.value)
        for family in registry.collect()
        for one in family.samples
        if not one.name.endswith("_created")
    ]
    assert [
        (one.name, one.labels, one.value) for each in own for one in each.family().samples
    ] == expected
