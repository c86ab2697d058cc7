"""The limits of all connections together: how many, how long idle, how much they hold."""

import asyncio
import logging
import resource

import pytest
from tests.kraft.node.virtual_time import run_virtually

from kraft.node.configuration_keys import KEYS
from kraft.node.connections import RESERVED_FILES, ConnectionLimits, Connections, limits_of

IDLE_SECONDS = 600


class FakeConnection:
    """A connection that only remembers how it was closed; it is forgotten late, as real ones."""

    def __init__(self, host="10.0.0.1", *, is_serving=False):
        self.host = host
        self.is_serving = is_serving
        self.reasons = []

    def close(self, reason="", level=logging.WARNING):
        self.reasons.append((reason, level))


def connections_of(most=100, per_ip=100, idle=IDLE_SECONDS, held=1000):
    return Connections(ConnectionLimits(most, per_ip, idle, held))


def closed(*connections):
    """Return the positions of the connections that were closed."""
    return [place for place, one in enumerate(connections) if one.reasons]


def test_one_connection_too_many_ends_the_one_that_was_used_least_recently():
    async def main():
        all_of_them = connections_of(most=3)
        first, second, third, fourth, fifth = (FakeConnection() for _ in range(5))
        for one in (first, second, third):
            assert all_of_them.admit(one)
        all_of_them.touch(first)
        assert all_of_them.admit(fourth)
        assert closed(first, second, third) == [1]
        third.is_serving = True
        assert all_of_them.admit(fifth)
        return closed(first, second, third), len(all_of_them), second.reasons

    ended, count, reasons = run_virtually(main())

    assert ended == [0, 1]
    assert count == 3
    assert reasons[0][0] == "there are 3 connections, and it was used least recently"


def test_connections_that_all_wait_for_answers_are_no_reason_to_refuse():
    async def main():
        all_of_them = connections_of(most=1)
        busy = FakeConnection(is_serving=True)
        assert all_of_them.admit(busy)
        assert all_of_them.admit(FakeConnection())
        return closed(busy)

    assert run_virtually(main()) == [0]


def test_an_address_with_too_many_connections_is_rejected_until_one_ends(caplog):
    async def main():
        all_of_them = connections_of(per_ip=2)
        first = FakeConnection()
        assert all_of_them.admit(first)
        assert all_of_them.admit(FakeConnection())
        with caplog.at_level(logging.INFO, "kraft.node.connections"):
            assert not all_of_them.admit(FakeConnection())
        assert all_of_them.admit(FakeConnection("10.0.0.2"))
        all_of_them.forget(first)
        all_of_them.forget(first)
        return all_of_them.admit(FakeConnection()), len(all_of_them)

    assert run_virtually(main()) == (True, 3)
    (record,) = caplog.records
    assert "Rejected connection from 10.0.0.1" in record.message


def test_an_idle_connection_ends_and_one_in_use_does_not():
    async def main():
        all_of_them = connections_of()
        idle, used, serving = FakeConnection(), FakeConnection(), FakeConnection(is_serving=True)
        for one in (idle, used, serving):
            all_of_them.admit(one)
        await asyncio.sleep(IDLE_SECONDS - 1)
        all_of_them.touch(used)
        await asyncio.sleep(2)
        before = closed(idle, used, serving)
        await asyncio.sleep(IDLE_SECONDS - 3)
        between = closed(used, serving)
        await asyncio.sleep(2)
        return before, between, closed(used, serving), idle.reasons

    before, between, after, reasons = run_virtually(main())

    assert (before, between, after) == ([0], [], [0])
    assert reasons == [("it has been idle for 600 seconds", logging.INFO)]


def test_nothing_is_waited_for_once_no_connection_is_left():
    async def main():
        all_of_them = connections_of()
        one = FakeConnection()
        all_of_them.admit(one)
        all_of_them.forget(one)
        await asyncio.sleep(2 * IDLE_SECONDS)
        return one.reasons, list(all_of_them)

    assert run_virtually(main()) == ([], [])


def test_too_many_bytes_end_the_connection_that_has_held_its_own_longest():
    async def main():
        all_of_them = connections_of(held=1000)
        first, second, third = (FakeConnection() for _ in range(3))
        for one in (first, second, third):
            all_of_them.admit(one)
        all_of_them.hold(second, 400)
        all_of_them.hold(first, 500)
        all_of_them.hold(second, 500)
        assert closed(first, second, third) == []
        all_of_them.hold(third, 1)
        assert closed(first, second, third) == [1]
        all_of_them.hold(first, 0)
        all_of_them.hold(third, 1000)
        return closed(first, second, third)

    assert run_virtually(main()) == [1]


@pytest.mark.parametrize(("held", "ended"), [(-1, []), (0, []), (100, [0])])
def test_a_limit_that_is_not_positive_is_none(held, ended):
    async def main():
        all_of_them = connections_of(held=held)
        one = FakeConnection()
        all_of_them.admit(one)
        all_of_them.hold(one, 10**9)
        return closed(one)

    assert run_virtually(main()) == ended


def test_connections_leave_descriptors_to_the_log(monkeypatch):
    monkeypatch.setattr(resource, "getrlimit", lambda _what: (1000, 1000))
    values = {name: key.read(key.default) for name, key in KEYS.items() if key.default is not None}

    assert limits_of(values).most == 1000 - RESERVED_FILES
    assert limits_of(values | {"max.connections": 5}).most == 5
    assert limits_of(values).idle_seconds == IDLE_SECONDS
