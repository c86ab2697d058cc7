"""The calls of AdminClient: by name, functions of an AdminClient. They need a JVM that runs."""

from __future__ import annotations

import jpype

TOPIC, BROKER, LOGGER, METRICS, GROUP = (
    "TOPIC",
    "BROKER",
    "BROKER_LOGGER",
    "CLIENT_METRICS",
    "GROUP",
)


def _class(name):
    return jpype.JClass(name if name.startswith("java") else f"org.apache.kafka.{name}")


def _admin(name, *arguments):
    return _class(f"clients.admin.{name}")(*arguments)


def _list(*values):
    return jpype.java.util.ArrayList(list(values))


def _set(*values):
    return jpype.java.util.LinkedHashSet(list(values))


def _map(pairs):
    found = jpype.java.util.LinkedHashMap()
    for key, value in pairs.items():
        found.put(key, value)
    return found


def _text(value):
    return None if value is None else jpype.java.lang.String(value)


def _resource(kind, name):
    resource = _class("common.config.ConfigResource")
    kinds = _class("common.config.ConfigResource$Type")
    return resource(kinds.valueOf(kind), name)


def _describe(kind, name, synonyms=True, documentation=False):
    def call(admin):
        options = _admin("DescribeConfigsOptions")
        options.includeSynonyms(synonyms).includeDocumentation(documentation)
        return admin.describeConfigs(_list(_resource(kind, name)), options)

    return call


def _alter(kind, name, key, value, operation="SET", validate_only=False):
    def call(admin):
        operations = _class("clients.admin.AlterConfigOp$OpType")
        change = _admin(
            "AlterConfigOp", _admin("ConfigEntry", key, _text(value)), operations.valueOf(operation)
        )
        options = _admin("AlterConfigsOptions").validateOnly(validate_only)
        return admin.incrementalAlterConfigs(_map({_resource(kind, name): _list(change)}), options)

    return call


def _topics(*names, partitions=1, replicas=1):
    def call(admin):
        new = [
            _admin("NewTopic", name, jpype.JInt(partitions), jpype.JShort(replicas))
            for name in names
        ]
        return admin.createTopics(_list(*new))

    return call


def _partition(topic, number=0):
    return _class("common.TopicPartition")(topic, number)


def _entity(**parts):
    names = {"client_id": "client-id"}
    return _class("common.quota.ClientQuotaEntity")(
        _map({names.get(kind, kind): _text(name) for kind, name in parts.items()})
    )


def _quota(entity, key, value):
    def call(admin):
        number = None if value is None else jpype.java.lang.Double(value)
        op = _class("common.quota.ClientQuotaAlteration$Op")(key, number)
        alteration = _class("common.quota.ClientQuotaAlteration")(_entity(**entity), _list(op))
        return admin.alterClientQuotas(_list(alteration))

    return call


def _quotas(admin):
    return admin.describeClientQuotas(_class("common.quota.ClientQuotaFilter").all())


def _scram(user, iterations=4096):
    def call(admin):
        mechanism = _class("clients.admin.ScramMechanism").SCRAM_SHA_256
        info = _admin("ScramCredentialInfo", mechanism, jpype.JInt(iterations))
        password = jpype.JArray(jpype.JByte)(b"secret")
        salt = jpype.JArray(jpype.JByte)(b"salt")
        change = _admin("UserScramCredentialUpsertion", user, info, password, salt)
        return admin.alterUserScramCredentials(_list(change))

    return call


def _binding(name, operation="READ", kind="TOPIC", pattern="LITERAL"):
    types = _class("common.resource.ResourceType")
    patterns = _class("common.resource.PatternType")
    resource = _class("common.resource.ResourcePattern")(
        types.valueOf(kind), name, patterns.valueOf(pattern)
    )
    return _class("common.acl.AclBinding")(resource, _entry(operation))


def _entry(operation):
    operations = _class("common.acl.AclOperation")
    allow = _class("common.acl.AclPermissionType").ALLOW
    return _class("common.acl.AccessControlEntry")(
        "User:ann", "*", operations.valueOf(operation), allow
    )


def _grant(*bindings):
    return lambda admin: admin.createAcls(_list(*(_binding(*one) for one in bindings)))


def _any_acl():
    return _class("common.acl.AclBindingFilter").ANY


def _update(feature, level, upgrade="UPGRADE", validate_only=False):
    def call(admin):
        types = _class("clients.admin.FeatureUpdate$UpgradeType")
        change = _admin("FeatureUpdate", jpype.JShort(level), types.valueOf(upgrade))
        options = _admin("UpdateFeaturesOptions").validateOnly(validate_only)
        return admin.updateFeatures(_map({feature: change}), options)

    return call


def _uuid(text="AAAAAAAAAAAAAAAAAAAAAg"):
    return _class("common.Uuid").fromString(text)


def _voter(node_id):
    def call(admin):
        endpoint = _admin("RaftVoterEndpoint", "CONTROLLER", "127.0.0.1", 1)
        return admin.addRaftVoter(node_id, _uuid(), _set(endpoint))

    return call


def _cluster(fenced=False, authorized=False):
    def call(admin):
        options = _admin("DescribeClusterOptions").includeFencedBrokers(fenced)
        return admin.describeCluster(options.includeAuthorizedOperations(authorized))

    return call


def _reassign(topic, *replicas, cancel=False):
    def call(admin):
        optional = jpype.java.util.Optional
        numbers = _list(*(jpype.java.lang.Integer(one) for one in replicas))
        target = optional.empty() if cancel else optional.of(
            _admin("NewPartitionReassignment", numbers))  # fmt: skip
        return admin.alterPartitionReassignments(_map({_partition(topic): target}))

    return call


def _elect(kind, *topics):
    def call(admin):
        kinds = _class("common.ElectionType")
        chosen = _set(*(_partition(one) for one in topics)) if topics else None
        return admin.electLeaders(kinds.valueOf(kind), chosen)

    return call


HISTORY = {
    "create topics": _topics("calm", "wild", partitions=2),
    "set a topic": _alter(TOPIC, "calm", "retention.ms", "100000"),
    "set a list of a topic": _alter(TOPIC, "calm", "cleanup.policy", "compact", "APPEND"),
    "set all brokers": _alter(BROKER, "", "log.retention.ms", "200000"),
    "set all brokers' threads": _alter(BROKER, "", "background.threads", "3"),
    "set the broker": _alter(BROKER, "0", "log.cleaner.threads", "2"),
    "set a group": _alter(GROUP, "team", "consumer.session.timeout.ms", "50000"),
    "set client metrics": _alter(METRICS, "watch", "interval.ms", "1000"),
    "set a quota": _quota({"user": "ann"}, "producer_byte_rate", 1024.0),
    "set a default quota": _quota({"client_id": None}, "consumer_byte_rate", 2048.0),
    "set an ip's quota": _quota({"ip": "127.0.0.1"}, "connection_creation_rate", 10.0),
    "set a password": _scram("ann"),
}
"""What happens on each cluster first, through its broker."""

CALLS = {
    "describeCluster": _cluster(),
    "describeCluster with authorized operations": _cluster(authorized=True),
    "describeCluster with fenced brokers": _cluster(fenced=True),
    "describeConfigs of a topic": _describe(TOPIC, "calm"),
    "describeConfigs of a topic without synonyms": _describe(TOPIC, "calm", synonyms=False),
    "describeConfigs of an unknown topic": _describe(TOPIC, "absent"),
    "describeConfigs of a bad topic": _describe(TOPIC, "a b"),
    "describeConfigs of all brokers": _describe(BROKER, ""),
    "describeConfigs of the controller": _describe(BROKER, "3000"),
    "describeConfigs of a broker": _describe(BROKER, "0"),
    "describeConfigs of no number": _describe(BROKER, "x"),
    "describeConfigs of the controller's loggers": _describe(LOGGER, "3000"),
    "describeConfigs of a broker's loggers": _describe(LOGGER, "0"),
    "describeConfigs of all loggers": _describe(LOGGER, ""),
    "describeConfigs of client metrics": _describe(METRICS, "watch"),
    "describeConfigs of unknown client metrics": _describe(METRICS, "absent"),
    "describeConfigs of all client metrics": _describe(METRICS, ""),
    "describeConfigs of a group": _describe(GROUP, "team"),
    "describeConfigs of an unknown group": _describe(GROUP, "absent"),
    "describeConfigs of all groups": _describe(GROUP, ""),
    "incrementalAlterConfigs of a topic": _alter(TOPIC, "calm", "retention.ms", "300000"),
    "incrementalAlterConfigs to validate": _alter(
        TOPIC, "calm", "retention.ms", "400000", validate_only=True),
    "incrementalAlterConfigs of an unknown topic": _alter(TOPIC, "absent", "retention.ms", "1"),
    "incrementalAlterConfigs of an unknown key": _alter(TOPIC, "calm", "no.such.key", "1"),
    "incrementalAlterConfigs to a bad value": _alter(TOPIC, "calm", "retention.ms", "soon"),
    "incrementalAlterConfigs out of bounds": _alter(TOPIC, "calm", "retention.ms", "-5"),
    "incrementalAlterConfigs appends to no list": _alter(
        TOPIC, "calm", "retention.ms", "1", "APPEND"),
    "incrementalAlterConfigs of the controller": _alter(
        BROKER, "3000", "background.threads", "4"),
    "incrementalAlterConfigs of a broker": _alter(BROKER, "0", "background.threads", "4"),
    "incrementalAlterConfigs of an unknown broker": _alter(BROKER, "9", "background.threads", "4"),
    "incrementalAlterConfigs of no number": _alter(BROKER, "x", "background.threads", "4"),
    "incrementalAlterConfigs of all brokers": _alter(BROKER, "", "background.threads", "5"),
    "incrementalAlterConfigs of the controller's loggers": _alter(LOGGER, "3000", "kafka", "WARN"),
    "incrementalAlterConfigs of a broker's loggers": _alter(LOGGER, "0", "kafka", "WARN"),
    "incrementalAlterConfigs of a group": _alter(
        GROUP, "team", "consumer.session.timeout.ms", "46000"),
    "incrementalAlterConfigs of a group out of bounds": _alter(
        GROUP, "team", "consumer.session.timeout.ms", "1"),
    "incrementalAlterConfigs of all groups": _alter(
        GROUP, "", "consumer.session.timeout.ms", "46000"),
    "incrementalAlterConfigs of client metrics": _alter(METRICS, "watch", "interval.ms", "2000"),
    "incrementalAlterConfigs of client metrics, bad": _alter(METRICS, "watch", "interval.ms", "1"),
    "incrementalAlterConfigs of client metrics, unknown key": _alter(METRICS, "watch", "no", "1"),
    "describeConfigs of a topic, again": _describe(TOPIC, "calm"),
    "describeConfigs of all brokers, again": _describe(BROKER, ""),
    "describeConfigs of the controller, again": _describe(BROKER, "3000"),
    "describeFeatures": lambda admin: admin.describeFeatures(),
    "updateFeatures to validate": _update("metadata.version", 25, "SAFE_DOWNGRADE", True),
    "updateFeatures of an unknown feature": _update("no.such.feature", 1),
    "updateFeatures above what is supported": _update("metadata.version", 99),
    "updateFeatures down without leave": _update("metadata.version", 25),
    "updateFeatures too far down": _update("metadata.version", 1, "SAFE_DOWNGRADE"),
    "updateFeatures of a group version": _update("group.version", 0, "SAFE_DOWNGRADE"),
    "updateFeatures of a group version, back": _update("group.version", 1),
    "describeMetadataQuorum": lambda admin: admin.describeMetadataQuorum(),
    "addRaftVoter": _voter(9),
    "addRaftVoter that is there": _voter(3000),
    "removeRaftVoter": lambda admin: admin.removeRaftVoter(9, _uuid()),
    "createAcls": _grant(("calm",), ("c", "READ", "TOPIC", "PREFIXED")),
    "createAcls of another resource's operation": _grant(("calm", "CREATE_TOKENS")),
    "createAcls of a wrong cluster": _grant(
        ("c", "ALTER", "CLUSTER"), ("kafka-cluster", "ALTER", "CLUSTER")),
    "describeAcls": lambda admin: admin.describeAcls(_any_acl()),
    "deleteAcls": lambda admin: admin.deleteAcls(
        _list(_binding("c", pattern="PREFIXED").toFilter())),
    "describeAcls, again": lambda admin: admin.describeAcls(_any_acl()),
    "listConfigResources": lambda admin: admin.listConfigResources(),
    "listClientMetricsResources": lambda admin: admin.listClientMetricsResources(),
    "alterClientQuotas": _quota({"user": "bob"}, "producer_byte_rate", 1.0),
    "describeClientQuotas": _quotas,
    "alterUserScramCredentials": _scram("bob"),
    "describeUserScramCredentials": lambda admin: admin.describeUserScramCredentials(),
    "createTopics": _topics("new"),
    "deleteTopics": lambda admin: admin.deleteTopics(_list("wild")),
    "createPartitions": lambda admin: admin.createPartitions(
        _map({"calm": _class("clients.admin.NewPartitions").increaseTo(3)})),
    "listTopics": lambda admin: admin.listTopics(),
    "describeTopics": lambda admin: admin.describeTopics(_list("calm")),
    "electLeaders": _elect("PREFERRED", "calm"),
    "electLeaders of all": _elect("PREFERRED"),
    "electLeaders of an unknown topic": _elect("UNCLEAN", "absent"),
    "alterPartitionReassignments": _reassign("calm", 0),
    "alterPartitionReassignments to an unknown broker": _reassign("calm", 9),
    "alterPartitionReassignments cancelled": _reassign("calm", cancel=True),
    "alterPartitionReassignments of an unknown topic": _reassign("absent", 0),
    "listPartitionReassignments": lambda admin: admin.listPartitionReassignments(),
    "listPartitionReassignments of a topic": lambda admin: admin.listPartitionReassignments(
        _set(_partition("calm"))),
    "createDelegationToken": lambda admin: admin.createDelegationToken(),
    "describeDelegationToken": lambda admin: admin.describeDelegationToken(),
    "renewDelegationToken": lambda admin: admin.renewDelegationToken(
        jpype.JArray(jpype.JByte)(b"none")),
    "expireDelegationToken": lambda admin: admin.expireDelegationToken(
        jpype.JArray(jpype.JByte)(b"none")),
    "listGroups": lambda admin: admin.listGroups(),
    "describeLogDirs": lambda admin: admin.describeLogDirs(_list(jpype.java.lang.Integer(0))),
    "describeProducers": lambda admin: admin.describeProducers(_list(_partition("calm"))),
    "listTransactions": lambda admin: admin.listTransactions(),
    "unregisterBroker that is unknown": lambda admin: admin.unregisterBroker(9),
    "unregisterBroker that is negative": lambda admin: admin.unregisterBroker(-1),
}  # fmt: skip
"""What AdminClient is asked to do on the controllers."""
