"""KIP-631 on the metadata log: its quorum, what of it is visible, and the files of a node."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.kips.sentences import sentence
from tests.kraft.log.crashing_files import CrashingFiles
from tests.kraft.log.log_samples import CLUSTER, DIRECTORY, NODE, formatted, opened
from tests.kraft.raft.replicas import (
    EPOCH,
    NOW,
    TIMEOUTS,
    Replica,
    follower,
    log_of,
    replica,
    unattached,
    vote,
)
from tests.kraft.raft.replication import batch, fetch, fetched, following, leading
from tests.kraft.sim.lease.lease_driver import SECOND, SESSION_TIMEOUT_MS, LeaseDriver

from kraft.errors import ErrorCode
from kraft.ids import METADATA_DIRECTORY, OffsetAndEpoch
from kraft.image.metadata_image import EMPTY_IMAGE
from kraft.image.replay import replay
from kraft.log.identity import check_identity, format_directory
from kraft.log.names import snapshot_name
from kraft.log.text_file_writer import meta_properties_text
from kraft.log.text_files import parse_meta_properties
from kraft.log.unusable import UnusableLogError
from kraft.raft.effects import HandleCommit
from kraft.raft.roles import Follower
from kraft.records.cluster import RegisterControllerRecord
from kraft.records.lease import Endpoint
from kraft.rpc.describe_quorum import DescribeQuorumRequest
from kraft.rpc.fetch import FetchRequest, FetchResponse
from kraft.rpc.vote import VoteRequest
from kraft.sim.lease.active_controller import Append, Reply, on_activation
from kraft.sim.lease.image import EMPTY_IMAGE as NO_CLUSTER

PATH = Path("meta.properties")
EXAMPLE = """#
#Tue Dec 01 10:08:08 PST 2020
cluster.id=3Db5QLSqSZieL3rJBUUegA
version=1
node.id=0
"""


def with_identity(text):
    """Return a disk whose meta.properties says this."""
    files = CrashingFiles()
    files.append("meta.properties", text.encode())
    return files


# "KIP-500 Mode".


@sentence("631-005")
def test_a_directory_that_is_not_formatted_is_refused():
    assert opened(formatted())
    with pytest.raises(UnusableLogError, match="not formatted"):
        opened(CrashingFiles())


@sentence("631-006")
def test_an_empty_directory_stays_empty_when_it_is_refused():
    files = CrashingFiles()
    with pytest.raises(UnusableLogError):
        opened(files)
    assert files.contents() == {}


# "Nodes".


@sentence("631-011")
def test_who_is_no_voter_never_stands():
    observer = Replica(replica(unattached(deadline=NOW), node=9))
    observer.wait(10 * TIMEOUTS.election)
    observer.settle()
    assert observer.sent(FetchRequest)
    assert not observer.sent(VoteRequest)


def newcomer(*bootstrap_servers):
    """Return an observer that knows no voters, and whom it asks first."""
    observer = Replica.booted(node=None, voters=(), bootstrap_servers=bootstrap_servers)
    observer.settle()
    ((asked, _),) = observer.sent(FetchRequest)
    return observer, asked


@sentence("631-014")
def test_who_starts_asks_one_of_those_it_was_told_of():
    _, asked = newcomer(2, 3)
    assert asked in (2, 3)


@sentence("631-015")
def test_one_server_that_answers_is_enough():
    observer, asked = newcomer(2, 3)
    other = 5 - asked
    for _ in range(50):
        observer.wait(TIMEOUTS.request // 4)
        observer.settle()
        if other in dict(observer.sent(FetchRequest)):
            break
    observer.answer(other, FetchResponse(ErrorCode.NOT_LEADER_OR_FOLLOWER, EPOCH, other))
    assert isinstance(observer.role, Follower)
    assert observer.leader == other


@sentence("631-016")
def test_who_follows_a_leader_asks_no_bootstrap_server():
    role = follower(leader=2)
    observer = Replica(replica(role, node=9, bootstrap_servers=(7, 8)))
    for _ in range(3):
        observer.settle()
        assert [node for node, _ in observer.sent(FetchRequest)] == [2]
        observer.answer(2, fetched())


# "Networking".


@sentence("631-034")
def test_a_controller_that_registers_is_no_broker():
    record = RegisterControllerRecord(
        1, "I" * 21 + "A", False, (Endpoint("CONTROLLER", "h", 1),), ()
    )
    image = replay(EMPTY_IMAGE, [record])
    assert len(image.controllers) == 1
    assert not image.brokers


# "The Metadata Topic".


@sentence("631-040")
def test_the_log_is_that_of_the_topic_cluster_metadata():
    assert snapshot_name(OffsetAndEpoch(0, 0)).startswith("__cluster_metadata-")
    described = leading(log_of(EPOCH)).request(DescribeQuorumRequest("another"))
    assert described.error_code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@sentence("631-041")
def test_there_is_partition_zero_and_no_other():
    assert METADATA_DIRECTORY == "__cluster_metadata-0"
    described = leading(log_of(EPOCH)).request(DescribeQuorumRequest(partition=1))
    assert described.error_code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@sentence("631-042")
def test_a_record_counts_once_a_majority_has_it():
    led = leading(log_of(EPOCH, EPOCH), high_watermark=1)
    assert led.state.high_watermark == 1
    led.request(fetch(2))
    assert led.state.high_watermark == 2


# "Persistence and Visibility".


@sentence("631-050")
def test_another_node_applies_what_is_committed_only():
    driven = following(log_of())
    driven.answer(2, fetched([batch(0), batch(1)], high_watermark=1))
    assert driven.of(HandleCommit) == [HandleCommit((batch(0),))]


@sentence("631-052")
def test_who_lacks_what_is_committed_gets_no_vote_of_who_has_it():
    committed = log_of(EPOCH, EPOCH)
    voter = replica(unattached(EPOCH + 1), log=committed)
    lacks = Replica(voter).request(vote(EPOCH + 1, end=(1, EPOCH)))
    has = Replica(voter).request(vote(EPOCH + 1, end=(2, EPOCH)))
    assert (lacks.vote_granted, has.vote_granted) == (False, True)


@sentence("631-053")
def test_a_second_change_builds_on_a_first_that_nobody_committed():
    controller = LeaseDriver()
    first = controller.register(1)
    second = controller.register(2, SECOND)
    assert second.broker_epoch == first.broker_epoch + 1


@sentence("631-054")
def test_memory_has_a_change_as_soon_as_it_is_to_be_appended():
    controller = LeaseDriver()
    controller.register()
    (append,) = [one for one in controller.step.effects if isinstance(one, Append)]
    assert controller.state.image.log_end == append.base_offset + len(append.records)
    assert controller.registration()


@sentence("631-055")
def test_the_next_controller_does_not_know_what_was_not_committed():
    controller = LeaseDriver()
    controller.register()
    following_controller = on_activation(NO_CLUSTER, SESSION_TIMEOUT_MS, 0)
    assert not following_controller.state.image.registrations


@sentence("631-057")
def test_the_answer_follows_the_append():
    controller = LeaseDriver()
    controller.register()
    assert [type(effect) for effect in controller.step.effects] == [Append, Reply]


# "meta.properties".


@sentence("631-180")
def test_a_formatted_directory_has_version_one():
    assert parse_meta_properties(meta_properties_text(CLUSTER, NODE, DIRECTORY), PATH).version == 1


@sentence("631-181")
def test_each_line_is_a_key_and_its_value():
    lines = meta_properties_text(CLUSTER, NODE, DIRECTORY).splitlines()
    said = dict(line.split("=") for line in lines if not line.startswith("#"))
    assert said == {
        "cluster.id": CLUSTER,
        "version": "1",
        "node.id": str(NODE),
        "directory.id": DIRECTORY,
    }


@sentence("631-182")
def test_version_zero_may_have_no_cluster_id():
    found = parse_meta_properties("version=0\nbroker.id=4\n", PATH)
    assert (found.cluster_id, found.node_id) == (None, 4)


@sentence("631-183")
def test_a_start_without_a_cluster_id_in_version_one_is_refused():
    files = with_identity(f"version=1\nnode.id={NODE}\ndirectory.id={DIRECTORY}\n")
    with pytest.raises(UnusableLogError, match=r"cluster\.id is missing"):
        check_identity(files, CLUSTER, NODE, DIRECTORY)


@sentence("631-184")
@pytest.mark.parametrize("version", [0, 1])
def test_differs_a_cluster_id_is_taken_as_it_is_written(version):
    text = f"version={version}\ncluster.id=not-a-uuid\nnode.id=1\n"
    assert parse_meta_properties(text, PATH).cluster_id == "not-a-uuid"
    assert "cluster.id=not-a-uuid\n" in meta_properties_text("not-a-uuid", NODE, DIRECTORY)


@sentence("631-185")
def test_a_node_id_takes_the_place_of_a_broker_id():
    assert "broker.id" not in meta_properties_text(CLUSTER, NODE, DIRECTORY)
    assert parse_meta_properties(EXAMPLE, PATH).node_id == 0


@sentence("631-186")
def test_a_directory_without_the_file_is_refused_whatever_else_it_has():
    files = CrashingFiles()
    for name, content in formatted().contents().items():
        if name != "meta.properties":
            files.append(name, content)
    with pytest.raises(UnusableLogError, match="not formatted"):
        check_identity(files, CLUSTER, NODE, DIRECTORY)


@sentence("631-187")
def test_a_start_with_the_directory_of_another_node_is_refused():
    assert check_identity(formatted(), CLUSTER, NODE, DIRECTORY) == DIRECTORY
    with pytest.raises(UnusableLogError, match=r"node\.id"):
        check_identity(formatted(), CLUSTER, NODE + 1, DIRECTORY)


@sentence("631-188")
def test_the_example_is_read():
    found = parse_meta_properties(EXAMPLE, PATH)
    assert (found.version, found.cluster_id, found.node_id, found.directory_id) == (
        1,
        "3Db5QLSqSZieL3rJBUUegA",
        0,
        None,
    )


# "kafka-storage.sh".


@sentence("631-194")
def test_a_formatted_directory_can_be_started_from():
    files = CrashingFiles()
    format_directory(files, CLUSTER, NODE, DIRECTORY)
    assert opened(files)


@sentence("631-195")
def test_a_formatted_directory_is_not_formatted_again():
    with pytest.raises(UnusableLogError, match="formatted already"):
        format_directory(formatted(), CLUSTER, NODE, DIRECTORY)
