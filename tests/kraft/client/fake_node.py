"""Nodes that answer as a test says, and a client of them, which blocks in a thread of its own."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from kraft.client.admin import AdminClient
from kraft.client.configuration import ClientConfiguration
from kraft.node.configuration import Address
from kraft.wire.apis import CONTROLLER_APIS
from kraft.wire.requests import read_request, response_bytes

if TYPE_CHECKING:
    from collections.abc import Callable

ALL_VERSIONS = {
    key: (api.request.oldest, api.request.newest) for key, api in CONTROLLER_APIS.items()
}


class FakeNode:
    """A node on a port of its own: `answer` gives the fields of each response, None for silence.

    It gets the key of the API, its version and the fields of the request, which `asked` keeps.
    """

    def __init__(self, answer: Callable[[int, int, Any], Any], versions: Any = ALL_VERSIONS):
        self.answer = answer
        self.versions = versions
        self.asked: list[tuple[int, Any]] = []
        self.port = 0

    async def __aenter__(self) -> FakeNode:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_error: object) -> None:
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while size := await reader.read(4):
                frame = await reader.readexactly(int.from_bytes(size, "big"))
                answer = self._answer(frame)
                if isinstance(answer, bytes):
                    writer.write(answer)
        finally:
            writer.close()

    def _answer(self, frame: bytes) -> bytes | None:
        received = read_request(frame)
        key, version, correlation_id, *_ = received.header
        if key == 18:
            fields = self._versions_told()
        else:
            self.asked.append((key, received.fields))
            fields = self.answer(key, version, received.fields)
        if fields is None or isinstance(fields, bytes):
            return fields
        return response_bytes(received.api, version, correlation_id, fields)

    def _versions_told(self) -> Any:
        return {
            "apiKeys": tuple(
                {"apiKey": key, "minVersion": oldest, "maxVersion": newest}
                for key, (oldest, newest) in self.versions.items()
            )
        }


def cluster_of(active: int, ports: dict[int, int], kind: int = 2) -> dict[str, Any]:
    """Return the fields of a response to DescribeCluster: the active controller, and all nodes."""
    nodes = tuple(
        {"brokerId": node, "host": "127.0.0.1", "port": port} for node, port in ports.items()
    )
    return {
        "endpointType": kind,
        "clusterId": "a-cluster",
        "controllerId": active,
        "brokers": nodes,
    }


async def ask(
    ports: list[int],
    question: Callable[[AdminClient], Any],
    notice: Callable[[str], None] = lambda _sentence: None,
    **fields: Any,
) -> Any:
    """Return what a client of the nodes at these ports answers."""
    configuration = ClientConfiguration(
        tuple(Address("127.0.0.1", port) for port in ports),
        **{"are_controllers": True, "request_timeout": 5.0, "api_timeout": 10.0, **fields},
    )

    def run() -> Any:
        with AdminClient(configuration, notice) as client:
            return question(client)

    return await asyncio.to_thread(run)
