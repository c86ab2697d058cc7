"""TLS of a listener: PEM files, named as Kafka names them, and Python's own `ssl`.

One listener's settings serve both directions: a controller that connects to another one shows the
certificate of its own listener, and trusts what that listener trusts.

Kafka: SslConfigs, DefaultSslEngineFactory. KIP-651.
"""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

PLAINTEXT: Final = "PLAINTEXT"
SSL: Final = "SSL"
PROTOCOL_NUMBERS: Final[Mapping[str, int]] = {PLAINTEXT: 0, SSL: 1}
"""The protocols of a listener that are served. Kafka: SecurityProtocol."""

_PEM: Final = "PEM"
_CLIENT_AUTH: Final = {
    "none": ssl.CERT_NONE,
    "requested": ssl.CERT_OPTIONAL,
    "required": ssl.CERT_REQUIRED,
}


class TlsError(Exception):
    """TLS that cannot be set up: `key` is the setting to blame, `reason` what is wrong with it."""

    def __init__(self, key: str, reason: str) -> None:
        super().__init__(key, reason)
        self.key = key
        self.reason = reason


@dataclass(frozen=True, slots=True)
class TlsSettings:
    """The settings of a listener or a client: files in PEM, and how strictly others are looked at.

    `keystore` has the private key and the chain of certificates; a client may have none. Without
    a `truststore` the system's authorities are trusted.
    """

    keystore: str | None
    password: str | None
    truststore: str | None
    client_auth: ssl.VerifyMode
    checks_names: bool


def tls_settings(text_of: Callable[[str], str | None], *, is_listener: bool = True) -> TlsSettings:
    """Return the settings of a listener, given what returns the text of a setting by its name.

    One that is not `is_listener` is a client's.

    Raises TlsError.
    """
    keystore = text_of("ssl.keystore.location")
    if not keystore and is_listener:
        raise TlsError("ssl.keystore.location", "is not set, and a listener of SSL needs it")
    for key in ("ssl.keystore.type", "ssl.truststore.type"):
        named = text_of(key)
        is_used = text_of(key.replace("type", "location"))
        if is_used and named != _PEM:
            raise TlsError(key, "is not PEM")
    auth = (text_of("ssl.client.auth") or "none").lower()
    if auth not in _CLIENT_AUTH:
        raise TlsError("ssl.client.auth", "is not none, requested or required")
    algorithm = text_of("ssl.endpoint.identification.algorithm")
    if algorithm is not None and algorithm.lower() not in ("", "https"):
        raise TlsError("ssl.endpoint.identification.algorithm", "is neither https nor empty")
    return TlsSettings(
        keystore or None,
        text_of("ssl.key.password"),
        text_of("ssl.truststore.location") or None,
        _CLIENT_AUTH[auth],
        algorithm != "",
    )


def server_context(settings: TlsSettings) -> ssl.SSLContext:
    """Return how a listener speaks TLS. Raises TlsError for files that cannot be used."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.verify_mode = settings.client_auth
    return _with_files(context, settings)


def client_context(settings: TlsSettings) -> ssl.SSLContext:
    """Return how TLS is spoken to a listener. Raises TlsError as `server_context`."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = settings.checks_names
    return _with_files(context, settings)


def _with_files(context: ssl.SSLContext, settings: TlsSettings) -> ssl.SSLContext:
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        # A password is given in any case: without one, Python would ask the terminal.
        if settings.keystore is not None:
            context.load_cert_chain(settings.keystore, password=settings.password or "")
    except (OSError, ValueError) as error:
        raise TlsError("ssl.keystore.location", f"cannot be used: {_reason(error)}") from None
    if settings.truststore is None:
        context.load_default_certs()
        return context
    try:
        context.load_verify_locations(settings.truststore)
    except (OSError, ValueError) as error:
        raise TlsError("ssl.truststore.location", f"cannot be used: {_reason(error)}") from None
    return context


def _reason(error: Exception) -> str:
    if isinstance(error, ssl.SSLError):
        return "the file holds no usable PEM key and certificates, or ssl.key.password is wrong"
    return (getattr(error, "strerror", None) or str(error)).lower()
