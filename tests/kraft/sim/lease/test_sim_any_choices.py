"""Any list of choices has a run: nothing raises, refusals change nothing, values stay sane."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kraft.sim.common.step import Refused
from kraft.sim.lease import choices
from kraft.sim.lease.cluster import digest
from kraft.sim.lease.configuration import PROFILES, processes
from kraft.sim.lease.network import is_request
from kraft.sim.lease.step import replay_choices

INCARNATIONS = st.sampled_from([each.incarnation_id for each in processes(2, 2)] + ["nobody"])
BROKERS = st.integers(0, 3)
MESSAGES = st.integers(-1, 12)
PROBABLE = st.builds(choices.StartBroker, INCARNATIONS) | st.builds(choices.Deliver, MESSAGES)
CHOICES = st.one_of(
    PROBABLE,
    st.builds(choices.SendRegistration, INCARNATIONS),
    st.builds(choices.SendHeartbeat, INCARNATIONS, st.booleans()),
    st.builds(choices.LoseMessage, MESSAGES),
    st.builds(choices.DuplicateMessage, MESSAGES),
    st.builds(choices.RequestTimeout, INCARNATIONS),
    st.builds(choices.ReplayMetadata, INCARNATIONS, st.integers(-2, 8)),
    st.builds(choices.RequestShutdown, INCARNATIONS),
    st.builds(choices.Crash, INCARNATIONS),
    st.builds(choices.FenceStaleBroker, BROKERS),
    st.builds(choices.UnregisterBroker, BROKERS),
    st.builds(choices.ElectLeader, BROKERS),
    st.builds(choices.FailOver),
    st.builds(
        choices.Tick,
        st.sampled_from([-1, 0, 1, 500, 9_001]),
        st.lists(st.tuples(INCARNATIONS, st.integers(-1, 9_500)), max_size=2).map(tuple),
    ),
)


@given(st.sampled_from(sorted(PROFILES)), st.lists(CHOICES, max_size=60))
def test_any_list_of_choices_has_one_run(profile, chosen):
    configuration = PROFILES[profile](2, 2)
    results = list(replay_choices(configuration, chosen))
    assert len(results) == len(chosen)
    for result in results:
        if isinstance(result.outcome, Refused):
            assert result.after is result.before
        cluster = result.after
        assert cluster.controller.image.log_end == len(cluster.log)
        for envelope in cluster.network:
            assert is_request(envelope) or envelope.is_awaited
    again = list(replay_choices(configuration, chosen))
    assert [digest(each.after) for each in again] == [digest(each.after) for each in results]
