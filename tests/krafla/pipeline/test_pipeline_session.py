"""Spark, asked for in plain words, and its failures told in one line."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from krafla.pipeline import needs, server
from krafla.pipeline.complaints import JobError, advice_in, cause_in
from krafla.pipeline.server import Settings, master_url, parse_settings
from krafla.pipeline.session import Session, _shuffle_little, session, told
from krafla.verdict import KraflaError

pytestmark = pytest.mark.xdist_group("spark")
SECONDS_MAX = 120


def raising(error):
    """Return the function of a task; one made here goes to the workers by value."""

    def task(_batches):
        raise error

    return task


def test_a_task_that_fails_is_one_line_and_a_file(spark):
    with pytest.raises(JobError) as caught, told():
        spark.spark.range(1).mapInArrow(raising(ZeroDivisionError("item 3")), "id long").collect()
    line = str(caught.value)
    assert "ZeroDivisionError: item 3" in line
    assert "\n" not in line
    kept = Path(line.rpartition("details in ")[2])
    try:
        assert "Traceback" in kept.read_text()
    finally:
        kept.unlink()


def test_what_a_task_refuses_is_the_users_error_as_it_was(spark):
    refusal = raising(KraflaError("not like this", "place 1"))
    with pytest.raises(KraflaError, match=r"^place 1: not like this$"), told():
        spark.spark.range(1).mapInArrow(refusal, "id long").collect()


def test_a_session_knows_how_many_tasks_run_at_once(spark):
    assert spark.parallelism == 2


@pytest.mark.parametrize(
    ("slots", "before", "after"),
    [(2, "200", "4"), (99, "200", "198"), (100, "200", "200"), (5_000, "200", "200"),
     (2, "64", "64")],
)  # fmt: skip
def test_a_shuffle_has_no_more_partitions_than_spark_s_own_and_keeps_those_that_were_chosen(
    slots, before, after
):
    settings = {"spark.sql.shuffle.partitions": before}
    conf = SimpleNamespace(get=settings.get, set=settings.__setitem__)
    _shuffle_little(SimpleNamespace(parallelism=slots, spark=SimpleNamespace(conf=conf)))
    assert settings == {"spark.sql.shuffle.partitions": after}


def test_progress_is_told_in_tasks_stages_and_bytes():
    from pyspark.sql.connect.shell.progress import StageInfo

    shown = []
    running = Session(None, 2, shown.append)
    running.phase("reading")
    running._began = time.monotonic() - 60
    stages = [StageInfo(1, 4, 4, 3 * 2**20, True), StageInfo(2, 8, 2, 0, False)]
    running.tell(stages, 2, "id", False)
    running.tell([], 0, "id", True)
    running.tell([StageInfo(1, 5, 4, 0, False)], 1, "id", False)
    assert shown == [
        "reading", "reading: 6 of 12 tasks, stage 2 of 2, 3 MiB read, 1:00 left",
        "reading: 4 of 5 tasks, stage 1 of 1",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("master", "url"),
    [("local", "local[1,4]"), ("local[3]", "local[3,4]"), ("local[*]", "local[*,4]"),
     ("spark://host:7077", "spark://host:7077"), ("yarn", "yarn"),
     ("k8s://https://host:6443", "k8s://https://host:6443")],
)  # fmt: skip
def test_a_local_master_repeats_what_died(master, url):
    assert master_url(master) == url


@pytest.mark.parametrize(
    "master", ["", "local[0]", "local[x]", "http://host", "host:7077", "sc://h"]
)
def test_a_word_that_is_no_master_is_refused(master):
    with pytest.raises(KraflaError, match="no Spark master"):
        master_url(master)


def test_options_are_names_of_spark_with_values():
    parsed = parse_settings(["spark.a.b=c=d", "spark.e="], "g:a:v")
    assert parsed == Settings({"spark.a.b": "c=d", "spark.e": ""}, "g:a:v")
    for wrong in ("spark.a", "a.b=c", "=x"):
        with pytest.raises(KraflaError, match="NAME=VALUE"):
            parse_settings([wrong])


def test_a_spark_that_does_not_start_is_one_line_with_its_reason():
    wrong = Settings({"spark.driver.memory": "no-size"})
    with pytest.raises(JobError, match=r"Spark did not start: .*no-size.*; details in"), \
            session("krafla tests", "local[1]", settings=wrong):  # fmt: skip
        pytest.fail("it started")


@pytest.mark.parametrize(
    ("remote", "words"),
    [
        ("localhost:1", r"address of a Spark Connect server"),
        ("sc://127.0.0.1:1/;token=secret",
         r"^sc://127.0.0.1:1: no Spark Connect server answers there: connection refused$"),
        ("sc://127.0.0.1:none", r"no Spark Connect server answers there"),
        ("sc://no.such.host.invalid", r"no Spark Connect server answers there"),
    ],
)  # fmt: skip
def test_a_server_that_is_not_there_or_no_server_is_told_in_one_line(remote, words):
    with pytest.raises(KraflaError, match=words), session("krafla tests", remote=remote):
        pytest.fail("it connected")


def test_the_server_ends_with_its_client_even_if_that_is_killed(tmp_path):
    script = tmp_path / "client.py"
    script.write_text(
        "import os, signal, sys\n"
        "from krafla.pipeline.session import session\n"
        "with session('krafla tests', 'local[1]'):\n"
        "    print('up', flush=True)\n"
        "    sys.stdin.readline()\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    client = subprocess.Popen(
        [sys.executable, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        text=True, env=os.environ | {"TMPDIR": str(tmp_path)},
    )  # fmt: skip
    assert client.stdout.readline() == "up\n"
    servers = _servers(tmp_path)
    assert len(servers) == 1
    client.communicate("go on\n", timeout=SECONDS_MAX)
    deadline = time.monotonic() + SECONDS_MAX
    while _servers(tmp_path) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert _servers(tmp_path) == []


def _servers(folder):
    """Return the processes of Java whose command line names a folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            line = (process / "cmdline").read_bytes()
        except OSError:
            continue
        if os.fsencode(folder) in line and b"SparkConnectServer" in line:
            found.append(int(process.name))
    return found


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("org.apache.spark.SparkException: Job aborted\n  at x\nKeyError: 'a'\n", "KeyError: 'a'"),
        ("org.apache.spark.SparkException: Job aborted\n\tat x", "Job aborted"),
        ("", "for a reason it does not say"),
    ],
)
def test_the_line_that_says_what_happened_is_found(text, cause):
    assert cause_in(text) == cause


def test_without_a_fitting_java_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setattr(needs, "find_system_java", lambda _: None)
    with pytest.raises(KraflaError, match="Java 17 or 21") as caught:
        needs.find_java()
    assert caught.value.exit_code == 2


def test_without_its_packages_it_is_said_how_to_get_them(monkeypatch):
    monkeypatch.setattr(needs, "_PACKAGES", ("pyspark", "no-such-package-anywhere"))
    with pytest.raises(KraflaError, match=r"pip install 'krafla\[spark\]'"):
        needs.require_packages()


def test_pandas_3_is_refused_with_what_to_install(monkeypatch):
    right = needs.metadata.version
    monkeypatch.setattr(
        needs.metadata, "version", lambda name: "3.0.1" if name == "pandas" else right(name)
    )
    with pytest.raises(KraflaError, match=r"pandas 3\.0\.1, and needs pandas below 3"):
        needs.require_packages()


@pytest.mark.parametrize(
    ("text", "cause", "advice"),
    [
        (
            "Job aborted due to stage failure: Task 0 in stage 1.0 failed 4 times\n"
            "org.apache.spark.SparkException\n"
            "Caused by: java.lang.RuntimeException\n"
            "\tCaused by: java.io.IOException: No space left on device",
            "No space left on device",
            "a disk is full",
        ),
        (
            "(org.apache.hadoop.fs.ParentNotDirectoryException) Parent path is not a directory:"
            " file:/a\n\nJVM stacktrace:\norg.apache.hadoop.fs.ParentNotDirectoryException",
            "Parent path is not a directory: file:/a",
            "cannot write there",
        ),
        (
            "org.apache.spark.SparkException\nCaused by: java.io.IOException: Mkdirs failed to"
            " create file:/out/files/load=1/_temporary/0/a_1 (exists=false, cwd=file:/x)",
            "Mkdirs failed to create file:/out/files/load=1",
            "cannot write there",
        ),
        (
            "Caused by: java.lang.ClassNotFoundException: Class o.a.S3AFileSystem not found",
            "Class o.a.S3AFileSystem not found",
            "--packages",
        ),
        (
            "Caused by: java.nio.file.AccessDeniedException: b: no access\n"
            "Caused by: o.a.NoAuthWithAWSException: No AWS credentials in the configuration",
            "No AWS credentials in the configuration",
            "AWS_ACCESS_KEY_ID",
        ),
        ("ValueError: bad", "ValueError: bad", ""),
    ],
)
def test_what_a_storage_complains_about_is_said_with_what_to_do(text, cause, advice):
    assert cause_in(text) == cause
    assert advice_in(text).startswith("; " if advice else "")
    assert advice in advice_in(text)
    assert bool(advice) == bool(advice_in(text))


def test_flags_for_java_come_beside_those_of_our_own(tmp_path):
    flag = {"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1"}
    server._command("name", "local[1]", Settings(flag), tmp_path)
    lines = (tmp_path / "spark.properties").read_text().splitlines()
    (line,) = [line for line in lines if line.startswith("spark.driver.extraJavaOptions ")]
    assert line.endswith(" -XX:TieredStopAtLevel=1")
    assert "log4j2.properties" in line
