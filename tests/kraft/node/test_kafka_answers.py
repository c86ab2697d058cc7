"""Kafka's tools and its AdminClient get from our controllers what they get from Kafka's."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tests.kraft.node import java_calls, java_commands
from tests.kraft.node.answer_masks import Masks
from tests.kraft.node.answers_page import PAGE, page
from tests.kraft.node.client import call
from tests.kraft.node.java_cluster import brokers, running
from tests.kraft.node.known_differences import KNOWN
from tests.kraft.node.wire_calls import STANDBY_CALLS, WIRE_CALLS

from krafla.record.jars import class_path
from krafla.record.scenario import Shape
from krafla.tlc.jre import find_jre
from kraft.errors import CorruptMessageError

PROGRAM = Path(__file__).with_name("java_admin.py")
SECONDS = 900


@pytest.mark.nightly
@pytest.mark.xdist_group("java_cluster")
@pytest.mark.parametrize("is_dynamic", [False, True], ids=["static", "dynamic"])
def test_each_answer_is_kafkas_or_a_known_difference(tmp_path, is_dynamic):
    answers = []
    for is_ours in (False, True):
        folder = tmp_path / ("ours" if is_ours else "kafka")
        folder.mkdir()
        answers.append(asked(folder, is_ours, is_dynamic))
    kafka, ours = answers

    assert list(ours) == list(kafka)
    differing = {name for name in kafka if ours[name] != kafka[name]}
    expected = {
        name
        for name, one in KNOWN.items()
        if name in kafka and (one.dynamic if is_dynamic else one.static)
    }
    shown = sorted(differing - expected)[:3]
    assert differing == expected, [(name, kafka[name], ours[name]) for name in shown]


def test_each_known_difference_is_of_a_question():
    lines = (java_commands.STATIC + java_commands.DYNAMIC).splitlines()
    of_standbys = {f"{name}, of a standby" for name in STANDBY_CALLS}

    assert set(KNOWN) <= {*lines, *java_calls.CALLS, *WIRE_CALLS, *of_standbys}


def test_the_page_of_answers_is_made_of_the_questions():
    assert PAGE.read_text(encoding="utf-8") == page()


def asked(folder, is_ours, is_dynamic):
    """Return the masked answers of a cluster to all questions, by their names."""
    shape = Shape(
        controllers=2 if is_dynamic else 1,
        brokers=1,
        dynamic=is_dynamic,
        properties=java_commands.PROPERTIES,
    )
    ours = shape.controller_ids if is_ours else ()
    with running(replace(shape, kraft_ids=ours), folder) as cluster:
        own, *answers = java_answers(cluster, folder, is_dynamic)
        masks = Masks(cluster, own["answer"])
        found = {one["name"]: masks.masked(one["answer"]) for one in answers}
        found |= wire_answers(cluster, masks)
    return {name: _in_order(name, answer) for name, answer in found.items()}


def java_answers(cluster, folder, is_dynamic):
    """Return what Kafka's tools and AdminClient are told, after the sentences of its errors."""
    lines = java_commands.DYNAMIC if is_dynamic else java_commands.STATIC
    question = {
        "controllers": f"127.0.0.1:{cluster.layout.node(3000).controller_port}",
        "brokers": brokers(cluster),
        "commands": java_commands.commands(cluster, folder, lines),
    }
    logging = folder / "tools-log4j2.xml"
    command = [sys.executable, str(PROGRAM), str(find_jre().libjvm), class_path(), str(logging)]
    finished = subprocess.run(
        command, input=json.dumps(question), capture_output=True, text=True, timeout=SECONDS,
        check=False,
    )  # fmt: skip
    assert finished.returncode == 0, finished.stderr
    return [json.loads(line) for line in finished.stdout.splitlines()]


def wire_answers(cluster, masks):
    """Return what the first controller answers to any client, and what the second one does."""
    found = {}
    for name, asks in WIRE_CALLS.items():
        found[name] = masks.masked(_wire_answer(cluster.layout.node(3000), *asks))
    if len(cluster.layout.shape.controller_ids) > 1:
        for name in STANDBY_CALLS:
            answer = _wire_answer(cluster.layout.node(3001), *WIRE_CALLS[name])
            found[f"{name}, of a standby"] = masks.masked(answer)
    return found


def _wire_answer(node, key, version, fields):
    try:
        return call(node.controller_port, key, version, **fields)
    except TimeoutError:
        return "no answer"
    except (ConnectionError, CorruptMessageError):
        return "the connection ends"


def _in_order(name, answer):
    """Return the lines of a tool sorted, where it prints them in the order of a hash table."""
    if name.startswith("acls ") or "--replication" in name:
        answer["out"].sort()
    return answer
