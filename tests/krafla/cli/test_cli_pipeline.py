"""``krafla pipeline`` and ``krafla campaign`` on the command line: what they say, how they end."""

from __future__ import annotations

import json
import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner

from krafla.cli import application
from krafla.pipeline.server import Settings
from krafla.pipeline.session import told
from krafla.pipeline.sources import find_sources

REAL_LOGS = Path(__file__).parents[3] / "traces" / "kafka-4.1"
pytestmark = pytest.mark.xdist_group("spark")


def krafla(*arguments):
    words = [str(argument) for argument in arguments]
    return CliRunner().invoke(application(words[0]), words)


@pytest.fixture(autouse=True)
def one_session(spark, monkeypatch):
    """Give the commands the tests' own session: each would start a Spark."""

    @contextmanager
    def session(_name, master, *, remote, settings, show):
        assert (master, remote, settings) == ("local[*]", None, Settings())
        spark.show = show
        with told():
            yield spark
        spark.show = lambda _: None

    monkeypatch.setattr("krafla.pipeline.session.session", session)


def test_ingest_audit_and_report_end_with_what_comes_next(tmp_path):
    out = tmp_path / "out"
    read = krafla("pipeline", "ingest", REAL_LOGS, out)
    assert read.exit_code == 0, read.output
    count = len(find_sources([REAL_LOGS]).sources)
    assert f"HELD  {count} files = {count} read + 0 quarantined" in read.output
    assert f"krafla pipeline audit {out}" in read.output
    audited = krafla("pipeline", "audit", out)
    assert audited.exit_code == 0, audited.output
    assert "HELD  3 clusters, 3 directories" in audited.output
    forms = [out / "report.html", tmp_path / "report.md"]
    reported = krafla("pipeline", "report", out, "--markdown", forms[1])
    assert reported.stdout == "".join(f"written  {one}\n" for one in forms)
    as_json = krafla("pipeline", "audit", out, "--json")
    alone = krafla("audit", REAL_LOGS, "--json")
    assert json.loads(as_json.stdout) == json.loads(alone.stdout)


@pytest.mark.nightly
def test_a_file_in_quarantine_is_named_and_the_status_is_3(tmp_path):
    shutil.copytree(REAL_LOGS, tmp_path / "logs")
    (tmp_path / "logs" / "bad.ndjson").write_text("no trace\n")
    read = krafla("pipeline", "ingest", tmp_path / "logs", tmp_path / "out")
    assert read.exit_code == 3, read.output
    assert f"quarantined  {tmp_path / 'logs' / 'bad.ndjson'}: not JSON" in read.output
    again = krafla("pipeline", "ingest", tmp_path / "logs", tmp_path / "out", "--json")
    document = json.loads(again.stdout)
    count = len(find_sources([tmp_path / "logs"]).sources)
    assert (document["files"], document["good"], len(document["quarantined"])) == (
        count,
        count - 1,
        1,
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("pipeline", "audit", "nowhere-at-all"), "there is no such directory"),
        (("pipeline", "report", "nowhere-at-all"), "there is no such directory"),
        (("pipeline", "audit", "a", "--master", "local", "--remote", "sc://h"), "give one"),
        (("pipeline", "audit", "a", "--conf", "x"), "--conf takes NAME=VALUE"),
        (("pipeline", "ingest", "nowhere-at-all", "out"), "no such file"),
        (("campaign", "kafka", "out", "--seeds", "0..1"), "there are: lease, metadata, "),
        (("campaign", "lease", "out", "--seeds", "1-2"), "as in 0..4999"),
        (
            ("campaign", "cluster", "out", "--seeds", "0..1", "--lockstep"),
            "--lockstep: only for `krafla campaign` raft, stack",
        ),
        (
            ("campaign", "stack", "out", "--seeds", "0..1", "--steps", "9", "--profile", "x"),
            "--steps, --profile: only for `krafla campaign` lease, metadata, reassignment, ",
        ),
        (
            ("campaign", "metadata", "out", "--seeds", "0..1", "--profile", "moves"),
            "'moves' is no profile of metadata; it is one of reassignment",
        ),
        (
            ("campaign", "raft", "out", "--seeds", "0..1", "--faults", "rain"),
            "no fault is called 'rain'",
        ),
        (("campaign", "lease", "out", "--seeds", "0..1", "--profile", "x"), "no profile"),
    ],
)
def test_what_cannot_be_done_is_one_line_and_status_2(arguments, said):
    result = krafla(*arguments)
    assert result.exit_code == 2
    assert said in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_campaign_says_what_it_covered_its_digest_and_how_to_run_it_again(tmp_path):
    out = tmp_path / "found"
    options = ("--seeds", "0..2", "--steps", "30", "--profile", "restless")
    result = krafla("campaign", "lease", out, *options)
    assert result.exit_code == 0, result.output
    assert "HELD  3 seeds: 3 held, 0 violated, 0 inconclusive" in result.output
    assert "  missed     actions never taken: " in result.output
    assert "krafla campaign lease --seeds 0..2 --steps 30 --profile restless" in result.output
    document = json.loads(krafla("campaign", "lease", out, *options, "--json").stdout)
    assert document["digest"] in result.output
    assert document["counts"]["seeds"] == 3
    required = krafla("campaign", "lease", out, *options, "--require-coverage")
    assert required.exit_code == 3, required.output
    assert f"\n  {document['missed'][0]}\n" in required.output
    assert "INCONCLUSIVE  3 seeds: " in required.output
    assert "--profile restless --require-coverage OUT" in required.output


@pytest.mark.nightly
def test_a_campaign_of_machines_says_what_went_wrong_in_them_and_how_to_run_it_again(
    tmp_path,
):
    out = tmp_path / "found"
    options = ("--seeds", "0..1", "--faults", "partition,loss", "--chaos", "6")
    result = krafla("campaign", "raft", out, *options)
    assert result.exit_code == 0, result.output
    assert "effects of faults, by kind:" in result.output
    assert "HELD  2 seeds: 2 held, 0 violated, 0 inconclusive; " in result.output
    assert (
        "krafla campaign raft --seeds 0..1 --faults loss,partition --chaos 6 OUT" in result.output
    )
    document = json.loads(krafla("campaign", "raft", out, *options, "--json").stdout)
    assert (document["system"], document["verdict"]) == ("raft", "held")
    assert document["faults"] == {"partition": 2}
    assert document["liveness"] == {"progress": 2}
    assert document["counts"]["properties"] > 40
    for protocol, changed in (("raft", "other --lockstep: "), ("stack", "it is of raft")):
        other = krafla("campaign", protocol, out, *options, *["--lockstep"][: protocol == "raft"])
        assert other.exit_code == 2
        assert f"this holds another campaign ({changed}" in other.stderr
        assert len(other.stderr.splitlines()) == 2  # the first one says that Spark starts


def test_the_doctor_does_without_spark_and_says_what_it_needs(monkeypatch):
    monkeypatch.setattr("krafla.pipeline.needs.find_system_java", lambda _: None)
    result = krafla("doctor")
    assert result.exit_code == 0, result.output
    assert "absent  spark    Spark needs Java 17 or 21" in result.output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("ingest", "only-one"), "Missing argument 'SRC...'"),
        (("watch", "only-one"), "Missing argument 'SRC...'"),
        (("swim", "x"), "No such command 'swim'"),
        (("report", "a", "b"), "unexpected extra argument"),
        (("audit", "a", "--markdown", "b"), "No such option"),
    ],
)
def test_an_action_that_is_asked_wrongly_says_where_its_help_is(arguments, said):
    result = krafla("pipeline", *arguments)
    assert result.exit_code == 2
    assert said in result.stderr
    assert "-h' for help" in result.stderr
