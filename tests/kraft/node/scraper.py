"""A scraper of a node's metrics."""

from __future__ import annotations

import asyncio

from prometheus_client.parser import text_string_to_metric_families

from krafla.record.layout import free_ports
from kraft.node.metrics.exposition import MetricsAddress

HOST = "127.0.0.1"


def free_address() -> MetricsAddress:
    """Return an address at which metrics can be served."""
    return MetricsAddress(HOST, *free_ports(1))


async def http(address: MetricsAddress, request: bytes) -> tuple[str, str]:
    """Return the first line and the body of the answer to a request."""
    reader, writer = await asyncio.open_connection(*address)
    writer.write(request)
    head, _, body = (await reader.read()).decode().partition("\r\n\r\n")
    writer.close()
    return head.partition("\r\n")[0], body


def values_of(text: str) -> dict[str, float]:
    """Return the samples of a text, by name and labels as the text has them."""
    return {
        sample.name + "".join(f",{key}={value}" for key, value in sorted(sample.labels.items())):
            sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }  # fmt: skip


async def scraped(address: MetricsAddress) -> dict[str, float]:
    """Return all samples of a node."""
    status, body = await http(address, b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n")
    assert status == "HTTP/1.1 200 OK"
    return values_of(body)
