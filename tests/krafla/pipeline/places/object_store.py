"""A local S3: moto's server, its buckets in its own memory."""

from __future__ import annotations

import sys
import urllib.request
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.krafla.pipeline.places.processes import service

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BUCKET = "tables"
KEY, SECRET = "a-key", "a-secret"


@contextmanager
def local_s3(log: Path) -> Iterator[dict[str, str]]:
    """Run a server with one empty bucket; yield Spark's settings for it.

    A moto that is not installed is a ``NotStartedError``.
    """
    words = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", "0"]
    with service(words, r"Running on (http://127\.0\.0\.1:\d+)", log) as endpoint:
        make = urllib.request.Request(f"{endpoint}/{BUCKET}", method="PUT")
        urllib.request.urlopen(make).close()
        yield settings(endpoint)


def settings(endpoint: str) -> dict[str, str]:
    """Return what Spark is to know of an S3 that is not Amazon's."""
    of_s3a = {
        "endpoint": endpoint,
        "endpoint.region": "us-east-1",
        "path.style.access": "true",
        "connection.ssl.enabled": "false",
        "aws.credentials.provider": "org.apache.hadoop.fs.s3a.SimpleAWSCredentialsProvider",
        "access.key": KEY,
        "secret.key": SECRET,
    }
    return {f"spark.hadoop.fs.s3a.{name}": value for name, value in of_s3a.items()}
