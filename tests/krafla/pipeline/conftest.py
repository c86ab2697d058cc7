"""What the pipeline's tests share: logs to feed it, and results that several of them ask about."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.krafla.audit.editing import (
    CHANGE_BROKER,
    CHANGE_PARTITION,
    LOG,
    METADATA,
    edited,
    no_op_after,
    records,
    to,
    with_fields,
)

REAL_LOGS = Path(__file__).parents[3] / "traces" / "kafka-4.1"
CONFIG, TOPIC = 4, 2
CANARY = "CANARY"
"""A secret in a record that breaks O5 and W3."""
BUG = "heartbeat-does-not-renew-session"
"""The seeded bug of ``seeded``."""


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """A copy of a small real cluster's logs, to be spoiled."""
    return Path(shutil.copytree(REAL_LOGS / "crash", tmp_path / "logs" / "crash"))


@pytest.fixture(scope="session")
def audited(spark: Any, tmp_path_factory: Any) -> Any:
    """The audit of spoiled logs in tables, what a single process says of them, and the store.

    The logs are removed once they are ingested.
    """
    from krafla.audit.render import document
    from krafla.audit.run import audit
    from krafla.pipeline.audit import audit_store
    from krafla.pipeline.ingest import ingest, open_store

    folder = tmp_path_factory.mktemp("audited")
    logs = Path(shutil.copytree(REAL_LOGS, folder / "logs"))
    spoil(logs)
    alone = document(audit([logs]))
    store = open_store(spark, str(folder / "out"))
    ingest(spark, [str(logs)], store.uri)
    shutil.rmtree(logs)
    store = open_store(spark, store.uri)
    return audit_store(spark, store), alone, store


def spoil(logs: Path) -> None:
    """Break a copy of real logs in every way that an audit tells apart."""
    crash = logs / "crash" / "n3000" / METADATA / LOG
    change = records(crash, CHANGE_BROKER)[0]
    idle = to(CHANGE_PARTITION, 2, partitionId=1, topicId="Qthx3pPDREyXSAv41ulXxQ", isr=(0, 1, 2))
    secret = {"resourceType": TOPIC, "resourceName": "gone", "name": "ssl.key.password"}
    bad = {
        "torn": crash.read_bytes()[:-9],
        "wrong": edited(crash, {change.offset: with_fields(brokerEpoch=999)}),
        "stuck": edited(crash, {no_op_after(crash, 40): idle}),
        "secret": edited(crash, {no_op_after(crash, 40): to(CONFIG, 0, **secret, value=CANARY)}),
        "corrupt": crash.read_bytes()[:-9] + b"\xff" * 9,
        "<b>": crash.read_bytes()[:-8] + b"\xff" * 8,
    }
    meta = (logs / "crash" / "n3000" / "meta.properties").read_text().splitlines()
    kept = [line for line in meta if not line.startswith("cluster.id")]
    for name, content in bad.items():
        node = logs / "unread" / name / "n1"
        (node / METADATA).mkdir(parents=True)
        (node / METADATA / LOG).write_bytes(content)
        (node / "meta.properties").write_text("\n".join([*kept, f"cluster.id={name}"]))
    (logs / "empty" / METADATA).mkdir(parents=True)
    (logs / "crash" / "n3000" / METADATA / f"{LOG}.deleted").touch()
    (logs / "combined" / "n1" / METADATA / "quorum-state").write_text("{")


@pytest.fixture(scope="session")
def seeded(spark: Any, tmp_path_factory: Any) -> Any:
    """The result of a campaign of lease with a seeded bug, in two waves, and its store."""
    from tests.krafla.pipeline.executors import with_mutant

    from krafla.fuzz.engine.system import RunOptions, find_system
    from krafla.pipeline.campaign import findings, waves
    from krafla.pipeline.campaign.findings import shrink_batches
    from krafla.pipeline.campaign.plan import SEED, CampaignPlan
    from krafla.pipeline.campaign.player import play_batches
    from krafla.pipeline.campaign.run import run_campaign, store_of

    runs = find_system("lease").runs(SEED, RunOptions(60, ("restless",)))
    store = store_of(spark, str(tmp_path_factory.mktemp("seeded") / "out"))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(waves, "play_batches", with_mutant(BUG, play_batches))
        patched.setattr(findings, "shrink_batches", with_mutant(BUG, shrink_batches))
        run_campaign(CampaignPlan(5, 7, runs, chunk=4), store, spark)
        return run_campaign(CampaignPlan(5, 12, runs, chunk=4), store, spark), store
