"""A store: what is not committed is not there, and what is committed stays as it is."""

from __future__ import annotations

import pytest
from pyarrow import parquet
from pyspark.sql.types import StructType

from krafla.pipeline import store as store_module
from krafla.pipeline.store import Store, load_id
from krafla.verdict import KraflaError

pytestmark = pytest.mark.xdist_group("spark")
ONE, OTHER = load_id("one"), load_id("other")
OLD = {"numbers": StructType().add("n", "long")}
NEW = {
    "numbers": StructType().add("n", "long").add("word", "string"),
    "words": StructType().add("word", "string"),
}


@pytest.fixture
def store(spark, tmp_path):
    return Store(spark.spark, str(tmp_path / "store"), NEW)


def numbers(store, *which):
    return store.spark.createDataFrame([(n, str(n)) for n in which], NEW["numbers"])


def read(store, *kinds):
    again = Store(store.spark, store.uri, NEW)
    return sorted((row["n"], row["load"]) for row in again.read("numbers", *kinds).collect())


def test_rows_are_seen_once_their_load_is_committed(store):
    assert store.commits() == []
    assert read(store) == []
    store.write("numbers", ONE, numbers(store, 1, 2))
    assert read(store) == []
    made = store.commit(ONE, "ingest", {"why": "test"})
    assert read(store) == [(1, ONE), (2, ONE)]
    assert read(store, "ingest") == read(store)
    assert read(store, "audit") == []
    again = Store(store.spark, store.uri, NEW)
    assert again.commits() == [made]
    assert (made.kind, made.tables, made.facts) == ("ingest", ("numbers",), {"why": "test"})
    assert again.read("words").collect() == []


def test_what_a_killed_command_left_is_written_over(store):
    store.write("numbers", ONE, numbers(store, 1, 2, 3))
    again = Store(store.spark, store.uri, NEW)
    again.write("numbers", ONE, numbers(store, 4))
    again.commit(ONE, "ingest", {})
    again.write("numbers", OTHER, numbers(store, 5))
    assert read(store) == [(4, ONE)]


def test_a_committed_load_is_never_written_again(store):
    store.write("numbers", ONE, numbers(store, 1))
    store.commit(ONE, "ingest", {})
    again = Store(store.spark, store.uri, NEW)
    with pytest.raises(KraflaError, match="is committed"):
        again.write("numbers", ONE, numbers(store, 2))
    assert read(store) == [(1, ONE)]


def test_a_store_of_an_older_krafla_lacks_only_its_newer_columns(store):
    old = Store(store.spark, store.uri, OLD)
    old.write("numbers", ONE, numbers(store, 1))
    old.commit(ONE, "ingest", {})
    store.write("numbers", OTHER, numbers(store, 2))
    store.commit(OTHER, "ingest", {})
    rows = Store(store.spark, store.uri, NEW).read("numbers").orderBy("n").collect()
    assert [(row["n"], row["word"]) for row in rows] == [(1, None), (2, "2")]


def test_a_store_is_for_logs_or_for_a_campaign(store):
    store.commit(ONE, "ingest", {})
    store.refuse_others("ingest", "audit")
    with pytest.raises(KraflaError, match=r"of another command \(ingest\): choose another OUT"):
        store.refuse_others("wave", "campaign")


def test_a_store_of_a_newer_krafla_is_refused(store, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(store_module, "FORMAT", store_module.FORMAT + 1)
        store.commit(ONE, "ingest", {})
    with pytest.raises(KraflaError, match="use the newer one"):
        Store(store.spark, store.uri, NEW).commits()


def test_the_id_of_a_load_is_that_of_its_values():
    assert load_id("a", 1, [("b", None)]) == load_id("a", 1, [("b", None)])
    assert len({load_id("a", 1), load_id("a", 2), load_id("a1"), load_id("a", "1")}) == 4


def test_rows_that_are_large_are_read_a_few_at_a_time(store, tmp_path):
    frame = store.spark.range(100).selectExpr("id AS n", "repeat('x', 1000) AS word").coalesce(1)
    for load, group_rows, groups in ((ONE, None, [100]), (OTHER, 32, [32, 32, 32, 4])):
        store.write("numbers", load, frame, group_rows=group_rows)
        (file,) = (tmp_path / "store" / "numbers" / f"load={load}").glob("*.parquet")
        about = parquet.ParquetFile(file).metadata
        found = [about.row_group(n).num_rows for n in range(about.num_row_groups)]
        assert found == groups
        assert store.count_written(["numbers"], load) == {"numbers": 100}
