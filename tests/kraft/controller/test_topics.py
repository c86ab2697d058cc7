"""Topics, partitions and their placement: scenarios 113 to 121 of Kafka's controller."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.kraft.controller.partitions import DEFAULTS, TOPIC, TOPIC_ID, directory, image_of

from kraft.controller.operations.defaults import Defaults
from kraft.controller.operations.errors import ControllerError
from kraft.controller.operations.placement import place
from kraft.controller.operations.topics import (
    METADATA_TOPIC,
    create_partitions,
    create_topics,
    delete_topics,
)
from kraft.errors import ErrorCode
from kraft.ids import TopicId
from kraft.image.entries import MIGRATING, UNASSIGNED
from kraft.image.replay import replay
from kraft.records.topics import ConfigRecord, PartitionRecord, TopicRecord
from kraft.rpc.topics import (
    CreatableTopic,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
    CreateTopicsRequest,
)

NEW = tuple(TopicId(f"{number}".rjust(21, "N") + "A") for number in range(9))
BROKERS = (0, 1, 2, 3, 4, 5)


def created(image, *topics, defaults=DEFAULTS, **options):
    """Return the answers of a creation, and its records."""
    request = CreateTopicsRequest(topics, **options)
    result = create_topics(image, defaults, request, NEW[: len(topics)])
    assert result.is_atomic
    return result.response.topics, result.records


def error_of(image, topic):
    """Return why a topic is refused; it writes nothing."""
    (answer,), records = created(image, topic)
    assert records == ()
    assert answer.error_message
    return answer.error_code


def racked(racks, *, fenced=(), shutting_down=()):
    """Return an image whose brokers 0, 1, ... are in these racks."""
    image = image_of((0,), brokers=tuple(range(len(racks))), fenced=fenced,
                     shutting_down=shutting_down)  # fmt: skip
    brokers = {
        broker_id: replace(one, rack=racks[broker_id]) for broker_id, one in image.brokers.items()
    }
    return replace(image, brokers=image.brokers.update(brokers))


def test_a_topic_its_configuration_and_its_partitions_are_written_in_that_order():
    topic = CreatableTopic("bar", 2, 3, configs=(("retention.ms", "5"),))
    (answer,), records = created(image_of((0,)), topic)
    assert [type(one) for one in records] == [
        TopicRecord, ConfigRecord, PartitionRecord, PartitionRecord,
    ]  # fmt: skip
    assert (answer.error_code, answer.num_partitions, answer.replication_factor) == (0, 2, 3)
    image = replay(image_of((0,)), records)
    assert image.topics[NEW[0]].partition_ids == (0, 1)
    for partition in (image.partitions[NEW[0], index] for index in (0, 1)):
        assert partition.leader == partition.isr[0] == partition.replicas[0]
        assert (partition.leader_epoch, partition.partition_epoch) == (0, 0)


def test_of_two_values_of_one_setting_the_last_counts():
    configs = ("retention.ms", "5"), ("segment.bytes", "1048576"), ("retention.ms", "6")
    (answer,), records = created(image_of((0,)), CreatableTopic("bar", 1, 1, configs=configs))
    assert answer.error_code is ErrorCode.NONE
    assert [(one.name, one.value) for one in records if isinstance(one, ConfigRecord)] == [
        ("retention.ms", "6"), ("segment.bytes", "1048576"),
    ]  # fmt: skip
    invalid = CreatableTopic("bar", 1, 1, configs=(*configs, ("retention.ms", "soon")))
    assert error_of(image_of((0,)), invalid) is ErrorCode.INVALID_CONFIG
    # A value that is missing is a reason to refuse, also where a later one replaces it.
    missing = CreatableTopic("bar", 1, 1, configs=(("retention.ms", None), *configs))
    assert error_of(image_of((0,)), missing) is ErrorCode.INVALID_CONFIG


def test_omitted_numbers_default_to_the_controllers_settings():
    defaults = Defaults(num_partitions=3, default_replication_factor=2)
    (answer,), _ = created(image_of((0,)), CreatableTopic("bar"), defaults=defaults)
    assert (answer.num_partitions, answer.replication_factor) == (3, 2)


def test_more_replicas_than_brokers_or_none_unfenced_is_refused():
    assert error_of(image_of((0,), brokers=(0, 1)), CreatableTopic("bar", 1, 3)) is (
        ErrorCode.INVALID_REPLICATION_FACTOR
    )
    all_fenced = image_of((0,), brokers=(0, 1, 2), fenced=(0, 1, 2))
    assert error_of(all_fenced, CreatableTopic("bar", 1, 3)) is ErrorCode.INVALID_REPLICATION_FACTOR


@pytest.mark.parametrize(
    ("topic", "code"),
    [
        (CreatableTopic("bar", 1, 0), ErrorCode.INVALID_REPLICATION_FACTOR),
        (CreatableTopic("bar", 1, -2), ErrorCode.INVALID_REPLICATION_FACTOR),
        (CreatableTopic("bar", 0, 1), ErrorCode.INVALID_PARTITIONS),
        (CreatableTopic("bar", -2, 1), ErrorCode.INVALID_PARTITIONS),
        (CreatableTopic(TOPIC, 1, 1), ErrorCode.TOPIC_ALREADY_EXISTS),
        (CreatableTopic("a.b_c", 1, 1, configs=(("x", None),)), ErrorCode.INVALID_CONFIG),
        (CreatableTopic("", 1, 1), ErrorCode.INVALID_TOPIC_EXCEPTION),
        (CreatableTopic("..", 1, 1), ErrorCode.INVALID_TOPIC_EXCEPTION),
        (CreatableTopic("a/b", 1, 1), ErrorCode.INVALID_TOPIC_EXCEPTION),
        (CreatableTopic("x" * 250, 1, 1), ErrorCode.INVALID_TOPIC_EXCEPTION),
        (CreatableTopic("bar", 2, assignments=((0, (1,)),)), ErrorCode.INVALID_REQUEST),
        (CreatableTopic("bar", -1, 1, assignments=((0, (1,)),)), ErrorCode.INVALID_REQUEST),
    ],
)
def test_an_invalid_topic_has_its_error(topic, code):
    assert error_of(image_of((0,)), topic) is code


@pytest.mark.parametrize(
    "assignments",
    [
        ((0, (1,)), (2, (1,))),
        ((0, (1,)), (0, (2,))),
        ((0, ()),),
        ((0, (1, 1)),),
        ((0, (1, 9)),),
        ((0, (1, 2)), (1, (1,))),
        ((0, (5,)),),
    ],
    ids=["gap", "twice", "empty", "one broker twice", "unregistered", "other factor", "inactive"],
)
def test_an_invalid_manual_assignment_is_refused(assignments):
    image = image_of((0,), fenced=(5,))
    topic = CreatableTopic("bar", assignments=assignments)
    assert error_of(image, topic) is ErrorCode.INVALID_REPLICA_ASSIGNMENT


def test_a_manually_assigned_fenced_broker_is_a_replica_outside_the_isr():
    image = image_of((0,), fenced=(1,), shutting_down=(2,))
    topic = CreatableTopic("bar", assignments=((0, (1, 2, 3)),))
    _, records = created(image, topic)
    partition = records[-1]
    assert (partition.replicas, partition.isr, partition.leader) == ((1, 2, 3), (3,), 3)


def test_names_that_metrics_cannot_tell_apart_collide():
    image = image_of((0,))
    answers, records = created(image, CreatableTopic("a.b", 1, 1))
    assert error_of(replay(image, records), CreatableTopic("a_b", 1, 1)) is (
        ErrorCode.INVALID_TOPIC_EXCEPTION
    )
    # Kafka compares with existing topics, not with those of the same request.
    answers, _ = created(image, CreatableTopic("a.b", 1, 1), CreatableTopic("a_b", 1, 1))
    assert [one.error_code for one in answers] == [ErrorCode.NONE, ErrorCode.NONE]


@pytest.mark.parametrize("count", [0, 100])
def test_a_collision_names_the_first_of_the_topics_however_many_there_are(count):
    names = ["x_y_z", "x_y.z", "xyz", *(f"other{number}" for number in range(count))]
    records = [TopicRecord(name, f"{number:022}") for number, name in enumerate(names)]
    image = replay(image_of((0,)), records)
    (answer,), _ = created(image, CreatableTopic("x.y_z", 1, 1))
    assert answer.error_message.startswith("x.y_z collides with x_y.z:")
    (answer,), _ = created(image, CreatableTopic("xy.z", 1, 1))
    assert answer.error_code is ErrorCode.NONE


def test_a_topic_that_is_named_twice_is_refused_and_counts_for_no_limit():
    image = image_of((0,))
    large = CreatableTopic("bar", 9_000, 1)
    (bar, baz), records = created(image, large, CreatableTopic("baz", 2_000, 1), large)
    assert (bar.error_code, baz.error_code) == (ErrorCode.INVALID_REQUEST, ErrorCode.NONE)
    assert len(records) == 2_001
    more = CreatePartitionsTopic(TOPIC, 3, None)
    grown_twice = create_partitions(image, CreatePartitionsRequest((more, more)))
    (answer,) = grown_twice.response.results
    assert (answer.error_code, grown_twice.records) == (ErrorCode.INVALID_REQUEST, ())


def test_nothing_creates_the_topic_of_the_metadata_log():
    image = image_of((0,))
    assert error_of(image, CreatableTopic(METADATA_TOPIC, 1, 1)) is ErrorCode.INVALID_REQUEST


def test_a_request_to_validate_only_writes_nothing():
    (answer,), records = created(image_of((0,)), CreatableTopic("bar", 2, 2), validate_only=True)
    assert (answer.error_code, answer.num_partitions, records) == (ErrorCode.NONE, 2, ())


def test_a_request_of_too_many_records_is_refused():
    with pytest.raises(ControllerError, match="POLICY_VIOLATION"):
        created(image_of((0,)), CreatableTopic("bar", 10_000, 1))
    answers, records = created(image_of((0,)), CreatableTopic("bar", 9_999, 1))
    assert (answers[0].num_partitions, len(records)) == (9_999, 10_000)


def test_a_request_of_too_many_records_is_refused_even_if_it_only_validates():
    request = CreateTopicsRequest((CreatableTopic("bar", 10_000, 1),), validate_only=True)
    with pytest.raises(ControllerError, match="POLICY_VIOLATION"):
        create_topics(image_of((0,)), Defaults(), request, NEW[:1])


@pytest.mark.parametrize(
    "topics",
    [
        (CreatableTopic(TOPIC, 10_001, 1),),
        (CreatableTopic("bar", 10_000, 1), CreatableTopic(TOPIC, 0, 1), CreatableTopic("baz")),
        (CreatableTopic("bar", 9_999, 99), CreatableTopic("baz", assignments=((0, ()), (0, ())))),
        (CreatableTopic("bar", 2**31 - 1, 1),),
    ],
    ids=["of a topic that exists", "the default counts", "assignments count", "too many to place"],
)
def test_a_request_of_too_many_partitions_is_refused_before_its_topics_are_looked_at(topics):
    request = CreateTopicsRequest(topics)
    with pytest.raises(ControllerError, match=r"POLICY_VIOLATION: .* more than 10000"):
        create_topics(image_of((0,)), Defaults(), request, NEW[: len(topics)])


def test_numbers_of_partitions_that_are_not_positive_count_as_none():
    topics = CreatableTopic(TOPIC, 9_999, 1), CreatableTopic("bar", -5, 1), CreatableTopic("baz")
    answers, records = created(image_of((0,)), *topics)
    assert [one.error_code for one in answers] == [
        ErrorCode.TOPIC_ALREADY_EXISTS, ErrorCode.INVALID_PARTITIONS, ErrorCode.NONE,
    ]  # fmt: skip
    assert len(records) == 2


def test_a_topic_with_too_many_new_partitions_for_the_batch_is_refused_and_others_are_not():
    image = image_of((0,))
    _, records = created(image, CreatableTopic("bar", 1, 1))
    request = CreatePartitionsRequest(
        (
            CreatePartitionsTopic(TOPIC, 2**31 - 1, None),
            CreatePartitionsTopic("bar", 3, None),
        )
    )
    result = create_partitions(replay(image, records), request)
    assert [one.error_code for one in result.response.results] == [
        ErrorCode.UNKNOWN_SERVER_ERROR, ErrorCode.NONE,
    ]  # fmt: skip
    assert len(result.records) == 2


def grown(image, count, assignments=None, name=TOPIC, **options):
    """Return the answer to a request for more partitions, and the records."""
    asked = CreatePartitionsTopic(name, count, assignments)
    result = create_partitions(image, CreatePartitionsRequest((asked,), **options))
    return result.response.results[0].error_code, result.records


def test_new_partitions_continue_the_numbering_with_the_same_replication_factor():
    image = image_of((0, 1))
    code, records = grown(image, 3)
    assert code is ErrorCode.NONE
    assert [one.partition_id for one in records] == [1, 2]
    assert {len(one.replicas) for one in records} == {2}
    assert grown(image, 3, validate_only=True) == (ErrorCode.NONE, ())
    _, by_hand = grown(image, 2, ((4, 3),))
    assert by_hand[0].replicas == (4, 3)


@pytest.mark.parametrize(
    ("count", "assignments", "code"),
    [
        (1, None, ErrorCode.INVALID_PARTITIONS),
        (0, None, ErrorCode.INVALID_PARTITIONS),
        (3, ((1, 2),), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (2, ((1,),), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (2, ((5, 4),), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
    ],
)
def test_partitions_that_cannot_be_added_have_their_error(count, assignments, code):
    image = image_of((0, 1), fenced=(4, 5))
    assert grown(image, count, assignments) == (code, ())


def test_partitions_cannot_be_added_to_an_unknown_topic_or_without_active_brokers():
    assert grown(image_of((0,)), 2, name="bar")[0] is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    fenced = image_of((0, 1), fenced=BROKERS)
    assert grown(fenced, 2)[0] is ErrorCode.INVALID_REPLICATION_FACTOR


def test_a_deleted_topic_loses_its_configuration_and_can_be_created_again():
    image = image_of((0,), configs={"retention.ms": "5"})
    gone = replay(image, delete_topics(image, (TOPIC_ID,)).records)
    assert not gone.configurations
    assert not gone.partitions
    (answer,), records = created(gone, CreatableTopic(TOPIC, 1, 1))
    assert answer.topic_id == NEW[0] != TOPIC_ID
    assert replay(gone, records).topic_ids[TOPIC] == NEW[0]


def test_a_new_replica_is_in_the_only_directory_or_the_broker_chooses():
    image = image_of((0,))
    two = replace(image.brokers[1], directories=(directory(1), directory(7)))
    none = replace(image.brokers[2], directories=())
    image = replace(image, brokers=image.brokers.update({1: two, 2: none}))
    topic = CreatableTopic("bar", assignments=((0, (0, 1, 2)),))
    assert created(image, topic)[1][-1].directories == (directory(0), UNASSIGNED, MIGRATING)
    old = image_of((0,), metadata_version=15)
    assert created(old, topic)[1][-1].directories == ()


def test_the_only_unfenced_broker_always_leads():
    image = image_of((0,), fenced=(0, 1, 2, 4, 5))
    placed = place(image, 12, 3, chance=0)
    assert {replicas[0] for replicas in placed} == {3}


def test_the_leaders_rack_is_skipped_once_and_the_walk_begins_at_the_rack_whose_turn_it_is():
    # Rack a has no broker that may lead: b leads for it, and a is next.
    image = racked("abccb", fenced=(0,))
    placed = [place(image, 1, 4, chance)[0] for chance in range(40)]
    walks = {"".join("abccb"[one] for one in replicas) for replicas in placed}
    assert walks == {"bacb", "bcab", "cabc"}


def test_no_broker_leads_twice_before_every_unfenced_broker_has_led():
    image = racked("aaaa")
    for chance in range(10):
        leaders = [replicas[0] for replicas in place(image, 8, 1, chance)]
        assert set(leaders[:4]) == set(leaders[4:]) == {0, 1, 2, 3}


@pytest.mark.parametrize(("partitions", "replicas"), [(0, 0), (-2, 0), (1, 0)])
def test_the_replication_factor_is_checked_before_the_number_of_partitions(partitions, replicas):
    assert error_of(image_of((0,)), CreatableTopic("bar", partitions, replicas)) is (
        ErrorCode.INVALID_REPLICATION_FACTOR
    )


def test_three_racks_get_a_replica_each_and_lead_in_turn():
    image = racked("aabbcc")
    placed = place(image, 6, 3, chance=0)
    for replicas in placed:
        assert {"aabbcc"[one] for one in replicas} == {"a", "b", "c"}
    assert Counter(replicas[0] for replicas in placed) == Counter(range(6))


@given(
    racks=st.lists(st.sampled_from([None, "a", "b", "c"]), min_size=1, max_size=8),
    data=st.data(),
)
def test_replicas_are_distinct_spread_over_racks_and_led_by_an_unfenced_broker(racks, data):
    everybody = range(len(racks))
    fenced = data.draw(st.sets(st.sampled_from(everybody)))
    leaving = data.draw(st.sets(st.sampled_from(everybody)))
    image = racked(racks, fenced=tuple(fenced), shutting_down=tuple(leaving))
    usable = [one for one in everybody if one not in leaving]
    factor = data.draw(st.integers(1, len(racks)))
    chance = data.draw(st.integers(0, 50))
    if factor > len(usable) or set(usable) <= fenced:
        with pytest.raises(ControllerError, match="INVALID_REPLICATION_FACTOR"):
            place(image, 1, factor, chance)
        return
    for replicas in place(image, 5, factor, chance):
        assert len(set(replicas)) == factor
        assert set(replicas) <= set(usable)
        assert replicas[0] not in fenced
        known = {racks[one] for one in usable}
        assert len({racks[one] for one in replicas}) == min(factor, len(known))
