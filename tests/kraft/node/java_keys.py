"""A program that prints the keys of Kafka's nodes, topics, groups and client metrics, as JSON."""

from __future__ import annotations

import json
import sys

import jpype


def _keys(definition):
    """Return type, default, and whether it is internal, of each key of a ConfigDef."""
    convert = jpype.JClass("org.apache.kafka.common.config.ConfigDef").convertToString
    key_class = jpype.JClass("org.apache.kafka.common.config.ConfigDef$ConfigKey").class_
    # A field that is called `type` is hidden by a method of that name.
    type_of = key_class.getField("type").get
    found = {}
    for entry in definition.configKeys().entrySet():
        key = entry.getValue()
        has_default = bool(key.hasDefault()) and key.defaultValue is not None
        default = str(convert(key.defaultValue, type_of(key))) if has_default else None
        found[str(entry.getKey())] = (str(type_of(key)), default, bool(key.internalConfig))
    return found


def _names(scala_collection):
    iterator, found = scala_collection.iterator(), []
    while iterator.hasNext():
        found.append(str(iterator.next()))
    return found


def _private(owner, name):
    method = owner.getClass().getDeclaredMethod(name)
    method.setAccessible(True)
    return sorted(_names(method.invoke(owner)))


def main():
    library, class_path = sys.argv[1:]
    jpype.startJVM(library, "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
                   classpath=class_path.split(":"), convertStrings=False)  # fmt: skip
    nodes = jpype.JClass("org.apache.kafka.server.config.AbstractKafkaConfig").CONFIG_DEF
    dynamic = getattr(jpype.JClass("kafka.server.DynamicBrokerConfig$"), "MODULE$")
    synonyms = jpype.JClass("org.apache.kafka.server.config.ServerTopicConfigSynonyms")
    groups = jpype.JClass("org.apache.kafka.coordinator.group.GroupConfig")
    metrics = jpype.JClass("org.apache.kafka.server.metrics.ClientMetricsConfigs")
    topics = jpype.JClass("org.apache.kafka.storage.internals.log.LogConfig").class_
    own = topics.getDeclaredField("CONFIG")
    own.setAccessible(True)
    listener = "listener.name.client."
    asked = [
        *map(str, nodes.names()),
        listener + "ssl.keystore.type",
        listener + "x.sasl.login.class",
    ]
    facts = {
        "nodes": _keys(nodes),
        "dynamic": sorted(_names(dynamic.AllDynamicConfigs())),
        "of one node": _private(dynamic, "PerBrokerConfigs"),
        "of a listener": _private(dynamic, "DynamicSecurityConfigs"),
        "of all listeners": _private(dynamic, "ClusterLevelListenerConfigs"),
        "synonyms": {one: _names(dynamic.brokerConfigSynonyms(one, True)) for one in asked},
        "topics": _keys(own.get(None)),
        "topic synonyms": {
            str(one.getKey()): str(one.getValue())
            for one in synonyms.TOPIC_CONFIG_SYNONYMS.entrySet()
        },
        "groups": _keys(groups.configDef()),
        "metrics": _keys(metrics.configDef()),
    }
    json.dump(facts, sys.stdout)


if __name__ == "__main__":
    main()
