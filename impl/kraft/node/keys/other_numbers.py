"""The keys of a node whose values are numbers of other widths, or truth values.

Kafka: AbstractKafkaConfig.CONFIG_DEF, DynamicBrokerConfig.
"""

from typing import Final

SHORTS: Final = """
- offsets.topic.replication.factor=3
n sasl.login.refresh.buffer.seconds=300
n sasl.login.refresh.min.period.seconds=60
- share.coordinator.state.topic.min.isr=2
- share.coordinator.state.topic.replication.factor=3
- transaction.state.log.replication.factor=3
"""
"""Keys with a whole number of 16 bits."""

LONGS: Final = """
- connections.max.idle.ms=600000
- connections.max.reauth.ms=0
i controller.performance.always.log.threshold.ms=2000
i controller.performance.sample.period.ms=60000
- delegation.token.expiry.check.interval.ms=3600000
- delegation.token.expiry.time.ms=86400000
- delegation.token.max.lifetime.ms=604800000
i internal.metadata.delete.delay.millis=60000
- leader.imbalance.check.interval.seconds=300
c log.cleaner.backoff.ms=15000
c log.cleaner.dedupe.buffer.size=134217728
c log.cleaner.delete.retention.ms=86400000
c log.cleaner.max.compaction.lag.ms=9223372036854775807
c log.cleaner.min.compaction.lag.ms=0
- log.dir.failure.timeout.ms=30000
c log.flush.interval.messages=9223372036854775807
c log.flush.interval.ms
- log.flush.scheduler.interval.ms=9223372036854775807
i log.initial.task.delay.ms=30000
c log.local.retention.bytes=-2
c log.local.retention.ms=-2
c log.message.timestamp.after.max.ms=3600000
c log.message.timestamp.before.max.ms=9223372036854775807
c log.retention.bytes=-1
- log.retention.check.interval.ms=300000
c log.retention.ms
c log.roll.jitter.ms
c log.roll.ms
c log.segment.delete.delay.ms=60000
- metadata.log.max.record.bytes.between.snapshots=20971520
- metadata.log.max.snapshot.interval.ms=3600000
- metadata.log.segment.ms=604800000
- metadata.max.retention.bytes=104857600
- metadata.max.retention.ms=604800000
- metrics.sample.window.ms=30000
- offsets.retention.check.interval.ms=600000
- queued.max.request.bytes=-1
c remote.list.offsets.request.timeout.ms=30000
c remote.log.index.file.cache.total.size.bytes=1073741824
c remote.log.manager.copy.max.bytes.per.second=9223372036854775807
c remote.log.manager.fetch.max.bytes.per.second=9223372036854775807
- remote.log.manager.task.interval.ms=30000
i remote.log.manager.task.retry.backoff.max.ms=30000
i remote.log.manager.task.retry.backoff.ms=500
- replica.high.watermark.checkpoint.interval.ms=5000
- replica.lag.time.max.ms=30000
n sasl.kerberos.min.time.before.relogin=60000
- sasl.login.retry.backoff.max.ms=10000
- sasl.login.retry.backoff.ms=100
- sasl.oauthbearer.jwks.endpoint.refresh.ms=3600000
- sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms=10000
- sasl.oauthbearer.jwks.endpoint.retry.backoff.ms=100
i server.max.startup.time.ms=9223372036854775807
- socket.connection.setup.timeout.max.ms=30000
- socket.connection.setup.timeout.ms=10000
i unclean.leader.election.interval.ms=300000
"""
"""Keys with a whole number of 64 bits."""

DOUBLES: Final = """
c log.cleaner.io.buffer.load.factor=0.9
c log.cleaner.io.max.bytes.per.second=1.7976931348623157E308
c log.cleaner.min.cleanable.ratio=0.5
i remote.log.manager.task.retry.jitter=0.2
n sasl.kerberos.ticket.renew.jitter=0.05
n sasl.kerberos.ticket.renew.window.factor=0.8
n sasl.login.refresh.window.factor=0.8
n sasl.login.refresh.window.jitter=0.05
"""
"""Keys with a number of binary64."""

BOOLEANS: Final = """
- auto.create.topics.enable=true
- auto.leader.rebalance.enable=true
- controlled.shutdown.enable=true
- delete.topic.enable=true
i group.share.enable=false
- log.cleaner.enable=true
c log.preallocate=false
- remote.log.storage.system.enable=false
- sasl.oauthbearer.assertion.claim.jti.include=false
- ssl.allow.dn.changes=false
- ssl.allow.san.changes=false
c transaction.partition.verification.enable=true
- transaction.two.phase.commit.enable=false
c unclean.leader.election.enable=false
i unstable.api.versions.enable=false
i unstable.feature.versions.enable=false
"""
"""Keys with true or false."""
