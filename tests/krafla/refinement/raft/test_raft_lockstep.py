"""Raft in lockstep with the spec: correct runs, and runs with a mistake."""

import re
from collections import deque
from dataclasses import replace

import pytest

from krafla.refinement.common.judgement import Agreed, Divergence
from krafla.refinement.raft.lockstep import RaftLockstep
from krafla.refinement.raft.properties import RaftProperties
from krafla.refinement.raft.vocabulary import quorum_of
from krafla.verdict import KraflaError
from kraft.errors import ErrorCode
from kraft.raft.effects import AppendLog, Fatal, FlushLog, SendResponse, WriteQuorumState
from kraft.raft.events import RequestReceived
from kraft.raft.roles import Leader, Unattached
from kraft.raft.state import Step
from kraft.rpc.fetch import FetchResponse
from kraft.rpc.vote import VoteRequest, VoteResponse
from kraft.sim.raft.cluster import Simulation
from kraft.sim.raft.configuration import RaftConfiguration
from kraft.sim.raft.faults import Fault
from kraft.sim.raft.kinds import kinds_of
from kraft.sim.raft.kraft_core import KRAFT

SECOND = 10**9


def simulation(seed=1, *, kinds="", core=KRAFT, plan=None, **fields):
    """Return a quorum of three voters and an observer, with faults of these kinds."""
    settings = {"voters": 3, "observers": 1, "calm": 2 * SECOND, "chaos": 10 * SECOND, **fields}
    configuration = RaftConfiguration(kinds=kinds_of(kinds), **settings)
    return Simulation(configuration, seed, plan, core=core)


def judged(simulated, most, **options):
    """Return the judge of the first steps of a run, and its last judgement."""
    lockstep = RaftLockstep(quorum_of(simulated), **options)
    last = None
    for step in simulated.steps():
        last = lockstep.judge(step)
        if lockstep.finding is not None or lockstep.steps == most:
            break
    return lockstep, last


def broken(mistake):
    """Return the code of a replica with a mistake, which is a function of each step it takes."""

    def on_event(state, event):
        return mistake(state, event, KRAFT.on_event(state, event))

    return KRAFT._replace(on_event=on_event)


def test_a_quorum_without_faults_takes_only_steps_of_the_spec():
    lockstep, last = judged(simulation(), 1500)

    assert isinstance(last, Agreed)
    assert lockstep.finding is None
    taken = {"StartAgain", "BecomeLeader", "AppendBatch", "Flush", "ParkFetch", "AppendFetched"}
    assert taken <= lockstep.coverage.keys()


def test_a_quorum_of_kraft_version_0_is_judged_with_static_voters():
    lockstep, last = judged(simulation(2, kraft_version=0), 700)

    assert isinstance(last, Agreed)
    assert lockstep.coverage["BecomeLeader"] >= 1


def test_what_the_network_does_to_messages_is_a_step_of_the_spec():
    lockstep, last = judged(simulation(6, kinds="loss,duplication,delay,partition"), 1200)

    assert isinstance(last, Agreed)
    assert lockstep.coverage["LoseMessage"] > 4


def test_a_crash_in_the_middle_of_a_step_is_judged_at_the_next_start():
    plan = tuple(
        Fault(
            2 * SECOND + number * SECOND // 2, "crash-point", number % 3, 7919 * number, SECOND // 5
        )
        for number in range(1, 14)
    )
    simulated = simulation(3, plan=plan)

    lockstep, last = judged(simulated, 1500)

    assert isinstance(last, Agreed)
    assert simulated.faults["crash-point"] > 6
    assert lockstep.coverage["StartAgain"] > 10


def test_another_disk_of_a_node_is_another_replica():
    plan = (Fault(3 * SECOND, "other-disk", 2, 5, 6 * SECOND),)

    lockstep, last = judged(simulation(4, plan=plan), 1200)

    assert isinstance(last, Agreed)
    assert "n2b" in lockstep.spec_run.names
    assert lockstep.spec_run.rows["n2b"].epoch > 0


def test_a_moved_leader_rewrites_the_voters_and_a_moved_follower_has_it_done():
    moves = tuple(
        Fault(2 * SECOND + node * SECOND // 2, "new-port", node, 11 * node, SECOND // 20)
        for node in range(3)
    )
    resignation = Fault(4 * SECOND, "resign", -1, 0, 0)

    lockstep, last = judged(simulation(3, plan=(*moves, resignation)), 3500)

    assert isinstance(last, Agreed)
    side = lockstep.spec_run
    history = side.evaluate("History", side.state, lockstep.terms.plain("n0"))
    voters = re.findall(r'epoch \|-> (\d+), kind \|-> "Voters"', str(history.toString()))
    assert len(set(voters)) >= 2
    assert lockstep.coverage["UpdateVoter"] >= 1


def test_a_disk_that_was_not_announced_is_an_error_and_no_verdict():
    simulated = simulation(4, plan=(Fault(3 * SECOND, "other-disk", 2, 5, 6 * SECOND),))
    lockstep = RaftLockstep(replace(quorum_of(simulated), disks={0: 1, 1: 1, 2: 1, 3: 1}))

    with pytest.raises(KraflaError, match="node 2 has more disks than were announced"):
        deque(map(lockstep.judge, simulated.steps()), maxlen=0)


def test_properties_are_checked_in_every_state_and_step():
    lockstep, last = judged(simulation(2), 500, with_properties=True)

    assert isinstance(last, Agreed)
    assert lockstep.coverage["AppendFetched"] > 10


def test_the_check_of_properties_gets_every_variable_that_a_step_changed(monkeypatch):
    told = set()
    monkeypatch.setattr(
        RaftProperties, "broken_by", lambda _asked, _old, _new, changed: told.update(changed)
    )

    judged(simulation(2), 600, with_properties=True)

    # Variables that only a snapshot or its truncation changes do not change in the first steps.
    assert {"epoch", "voted", "log", "flushed", "high_watermark", "committed", "messages"} <= told


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("known", "named", "action"),
    [(None, "n0", "DiscoverEpoch"), (0, "n0", "DiscoverEpoch"), (0, None, "IgnoreResponse")],
)
def test_a_replica_that_knows_only_the_leaders_id_discovers_its_address(known, named, action):
    simulated = simulation()
    lockstep, _ = judged(simulated, 3)
    started = next(step.after for step in simulation().steps() if step.kind == "start")
    before = replace(started, role=Unattached(1, known, None, 10**18))
    fields = (("epoch", 1), ("leader", named), ("error", "NOT_LEADER_OR_FOLLOWER"))
    message = lockstep.terms.message("FetchResponse", "n0", "n3", None, *fields)
    response = FetchResponse(ErrorCode.NOT_LEADER_OR_FOLLOWER, 1, 0 if named else None)

    assert lockstep.reader.response(message, before, before, response, ()) == action


def finding(mistake, most=4000):
    """Return the finding of a mistake in a run without faults."""
    core = broken(mistake)
    lockstep, last = judged(simulation(core=core), most)
    assert isinstance(last, Divergence), "the mistake was not noticed"
    assert lockstep.finding is last
    return last


def test_a_vote_that_is_granted_without_being_written_is_noticed():
    def forget_to_vote(state, event, step):
        votes = isinstance(event, RequestReceived) and isinstance(event.request, VoteRequest)
        if votes and not event.request.pre_vote and step.state.role.epoch > state.role.epoch:
            role = replace(step.state.role, voted=None)
            return Step(replace(step.state, role=role), step.effects)
        return step

    found = finding(forget_to_vote)

    assert found.action.name == "GrantVote"
    assert "voted" in found.variables


def test_a_process_that_ends_itself_where_kafkas_would_not_is_noticed():
    def give_up(_state, event, step):
        asked = isinstance(event, RequestReceived) and isinstance(event.request, VoteRequest)
        return Step(step.state, (Fatal("enough"),)) if asked else step

    found = finding(give_up)

    assert re.fullmatch(r"replica n\d cannot go on: enough", found.explanation.finding)


def test_a_log_in_memory_that_is_not_the_one_on_the_disk_is_noticed():
    def forget_to_write(_state, _event, step):
        kept = tuple(effect for effect in step.effects if not isinstance(effect, AppendLog))
        return Step(step.state, kept)

    found = finding(forget_to_write)

    assert re.fullmatch(
        r"the log of replica n\d is 0 \.\. 0 on its disk and 0 \.\. \d in memory",
        found.explanation.finding,
    )
    assert found.variables == ("log",)


def test_a_vote_that_is_refused_without_a_reason_is_noticed():
    def refuse(_state, _event, step):
        effects = [
            SendResponse(one.source, replace(one.response, vote_granted=False))
            if isinstance(one, SendResponse) and isinstance(one.response, VoteResponse)
            else one
            for one in step.effects
        ]
        return Step(step.state, tuple(effects))

    found = finding(refuse)

    assert found.action.name == "RefuseVote"
    assert re.search("~CanGrantVote", str(found))


def test_a_follower_that_does_not_flush_is_noticed():
    def skip_flush(state, _event, step):
        if isinstance(state.role, Leader) or not any(
            isinstance(e, AppendLog) for e in step.effects
        ):
            return step
        return Step(step.state, tuple(e for e in step.effects if not isinstance(e, FlushLog)))

    found = finding(skip_flush)

    assert found.action.name == "AppendFetched"
    assert found.variables == ("flushed",)


def test_a_leader_that_commits_a_record_too_early_is_noticed():
    def commit_all(_state, _event, step):
        if isinstance(step.state.role, Leader) and step.state.high_watermark is not None:
            end = step.state.log.end_offset
            return Step(replace(step.state, high_watermark=end), step.effects)
        return step

    found = finding(commit_all)

    assert "high_watermark" in found.variables


def test_a_leader_that_sends_an_old_high_watermark_is_noticed():
    def tell_less(_state, _event, step):
        effects = [
            SendResponse(one.source, replace(one.response, high_watermark=0))
            if isinstance(one, SendResponse)
            and isinstance(one.response, FetchResponse)
            and one.response.error_code == ErrorCode.NONE
            and one.response.high_watermark > 0
            else one
            for one in step.effects
        ]
        return Step(step.state, tuple(effects))

    found = finding(tell_less)

    assert found.variables == ("messages",)


def test_a_step_that_matches_no_action_is_noticed():
    def grow(state, _event, step):
        role = step.state.role
        quiet = not any(isinstance(e, WriteQuorumState | SendResponse) for e in step.effects)
        if step.state is state and quiet and isinstance(role, Leader):
            return Step(replace(state, high_watermark=1), step.effects)
        return step

    found = finding(grow)

    assert "high_watermark" in found.variables
