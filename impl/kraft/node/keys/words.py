"""The keys of a node whose values are words: texts, lists, names of classes, secrets.

Kafka: AbstractKafkaConfig.CONFIG_DEF, DynamicBrokerConfig.
"""

from typing import Final

STRINGS: Final = """
- advertised.listeners
- authorizer.class.name=
- broker.rack
c compression.type=producer
- controller.listener.names
- early.start.listeners
- group.consumer.migration.policy=bidirectional
i group.share.persister.class.name=org.apache.kafka.server.share.persister.DefaultStatePersister
- inter.broker.listener.name
n listener.security.protocol.map=SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT
n listeners=PLAINTEXT://:9092
- log.dir=/tmp/kafka-logs
- log.dirs
c log.message.timestamp.type=CreateTime
c max.connections.per.ip.overrides=
- metadata.log.dir
- metrics.recording.level=INFO
- remote.log.metadata.manager.class.name=org.apache.kafka.server.log.remote.metadata.storage.TopicBasedRemoteLogMetadataManager
- remote.log.metadata.manager.class.path
- remote.log.metadata.manager.impl.prefix=rlmm.config.
- remote.log.metadata.manager.listener.name
- remote.log.storage.manager.class.name
- remote.log.storage.manager.class.path
- remote.log.storage.manager.impl.prefix=rsm.config.
- replica.selector.class
n sasl.kerberos.kinit.cmd=/usr/bin/kinit
n sasl.kerberos.service.name
- sasl.mechanism.controller.protocol=GSSAPI
n sasl.mechanism.inter.broker.protocol=GSSAPI
- sasl.oauthbearer.assertion.algorithm=RS256
- sasl.oauthbearer.assertion.claim.aud
- sasl.oauthbearer.assertion.claim.iss
- sasl.oauthbearer.assertion.claim.sub
- sasl.oauthbearer.assertion.file
- sasl.oauthbearer.assertion.private.key.file
- sasl.oauthbearer.assertion.template.file
- sasl.oauthbearer.client.credentials.client.id
- sasl.oauthbearer.expected.issuer
- sasl.oauthbearer.jwks.endpoint.url
- sasl.oauthbearer.scope
- sasl.oauthbearer.scope.claim.name=scope
- sasl.oauthbearer.sub.claim.name=sub
- sasl.oauthbearer.token.endpoint.url
- security.inter.broker.protocol=PLAINTEXT
- security.providers
n ssl.client.auth=none
n ssl.endpoint.identification.algorithm=https
n ssl.keymanager.algorithm=SunX509
s ssl.keystore.location
s ssl.keystore.type=JKS
- ssl.principal.mapping.rules=DEFAULT
n ssl.protocol=TLSv1.3
n ssl.provider
n ssl.secure.random.implementation
n ssl.trustmanager.algorithm=PKIX
s ssl.truststore.location
s ssl.truststore.type=JKS
"""  # noqa: E501  # names of Java's
"""Keys with a text."""

LISTS: Final = """
- controller.quorum.bootstrap.servers=
- controller.quorum.voters=
- group.consumer.assignors=uniform,range
- group.coordinator.rebalance.protocols=classic,consumer,streams
- group.share.assignors=simple
- kafka.metrics.reporters=
c log.cleanup.policy=delete
c metric.reporters=org.apache.kafka.common.metrics.JmxReporter
- process.roles
n sasl.enabled.mechanisms=GSSAPI
n sasl.kerberos.principal.to.local.rules=DEFAULT
- sasl.oauthbearer.expected.audience
n ssl.cipher.suites=
n ssl.enabled.protocols=TLSv1.2,TLSv1.3
"""
"""Keys with words between commas."""

CLASSES: Final = """
- alter.config.policy.class.name
- client.quota.callback.class
- create.topic.policy.class.name
n principal.builder.class=org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder
- sasl.client.callback.handler.class
- sasl.login.callback.handler.class
- sasl.login.class
- sasl.oauthbearer.jwt.retriever.class=org.apache.kafka.common.security.oauthbearer.DefaultJwtRetriever
- sasl.oauthbearer.jwt.validator.class=org.apache.kafka.common.security.oauthbearer.DefaultJwtValidator
- sasl.server.callback.handler.class
n ssl.engine.factory.class
"""  # noqa: E501  # names of Java's
"""Keys with the name of a class."""

PASSWORDS: Final = """
- delegation.token.secret.key
n sasl.jaas.config
- sasl.oauthbearer.assertion.private.key.passphrase
- sasl.oauthbearer.client.credentials.client.secret
s ssl.key.password
s ssl.keystore.certificate.chain
s ssl.keystore.key
s ssl.keystore.password
s ssl.truststore.certificates
s ssl.truststore.password
"""
"""Keys with a secret, which is never told."""
