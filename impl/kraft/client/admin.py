"""A client that finds the node to ask, and asks again while the quorum elects a leader.

Kafka: KafkaAdminClient, AdminMetadataManager. KIP-919.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final, Self

from kraft.client.connection import (
    CONNECTION_FAILURES,
    Connection,
    place_of,
)
from kraft.client.errors import ClientError, RefusedError, UnreachableError
from kraft.errors import ErrorCode, UnsupportedVersionError
from kraft.node.configuration import Address
from kraft.node.failures import failure_text
from kraft.records.codec import UnsupportedFieldError
from kraft.rpc.describe_cluster import BROKER_ENDPOINT, CONTROLLER_ENDPOINT
from kraft.wire.value_maps import error_code

if TYPE_CHECKING:
    from collections.abc import Callable

    from kraft.client.configuration import ClientConfiguration
    from kraft.records.schema import Fields

_BACKOFF: Final = 0.1
"""Seconds before a request is sent again. Kafka: retry.backoff.ms."""
_LONG: Final = 2.0
"""Seconds of waiting after which the reason is told."""
_DESCRIBE_CLUSTER: Final = 60
_API_VERSIONS: Final = 18
_ASK_AGAIN: Final = frozenset(
    {
        ErrorCode.NOT_CONTROLLER,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.BROKER_NOT_AVAILABLE,
    }
)
"""Errors of a node that is not the one to ask, or not yet."""


class AdminClient:
    """A client with one connection at a time: a context, at whose end that is closed.

    Among controllers it asks the active one, among brokers any, which forwards. Each method waits
    as long as the configuration says; `notice` gets a sentence once if that takes long. It raises
    UnreachableError, RefusedError for an error of the whole response, or ClientError for a value
    that cannot be sent.
    """

    def __init__(
        self,
        configuration: ClientConfiguration,
        notice: Callable[[str], None] = lambda _sentence: None,
    ) -> None:
        self._configuration = configuration
        self._notice = notice
        self._connection: Connection | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._drop()

    def versions(self) -> Fields:
        """Return the response to ApiVersions, with features."""
        return self._call(_API_VERSIONS, {})

    def describe_cluster(self, *, include_fenced_brokers: bool = False) -> Fields:
        """Return the response to DescribeCluster, about brokers or controllers as it began."""
        return self._call(_DESCRIBE_CLUSTER, self._about_cluster(include_fenced_brokers))

    def ask(self, api_key: int, fields: Fields) -> Fields:
        """Return the response to another request."""
        return self._call(api_key, fields)

    @property
    def timeout_ms(self) -> int:
        """Return how long a node may take for a request."""
        return int(self._configuration.request_timeout * 1000)

    def _about_cluster(self, include_fenced_brokers: bool = False) -> Fields:
        kind = CONTROLLER_ENDPOINT if self._configuration.are_controllers else BROKER_ENDPOINT
        return {"endpointType": kind, "includeFencedBrokers": include_fenced_brokers}

    def _call(self, api_key: int, fields: Fields) -> Fields:
        """Ask until there is an answer to keep. Kafka: KafkaAdminClient.Call.fail."""
        begin = time.monotonic()
        deadline = begin + self._configuration.api_timeout
        reason, is_noticed = "", False
        while True:
            try:
                return self._answer(api_key, fields, deadline)
            except _NotYetError as error:
                reason = str(error)
            except UnreachableError:
                # Servers that were reached before may come back.
                if not reason:
                    raise
            self._drop()
            if time.monotonic() - begin > _LONG and not is_noticed:
                is_noticed = True
                self._notice(f"{reason}; asking again for {self._patience}")
            if time.monotonic() + _BACKOFF >= deadline:
                raise UnreachableError(f"{reason}; given up after {self._patience}")
            time.sleep(_BACKOFF)

    @property
    def _patience(self) -> str:
        return f"{self._configuration.api_timeout:g} seconds"

    def _answer(self, api_key: int, fields: Fields, deadline: float) -> Fields:
        """Return the answer of the node to ask now. Raises _NotYetError if there is none."""
        if self._connection is None:
            self._connection = self._find(deadline)
        if api_key == _API_VERSIONS:
            return self._connection.versions
        try:
            response = self._ask(self._connection, api_key, fields, deadline)
        except CONNECTION_FAILURES as error:
            raise _lost(self._connection, error) from None
        code = _failure(response)
        if code in _ASK_AGAIN:
            raise _NotYetError(f"no node takes the request: {code.name}")
        return _refuse(response)

    def _ask(self, connection: Connection, api_key: int, fields: Fields, deadline: float) -> Fields:
        try:
            return connection.ask(api_key, fields, self._sooner(deadline))
        except (UnsupportedVersionError, UnsupportedFieldError) as error:
            raise RefusedError(ErrorCode.UNSUPPORTED_VERSION, str(error)) from None
        except ValueError as error:
            raise ClientError(str(error)) from None

    def _sooner(self, deadline: float) -> float:
        return min(deadline, time.monotonic() + self._configuration.request_timeout)

    def _find(self, deadline: float) -> Connection:
        """Return a connection to the node to ask. Raises as `_answer`."""
        connection = self._first(deadline)
        if not self._configuration.are_controllers:
            return connection
        try:
            response = self._ask(connection, _DESCRIBE_CLUSTER, self._about_cluster(), deadline)
            address = _active(_refuse(response), connection.place)
        except CONNECTION_FAILURES as error:
            connection.close()
            raise _lost(connection, error) from None
        except BaseException:
            connection.close()
            raise
        connection.close()
        try:
            return Connection.to(address, self._configuration.tls, self._sooner(deadline))
        except CONNECTION_FAILURES as error:
            place = f"the active controller at {place_of(address)}"
            raise _NotYetError(f"{place} cannot be reached: {failure_text(error)}") from None

    def _first(self, deadline: float) -> Connection:
        """Return a connection to the first server that can be reached."""
        reasons = []
        for address in self._configuration.servers:
            try:
                return Connection.to(address, self._configuration.tls, self._sooner(deadline))
            except CONNECTION_FAILURES as error:
                reasons.append(f"{place_of(address)} cannot be reached: {failure_text(error)}")
        raise UnreachableError("; ".join(reasons))

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()


class _NotYetError(Exception):
    """A request that may succeed a little later."""


def _lost(connection: Connection, error: Exception) -> _NotYetError:
    return _NotYetError(f"the connection to {connection.place} was lost: {failure_text(error)}")


def _active(cluster: Fields, place: str) -> Address:
    """Return where the active controller listens. Raises _NotYetError if that is not known."""
    for node in cluster["brokers"]:
        if node["brokerId"] == cluster["controllerId"]:
            return Address(node["host"], node["port"])
    raise _NotYetError(f"{place} knows no active controller")


def _failure(response: Fields) -> ErrorCode:
    """Return the error of a whole response, or of the partition that it is about."""
    code = error_code(response["errorCode"])
    for topic in response.get("topics", ()):
        for partition in topic["partitions"]:
            code = code or error_code(partition["errorCode"])
    return code


def _sentence(response: Fields) -> str | None:
    told: Any = response.get("errorMessage")
    for topic in response.get("topics", ()):
        for partition in topic["partitions"]:
            told = told or partition.get("errorMessage")
    return told or None


def _refuse(response: Fields) -> Fields:
    """Return a response. Raises RefusedError if it is an error."""
    code = _failure(response)
    if code is not ErrorCode.NONE:
        raise RefusedError(code, _sentence(response))
    return response
