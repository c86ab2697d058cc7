"""A connection of a client: each response belongs to its request."""

from __future__ import annotations

import asyncio
import time

import pytest
from tests.kraft.client.fake_node import FakeNode

from kraft.client.connection import Connection
from kraft.errors import CorruptMessageError
from kraft.node.configuration import Address
from kraft.wire.apis import CONTROLLER_APIS
from kraft.wire.requests import response_bytes

UNREGISTER = 64
DONE = {"errorCode": 0, "errorMessage": None}


def asked(port):
    """Ask the node at a port; the request is the second on its connection, and has id 2."""
    deadline = time.monotonic() + 20
    connection = Connection.to(Address("127.0.0.1", port), None, deadline)
    try:
        return connection.ask(UNREGISTER, {"brokerId": 7}, deadline)
    finally:
        connection.close()


@pytest.mark.parametrize("correlation_id", [1, 3])
def test_a_response_to_another_request_is_not_taken(correlation_id):
    async def main(told):
        def answer(_key, version, _fields):
            return response_bytes(CONTROLLER_APIS[UNREGISTER], version, told, DONE)

        async with FakeNode(answer) as node:
            return await asyncio.to_thread(asked, node.port)

    assert asyncio.run(main(2))["errorCode"] == 0
    with pytest.raises(CorruptMessageError, match="another request"):
        asyncio.run(main(correlation_id))
