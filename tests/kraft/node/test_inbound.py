"""A connection of another process: one request at a time, and nothing but requests."""

import asyncio
import logging

import pytest
from tests.kraft.node.virtual_time import run_virtually

from kraft.errors import CorruptMessageError, UnsupportedVersionError
from kraft.node.admission import Admission
from kraft.node.inbound import Inbound, Listening
from kraft.wire.frames import framed


class RecordedTransport:
    """A transport that writes down what is asked of it."""

    def __init__(self):
        self.written = []
        self.is_reading = True
        self.is_closed = self.is_aborted = False
        self.unread = 0

    def write(self, data):
        self.written.append(data)

    def pause_reading(self):
        self.is_reading = False

    def resume_reading(self):
        self.is_reading = True

    def close(self):
        self.is_closed = True

    def abort(self):
        self.is_closed = self.is_aborted = True

    def get_write_buffer_size(self):
        return self.unread


class KnownConnections:
    """Connections that may do all, and what is told of them."""

    def __init__(self):
        self.held = []
        self.uses = 0
        self.is_forgotten = False

    def touch(self, _connection):
        self.uses += 1

    def hold(self, _connection, size):
        self.held.append(size)

    def forget(self, _connection):
        self.is_forgotten = True


class Server:
    """A server that answers when it is told to; `error` is raised for the next request."""

    def __init__(self, *, at_once=False, limit=100, budget=10**6):
        self.served = []
        self.error = None
        self.at_once = at_once
        self.transport = RecordedTransport()
        self.connections = KnownConnections()
        self.admission = Admission(budget)
        listening = Listening("CONTROLLER", limit, self.connections, self.admission)
        self.connection = Inbound(self.serve, listening, ("10.0.0.1", 5))
        self.connection.connection_made(self.transport)

    def serve(self, frame, connection):
        assert connection is self.connection
        if self.error is not None:
            raise self.error
        self.served.append(frame)
        if self.at_once:
            connection.answer(frame)


def do(*steps):
    """Take steps in an event loop, each once all that follows from the one before is done."""

    async def main():
        for step in steps:
            step()
            await asyncio.sleep(1)

    run_virtually(main())


def test_the_second_request_waits_for_the_answer_to_the_first():
    server = Server()
    server.connection.data_received(framed(b"one") + framed(b"two"))
    assert server.served == [b"one"]
    assert not server.transport.is_reading

    do(lambda: server.connection.answer(b"1"))

    assert server.served == [b"one", b"two"]
    assert server.transport.written == [b"1"]


def test_reading_goes_on_once_nothing_is_served():
    server = Server()
    server.connection.data_received(framed(b"one"))
    server.connection.answer(b"1")

    assert server.transport.is_reading


def test_many_requests_in_one_piece_are_answered_in_their_order():
    server = Server(at_once=True)
    frames = [str(number).encode() for number in range(5000)]
    data = b"".join(map(framed, frames))
    do(lambda: server.connection.data_received(data))

    assert server.transport.written == frames


def test_a_client_that_sends_many_requests_at_once_gets_one_answer_a_turn():
    server = Server(at_once=True)
    server_beside = Server(at_once=True)
    seen = []

    async def main():
        server.connection.data_received(framed(b"one") * 100)
        server_beside.connection.data_received(framed(b"beside") * 2)
        while len(server_beside.served) < 2:
            await asyncio.sleep(0)
        seen.append(len(server.served))

    run_virtually(main())

    assert seen[0] < 5


def test_a_client_that_does_not_read_is_not_served():
    server = Server(at_once=True)
    server.connection.pause_writing()
    server.connection.data_received(framed(b"one"))
    assert server.served == []
    assert not server.transport.is_reading

    server.connection.resume_writing()

    assert server.served == [b"one"]
    assert server.transport.is_reading


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\xff\xff\xff\xff", "a frame of -1 bytes"),
        ((101).to_bytes(4, "big"), "a frame of 101 bytes, the limit is 100"),
    ],
)
def test_a_frame_that_is_none_ends_the_connection_with_one_line(caplog, data, said):
    server = Server(at_once=True)
    with caplog.at_level(logging.INFO, "kraft.node.inbound"):
        do(lambda: server.connection.data_received(framed(b"one") + data + framed(b"two")))

    assert server.served == [b"one"]
    assert server.transport.is_closed
    (record,) = caplog.records
    assert "10.0.0.1:5" in record.message
    assert said in record.message


@pytest.mark.parametrize(
    "error",
    [CorruptMessageError("bad\nbytes", position=3), UnsupportedVersionError("no", position=0)],
)
def test_a_request_that_is_none_ends_the_connection_with_one_line(caplog, error):
    server = Server()
    server.error = error
    with caplog.at_level(logging.INFO, "kraft.node.inbound"):
        server.connection.data_received(framed(b"one") + framed(b"two"))

    assert server.transport.is_closed
    (record,) = caplog.records
    assert record.exc_info is None
    assert "\n" not in record.message


def test_a_fault_in_a_request_ends_its_connection_alone(caplog):
    server = Server()
    server.error = KeyError("fault")
    with caplog.at_level(logging.INFO, "kraft.node.inbound"):
        server.connection.data_received(framed(b"one"))

    assert server.transport.is_closed
    assert server.admission.taken == 0
    (record,) = caplog.records
    assert record.exc_info is not None


def test_an_answer_after_the_end_is_dropped():
    server = Server()
    server.connection.data_received(framed(b"one") + framed(b"two"))
    server.connection.connection_lost(None)
    server.connection.answer(b"1")

    assert server.served == [b"one"]
    assert server.transport.written == []
    assert server.connections.is_forgotten
    assert server.admission.taken == 0


def test_a_request_is_read_once_its_values_fit_beside_those_of_others():
    server = Server(budget=2000)
    server.admission.enter(2000, list)
    server.connection.data_received(framed(b"one"))
    assert (server.served, server.transport.is_reading) == ([], False)
    assert server.connections.held[-1] == len(b"one")

    server.admission.leave(2000)

    assert server.served == [b"one"]
    assert server.admission.taken > 0


def test_a_request_that_waits_for_others_is_dropped_with_its_connection():
    server = Server(budget=2000)
    server.admission.enter(2000, list)
    server.connection.data_received(framed(b"one"))
    server.connection.connection_lost(None)
    server.admission.leave(2000)

    assert server.served == []
    assert server.admission.taken == 0


def test_what_is_held_are_unfinished_requests_and_unread_answers():
    server = Server()
    server.connection.data_received(framed(b"one") + framed(b"two")[:5])
    assert server.connections.held[-1] == 5
    server.transport.unread = 70_000
    server.connection.pause_writing()
    do(lambda: server.connection.answer(b"1"))
    assert server.connections.held[-1] == 70_005
    server.connection.resume_writing()
    assert server.connections.held[-1] == 5


def test_bytes_of_a_request_are_no_use_of_a_connection_until_it_is_whole():
    server = Server()
    for byte in framed(b"one"):
        assert server.connections.uses == 0
        server.connection.data_received(bytes([byte]))
    assert server.connections.uses == 1
    server.connection.answer(b"1")
    assert server.connections.uses == 2


def test_a_connection_that_is_closed_twice_waits_for_no_answer_to_leave():
    server = Server(at_once=True)
    server.connection.data_received(framed(b"one"))
    server.connection.close("no more")
    assert (server.transport.is_closed, server.transport.is_aborted) == (True, False)

    server.connection.close()

    assert server.transport.is_aborted
