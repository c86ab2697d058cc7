"""Storages: listed and opened alike, wherever the files lie, and what cannot be opened is told."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from pyarrow import fs

from krafla.pipeline import storage as module
from krafla.pipeline.sources import FileKind, classified
from krafla.pipeline.storage import Storages, arrow_settings, storage_of
from krafla.verdict import KraflaError
from kraft.errors import UnreadableFileError

REAL = Path(__file__).parents[3] / "traces" / "kafka-4.1"


@pytest.fixture
def bucket(monkeypatch, tmp_path):
    """A copy of real logs as a bucket that pyarrow reads, at s3a://bucket."""
    shutil.copytree(REAL, tmp_path / "bucket")
    files = fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem())
    monkeypatch.setattr(module, "_file_system", lambda _kind, _uri, _settings: files)
    return tmp_path / "bucket"


def test_a_bucket_has_the_files_of_the_folder_it_was_made_of(bucket):
    here = storage_of(str(bucket), {}).list(str(bucket))
    there = storage_of("s3a://bucket", {}).list("s3a://bucket/")
    assert len(here.sources) > 20
    told = [(one.path.replace("s3a://bucket", str(bucket)), one.kind, one.bytes)
            for one in there.sources]  # fmt: skip
    assert told == [(one.path, one.kind, one.bytes) for one in here.sources]
    assert there.left_out == here.left_out
    assert [log.replace("s3a://bucket", str(bucket)) for log in there.logs] == list(here.logs)


def test_a_file_of_a_bucket_is_read_from_a_byte_to_a_byte(bucket):
    (log,) = bucket.glob("crash/*/__cluster_metadata-0/*.log")
    content = log.read_bytes()
    for uri in (str(log), f"file://{log}", f"s3a://bucket/{log.relative_to(bucket)}"):
        with Storages({}).of(uri).open(uri) as file:
            assert file.end == len(content)
            assert b"".join(iter(lambda file=file: file.read(1000), b"")) == content
        with storage_of(uri, {}).open(uri, 100, 250) as file:
            assert file.read(10_000) == content[100:250]
            assert file.read(1) == b""
        with storage_of(uri, {}).open(uri, len(content) + 5) as file:
            assert file.read(10) == b""
        listed = storage_of(uri, {}).list(uri)
        assert [(one.path.removeprefix("file://"), one.kind) for one in listed.sources] == [
            (uri.removeprefix("file://"), FileKind.SEGMENT)
        ]


def test_what_is_no_readable_file_is_told_and_never_waited_for(tmp_path, bucket):
    os.mkfifo(tmp_path / "fifo")
    for uri in (tmp_path / "fifo", tmp_path / "lost", tmp_path):
        with pytest.raises(UnreadableFileError), storage_of(str(uri), {}).open(str(uri)):
            pass
    with pytest.raises(UnreadableFileError), storage_of("s3://b", {}).open("s3://bucket/lost"):
        pass
    with pytest.raises(KraflaError, match="no such file"):
        storage_of("s3a://bucket", {}).list("s3a://bucket/lost")
    assert bucket.exists()


def test_a_link_to_a_directory_is_not_followed_and_a_fifo_is_seen(tmp_path):
    log = tmp_path / "a" / "__cluster_metadata-0"
    log.mkdir(parents=True)
    os.mkfifo(log / "00000000000000000000.log")
    (tmp_path / "a" / "again").symlink_to(tmp_path / "a")
    (source,) = storage_of(str(tmp_path), {}).list(str(tmp_path)).sources
    assert source.path == str(log / "00000000000000000000.log")


def test_a_storage_without_a_reader_says_what_to_do():
    for uri in ("hdfs://host/logs", "wasbs://a@b/logs"):
        with pytest.raises(KraflaError, match="krafla pipeline ingest"):
            storage_of(uri, {})


def test_settings_have_the_names_that_hadoop_has():
    options = {
        "fs.s3a.access.key": "a", "spark.hadoop.fs.s3a.secret.key": "b",
        "fs.s3a.bucket.logs.session.token": "c", "fs.s3a.session.token": "other",
        "fs.s3a.endpoint": "http://127.0.0.1:5000", "fs.s3a.endpoint.region": "us-east-1",
    }  # fmt: skip
    wanted = {
        "access_key": "a", "secret_key": "b", "session_token": "c", "region": "us-east-1",
        "endpoint_override": "127.0.0.1:5000", "scheme": "http",
    }  # fmt: skip
    assert arrow_settings("s3", "s3a://logs/x", options) == wanted
    assert arrow_settings("s3", "s3a://more/x", options) == wanted | {"session_token": "other"}
    plain = {"fs.s3a.endpoint": "host:9000", "fs.s3a.connection.ssl.enabled": "false"}
    assert arrow_settings("s3", "s3a://logs", plain) == {
        "endpoint_override": "host:9000", "scheme": "http",
    }  # fmt: skip
    provider = "org.apache.hadoop.fs.s3a.AnonymousAWSCredentialsProvider"
    anonymous = {"fs.s3a.aws.credentials.provider": provider}
    assert arrow_settings("s3", "s3a://logs", anonymous) == {"anonymous": True}
    assert arrow_settings("s3", "s3a://logs", {}) == {}
    host = "acct.dfs.core.windows.net"
    azure = {f"fs.azure.account.key.{host}": "k"}
    assert arrow_settings("abfs", f"abfss://box@{host}/x", azure) == {
        "account_name": "acct", "account_key": "k",
    }  # fmt: skip
    with pytest.raises(KraflaError, match="CONTAINER@ACCOUNT"):
        arrow_settings("abfs", "abfs://box/x", {})
    assert arrow_settings("gs", "gs://b", {"fs.gs.auth.type": "UNAUTHENTICATED"}) == {
        "anonymous": True
    }


def test_an_object_is_what_its_folder_and_name_say():
    root = "s3a://b/logs"
    names = {
        f"{root}/n1/__cluster_metadata-0/00000000000000000000.log": FileKind.SEGMENT,
        f"{root}/00000000000000000000.log": FileKind.SEGMENT,
        f"{root}/n1/__cluster_metadata-0/00000000000000000007-0000000001.checkpoint":
            FileKind.CHECKPOINT,
        f"{root}/n1/__cluster_metadata-0/00000000000000000000.log.deleted": FileKind.UNFINISHED,
        f"{root}/n1/bootstrap.checkpoint": FileKind.CHECKPOINT,
        f"{root}/n1/server.log": FileKind.SERVER_LOG,
    }  # fmt: skip
    stray = [f"{root}/n1/topic-0/00000000000000000000.log", f"{root}/n1/topic-0/a.deleted",
             f"{root}/n1/x.index"]  # fmt: skip
    found = classified(root, [(path, 1, 2) for path in [*names, *stray]])
    assert {one.path: one.kind for one in found.sources} == names
    assert sum(found.left_out.values()) == len(stray)
    assert found.logs == (root, f"{root}/n1/__cluster_metadata-0")
