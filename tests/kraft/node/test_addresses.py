"""Where a node looks for another one."""

from dataclasses import replace

import pytest
from immutables import Map

from kraft.ids import ReplicaKey
from kraft.log.image import LogImage
from kraft.node.addresses import Addresses
from kraft.node.configuration import Address, ListenerAddress, NodeConfiguration
from kraft.raft.boot import boot
from kraft.raft.configuration import Configuration
from kraft.raft.events import Source
from kraft.raft.pending_requests import PendingVoterChange
from kraft.raft.roles import Follower, Leader
from kraft.raft.voters import Voter, VoterSet
from kraft.rpc.endpoints import Endpoint

OWN = Address("me", 1)
LISTENERS = (ListenerAddress("CONTROLLER", OWN, OWN),)


def at(host):
    return (Endpoint("CONTROLLER", host, 9), Endpoint("OTHER", "elsewhere", 9))


def state_of(*voters):
    """Return a replica whose voters are these."""
    configuration = Configuration(
        "cluster", 1, "S6EaKwVBTqalnbX5b-yzVQ", at("me"), VoterSet.of(voters)
    )
    return boot(configuration, None, LogImage(), 0, 0).state


@pytest.fixture
def addresses(tmp_path):
    servers = (Address("server", 7), Address("second", 8))
    voters = {1: OWN, 2: Address("configured", 2), 3: Address("three", 3)}
    return Addresses(NodeConfiguration(1, voters, servers, LISTENERS, tmp_path, (tmp_path,), Map()))


def test_what_a_response_told_counts_more_than_the_log_and_the_configuration(addresses):
    logged, bare = state_of(Voter(ReplicaKey(2, None), at("logged"))), state_of()
    assert addresses.find(bare, 2).host == "configured"
    assert addresses.find(logged, 2).host == "logged"
    assert addresses.find(logged, 4) is None

    addresses.learn({2: at("told"), 3: at("told")})

    assert [addresses.find(logged, node).host for node in (2, 3)] == ["told", "told"]


def test_what_was_told_is_over_when_the_log_has_another_address(addresses):
    assert addresses.find(state_of(Voter(ReplicaKey(2, None), at("logged"))), 2).host == "logged"
    addresses.learn({2: at("told"), 3: at("told")})

    moved = state_of(Voter(ReplicaKey(2, None), at("moved")))

    assert [addresses.find(moved, node).host for node in (2, 3)] == ["moved", "told"]


def test_a_leader_whose_endpoints_are_those_of_the_log_is_where_a_response_told(addresses):
    state = state_of(Voter(ReplicaKey(2, None), at("logged")))
    addresses.learn({2: at("told")})

    assert (
        addresses.find(replace(state, role=Follower(3, 2, at("logged"), None, 0)), 2)
        == at("told")[0]
    )


def test_answers_by_each_listener_name_the_node_itself_and_its_leader(tmp_path):
    listeners = (*LISTENERS, ListenerAddress("OTHER", Address("me", 2), Address("me", 2)))
    voters = {1: OWN, 2: Address("two", 2)}
    addresses = Addresses(NodeConfiguration(1, voters, (), listeners, tmp_path, (tmp_path,), Map()))
    static = state_of(
        Voter(ReplicaKey(1, None), (Endpoint("CONTROLLER", "me", 1),)),
        Voter(ReplicaKey(2, None), (Endpoint("CONTROLLER", "two", 2),)),
    )
    following = replace(static, role=Follower(3, 2, at("two"), None, 0))

    known = addresses.known(following)

    assert (
        {one.listener for one in known[1]}
        == {one.listener for one in known[2]}
        == {
            "CONTROLLER",
            "OTHER",
        }
    )
    assert addresses.known(static)[2] == (Endpoint("CONTROLLER", "two", 2),)
    assert addresses.logged[1] == (Endpoint("CONTROLLER", "me", 1),)


def test_bootstrap_servers_have_ids_of_their_own(addresses):
    assert addresses.bootstrap_ids == (-2, -3)
    assert [addresses.find(state_of(), one).host for one in (-2, -3)] == ["server", "second"]


def test_a_follower_finds_its_leader_where_the_leader_says(addresses):
    state = state_of(Voter(ReplicaKey(2, None), at("logged")))
    role = Follower(3, 2, at("said"), None, 0)

    addresses.learn({2: at("told")})

    assert addresses.find(replace(state, role=role), 2).host == "said"
    assert addresses.find(replace(state, role=role), 3).host == "three"


def test_a_node_finds_itself_where_its_configuration_says(addresses):
    state = state_of(Voter(ReplicaKey(1, None), at("logged")))
    addresses.learn({1: at("told")})

    assert addresses.find(state, 1) == Endpoint("CONTROLLER", *OWN)
    assert addresses.find(replace(state, role=Follower(3, 1, at("said"), None, 0)), 1).host == "me"


def test_a_leader_finds_a_voter_that_is_to_be_added(addresses):
    voter = Voter(ReplicaKey(7, "QQkkZIBDR9aA3iBSZhVL2w"), at("new"))
    pending = PendingVoterChange("add", Source(-1, 1), voter, 0)
    state = replace(state_of(), role=Leader(3, 1, 0, 0, pending_change=pending))

    assert addresses.find(state, 7).host == "new"
    assert addresses.find(state, 2).host == "configured"
