"""A connection of another process: one request at a time, and nothing but requests."""

import logging

import pytest

from kraft.errors import CorruptMessageError, UnsupportedVersionError
from kraft.node.inbound import Inbound
from kraft.wire.frames import framed


class RecordedTransport:
    """A transport that writes down what is asked of it."""

    def __init__(self):
        self.written = []
        self.is_reading = True
        self.is_closed = False

    def get_extra_info(self, _name):
        return ("10.0.0.1", 5)

    def write(self, data):
        self.written.append(data)

    def pause_reading(self):
        self.is_reading = False

    def resume_reading(self):
        self.is_reading = True

    def close(self):
        self.is_closed = True


class Server:
    """A server that answers when it is told to; `error` is raised for the next request."""

    def __init__(self, *, at_once=False, limit=100):
        self.served = []
        self.error = None
        self.at_once = at_once
        self.transport = RecordedTransport()
        self.connections = set()
        self.connection = Inbound(self.serve, "CONTROLLER", limit, self.connections)
        self.connection.connection_made(self.transport)

    def serve(self, frame, connection):
        assert connection is self.connection
        if self.error is not None:
            raise self.error
        self.served.append(frame)
        if self.at_once:
            connection.answer(frame)


def test_the_second_request_waits_for_the_answer_to_the_first():
    server = Server()
    server.connection.data_received(framed(b"one") + framed(b"two"))
    assert server.served == [b"one"]
    assert not server.transport.is_reading

    server.connection.answer(b"1")

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
    server.connection.data_received(b"".join(map(framed, frames)))

    assert server.transport.written == frames


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
        server.connection.data_received(framed(b"one") + data + framed(b"two"))

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
    (record,) = caplog.records
    assert record.exc_info is not None


def test_an_answer_after_the_end_is_dropped():
    server = Server()
    server.connection.data_received(framed(b"one") + framed(b"two"))
    server.connection.connection_lost(None)
    server.connection.answer(b"1")

    assert server.served == [b"one"]
    assert server.transport.written == []
    assert server.connections == set()
