"""The index of brokers and partitions says what the image says, after any records."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kraft.image.logs import TOPIC_A, TOPIC_B

from kraft.image.brokers_to_partitions import NO_PARTITIONS, after_records, brokers_to_partitions
from kraft.image.metadata_image import EMPTY_IMAGE
from kraft.image.replay import replay
from kraft.records.topics import (
    NO_LEADER,
    ClearElrRecord,
    PartitionChangeRecord,
    PartitionRecord,
    RemoveTopicRecord,
    TopicRecord,
)

NAMES = {TOPIC_A: "a", TOPIC_B: "b"}
BROKERS = st.lists(st.integers(1, 3), max_size=3, unique=True).map(tuple)
KEYS = st.tuples(st.integers(0, 2), st.sampled_from(sorted(NAMES)))


def created(topic):
    """Return the records of a topic of three partitions."""
    return [
        TopicRecord(NAMES[topic], topic),
        *(
            PartitionRecord(index, topic, (1, 2, 3), (1, 2, 3), leader=1 + index, leader_epoch=0)
            for index in range(3)
        ),
    ]


@st.composite
def a_step(draw):
    """Return what to do to one of two topics: make it, remove it, change it, clear it."""
    index, topic = draw(KEYS)
    kind = draw(st.sampled_from(["toggle", "change", "change", "change", "again", "clear"]))
    roles = {
        "isr": draw(BROKERS),
        "leader": draw(st.sampled_from([NO_LEADER, 1, 2, 3])),
        "eligible_leader_replicas": draw(BROKERS),
    }
    if kind == "toggle":
        return topic, None
    if kind == "clear":
        return topic, ClearElrRecord(draw(st.sampled_from(["", NAMES[topic]])))
    if kind == "again":
        return topic, PartitionRecord(index, topic, (1, 2, 3), leader_epoch=0, **roles)
    part = draw(st.lists(st.sampled_from(sorted(roles)), unique=True))
    change = PartitionChangeRecord(index, topic, **{name: roles[name] for name in part})
    return topic, change


@given(st.lists(st.lists(a_step(), max_size=4), max_size=6))
def test_what_is_kept_is_what_would_be_found(batches):
    image, index, there = EMPTY_IMAGE, NO_PARTITIONS, set()
    for steps in batches:
        records = []
        for topic, record in steps:
            if record is None:
                records += [RemoveTopicRecord(topic)] if topic in there else created(topic)
                there ^= {topic}
            elif topic in there:
                records.append(record)
        before, image = image, replay(image, records)
        index = after_records(index, before, image, records)
        assert index == brokers_to_partitions(image)


@pytest.mark.parametrize("name", ["", "a"])
def test_clearing_reaches_who_is_eligible_since_earlier_records(name):
    records = [
        *created(TOPIC_A),
        PartitionChangeRecord(1, TOPIC_A, isr=(1,), eligible_leader_replicas=(2, 3)),
    ]
    before = replay(EMPTY_IMAGE, records)
    index = brokers_to_partitions(before)
    assert sorted(index.elr) == [2, 3]
    clear = [ClearElrRecord(name)]
    index = after_records(index, before, replay(before, clear), clear)
    assert len(index.elr) == 0


def test_an_index_is_none_only_of_an_image_without_partitions():
    image = replay(EMPTY_IMAGE, created(TOPIC_A))
    assert brokers_to_partitions(EMPTY_IMAGE) == NO_PARTITIONS
    assert brokers_to_partitions(image).leads
