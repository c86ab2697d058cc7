"""How a replica starts: what its quorum-state file makes of it (S01 to S11)."""

from __future__ import annotations

import pytest
from tests.kraft.raft.replicas import (
    CHANCE,
    EPOCH,
    NOW,
    TIMEOUTS,
    Replica,
    begin,
    configuration,
    directory,
    end,
    endpoints,
    key,
    log_of,
    quorum_state,
    vote,
)

from kraft.errors import CorruptRecordError, ErrorCode, UnsupportedVersionError
from kraft.ids import ZERO_UUID, DirectoryId, ReplicaKey
from kraft.log.text_files import read_quorum_state
from kraft.raft.boot import BootError, boot
from kraft.raft.effects import AppendLog, Fatal, FlushLog, SendRequest, WriteQuorumState
from kraft.raft.roles import NEVER, Candidate, Follower, Leader, Resigned, Unattached
from kraft.rpc.fetch import FetchRequest
from kraft.rpc.quorum_epoch import EndQuorumEpochRequest
from kraft.rpc.vote import VoteRequest


def test_s01_a_sole_voter_without_a_file_leads_epoch_1_at_once():
    replica = Replica.booted(voters=(1,))
    assert replica.written() == [(0, None, None)]
    replica.settle()
    assert isinstance(replica.role, Leader)
    assert replica.role.epoch == 1
    assert replica.order()[:2] == ["WriteQuorumState", "AppendLog"]
    assert replica.written() == [(1, 1, None)]
    (append,) = replica.of(AppendLog)
    assert [batch.base_offset for batch in append.batches] == [0]
    assert replica.of(FlushLog)
    assert replica.state.high_watermark == 1


def test_s01_a_voter_of_three_without_a_file_waits_unattached_in_epoch_0():
    replica = Replica.booted()
    assert isinstance(replica.role, Unattached)
    assert replica.written() == [(0, None, None)]
    assert NOW + TIMEOUTS.election <= replica.role.election_deadline < NOW + 2 * TIMEOUTS.election


def test_s02_a_sole_voter_that_led_leads_the_next_epoch_and_never_that_one():
    replica = Replica.booted(quorum_state(leader=1), voters=(1,), log=log_of(EPOCH))
    assert isinstance(replica.role, Resigned)
    replica.poll()
    assert isinstance(replica.role, Leader)
    assert replica.role.epoch == EPOCH + 1
    assert replica.written() == [(EPOCH + 1, 1, None)]


def test_s03_a_leader_that_restarts_has_resigned_and_tells_the_others():
    replica = Replica.booted(quorum_state(leader=1), log=log_of(EPOCH))
    assert isinstance(replica.role, Resigned)
    assert replica.order() == ["WriteQuorumState", "SendRequest", "SendRequest"]
    assert replica.written() == [(EPOCH, 1, None)]
    told = replica.sent(EndQuorumEpochRequest)
    assert [node for node, _ in told] == [2, 3]
    assert [request.preferred_candidates for _, request in told] == [(), ()]
    assert [request.epoch for _, request in told] == [EPOCH, EPOCH]


def test_s03_a_leader_that_restarts_gives_no_vote_in_its_epoch():
    replica = Replica.booted(quorum_state(leader=1), log=log_of(EPOCH))
    answer = replica.request(vote(end=(9, EPOCH - 1)))
    assert (answer.error_code, answer.vote_granted) == (ErrorCode.NONE, False)
    assert isinstance(replica.role, Resigned)


def test_s03_a_leader_that_restarts_goes_on_to_the_next_epoch_and_asks_before_it_stands():
    replica = Replica.booted(quorum_state(leader=1), log=log_of(EPOCH))
    replica.now = replica.role.election_deadline
    replica.poll()
    assert isinstance(replica.role, Unattached)
    assert replica.written() == [(EPOCH + 1, None, None)]
    replica.poll()
    assert [request.pre_vote for _, request in replica.sent(VoteRequest)] == [True, True]
    assert replica.role.epoch == EPOCH + 1


def test_s04_a_voter_that_voted_for_itself_stands_again_in_the_same_epoch():
    replica = Replica.booted(quorum_state(voted=1))
    assert isinstance(replica.role, Candidate)
    assert replica.order() == ["WriteQuorumState", "SendRequest", "SendRequest"]
    assert replica.written() == [(EPOCH, None, key(1))]
    asked = replica.sent(VoteRequest)
    assert [(node, request.epoch, request.pre_vote) for node, request in asked] == [
        (2, EPOCH, False),
        (3, EPOCH, False),
    ]


def test_s04_a_vote_for_itself_counts_more_than_the_leader_that_was_followed_since():
    replica = Replica.booted(quorum_state(voted=1, leader=2))
    assert isinstance(replica.role, Candidate)
    assert replica.written() == [(EPOCH, None, key(1))]


def test_s05_a_voter_that_voted_gives_the_same_vote_again_and_no_other():
    replica = Replica.booted(quorum_state(voted=2), log=log_of(1, 1))
    assert isinstance(replica.role, Unattached)
    assert replica.written() == [(EPOCH, None, key(2))]
    assert not replica.request(vote(sender=3, end=(9, 1)), sender=3).vote_granted
    assert replica.request(vote(sender=2, end=(0, 0))).vote_granted
    assert replica.written() == []
    assert replica.voted == key(2)


def test_s06_a_follower_that_restarts_fetches_from_its_leader_first():
    replica = Replica.booted(quorum_state(leader=2), log=log_of(1, 1, 4))
    assert isinstance(replica.role, Follower)
    assert replica.role.leader_endpoints == endpoints(2)
    assert replica.order() == ["WriteQuorumState"]
    replica.settle()
    ((node, fetch),) = replica.sent()
    assert isinstance(fetch, FetchRequest)
    assert node == 2
    assert (fetch.current_leader_epoch, fetch.fetch_offset, fetch.last_fetched_epoch) == (
        EPOCH,
        3,
        4,
    )


def test_s06_a_follower_that_restarts_keeps_the_vote_beside_the_leader():
    replica = Replica.booted(quorum_state(leader=2, voted=3))
    assert isinstance(replica.role, Follower)
    assert replica.written() == [(EPOCH, 2, key(3))]


def test_s07_a_leader_that_is_no_voter_is_remembered_and_so_no_vote_is_given():
    replica = Replica.booted(quorum_state(leader=9), log=log_of(1))
    assert isinstance(replica.role, Unattached)
    assert replica.leader == 9
    assert replica.written() == [(EPOCH, 9, None)]
    answer = replica.request(vote(end=(9, 4)))
    assert (answer.vote_granted, answer.leader_id) == (False, 9)


def test_s07_a_leader_that_is_remembered_is_followed_once_it_is_heard():
    replica = Replica.booted(quorum_state(leader=9))
    replica.request(begin(leader=9), sender=9)
    assert isinstance(replica.role, Follower)
    assert (replica.leader, replica.role.leader_endpoints) == (9, endpoints(9))


def test_s08_a_file_older_than_the_log_gives_way_to_it_and_its_vote_is_gone():
    replica = Replica.booted(quorum_state(2, voted=3, leader=-1), log=log_of(1, 4))
    assert isinstance(replica.role, Unattached)
    assert replica.written() == [(4, None, None)]


def test_s08_a_file_as_old_as_the_log_stands():
    replica = Replica.booted(quorum_state(4, voted=3), log=log_of(1, 4))
    assert replica.written() == [(4, None, key(3))]


@pytest.mark.parametrize(
    ("content", "error"),
    [
        ("", CorruptRecordError),
        ("{}", CorruptRecordError),
        ('{"leaderId":-1,"leaderEpoch":5,', CorruptRecordError),
        (
            '{"leaderId":-1,"leaderEpoch":5,"votedId":-1,"votedDirectoryId":'
            '"AAAAAAAAAAAAAAAAAAAAAA","data_version":2}',
            UnsupportedVersionError,
        ),
    ],
    ids=["empty", "nothing-in-it", "cut-short", "unknown-version"],
)
def test_s09_a_file_that_cannot_be_read_is_an_error_and_never_epoch_0(tmp_path, content, error):
    path = tmp_path / "quorum-state"
    path.write_text(content)
    with pytest.raises(error, match="quorum-state"):
        read_quorum_state(path)


def test_s10_a_vote_in_the_file_of_a_replica_without_an_id_is_an_error():
    with pytest.raises(BootError, match="vote for node 2"):
        Replica.booted(quorum_state(voted=2), node=None)


def test_s10_the_zero_directory_is_nobodys():
    own = configuration()
    zero = type(own)(
        own.cluster_id, own.node_id, DirectoryId(ZERO_UUID), own.endpoints, own.static_voters
    )
    with pytest.raises(BootError, match="directory id"):
        boot(zero, None, log_of(), NOW, CHANCE)


def test_s11_a_vote_without_a_directory_is_known_by_its_id():
    replica = Replica.booted(quorum_state(voted=1, version=0), directories=False)
    assert isinstance(replica.role, Candidate)


def test_s11_a_vote_for_another_disk_of_this_node_is_not_for_it():
    replica = Replica.booted(quorum_state(voted=1, voted_directory=directory(1, disk=1)))
    assert isinstance(replica.role, Unattached)
    assert replica.voted == key(1, disk=1)
    assert not replica.request(vote(end=(9, 4))).vote_granted


def test_s11_a_vote_for_another_disk_is_not_given_to_this_one():
    replica = Replica.booted(quorum_state(voted=2))
    answer = replica.request(vote(candidate_directory_id=directory(2, disk=1)))
    assert not answer.vote_granted
    other = Replica.booted(quorum_state(voted=2, version=0), directories=False)
    assert other.voted == ReplicaKey(2)
    assert other.request(vote(candidate_directory_id=directory(2, disk=1))).vote_granted


def test_an_observer_never_waits_to_stand():
    replica = Replica.booted(quorum_state(), node=9)
    assert isinstance(replica.role, Unattached)
    assert replica.role.election_deadline == NEVER


def test_a_file_is_written_in_the_version_of_the_log():
    replica = Replica.booted()
    (write,) = replica.of(WriteQuorumState)
    assert write.version == 0


def test_two_starts_with_the_same_chance_are_one():
    first, second = Replica.booted(), Replica.booted()
    assert (first.state, first.effects) == (second.state, second.effects)
    assert not first.of(Fatal)
    assert not first.of(SendRequest)


def test_a_resigned_replica_follows_who_says_it_leads_a_later_epoch():
    replica = Replica.booted(quorum_state(leader=1))
    replica.request(end(EPOCH + 1, leader=3), sender=3)
    assert isinstance(replica.role, Follower)
    assert replica.leader == 3


def test_s02_a_sole_voter_that_voted_for_itself_leads_the_next_epoch_too():
    replica = Replica.booted(quorum_state(voted=1), voters=(1,))
    assert isinstance(replica.role, Candidate)
    replica.poll()
    assert isinstance(replica.role, Leader)
    assert replica.written() == [(EPOCH + 1, 1, None)]


def test_a_voter_that_was_removed_stands_where_it_stood_and_never_again():
    replica = Replica.booted(quorum_state(voted=1), voters=(2, 3))
    assert isinstance(replica.role, Candidate)
    assert [node for node, _ in replica.sent(VoteRequest)] == [2, 3]
    for _ in range(5):
        replica.wait(TIMEOUTS.request)
        replica.settle()
        assert not any(request.pre_vote for _, request in replica.sent(VoteRequest))
    assert isinstance(replica.role, Candidate)
    assert replica.role.epoch == EPOCH
    replica.request(begin(leader=2))
    assert isinstance(replica.role, Follower)
