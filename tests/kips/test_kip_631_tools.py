"""KIP-631 on the tools: directories are formatted, logs are dumped."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.kips.sentences import sentence
from typer.testing import CliRunner

from kraft.ids import uuid_bytes
from kraft.tools import application
from kraft.tools.properties import read_configuration

TRACES = Path(__file__).resolve().parents[2] / "traces" / "kafka-4.1"
LOG = TRACES / "combined" / "n1" / "__cluster_metadata-0" / "00000000000000000000.log"
CLUSTER = "AAAAAAAAAAAAAAAAAAAAAQ"


def kraft(*arguments):
    """Return what comes of a command line."""
    return CliRunner().invoke(application(), [str(one) for one in arguments])


def server_properties(folder, *lines):
    """Return the file of a broker with two directories, and more lines."""
    path = folder / "server.properties"
    first = ("process.roles=broker", "node.id=4", f"log.dirs={folder}/d1,{folder}/d2")
    path.write_text("\n".join((*first, *lines)) + "\n")
    return path


@pytest.fixture
def config(tmp_path):
    """Return a configuration none of whose directories is formatted."""
    return server_properties(tmp_path)


# "kafka-storage.sh".


@sentence("631-190")
@pytest.mark.parametrize("verb", ["info", "format", "random-uuid"])
def test_the_tool_of_directories_has_three_verbs(verb):
    told = kraft("storage", verb, "--help")
    assert (told.exit_code, f"storage {verb}" in told.stdout) == (0, True)


@sentence("631-191")
def test_info_needs_a_configuration_file(config):
    assert "--config" in kraft("storage", "info").stderr
    assert "Found problem" in kraft("storage", "info", "--config", config).stdout


@sentence("631-192")
def test_info_tells_of_the_directories_and_what_they_hold(config, tmp_path):
    kraft("storage", "format", "-t", CLUSTER, "-c", config)
    (tmp_path / "d2" / "meta.properties").unlink()
    told = kraft("storage", "info", "-c", config).stdout
    assert told.startswith(f"Found log directories:\n  {tmp_path}/d1\n  {tmp_path}/d2\n")
    assert f"cluster.id={CLUSTER}" in told
    assert "node.id=4, version=1" in told
    assert told.endswith(f"Found problem:\n  {tmp_path}/d2 is not formatted.\n\n")


@sentence("631-193")
def test_a_format_needs_a_configuration_file_and_a_cluster_id(config, tmp_path):
    for given in (("-t", CLUSTER), ("-c", config)):
        assert kraft("storage", "format", *given).exit_code == 2
    assert not (tmp_path / "d1").exists()
    assert kraft("storage", "format", "-t", CLUSTER, "-c", config).exit_code == 0
    for name in ("d1", "d2"):
        assert f"cluster.id={CLUSTER}\n" in (tmp_path / name / "meta.properties").read_text()


@sentence("631-196")
def test_what_is_formatted_is_passed_over_if_one_says_so(config, tmp_path):
    kraft("storage", "format", "-t", CLUSTER, "-c", config)
    (tmp_path / "d2" / "meta.properties").unlink()
    first = (tmp_path / "d1" / "meta.properties").read_bytes()
    assert kraft("storage", "format", "-t", CLUSTER, "-c", config).exit_code == 1
    passed = kraft("storage", "format", "-t", CLUSTER, "-c", config, "--ignore-formatted")
    assert passed.exit_code == 0
    assert (tmp_path / "d1" / "meta.properties").read_bytes() == first
    assert (tmp_path / "d2" / "meta.properties").exists()


@sentence("631-197")
def test_a_random_uuid_is_printed():
    one, other = (kraft("storage", "random-uuid").stdout for _ in range(2))
    assert len(uuid_bytes(one.rstrip("\n"))) == 16
    assert one != other


# "kafka-cluster.sh".


@sentence("631-200")
def test_the_id_of_the_cluster_is_printed(config):
    kraft("storage", "format", "-t", CLUSTER, "-c", config)
    told = kraft("cluster", "cluster-id", "-c", config)
    assert told.stdout == f"Cluster ID: {CLUSTER}\n"


# "Changes to kafka-dump-log-segments.sh".


def dumped(*options):
    """Return the lines of a dump that are about a record of metadata."""
    lines = kraft("dump-log", *options, "--files", LOG).stdout.splitlines()
    return [line for line in lines if "payload: " in line]


@sentence("631-210")
def test_the_decoder_tells_what_the_records_say():
    assert dumped() == dumped("--deep-iteration") == []
    told = dumped("--cluster-metadata-decoder")
    assert any("REGISTER_BROKER_RECORD" in line for line in told)


@sentence("631-211")
def test_each_record_is_json_of_a_type_a_version_and_data():
    lines = dumped("--cluster-metadata-decoder")
    assert lines
    for line in lines:
        value = json.loads(line.partition("payload: ")[2])
        assert list(value) == ["type", "version", "data"]
        assert isinstance(value["data"], dict)


@sentence("631-212")
def test_without_the_metadata_of_records_their_payloads_are_left():
    full = dumped("--cluster-metadata-decoder")
    bare = dumped("--cluster-metadata-decoder", "--skip-record-metadata")
    assert all("keySize" in line for line in full)
    assert [line.strip() for line in bare] == [line[line.index("payload: ") :] for line in full]


# "Configurations".


@sentence("631-241")
def test_the_metadata_log_has_its_own_directory_or_the_first_of_all(tmp_path):
    plain = read_configuration(server_properties(tmp_path))
    assert plain.metadata_directory == f"{tmp_path}/d1"
    given = read_configuration(server_properties(tmp_path, "metadata.log.dir=/m"))
    assert given.metadata_directory == "/m"
    assert set(given.directories) == {"/m", f"{tmp_path}/d1", f"{tmp_path}/d2"}
