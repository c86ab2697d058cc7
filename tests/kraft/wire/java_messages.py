"""A program that builds messages with Kafka's own classes, from questions on its input.

It is a process of its own: a JVM has one class path, and that of the oracle is another one.
Each line is a list of questions, and a line of answers follows. A question is a list, its first
element the name of a function below. Bytes are in hex.
"""

from __future__ import annotations

import json
import sys

import jpype


def failure(key, version, request, code, sentence):
    """Return the body of what a request class answers to an exception."""
    keys = jpype.JClass("org.apache.kafka.common.protocol.ApiKeys").forId(key)
    buffer = jpype.JClass("java.nio.ByteBuffer").wrap(_bytes(request))
    readable = jpype.JClass("org.apache.kafka.common.protocol.ByteBufferAccessor")(buffer)
    requests = jpype.JClass("org.apache.kafka.common.requests.AbstractRequest")
    parsed = requests.parseRequest(keys, jpype.JShort(version), readable).request
    error = jpype.JClass("org.apache.kafka.common.protocol.Errors").forCode(code)
    exception = error.exception() if sentence is None else error.exception(sentence)
    return _body(parsed.getErrorResponse(jpype.JInt(0), exception).data(), version)


def own_sentence(code):
    """Return the sentence that belongs to an error."""
    return str(jpype.JClass("org.apache.kafka.common.protocol.Errors").forCode(code).message())


def error_name(code):
    """Return the name of an error."""
    return str(jpype.JClass("org.apache.kafka.common.protocol.Errors").forCode(code).name())


def vote_request(version, cluster, epoch, candidate, voter, last_epoch, last_offset, pre_vote):
    return _body(
        _util().singletonVoteRequest(
            _partition(), cluster, epoch, _key(*candidate), _key(*voter), last_epoch, last_offset,
            pre_vote,
        ),
        version,
    )  # fmt: skip


def begin_request(version, cluster, epoch, leader, endpoints, voter):
    return _body(
        _util().singletonBeginQuorumEpochRequest(
            _partition(), cluster, epoch, leader, _endpoints(endpoints), _key(*voter)
        ),
        version,
    )


def end_request(version, cluster, epoch, leader, successors):
    keys = jpype.java.util.ArrayList([_key(*one) for one in successors])
    return _body(
        _util().singletonEndQuorumEpochRequest(_partition(), cluster, epoch, leader, keys), version
    )


def snapshot_request(version, cluster, replica, epoch, end, position, maximum):
    ends = jpype.JClass("org.apache.kafka.server.common.OffsetAndEpoch")
    return _body(
        _util().singletonFetchSnapshotRequest(
            cluster, _key(*replica), _partition(), epoch, ends(*end), maximum, position
        ),
        version,
    )


def fetch_request(version, cluster, replica, epoch, offset, last_epoch, wait, maximum, watermark):
    def fill(partition):
        partition.setCurrentLeaderEpoch(epoch).setLastFetchedEpoch(last_epoch)
        partition.setFetchOffset(offset).setReplicaDirectoryId(_uuid(replica[1]))
        partition.setHighWatermark(watermark)

    state = jpype.JClass("org.apache.kafka.common.message.FetchRequestData$ReplicaState")()
    request = _util().singletonFetchRequest(_partition(), _metadata_topic(), _consumer(fill))
    request.setMaxBytes(maximum).setMaxWaitMs(wait).setClusterId(cluster)
    request.setReplicaState(state.setReplicaId(replica[0]))
    # What AbstractRequest.Builder does for old versions. Kafka: FetchRequest.SimpleBuilder.
    simple = jpype.JClass("org.apache.kafka.common.requests.FetchRequest$SimpleBuilder")
    return _body(simple(request).build(jpype.JShort(version)).data(), version)


def update_request(version, cluster, voter, epoch, versions, endpoints):
    supported = jpype.JClass("org.apache.kafka.common.feature.SupportedVersionRange")
    return _body(
        _util().updateVoterRequest(
            cluster, _key(*voter), epoch, supported(*map(jpype.JShort, versions)),
            _endpoints(endpoints),
        ),
        version,
    )  # fmt: skip


def add_request(version, cluster, timeout, voter, endpoints):
    return _body(
        _util().addVoterRequest(cluster, timeout, _key(*voter), _endpoints(endpoints)), version
    )


def remove_request(version, cluster, voter):
    return _body(_util().removeVoterRequest(cluster, _key(*voter)), version)


def vote_response(version, code, epoch, leader, granted, endpoints):
    return _body(
        _util().singletonVoteResponse(
            _listener(), jpype.JShort(version), _error(0), _partition(), _error(code), epoch,
            leader, granted, _endpoints(endpoints),
        ),
        version,
    )  # fmt: skip


def begin_response(version, code, epoch, leader, endpoints):
    return _quorum_response(_util().singletonBeginQuorumEpochResponse)(
        version, code, epoch, leader, endpoints
    )


def end_response(version, code, epoch, leader, endpoints):
    return _quorum_response(_util().singletonEndQuorumEpochResponse)(
        version, code, epoch, leader, endpoints
    )


def _quorum_response(build):
    def body(version, code, epoch, leader, endpoints):
        short = jpype.JShort(version)
        return _body(
            build(
                _listener(), short, _error(0), _partition(), _error(code), epoch, leader,
                _endpoints(endpoints),
            ),
            version,
        )  # fmt: skip

    return body


def fetch_response(version, code, epoch, leader, watermark, start, records, ends, endpoints):
    diverging, snapshot = ends

    def fill(partition):
        memory = jpype.JClass("org.apache.kafka.common.record.MemoryRecords")
        buffer = jpype.JClass("java.nio.ByteBuffer").wrap(_bytes(records))
        partition.setRecords(memory.readableRecords(buffer)).setErrorCode(code)
        partition.setLogStartOffset(start).setHighWatermark(watermark)
        partition.currentLeader().setLeaderEpoch(epoch).setLeaderId(leader)
        if diverging is not None:
            partition.divergingEpoch().setEndOffset(diverging[0]).setEpoch(diverging[1])
        if snapshot is not None:
            partition.snapshotId().setEndOffset(snapshot[0]).setEpoch(snapshot[1])

    return _body(
        _util().singletonFetchResponse(
            _listener(), jpype.JShort(version), _partition(), _metadata_topic(), _error(0), leader,
            _endpoints(endpoints), _consumer(fill),
        ),
        version,
    )  # fmt: skip


def snapshot_response(version, code, epoch, leader, end, size, position, data, endpoints):
    def fill(partition):
        records = jpype.JClass("org.apache.kafka.common.record.UnalignedMemoryRecords")
        partition.setErrorCode(code).setSize(size).setPosition(position)
        partition.setUnalignedRecords(
            records(jpype.JClass("java.nio.ByteBuffer").wrap(_bytes(data)))
        )
        partition.currentLeader().setLeaderEpoch(epoch).setLeaderId(leader)
        partition.snapshotId().setEndOffset(end[0]).setEpoch(end[1])
        return partition

    operator = jpype.JProxy("java.util.function.UnaryOperator", dict={"apply": fill})
    return _body(
        _util().singletonFetchSnapshotResponse(
            _listener(), jpype.JShort(version), _partition(), leader, _endpoints(endpoints),
            operator,
        ),
        version,
    )  # fmt: skip


def update_response(version, code, epoch, leader, endpoints):
    known = jpype.java.util.OptionalInt.of(leader)
    leaders = jpype.JClass("org.apache.kafka.raft.LeaderAndEpoch")
    return _body(
        _util().updateVoterResponse(
            _error(code), _listener(), leaders(known, epoch), _endpoints(endpoints)
        ),
        version,
    )


def unknown_partitions(version, request):
    """Return what DescribeQuorum answers about any other partition."""
    data = jpype.JClass("org.apache.kafka.common.message.DescribeQuorumRequestData")
    buffer = jpype.JClass("java.nio.ByteBuffer").wrap(_bytes(request))
    readable = jpype.JClass("org.apache.kafka.common.protocol.ByteBufferAccessor")(buffer)
    requests = jpype.JClass("org.apache.kafka.common.requests.DescribeQuorumRequest")
    asked = data(readable, jpype.JShort(version))
    return _body(requests.getPartitionLevelErrorResponse(asked, _error(3)), version)


def _util():
    return jpype.JClass("org.apache.kafka.raft.RaftUtil")


def _error(code):
    return jpype.JClass("org.apache.kafka.common.protocol.Errors").forCode(code)


def _partition():
    return jpype.JClass("org.apache.kafka.common.TopicPartition")("__cluster_metadata", 0)


def _metadata_topic():
    return jpype.JClass("org.apache.kafka.common.Uuid").METADATA_TOPIC_ID


def _uuid(text):
    return jpype.JClass("org.apache.kafka.common.Uuid").fromString(text)


def _key(node_id, directory):
    return jpype.JClass("org.apache.kafka.raft.ReplicaKey").of(node_id, _uuid(directory))


def _listener(name="CONTROLLER"):
    return jpype.JClass("org.apache.kafka.common.network.ListenerName")(name)


def _endpoints(endpoints):
    address = jpype.JClass("java.net.InetSocketAddress")
    found = jpype.java.util.LinkedHashMap()
    for name, host, port in endpoints:
        found.put(_listener(name), address.createUnresolved(host, port))
    return jpype.JClass("org.apache.kafka.raft.Endpoints").fromInetSocketAddresses(found)


def _consumer(accept):
    return jpype.JProxy("java.util.function.Consumer", dict={"accept": accept})


def _bytes(text):
    return jpype.JArray(jpype.JByte)(bytes.fromhex(text))


def _body(data, version):
    util = jpype.JClass("org.apache.kafka.common.protocol.MessageUtil")
    buffer = util.toByteBufferAccessor(data, jpype.JShort(version)).buffer()
    raw = jpype.JByte[int(buffer.remaining())]
    buffer.get(raw)
    return bytes(raw).hex()


def main():
    library, class_path = sys.argv[1:]
    jpype.startJVM(library, "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
                   classpath=class_path.split(":"), convertStrings=False)  # fmt: skip
    for line in sys.stdin:
        sys.stdout.write(json.dumps([_answer(*one) for one in json.loads(line)]) + "\n")
        sys.stdout.flush()


def _answer(name, *arguments):
    try:
        return globals()[name](*arguments)
    except jpype.JException as error:
        return {"raised": str(error)}


if __name__ == "__main__":
    main()
