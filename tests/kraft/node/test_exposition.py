"""The metrics over HTTP: where they are, and that no scraper holds a node up."""

import asyncio
import logging
import socket

import pytest
from prometheus_client import CollectorRegistry, Gauge
from tests.kraft.node.one_node import properties, serving
from tests.kraft.node.scraper import free_address, http, scraped
from tests.kraft.node.test_process import refused

from kraft.node.configuration import ConfigurationError
from kraft.node.metrics import exposition
from kraft.node.metrics.exposition import Exposition, MetricsAddress, metrics_address

PATIENCE_SECONDS = 20


def served(use):
    """Run a coroutine function with an exposition of one metric, and its address."""

    async def main():
        registry = CollectorRegistry()
        Gauge("one", "The one metric.", registry=registry).set(1)
        address, shown = free_address(), Exposition(registry)
        await shown.start(address)
        try:
            return await use(address, shown)
        finally:
            shown.close()

    return asyncio.run(main())


def get(path):
    return f"GET {path} HTTP/1.1\r\nHost: a\r\n\r\n".encode()


@pytest.mark.parametrize(
    ("request_bytes", "status", "body"),
    [
        (get("/metrics"), "200 OK", "one 1.0\n"),
        (get("/metrics?name=one"), "200 OK", "one 1.0\n"),
        (get("/"), "404 Not Found", "the metrics are at /metrics\n"),
        (b"POST /metrics HTTP/1.1\r\n\r\n", "405 Method Not Allowed", "only GET is served\n"),
        (b"\x16\x03\x01\r\n\r\n", "405 Method Not Allowed", "only GET is served\n"),
    ],
)
def test_metrics_are_at_one_path(request_bytes, status, body):
    said = served(lambda address, _: http(address, request_bytes))

    assert said[0] == f"HTTP/1.1 {status}"
    assert said[1].endswith(body)


async def is_cut_off(reader):
    """Return whether a connection ends without a word."""
    try:
        return await asyncio.wait_for(reader.read(), PATIENCE_SECONDS) == b""
    except ConnectionResetError:
        return True


def test_a_fault_in_a_metric_is_told_and_disturbs_nothing_else(caplog, monkeypatch):
    monkeypatch.setattr(logging.getLogger("kraft"), "propagate", True)

    async def use(address, shown):
        broken = Gauge("two", "It cannot be read.", registry=shown._registry)
        broken.set_function(lambda: 1 / 0)
        return await http(address, get("/metrics")), await http(address, get("/"))

    failed, other = served(use)

    assert failed == ("HTTP/1.1 500 Internal Server Error", "the log of the node says why\n")
    assert other[0] == "HTTP/1.1 404 Not Found"
    (record,) = caplog.records
    assert record.getMessage() == "The metrics could not be read"
    assert record.exc_info[0] is ZeroDivisionError


def test_a_header_without_an_end_is_cut_off():
    async def use(address, _):
        reader, writer = await asyncio.open_connection(*address)
        writer.write(b"GET /metrics HTTP/1.1\r\n" + b"x" * 40_000)
        is_cut = await is_cut_off(reader)
        writer.close()
        return is_cut, await scraped(address)

    assert served(use) == (True, {"one": 1})


def test_a_scraper_that_says_nothing_is_cut_off(monkeypatch):
    monkeypatch.setattr(exposition, "_PATIENCE_SECONDS", 0.01)

    async def use(address, _):
        reader, writer = await asyncio.open_connection(*address)
        is_cut = await is_cut_off(reader)
        writer.close()
        return is_cut

    assert served(use)


def test_a_scraper_too_many_is_turned_away_until_another_one_leaves(monkeypatch):
    monkeypatch.setattr(exposition, "_MOST_CONNECTIONS", 2)
    monkeypatch.setattr(exposition, "_PATIENCE_SECONDS", 1000)

    async def use(address, shown):
        silent = [(await asyncio.open_connection(*address))[1] for _ in range(2)]
        while len(shown._open) < 2:
            await asyncio.sleep(0.001)
        late, writer = await asyncio.open_connection(*address)
        is_cut = await is_cut_off(late)
        for one in (*silent, writer):
            one.close()
        while shown._open:
            await asyncio.sleep(0.001)
        return is_cut, await scraped(address)

    assert served(use) == (True, {"one": 1})


def test_a_closed_exposition_cuts_its_scrapers_off_and_frees_its_port(monkeypatch):
    monkeypatch.setattr(exposition, "_PATIENCE_SECONDS", 1000)

    async def use(address, shown):
        reader, writer = await asyncio.open_connection(*address)
        writer.write(b"GET")
        await asyncio.sleep(0)
        while not shown._open:
            await asyncio.sleep(0.001)
        shown.close()
        assert await is_cut_off(reader)
        writer.close()
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection(*address)
        return True

    assert served(use)


def test_a_node_ends_although_a_scraper_waits(tmp_path):
    async def main():
        address = free_address()
        async with serving(properties(tmp_path), metrics=address):
            reader, writer = await asyncio.open_connection(*address)
            writer.write(b"GET /metrics")
            await writer.drain()
        is_cut = await is_cut_off(reader)
        writer.close()
        return is_cut

    assert asyncio.run(main())


def test_without_the_option_nothing_is_served_or_measured(tmp_path):
    async def main():
        async with serving(properties(tmp_path)) as (node, _):
            return node.metrics, type(node.process.listener).__name__

    assert asyncio.run(main()) == (None, "ControllerHost")


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("127.0.0.1:9404", ("127.0.0.1", 9404)),
        (":9404", ("127.0.0.1", 9404)),
        ("[::1]:9404", ("::1", 9404)),
        ("localhost:0", ("localhost", 0)),
    ],
)
def test_an_address_is_host_and_port(text, address):
    assert metrics_address(text) == MetricsAddress(*address)


@pytest.mark.parametrize("text", ["9404", "", "a:b", "a:-1", "a:65536", "a:٣", "a:"])
def test_anything_else_is_refused(text):
    with pytest.raises(ConfigurationError, match="is not HOST:PORT, as in"):
        metrics_address(text)


def test_a_port_that_is_taken_is_one_sentence(tmp_path, capfd):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        line = refused(capfd, properties(tmp_path), "--metrics", f":{port}")

    assert line == (f"kraft: --metrics cannot be bound to 127.0.0.1:{port}: address already in use")
