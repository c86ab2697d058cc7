"""The configuration of a client: where it begins, how long it waits, and how it speaks TLS.

Kafka: AdminClientConfig, ClientUtils.parseAndValidateAddresses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kraft.node.configuration import ConfigurationError, parse_address
from kraft.node.java_properties import read_properties
from kraft.node.security import PLAINTEXT, SSL, TlsError, client_context, tls_settings

if TYPE_CHECKING:
    import ssl
    from collections.abc import Mapping
    from pathlib import Path

    from kraft.node.configuration import Address

_REQUEST_TIMEOUT = "request.timeout.ms"
_API_TIMEOUT = "default.api.timeout.ms"
_DEFAULTS = {
    "security.protocol": PLAINTEXT,
    "ssl.endpoint.identification.algorithm": "https",
    _REQUEST_TIMEOUT: "30000",
    _API_TIMEOUT: "60000",
}


@dataclass(frozen=True, slots=True)
class ClientConfiguration:
    """A client: its first `servers`, which are controllers or brokers, and its patience.

    A request may take `request_timeout` seconds, all attempts together `api_timeout`. Without
    `tls` it speaks PLAINTEXT.
    """

    servers: tuple[Address, ...]
    are_controllers: bool
    request_timeout: float = 30.0
    api_timeout: float = 60.0
    tls: ssl.SSLContext | None = None


def read_client_configuration(
    servers: str, path: Path | None, *, are_controllers: bool
) -> ClientConfiguration:
    """Return the configuration with servers `host:port,...` and a file of properties, if any.

    Keys that are not a client's are ignored, so that it may be a server.properties.
    Raises ConfigurationError, and as `read_properties`.
    """
    values = {} if path is None else read_properties(path)
    texts = _DEFAULTS | {key: value.strip() for key, value in values.items()}
    return ClientConfiguration(
        _addresses(servers, are_controllers=are_controllers),
        are_controllers,
        _seconds(path, texts, _REQUEST_TIMEOUT),
        _seconds(path, texts, _API_TIMEOUT),
        _tls(path, texts),
    )


def _addresses(text: str, *, are_controllers: bool) -> tuple[Address, ...]:
    option = "--bootstrap-controller" if are_controllers else "--bootstrap-server"
    found = []
    for word in filter(None, map(str.strip, text.split(","))):
        address = parse_address(word)
        if address is None:
            raise ConfigurationError(f"{option} has {word!r}, not host:port")
        found.append(address)
    if not found:
        raise ConfigurationError(f"{option} names no server")
    return tuple(found)


def _seconds(path: Path | None, texts: Mapping[str, str], key: str) -> float:
    text = texts[key]
    if not (text.isascii() and text.isdigit() and int(text[:12]) > 0):
        raise ConfigurationError(f"{path}: {key} is not a number from 1 on: {text[:40]!r}")
    return int(text[:12]) / 1000


def _tls(path: Path | None, texts: Mapping[str, str]) -> ssl.SSLContext | None:
    protocol = texts["security.protocol"].upper()
    if protocol == PLAINTEXT:
        return None
    if protocol != SSL:
        reason = f"is {protocol[:40]!r}, and PLAINTEXT and SSL alone are spoken"
        raise ConfigurationError(f"{path}: security.protocol {reason}")
    try:
        return client_context(tls_settings(texts.get, is_listener=False))
    except TlsError as error:
        raise ConfigurationError(f"{path}: {error.key} {error.reason}") from None
