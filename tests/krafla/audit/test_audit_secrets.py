"""No finding shows a secret: the record in its evidence has it withheld."""

from __future__ import annotations

import json

import pytest
from tests.krafla.audit.editing import LOG, METADATA
from tests.kraft.records.samples import leader_change

from krafla.audit import history, history_checks
from krafla.audit.invariants import RecordInvariant
from krafla.audit.redact import REDACTED, record_text
from krafla.audit.render import document
from krafla.audit.report_text import text_lines
from krafla.audit.run import audit
from kraft.log.segment import iter_batches
from kraft.records.builder import metadata_batch

SCRAM, TOKEN, REMOVED_TOKEN, CONFIG = 11, 10, 26, 4
SHOWN = "User:bob"
HIDDEN = {
    "SCRAM credential": (
        SCRAM,
        {"name": SHOWN, "salt": b"SECRET", "storedKey": b"SECRET", "serverKey": b"SECRET"},
    ),
    "token": (TOKEN, {"owner": SHOWN, "tokenId": "SECRET"}),
    "removed token": (REMOVED_TOKEN, {"tokenId": "SECRET"}),
    "sensitive config": (
        CONFIG,
        {"name": "ssl.key.password", "value": "SECRET", "resourceName": SHOWN},
    ),
}
SECRETS = ('"SECRET', "U0VDUkVU", "534543524554")
"""The secret as a string's start, in base 64 and in hexadecimal digits."""


@pytest.fixture(params=HIDDEN)
def log(request, tmp_path):
    api_key, fields = HIDDEN[request.param]
    path = tmp_path / METADATA / LOG
    path.parent.mkdir()
    path.write_bytes(leader_change() + metadata_batch(1, 1, 0, [(api_key, 0, fields)]))
    return path


def secret_record(log):
    (record,) = [r for batch in iter_batches(log) for r in batch.metadata_records()]
    assert b"SECRET" in record.value
    return record


def assert_hidden(text):
    assert REDACTED in text
    assert [secret for secret in SECRETS if secret in text] == []


def test_a_record_is_printed_without_its_secrets(log):
    record = secret_record(log)
    text = record_text(record)
    assert_hidden(text)
    data = json.loads(text)["data"]
    assert data.keys() == {name for name in record.fields if name in data}
    assert (SHOWN in text) == (SHOWN in str(record.fields))


def test_a_finding_about_a_record_with_secrets_shows_none(log, loading, monkeypatch):
    # This invariant is an example of any about such records.
    api_keys = frozenset({secret_record(log).api_key})
    objects = RecordInvariant("T1", "here", lambda _: "not liked", api_keys)
    monkeypatch.setattr(history, "_WANTED", api_keys)
    monkeypatch.setattr(history_checks, "RECORD_INVARIANTS", dict.fromkeys(api_keys, (objects,)))
    report = audit([log.parent], loading=loading)
    for text in (json.dumps(document(report)), "\n".join(text_lines(report))):
        assert "not liked" in text
        assert_hidden(text)
