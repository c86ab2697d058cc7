"""Clusters judged in pieces by several tasks have the report of `krafla audit`, word for word."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path

import pytest
from tests.krafla.audit.breaking import (
    Broken,
    change,
    checkpoint,
    checkpoint_name,
    folded,
    partition,
    prefix,
    topic,
    written,
)
from tests.krafla.audit.editing import LOG, METADATA
from tests.krafla.pipeline.conftest import REAL_LOGS

from krafla.audit.render import document
from krafla.audit.run import audit
from krafla.audit.server_logs.settings import ServerLogOptions
from krafla.pipeline import audit_stages, reading
from krafla.pipeline.audit import audit_store
from krafla.pipeline.audit_plan import Division
from krafla.pipeline.ingest import ingest, open_store
from kraft.log.segment import iter_batches

pytestmark = pytest.mark.xdist_group("spark")
ISRS = ((0, 1), (0, 1, 2))
WRONG = [change(isr=(0, 7))]
IN_PIECES = Division(0.5, 3)


def legal(count):
    """Return batches in which a replica leaves and returns."""
    return [[topic(), partition()], *([change(isr=ISRS[n % 2])] for n in range(count))]


COUNT = 3 * prefix()[1]


def named(folder, name):
    """Say of a node's folder which cluster it belongs to."""
    text = (REAL_LOGS / "crash" / "n3000" / "meta.properties").read_text()
    kept = [line for line in text.splitlines() if not line.startswith("cluster.id")]
    (folder / "meta.properties").write_text("\n".join([*kept, f"cluster.id={name}"]))
    return folder


def node(folder, batches=None):
    """Write the log of one node, the only one of its cluster; return the log's directory."""
    target, _ = written(folder / "n1", Broken(legal(COUNT) if batches is None else batches, (0, 0)))
    named(folder / "n1", folder.name)
    return target


def violated(folder, share):
    """Write a log that breaks a rule after a share of its length."""
    batches = legal(COUNT)
    start = prefix()[1]
    batches[round(share * (start + COUNT)) - start] = WRONG
    return node(folder, batches)


def compared(folder):
    """Write a log with checkpoints in the first piece and in a middle one, the last one wrong."""
    target, start = node(folder), prefix()[1]
    for share in (0.3, 0.75):
        changes = round(share * (start + COUNT)) - start - 2
        known = partition(isr=ISRS[(changes + 1) % 2], partitionEpoch=changes)
        end = start + 2 + changes
        kept = [topic(), known if share < 0.5 else partition()]
        (target / checkpoint_name(end)).write_bytes(checkpoint(folded(*kept)))


def in_segments(folder):
    """Write a log in four segments, of which two are compressed."""
    log = node(folder) / LOG
    batches = list(iter_batches(log))
    for number in range(4):
        share = batches[number * len(batches) // 4 : (number + 1) * len(batches) // 4]
        content = b"".join(batch.raw for batch in share)
        name = f"{share[0].base_offset:020}.log"
        if number % 2:
            (log.parent / f"{name}.gz").write_bytes(gzip.compress(content))
        else:
            (log.parent / name).write_bytes(content)


def unreadable(folder):
    """Write a log with a damaged batch among its last ones, and no batch at its end."""
    log = node(folder) / LOG
    damaged = bytearray(log.read_bytes() + bytes(range(200, 250)))
    damaged[list(iter_batches(log))[-5].position + 70] ^= 1
    log.write_bytes(damaged)


def repeated(folder):
    """Write a log in which an early batch comes again, before the last ones."""
    log = node(folder) / LOG
    batches = list(iter_batches(log))
    order = [*batches[:-4], batches[20], *batches[-4:]]
    log.write_bytes(b"".join(batch.raw for batch in order))


def torn(folder):
    """Write a log that ends inside a batch."""
    log = node(folder) / LOG
    log.write_bytes(log.read_bytes()[:-7])


def covered(folder):
    """Write a log that is violated, and that of a node which begins in a checkpoint behind that."""
    violated(folder, 0.6)
    (log,) = (folder / "n1").rglob("*.log")
    batches = list(iter_batches(log))
    kept = batches[-40:]
    start = kept[0].base_offset
    target = folder / "n2" / METADATA
    target.mkdir(parents=True)
    (target / f"{start:020}.log").write_bytes(b"".join(batch.raw for batch in kept))
    # The image as it is without the change that breaks a rule.
    changes = start - prefix()[1] - 2
    known = partition(isr=ISRS[(changes + 1) % 2], partitionEpoch=changes)
    (target / checkpoint_name(start)).write_bytes(checkpoint(folded(topic(), known)))
    named(folder / "n2", folder.name)


def in_single_batches(rows_of):
    """Return a function of the ingest's tasks that stores each batch by itself."""

    def rows(asked, limits):
        from functools import partial
        from unittest.mock import patch

        from krafla.pipeline import reading

        with patch.object(reading, "cut", partial(reading.cut, each_batch=True)):
            yield from rows_of(asked, limits)

    return rows


@pytest.fixture
def shown(spark, monkeypatch):
    """What the session says, with every cluster but the fifth judged in pieces."""
    words = []
    monkeypatch.setattr(spark, "show", words.append)
    monkeypatch.setattr(reading, "_local_rows", in_single_batches(reading._local_rows))
    monkeypatch.setattr(
        audit_stages,
        "plan",
        lambda records, _: {n: IN_PIECES for n in range(len(records)) if n != 4},
    )
    return words


def audited(spark, logs, out, options=None):
    ingest(spark, [str(logs)], str(out))
    return audit_store(spark, open_store(spark, str(out)), options)


def refused(shown):
    return [words for words in shown if "as a whole after all" in words]


MADE = {
    "middle": (lambda folder: violated(folder, 0.6), "violated"),
    "compared": (compared, "violated"),
    "segments": (in_segments, "held"),
    "repeated": (repeated, "violated"),
    "torn": (torn, "held"),
    "unreadable": (unreadable, "inconclusive"),
    "first": (lambda folder: violated(folder, 0.4), "violated"),
    "last": (lambda folder: violated(folder, 0.97), "violated"),
    "failover": (lambda folder: shutil.copytree(REAL_LOGS / "failover", folder), "held"),
}
"""Logs by the names of their clusters, with their verdicts."""


@pytest.mark.parametrize(
    ("names", "handed"),
    # Where replay meets a violation, it hands out the rest as one piece.
    [(list(MADE)[:5], 11), pytest.param(list(MADE)[5:], 9, marks=pytest.mark.nightly)],
)
def test_the_pieces_of_every_log_give_the_report_of_the_whole(
    spark, shown, tmp_path, names, handed
):
    logs = tmp_path / "logs"
    for name in names:
        MADE[name][0](logs / name)
    alone = document(audit([logs]))
    verdicts = {Path(one["folder"]).parent.name: one["verdict"] for one in alone["clusters"]}
    assert verdicts == {name: MADE[name][1] for name in names}
    assert audited(spark, logs, tmp_path / "out") == alone
    assert not refused(shown)
    (pieces,) = [words for words in shown if words.endswith("pieces of histories")]
    assert int(pieces.split()[1]) == handed


@pytest.mark.nightly  # the same stages again, and those of the whole
def test_a_history_that_was_not_foreseen_is_judged_after_all(spark, shown, tmp_path):
    covered(tmp_path / "logs" / "one")
    alone = document(audit([tmp_path / "logs"]))
    (cluster,) = alone["clusters"]
    assert [one["verdict"] for one in cluster["directories"]] == ["violated", "held"]
    assert audited(spark, tmp_path / "logs", tmp_path / "out") == alone
    (words,) = refused(shown)
    history = tmp_path / "logs" / "one" / "n2" / METADATA
    assert words.endswith(f"since the history of {history} was not foreseen")


def with_bad_replay(task):
    """Return a task whose replay forgets a broker."""

    def begin(batches):
        from unittest.mock import patch

        from krafla.audit.history_replay import Replay

        right = Replay.replay

        def wrong(self, batch):
            right(self, batch)
            self.image.registrations.pop(2, None)

        with patch.object(Replay, "replay", wrong):
            yield from task(batches)

    return begin


def test_a_replay_that_errs_is_noticed(spark, shown, tmp_path, monkeypatch):
    node(tmp_path / "logs" / "one")
    alone = document(audit([tmp_path / "logs"]))
    monkeypatch.setattr(
        audit_stages, "begin_clusters", with_bad_replay(audit_stages.begin_clusters)
    )
    assert audited(spark, tmp_path / "logs", tmp_path / "out") == alone
    (words,) = refused(shown)
    assert "piece 1 of a history was judged from another state" in words


@pytest.mark.nightly  # the same three stages again
def test_server_logs_are_judged_beside_a_history_in_pieces(spark, shown, logs, tmp_path):
    options = ServerLogOptions()
    alone = document(audit([logs.parent], server_logs=options))
    assert alone["clusters"][0]["server_logs"]["records_explained"] > 0
    assert audited(spark, logs.parent, tmp_path / "out", options) == alone
    assert not refused(shown)
