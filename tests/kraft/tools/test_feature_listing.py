"""Which feature level goes with which metadata version, as Kafka's storage tool says it."""

from __future__ import annotations

import pytest
from tests.kraft.kafka_tools import run
from typer.testing import CliRunner

from kraft.tools import application
from kraft.tools.features import VERSION_NAMES, feature_levels
from kraft.tools.guard import ToolError

ORDER = (
    "kraft.version",
    "transaction.version",
    "group.version",
    "eligible.leader.replicas.version",
    "share.version",
    "streams.version",
)
# What Kafka 4.1.0 printed, of each feature in that order.
MAPPINGS = {
    "3.3.1": (7, "000000"),
    "3.7": (19, "000000"),
    "3.8-IV0": (20, "000000"),
    "3.9.1": (21, "100000"),
    "4.0-IV1": (23, "101000"),
    "4.0-IV3": (25, "121000"),
    "4.1-IV0": (26, "121100"),
    "4.1.0": (27, "121100"),
}
NEEDS = {
    "eligible.leader.replicas.version=1": " requires:\n    metadata.version=23 (4.0-IV1)",
    "group.version=1": " has no dependencies.",
    "kraft.version=1": " requires:\n    metadata.version=21 (3.9-IV0)",
    "kraft.version=0": " has no dependencies.",
    "metadata.version=17": " (3.7-IV2) has no dependencies.",
    "share.version=1": " has no dependencies.",
    "streams.version=1": " has no dependencies.",
    "transaction.version=2": " has no dependencies.",
}


def storage(*arguments: str):
    return CliRunner().invoke(application(), ["storage", *arguments])


@pytest.mark.parametrize("release", MAPPINGS)
def test_a_release_has_the_levels_that_kafka_gives_it(release):
    version, levels = MAPPINGS[release]
    lines = [f"metadata.version={version} ({release})"]
    lines += [f"{name}={level}" for name, level in zip(ORDER, levels, strict=True)]
    assert storage("version-mapping", "-r", release).stdout.splitlines() == lines


def test_both_lists_are_verbs_of_features_too_and_need_no_server():
    for verb in (["version-mapping", "-r", "4.0"], ["feature-dependencies", *asked()]):
        printed = CliRunner().invoke(application(), ["features", *verb]).stdout
        assert printed == storage(*verb).stdout != ""


def asked() -> list[str]:
    return [argument for feature in NEEDS for argument in ("-f", feature)]


def test_a_feature_needs_what_kafka_says():
    expected = "".join(f"{feature}{needs}\n" for feature, needs in NEEDS.items())
    assert storage("feature-dependencies", *asked()).stdout == expected


@pytest.mark.by_day(1)
# One process fetches Kafka's jars; another would only wait for it.
@pytest.mark.xdist_group("kafka-jars")
@pytest.mark.parametrize("arguments", [("version-mapping",), ("feature-dependencies", *asked())])
def test_both_are_as_kafka_prints_them(arguments):
    assert storage(*arguments).stdout == run("kafka.tools.StorageTool", *arguments)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["version-mapping", "-r", "9.9"], "Unknown release version '9.9'. Supported versions are"),
        (["version-mapping", "-r", "4.2-IV0"], "3.3-IV3 to 4.1-IV1"),
        (["feature-dependencies", "-f", "bogus=1"], "Unknown feature: bogus"),
        (["feature-dependencies", "-f", "group.version=9"], "level 9 is not supported for feature"),
        (["feature-dependencies", "-f", "group.version=-1"], "level -1 is not supported"),
        (["feature-dependencies", "-f", "group.version=x"], "Invalid version format: x"),
        (["feature-dependencies", "-f", "group.version=-"], "Invalid version format: -"),
        (["feature-dependencies", "-f", "metadata.version=6"], "Unknown metadata.version 6"),
        (["feature-dependencies", "-f", "group"], "Can't parse feature=level string group"),
    ],
)
def test_what_there_is_not_is_refused_in_one_line(arguments, reason):
    refused = storage(*arguments)
    assert (refused.exit_code, refused.stdout, refused.stderr.count("\n")) == (1, "", 1)
    assert reason in refused.stderr


def test_no_cluster_is_formatted_with_a_level_that_is_not_stable():
    asked = {"share.version": 1, "streams.version": 0}
    levels = feature_levels(max(VERSION_NAMES), asked, is_dynamic=True)
    assert (levels["share.version"], levels["streams.version"]) == (1, 0)
    with pytest.raises(ToolError, match="No feature:streams"):
        feature_levels(max(VERSION_NAMES), {"streams.version": 1}, is_dynamic=True)
