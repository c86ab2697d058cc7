"""Spark, asked for in plain words, and its failures told in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from krafla.pipeline import needs
from krafla.pipeline.pool import JobError, master_url
from krafla.verdict import KraflaError

pytestmark = pytest.mark.xdist_group("spark")


def fails(item):
    raise ZeroDivisionError(f"item {item}")


def refuses(item):
    raise KraflaError("not like this", f"place {item}")


def test_a_task_that_fails_is_one_line_and_a_file(spark):
    with pytest.raises(JobError) as caught:
        spark.map(fails, [3])
    line = str(caught.value)
    assert "ZeroDivisionError: item 3" in line
    assert "\n" not in line
    kept = Path(line.rpartition("details in ")[2])
    try:
        assert "Traceback" in kept.read_text()
    finally:
        kept.unlink()


def test_what_a_task_refuses_is_the_users_error_as_it_was(spark):
    with pytest.raises(KraflaError, match="place 1: not like this"):
        spark.map(refuses, [1])


def test_answers_come_in_the_order_of_the_items(spark):
    assert spark.map(str, list(range(20, 0, -1))) == list(map(str, range(20, 0, -1)))
    assert spark.map(str, []) == []


@pytest.mark.parametrize(
    ("master", "url"),
    [("local", "local[1,16]"), ("local[3]", "local[3,16]"), ("local[*]", "local[*,16]"),
     ("spark://host:7077", "spark://host:7077")],
)  # fmt: skip
def test_a_local_master_repeats_what_died(master, url):
    assert master_url(master) == url


@pytest.mark.parametrize("master", ["", "local[0]", "local[x]", "http://host", "host:7077"])
def test_a_word_that_is_no_master_is_refused(master):
    with pytest.raises(KraflaError, match="no Spark master"):
        master_url(master)


def test_without_a_fitting_java_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setattr(needs, "find_system_java", lambda _: None)
    with pytest.raises(KraflaError, match="Java 17 or 21") as caught:
        needs.find_java()
    assert caught.value.exit_code == 2


def test_without_its_packages_it_is_said_how_to_get_them(monkeypatch):
    monkeypatch.setattr(needs, "_PACKAGES", ("pyspark", "no-such-package-anywhere"))
    with pytest.raises(KraflaError, match=r"pip install 'krafla\[spark\]'"):
        needs.require_packages()
