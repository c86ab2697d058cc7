"""The acceptor of a listener: what it does when nothing can be accepted."""

import asyncio
import errno
import logging
import socket

from kraft.node.acceptor import Acceptor, listening_sockets
from kraft.node.admission import Admission
from kraft.node.connections import ConnectionLimits, Connections
from kraft.node.inbound import Inbound, Listening


class Faulty:
    """Accepts of the event loop: each of `errors` fails one, then they succeed."""

    def __init__(self, monkeypatch, *errors):
        self.errors = list(errors)
        self.accept = asyncio.SelectorEventLoop.sock_accept
        monkeypatch.setattr(asyncio.SelectorEventLoop, "sock_accept", self._accept_of())
        monkeypatch.setattr("kraft.node.acceptor._RETRY_SECONDS", 0.01)

    def _accept_of(self):
        async def sock_accept(loop, listening):
            if self.errors:
                number = self.errors.pop(0)
                raise OSError(number, "Too many open files")
            return await self.accept(loop, listening)

        return sock_accept


async def accepting(most_of_an_address, clients):
    """Accept connections; return what each of so many clients reads in answer to a frame."""
    connections = Connections(ConnectionLimits(100, most_of_an_address, 600, 10**6))
    (listening,) = await listening_sockets("127.0.0.1", 0)
    shared = Listening("CONTROLLER", 100, connections, Admission())

    def make(peer):
        return Inbound(lambda frame, connection: connection.answer(frame), shared, peer)

    acceptor = Acceptor(listening, make, connections)
    said = []
    try:
        streams = []
        for _ in range(clients):
            streams.append(await asyncio.open_connection(*listening.getsockname()))
            reader, writer = streams[-1]
            writer.write(b"\0\0\0\x02hi")
            said.append(await reader.read(2))
        kept = [bool(one.abandon) for one in connections]
        for _, writer in streams:
            writer.close()
    finally:
        acceptor.close()
    return said, len(kept), listening.fileno()


def test_running_out_of_descriptors_is_logged_once_and_does_not_last(monkeypatch, caplog):
    faulty = Faulty(monkeypatch, errno.EMFILE, errno.EMFILE, errno.ENFILE, errno.ECONNABORTED)
    with caplog.at_level(logging.INFO, "kraft.node.acceptor"):
        said, count, _ = asyncio.run(accepting(10, 2))

    assert faulty.errors == []
    assert (said, count) == ([b"hi", b"hi"], 2)
    (record,) = caplog.records
    assert record.message == "Connections cannot be accepted: too many open files"


def test_an_address_with_too_many_connections_is_closed_at_once_and_no_other():
    said, count, descriptor = asyncio.run(accepting(1, 3))

    assert (said, count) == ([b"hi", b"", b""], 1)
    assert descriptor == -1


def test_each_address_of_a_host_is_listened_on():
    async def main():
        sockets = await listening_sockets("localhost", 0)
        families = {one.family for one in sockets}
        for one in sockets:
            one.close()
        return families

    assert socket.AF_INET in asyncio.run(main())
