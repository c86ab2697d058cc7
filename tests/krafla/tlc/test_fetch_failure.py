"""A jar that cannot be fetched is told with the cause, its address, and its place."""

from __future__ import annotations

import socket
import ssl

import pytest

from krafla.record.jars import class_path
from krafla.tlc.fetch_failure import not_fetched
from krafla.tlc.jar import ENVIRONMENT_VARIABLE, SHA256, find_jar
from krafla.verdict import KraflaError


@pytest.fixture
def no_network(monkeypatch, tmp_path):
    """A proxy that refuses each connection, and no jar anywhere."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        for name in ("HTTPS_PROXY", "https_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{port}")
        for name in ("NO_PROXY", "no_proxy", ENVIRONMENT_VARIABLE):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("M2_REPO", str(tmp_path / "none"))
        # It is bound, so no other program takes it; it does not listen.
        yield


@pytest.mark.usefixtures("no_network")
def test_a_refused_connection_is_told_with_the_address_and_the_place(tmp_path):
    with pytest.raises(KraflaError) as refused:
        find_jar(tmp_path)
    told = str(refused.value)
    assert ".jar: Connection refused. The first run needs the network; or lay the jar" in told
    assert "could not be fetched from https://" in told
    assert f"there as {tmp_path}" in told
    assert f"-{SHA256[:12]}.jar, or set {ENVIRONMENT_VARIABLE} to a tla2tools.jar" in told


@pytest.mark.usefixtures("no_network")
def test_kafkas_jars_are_told_alike(tmp_path, monkeypatch):
    monkeypatch.delenv("KAFKA_LIBS", raising=False)
    with pytest.raises(KraflaError, match=r"Kafka's jar .*\.jar: Connection refused\. The first "):
        class_path(tmp_path)


def test_a_certificate_that_is_not_trusted_is_told_with_the_remedy(tmp_path):
    try:
        try:
            raise ssl.SSLCertVerificationError(
                1, "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: self-signed "
                "certificate (_ssl.c:1006)"
            )  # fmt: skip
        except ssl.SSLError as inner:
            raise RuntimeError("Max retries exceeded with url: " + 200 * "x") from inner
    except RuntimeError as error:
        told = not_fetched("the jar", error, tmp_path)
    assert told.startswith(
        "the jar could not be fetched: certificate verify failed: self-signed certificate. "
        "REQUESTS_CA_BUNDLE=FILE names the certificates to trust"
    )
