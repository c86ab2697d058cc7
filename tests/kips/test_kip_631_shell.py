"""KIP-631 on the metadata shell: what is in a log or a checkpoint, as directories."""

from __future__ import annotations

import re
from pathlib import Path

from tests.kips.sentences import sentence
from typer.testing import CliRunner

from kraft.ids import METADATA_DIRECTORY
from kraft.tools import application

NODE = Path(__file__).resolve().parents[2] / "traces/kafka-4.1/failover/n3002" / METADATA_DIRECTORY
CHECKPOINT = NODE / "00000000000000001326-0000000012.checkpoint"
LOG = NODE.parents[2] / "combined" / "n1" / METADATA_DIRECTORY / "00000000000000000000.log"


def shell(path: Path, *command: str, stdin: str = "") -> list[str]:
    arguments = ["metadata-shell", "--snapshot", str(path), *command]
    done = CliRunner().invoke(application(), arguments, input=stdin)
    assert done.exit_code == 0, done.output
    return done.stdout.splitlines()


@sentence("631-220")
def test_the_shell_shows_what_a_topic_of_the_log_is():
    assert shell(LOG, stdin="cd /image/topics/byName\nls\ncat q/name\n") == ["q", "q"]


@sentence("631-222")
def test_the_shell_reads_a_checkpoint():
    assert shell(CHECKPOINT, "ls", "/image/cluster/controllers") == ["3000", "3001", "3002"]


@sentence("631-223")
def test_the_shell_shows_directories_of_the_state_after_the_last_record():
    assert (
        "fenced=true, inControlledShutdown=true" in shell(LOG, "cat", "/image/cluster/brokers/1")[0]
    )
    assert shell(LOG, "find", "/image/cluster") == [
        "/image/cluster",
        "/image/cluster/brokers",
        "/image/cluster/brokers/1",
        "/image/cluster/controllers",
        "/image/cluster/controllers/1",
    ]


@sentence("631-224")
def test_the_shell_has_the_commands_of_the_kip_and_tree():
    listed = re.findall(r"^  (\w+) ", "\n".join(shell(LOG, stdin="help\n")), re.MULTILINE)
    kips = ["cat", "cd", "exit", "find", "help", "history", "ls", "man", "pwd"]
    assert listed == [*kips, "tree"]
