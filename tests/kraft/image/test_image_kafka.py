"""Images of real logs are those of Kafka's own checkpoints, and are written as Kafka does."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from kraft.ids import METADATA_DIRECTORY
from kraft.image.metadata_image import EMPTY_IMAGE
from kraft.image.replay import replay
from kraft.image.snapshot import snapshot_records
from kraft.image.versions import record_version, written_version
from kraft.log.checkpoint import checkpoint_at, read_checkpoint
from kraft.log.segment import iter_batches, segment_at
from kraft.records.metadata_records import typed_record

RECORDED = Path(__file__).parents[3] / "traces" / "kafka-4.1"


def records_of(batch):
    return batch.typed_records()


def image_of(checkpoint):
    image = EMPTY_IMAGE
    for batch in read_checkpoint(checkpoint.path):
        image = replay(image, records_of(batch))
    return image


def checkpoints_in(folder):
    found = (checkpoint_at(path) for path in sorted(folder.rglob("*.checkpoint")))
    return [one for one in found if one is not None]


def logs_in(folder):
    """Return the directories of metadata logs, each with its segments."""
    found = {}
    for directory in sorted(folder.rglob(METADATA_DIRECTORY)):
        segments = [segment_at(path) for path in sorted(directory.iterdir())]
        found[directory] = [one for one in segments if one is not None]
    return found


def compare(directory, segments, images):
    """Fold a log from where it is known from, and return the checkpoints that say the same."""
    begin = segments[0].base_offset
    kept = checkpoints_in(directory)
    image = image_of(kept[0]) if begin else EMPTY_IMAGE
    start = kept[0].end_offset if begin else 0
    equal = set()
    for segment in segments:
        for batch in iter_batches(segment.path):
            if batch.base_offset < start:
                continue
            at = batch.base_offset
            if at > start and at in images:
                assert image == images[at], f"{directory} at {at}"
                equal.add(at)
            image = replay(image, records_of(batch))
    return equal


def check(folder):
    """Compare all logs of a cluster with all of its checkpoints; return those that were met."""
    images = {one.end_offset: image_of(one) for one in checkpoints_in(folder)}
    met = set()
    for directory, segments in logs_in(folder).items():
        met |= compare(directory, segments, images)
    return met, set(images)


def written(record, version):
    """Return a record's type, version and fields; the order of its features means nothing."""
    fields = record.to_fields(version)
    for name in {"endPoints", "features"} & fields.keys():
        fields[name] = sorted(fields[name], key=lambda one: one["name"])
    return record.SCHEMA.api_key, version, repr(fields)


def check_written_as_kafka_does(checkpoint):
    """Check that the records of a checkpoint's image are those in it, in their versions."""
    theirs = [one for batch in read_checkpoint(checkpoint.path) for one in batch.metadata_records()]
    image = image_of(checkpoint)
    ours = list(snapshot_records(image))
    assert [one.SCHEMA.api_key for one in ours] == [one.api_key for one in theirs]
    assert Counter(
        written(one, record_version(type(one), image.metadata_version)) for one in ours
    ) == Counter(written(typed_record(one.api_key, one.fields), one.version) for one in theirs)


def versions_in(folder):
    """Return how often each record has which version in the logs, and how often we would give it.

    The metadata version is that of the checkpoints: it did not change while these were recorded.
    """
    (metadata_version,) = {image_of(one).metadata_version for one in checkpoints_in(folder)}
    theirs, ours = Counter(), Counter()
    for segments in logs_in(folder).values():
        for batch in (batch for one in segments for batch in iter_batches(one.path)):
            for read, record in zip(batch.metadata_records(), records_of(batch), strict=True):
                theirs[read.api_key, read.version] += 1
                ours[read.api_key, written_version(record, metadata_version)] += 1
    return theirs, ours


def test_each_record_of_a_recorded_log_has_the_version_that_a_controller_gives_it():
    theirs, ours = versions_in(RECORDED / "failover")
    assert ours == theirs
    assert {version for api_key, version in theirs if api_key == 17} >= {0, 1}


def test_the_image_of_a_recorded_log_is_what_its_next_checkpoint_says():
    assert check(RECORDED / "failover") == ({1326}, {523, 1326})


def test_a_recorded_checkpoint_is_written_as_kafka_wrote_it():
    found = checkpoints_in(RECORDED)
    assert len(found) == 2
    for checkpoint in found:
        check_written_as_kafka_does(checkpoint)


@pytest.mark.parametrize("name", ["crash", "combined"])
def test_recorded_logs_from_their_beginning_can_be_replayed(name):
    for directory, segments in logs_in(RECORDED / name).items():
        compare(directory, segments, {})
        image = EMPTY_IMAGE
        for batch in iter_batches(segments[0].path):
            image = replay(image, records_of(batch))
        assert image.brokers
        assert image.metadata_version == 27
        assert replay(EMPTY_IMAGE, snapshot_records(image)) == image


def test_images_of_all_logs_are_what_kafkas_checkpoints_of_the_same_offsets_say(corpus):
    compared = 0
    for folder in sorted(one for one in corpus.iterdir() if one.is_dir()):
        met, there = check(folder)
        assert there - met <= {min(there, default=0)}, folder.name
        compared += len(met)
    assert compared > 0


def test_all_checkpoints_are_written_as_kafka_wrote_them(corpus):
    found = checkpoints_in(corpus)
    assert len(found) > 20
    for checkpoint in found:
        check_written_as_kafka_does(checkpoint)
