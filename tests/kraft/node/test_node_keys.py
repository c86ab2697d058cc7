"""The tables of keys beside Kafka's own classes, and values as Java writes them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krafla.record.jars import class_path
from krafla.tlc.jre import find_jre
from kraft.controller.operations.config_definitions import (
    CLIENT_METRICS_CONFIGS,
    GROUP_CONFIGS,
    TOPIC_CONFIGS,
)
from kraft.node.effective_keys import TOPIC_SYNONYMS, of_all_listeners
from kraft.node.keys.node_key import NODE_KEYS, canonical, synonyms_of
from kraft.rpc.describe_configs import ValueType

pytestmark = pytest.mark.xdist_group("kafka-jars")
PROGRAM = Path(__file__).with_name("java_keys.py")


@pytest.fixture(scope="module")
def kafka():
    """Return what Kafka's classes say of keys."""
    command = [sys.executable, str(PROGRAM), str(find_jre().libjvm), class_path()]
    finished = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return json.loads(finished.stdout)


def test_the_keys_of_a_node_are_kafkas(kafka):
    ours = {name: [key.type.name, key.default, key.is_internal] for name, key in NODE_KEYS.items()}

    assert ours == kafka["nodes"]
    assert sorted(name for name, key in NODE_KEYS.items() if key.is_dynamic) == kafka["dynamic"]
    per_node = {name for name, key in NODE_KEYS.items() if key.mark in "ns"}
    assert per_node == set(kafka["of one node"]) & set(kafka["dynamic"])
    assert sorted(n for n, key in NODE_KEYS.items() if key.mark == "s") == kafka["of a listener"]
    assert sorted(filter(of_all_listeners, NODE_KEYS)) == kafka["of all listeners"]


def test_keys_that_set_the_same_are_kafkas(kafka):
    asked = kafka["synonyms"]

    assert {name: list(synonyms_of(name)) for name in asked} == asked
    assert dict(TOPIC_SYNONYMS) == kafka["topic synonyms"]


@pytest.mark.parametrize(
    ("definitions", "of"),
    [(TOPIC_CONFIGS, "topics"), (GROUP_CONFIGS, "groups"), (CLIENT_METRICS_CONFIGS, "metrics")],
)
def test_the_keys_of_other_resources_are_kafkas(kafka, definitions, of):
    ours = {name: [one.type.name, one.default] for name, one in definitions.items()}

    assert ours == {name: [kind, default or ""] for name, (kind, default, _) in kafka[of].items()}


@pytest.mark.parametrize(
    ("kind", "text", "told"),
    [
        ("DOUBLE", "0.5", "0.5"),
        ("DOUBLE", "1", "1.0"),
        ("DOUBLE", ".0001f", "1.0E-4"),
        ("DOUBLE", "12345678", "1.2345678E7"),
        ("DOUBLE", "-0.00012", "-1.2E-4"),
        ("INT", " +07 ", "7"),
        ("LIST", " a , b", "a,b"),
        ("LIST", " ", ""),
        ("BOOLEAN", "TRUE", "true"),
        ("CLASS", " a.B ", "a.B"),
    ],
)
def test_a_value_is_written_as_java_writes_it(kind, text, told):
    assert canonical(ValueType[kind], text) == told


@pytest.mark.parametrize(
    ("kind", "text"),
    [("SHORT", "32768"), ("INT", "2147483648"), ("INT", "1.0"), ("DOUBLE", "x"), ("BOOLEAN", "1")],
)
def test_a_text_of_another_type_is_no_value(kind, text):
    with pytest.raises(ValueError, match="it is"):
        canonical(ValueType[kind], text)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_comes_back_from_its_text(number):
    assert float(canonical(ValueType.DOUBLE, repr(number))) == number
