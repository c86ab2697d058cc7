"""Logs in an S3 bucket: the rows of the same files in a folder, digest for digest."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.krafla.pipeline.places.object_store import BUCKET, local_s3

from krafla.pipeline.storage import arrow_settings, storage_of
from krafla.spark.source_tables import Share, TableQuestion, file_batches
from krafla.verdict import KraflaError

pytest.importorskip("moto", reason="moto's S3 server is not installed")

REAL = Path(__file__).parents[3] / "traces" / "kafka-4.1"
OF_THE_STORAGE = ("changed_ns", "milliseconds")


@pytest.fixture(scope="module")
def s3(tmp_path_factory):
    """The settings of an S3 whose bucket has the real logs, below `logs`."""
    from pyarrow import fs

    with local_s3(tmp_path_factory.mktemp("s3") / "log") as settings:
        made = fs.S3FileSystem(**arrow_settings("s3", f"s3a://{BUCKET}", settings))
        fs.copy_files(str(REAL), f"{BUCKET}/logs", destination_filesystem=made)
        yield settings


def rows(root, settings, table):
    storage = storage_of(root, settings)
    found = [
        {name: value for name, value in row.items() if name not in OF_THE_STORAGE}
        | {"path": row["path"].removeprefix(root)}
        for source in storage.list(root).sources
        for batch in file_batches(storage, Share(source), TableQuestion(table))
        for row in batch.to_pylist()
    ]
    return sorted(found, key=str)


@pytest.mark.parametrize("table", ["files", "records"])
def test_a_bucket_has_the_rows_of_a_folder(s3, table):
    there = rows(f"s3a://{BUCKET}/logs", s3, table)
    assert len(there) > 20
    assert there == rows(str(REAL), {}, table)


def test_what_is_not_there_or_does_not_answer_is_one_sentence(s3):
    uri = f"s3a://{BUCKET}/nothing"
    with pytest.raises(KraflaError, match="no such file"):
        storage_of(uri, s3).list(uri)
    closed = s3 | {"spark.hadoop.fs.s3a.endpoint": "http://127.0.0.1:1"}
    with pytest.raises(KraflaError, match="the storage does not answer the request") as caught:
        storage_of(uri, closed).list(uri)
    assert caught.value.place == uri
    assert "\n" not in caught.value.message
