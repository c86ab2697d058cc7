"""A node's directory: which logs it has, who it belongs to, and its small text files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.kraft.records.samples import leader_change, no_ops

from kraft.errors import (
    CorruptRecordError,
    LimitExceededError,
    UnreadableFileError,
    UnsupportedVersionError,
)
from kraft.ids import ZERO_UUID
from kraft.log.directory import (
    check_identities,
    find_metadata_logs,
    open_metadata_log,
    read_metadata_log,
)
from kraft.log.findings import FindingKind
from kraft.log.text_files import (
    EpochStart,
    read_leader_epochs,
    read_meta_properties,
    read_quorum_state,
)

if TYPE_CHECKING:
    from pathlib import Path

DIRECTORY_ID = "ABEiM0RVZneImaq7zN3u_w"


def make_node(root: Path, name: str, node_id: int, **changes: str) -> Path:
    properties = {"node.id": str(node_id), "cluster.id": "C", "version": "1", **changes}
    log = root / name / "__cluster_metadata-0"
    log.mkdir(parents=True)
    lines = ["#", *(f"{key}={value}" for key, value in properties.items())]
    (root / name / "meta.properties").write_text("\n".join(lines) + "\n")
    (log / "00000000000000000000.log").write_bytes(leader_change())
    (log / "00000000000000000001.log").write_bytes(no_ops(1, 2))
    return log


def test_logs_are_found_below_a_path_in_order_of_their_names(tmp_path):
    made = [make_node(tmp_path, name, n) for n, name in enumerate(("n2", "n1", "deep/er/n3"))]
    (tmp_path / "n1" / "topic-0").mkdir()
    (tmp_path / "n1" / "topic-0" / "00000000000000000000.log").touch()
    found = find_metadata_logs(tmp_path)
    assert [log.directory for log in found] == sorted(made)
    assert [log.directory for log in find_metadata_logs(made[0])] == [made[0]]


def test_a_log_directory_lists_what_belongs_to_it(tmp_path):
    directory = make_node(tmp_path, "n", 1)
    name = "00000000000000000002-0000000001.checkpoint"
    for extra in (name, name + ".part", "00000000000000000000.log.deleted", "quorum-state"):
        (directory / extra).touch()
    (tmp_path / "n" / "bootstrap.checkpoint").touch()
    log = open_metadata_log(directory)
    assert [segment.base_offset for segment in log.segments] == [0, 1]
    assert [(c.end_offset, c.epoch) for c in log.checkpoints] == [(2, 1)]
    assert [path.name for path in log.ignored] == [
        "00000000000000000000.log.deleted",
        name + ".part",
    ]
    assert log.quorum_state == directory / "quorum-state"
    assert log.leader_epochs is None
    assert log.bootstrap == tmp_path / "n" / "bootstrap.checkpoint"
    assert log.meta_properties == tmp_path / "n" / "meta.properties"
    findings = []
    batches = list(read_metadata_log(log, findings=findings))
    assert [batch.base_offset for batch in batches] == [0, 1]
    assert [finding.kind for finding in findings] == [FindingKind.IGNORED_FILE] * 2


def test_links_to_directories_are_not_followed(tmp_path):
    make_node(tmp_path / "elsewhere", "n", 1)
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "link").symlink_to(tmp_path / "elsewhere")
    assert find_metadata_logs(tmp_path / "here") == ()


def test_a_link_to_a_directory_is_a_finding_outside_metadata_logs(tmp_path):
    log = make_node(tmp_path / "here", "n1", 1)
    elsewhere = make_node(tmp_path / "elsewhere", "n2", 2)
    links = [tmp_path / "here" / name for name in ("b", "a", "n1/c", f"n2/{elsewhere.name}")]
    (tmp_path / "here" / "n2").mkdir()
    for link in (*links, log / "within", log / "deep" / "within"):
        link.parent.mkdir(exist_ok=True)
        link.symlink_to(elsewhere)
    (tmp_path / "here" / "file").symlink_to(elsewhere / "00000000000000000000.log")
    (tmp_path / "here" / "dangling").symlink_to("nowhere")
    findings = []
    found = find_metadata_logs(tmp_path / "here", findings=findings)
    assert [one.directory for one in found] == [log]
    assert {one.kind for one in findings} == {FindingKind.LINK_NOT_FOLLOWED}
    assert sorted(one.path for one in findings) == sorted(links)
    findings.clear()
    assert [one.directory for one in find_metadata_logs(log, findings=findings)] == [log]
    assert find_metadata_logs(tmp_path / "here" / "a", findings=findings) != ()
    assert findings == []


@pytest.mark.parametrize("name", ["absent", "file"])
def test_a_root_that_is_no_directory_is_one_error(tmp_path, name):
    (tmp_path / "file").touch()
    with pytest.raises(UnreadableFileError, match="directory"):
        find_metadata_logs(tmp_path / name)


def test_nodes_of_one_cluster_have_nothing_odd(tmp_path):
    make_node(tmp_path, "n1", 1, **{"directory.id": DIRECTORY_ID})
    make_node(tmp_path, "n2", 2, **{"directory.id": ZERO_UUID})
    assert check_identities(find_metadata_logs(tmp_path)) == ()


@pytest.mark.parametrize(
    ("changes", "kind", "detail"),
    [
        ({"cluster.id": "D"}, FindingKind.SEVERAL_CLUSTERS, "cluster id D, "),
        ({"node.id": "1"}, FindingKind.DUPLICATE_NODE_ID, "node id 1 is also that of"),
        ({"directory.id": DIRECTORY_ID}, FindingKind.DUPLICATE_DIRECTORY_ID, "directory id"),
        ({"node.id": "one"}, FindingKind.UNREADABLE_IDENTITY, "node.id is not a number"),
    ],
)
def test_mixed_directories_are_findings_that_name_both_files(tmp_path, changes, kind, detail):
    make_node(tmp_path, "n1", 1, **{"directory.id": DIRECTORY_ID})
    make_node(tmp_path, "n2", 2, **changes)
    (finding,) = check_identities(find_metadata_logs(tmp_path))
    assert finding.kind is kind
    assert detail in finding.detail
    assert finding.path == tmp_path / "n2" / "meta.properties"
    if kind is not FindingKind.UNREADABLE_IDENTITY:
        assert str(tmp_path / "n1" / "meta.properties") in finding.detail


def text(tmp_path: Path, content: str | bytes) -> Path:
    path = tmp_path / "file"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_meta_properties_say_who_a_directory_belongs_to(tmp_path):
    path = text(tmp_path, f"#\n#Sat\nnode.id=3\ndirectory.id={DIRECTORY_ID}\nversion=1\n")
    meta = read_meta_properties(path)
    assert (meta.version, meta.node_id, meta.directory_id) == (1, 3, DIRECTORY_ID)
    assert meta.cluster_id is None


@pytest.mark.parametrize(
    ("content", "kind", "reason"),
    [
        ("node.id=1\nnode.id=2\n", CorruptRecordError, "line 2 has node.id a second time"),
        ("node.id\n", CorruptRecordError, "line 1 is not `key=value`"),
        ("node.id=-1\n", CorruptRecordError, "not a number"),
        ("directory.id=x\n", CorruptRecordError, "not a UUID"),
        ("version=7\n", UnsupportedVersionError, "version '7'"),
        (b"\xff=1\n", CorruptRecordError, "invalid UTF-8"),
        (b"#" * (2 * 1024 * 1024), LimitExceededError, "more than 1048576 bytes"),
    ],
)
def test_bad_meta_properties_are_refused(tmp_path, content, kind, reason):
    with pytest.raises(kind, match=reason):
        read_meta_properties(text(tmp_path, content))


STATE_0 = (
    '{"clusterId":"","leaderId":3000,"leaderEpoch":2,"votedId":-1,"appliedOffset":0,'
    '"currentVoters":[{"voterId":3000},{"voterId":3001}],"data_version":0}'
)
STATE_1 = (
    '{"leaderId":1,"leaderEpoch":3,"votedId":-1,'
    '"votedDirectoryId":"AAAAAAAAAAAAAAAAAAAAAA","data_version":1}'
)


def test_both_versions_of_quorum_state_are_read(tmp_path):
    old = read_quorum_state(text(tmp_path, STATE_0))
    assert (old.version, old.leader_id, old.leader_epoch, old.voted_id) == (0, 3000, 2, -1)
    assert (old.voters, old.voted_directory_id) == ((3000, 3001), ZERO_UUID)
    new = read_quorum_state(text(tmp_path, STATE_1))
    assert (new.version, new.leader_id, new.leader_epoch) == (1, 1, 3)
    assert new.voters is None


@pytest.mark.parametrize(
    ("content", "kind", "reason"),
    [
        ("", CorruptRecordError, "0 lines"),
        (STATE_1 + "\n" + STATE_1 + "\n", CorruptRecordError, "2 lines"),
        ('{"leaderId":1}', CorruptRecordError, "no data_version"),
        ('{"data_version":9}', UnsupportedVersionError, "data_version 9"),
        ('{"data_version":true}', CorruptRecordError, "no data_version"),
        ('{"data_version":1}', CorruptRecordError, "fields missing or unknown"),
        (STATE_1.replace(":3,", ":-5,"), CorruptRecordError, "-5"),
        (STATE_1.replace(":3,", ":-1,"), CorruptRecordError, "negative epoch"),
        (STATE_1.replace(":3,", ":NaN,"), CorruptRecordError, "NaN is not JSON"),
        (STATE_1.replace(":3,", ":" + "9" * 5000 + ","), CorruptRecordError, "not"),
        (STATE_1.replace("AAAAAAAAAAAAAAAAAAAAAA", "x"), CorruptRecordError, "UUID"),
        (STATE_1.replace("A" * 22, DIRECTORY_ID), CorruptRecordError, "without a voted id"),
        (STATE_1.replace("{", '{"leaderId":2,'), CorruptRecordError, "a key twice"),
        (STATE_0.replace('{"voterId":3000}', "7"), CorruptRecordError, "not a list of voters"),
        ("[]", CorruptRecordError, "not a JSON object"),
        ("[" * 100_000, CorruptRecordError, "not valid JSON"),
        ("{", CorruptRecordError, "not valid JSON"),
        (b" " * (2 * 1024 * 1024), LimitExceededError, "more than"),
    ],
)
def test_bad_quorum_states_are_refused(tmp_path, content, kind, reason):
    with pytest.raises(kind, match=reason) as caught:
        read_quorum_state(text(tmp_path, content))
    assert len(str(caught.value)) < 1000


def test_leader_epochs_are_read_oldest_first(tmp_path):
    path = text(tmp_path, "0\n2\n1 0\n4 220\n")
    assert read_leader_epochs(path) == (EpochStart(1, 0), EpochStart(4, 220))


@pytest.mark.parametrize("content", ["", "0\n", "0\n0\n"])
def test_a_file_as_kafka_creates_it_has_no_leader_epochs(tmp_path, content):
    assert read_leader_epochs(text(tmp_path, content)) == ()


@pytest.mark.parametrize(
    ("content", "kind", "reason"),
    [
        ("\n", UnsupportedVersionError, "version ''"),
        ("1\n0\n", UnsupportedVersionError, "version '1'"),
        ("1\n", UnsupportedVersionError, "version '1'"),
        ("0\n2\n1 0\n", CorruptRecordError, "1 entries, line 2 says '2'"),
        ("0\n1\n1 0 0\n", CorruptRecordError, "line 3 is not `epoch offset`"),
        ("0\n1\n1 -1\n", CorruptRecordError, "line 3 is not `epoch offset`"),
        ("0\n2\n2 0\n1 5\n", CorruptRecordError, "line 4 does not ascend"),
        ("0\n2\n1 5\n2 4\n", CorruptRecordError, "line 4 does not ascend"),
        ("0\n1\n99999999999 5\n", CorruptRecordError, "not a number"),
    ],
)
def test_bad_leader_epochs_are_refused(tmp_path, content, kind, reason):
    with pytest.raises(kind, match=reason):
        read_leader_epochs(text(tmp_path, content))
