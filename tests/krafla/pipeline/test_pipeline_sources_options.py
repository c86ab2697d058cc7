"""What a data source is asked for: options are read strictly, and tasks get files of one size."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

from krafla.spark.options import options_of, sources_of
from krafla.spark.source_tables import LOG_SCHEMAS
from krafla.verdict import KraflaError

pytest.importorskip("pyspark", reason="the extra `spark` is not installed")

REAL = Path(__file__).parents[3] / "traces" / "kafka-4.1"


def asked(**given):
    return options_of({"path": str(REAL), **given}, LOG_SCHEMAS, "records")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"tabel": "x"}, "no option tabel; there are path, paths, table"),
        ({"table": "x"}, "no table x; there are records, batches"),
        ({"mode": "PERMISSIVE"}, "mode is DROPMALFORMED or FAILFAST"),
        ({"secrets": "yes"}, "secrets is withhold or show"),
        ({"partitionMib": "0"}, "partitionMib is a whole number from 1 on, not '0'"),
        ({"partitionMib": "1.5"}, "partitionMib is a whole number"),
        ({"maxBytesPerTrigger": "-1"}, "maxBytesPerTrigger is a whole number"),
        ({"settleSeconds": "\u0663"}, "settleSeconds is a whole number from 0 on"),
        ({"types": "TOPIC_RECORD,TOPICS"}, "no type of record 'TOPICS'"),
    ],
)
def test_an_option_that_is_none_is_told(given, said):
    with pytest.raises(KraflaError, match=said):
        asked(**given)


def test_options_are_told_apart_from_settings_of_the_storage():
    found = asked(
        TABLE="batches", mode="failfast", filemib="7", maxBytesPerTrigger="9",
        types="LeaderChange, TOPIC_RECORD", **{"fs.s3a.endpoint": "x", "spark.hadoop.a": "y"},
    )  # fmt: skip
    assert (found.table, found.fails, found.trigger_bytes) == ("batches", True, 9)
    assert found.limits.file_bytes == 7 * 1024 * 1024
    assert found.choice.types == {"LeaderChange", "TOPIC_RECORD"}
    assert found.settings == {"fs.s3a.endpoint": "x", "spark.hadoop.a": "y"}
    with pytest.raises(KraflaError, match="no place to read"):
        options_of({}, LOG_SCHEMAS, "records")


def test_several_places_are_read_and_each_file_once():
    places = [str(REAL / "crash"), str(REAL / "failover"), str(REAL / "crash" / "n3000")]
    found = sources_of(options_of({"paths": json.dumps(places)}, LOG_SCHEMAS, "records"))
    paths = [one.path for one in found]
    assert paths == sorted(set(paths))
    assert len(paths) == sum(len(sources_of(asked(path=place))) for place in places[:2])


def partitions(**given):
    from krafla.spark.log_source import KraftLogSource

    source = KraftLogSource({"path": str(REAL), **given})
    return pickle.loads(pickle.dumps(source.reader(source.schema()).partitions()))


def test_tasks_get_the_files_that_a_table_has_rows_of_each_once(monkeypatch):
    shares = [share for one in partitions() for share in one.shares]
    assert {share.source.kind.value for share in shares} == {"segment", "checkpoint"}
    every = [share.source for one in partitions(table="files") for share in one.shares]
    assert len(every) == len(sources_of(asked()))
    monkeypatch.setattr("krafla.spark.options.MIB", 10_000)
    cut = [share for one in partitions(partitionMib="1") for share in one.shares]
    assert {share.source for share in cut} == {share.source for share in shares}
    assert max(share.parts for share in cut) == 4
    assert len(cut) == len({(share.source, share.part) for share in cut})
    for share in cut:
        assert share.parts == max(1, share.source.bytes // 10_000)
    events = partitions(table="events", partitionMib="1")
    sizes = [sum(share.source.bytes for share in one.shares) for one in events]
    assert len(events) > 3
    assert all(share.parts == 1 for one in events for share in one.shares)
    assert max(sizes) < 4 * 10_000


def test_a_place_without_files_has_no_rows(tmp_path):
    (one,) = partitions(path=str(tmp_path))
    assert one.shares == ()


def test_a_session_learns_all_formats():
    from krafla.spark import register

    class Session:
        def __init__(self):
            self.dataSource = self
            self.names = []

        def register(self, source):
            self.names.append(source.name())

    session = Session()
    register(session)
    assert session.names == ["kraft-log", "krafla-trace", "krafla-campaign"]
